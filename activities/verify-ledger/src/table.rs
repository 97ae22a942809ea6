//! `metadata.sqlite`, held against itself: whether it is sound, and what it says of each shard.
//!
//! The file is opened read-only and as one that nobody changes, so that nothing is written beside it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use corpora_contracts::document::Domains;
use corpora_contracts::manifest::SplitName;
use corpora_stage::durable;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use crate::files::{self, CheckError};
use crate::folder::METADATA;
use crate::placed::{PlacedRow, PlacedRows};
use crate::problem::{FileProblem, shown};
use crate::watch::Watch;

/// Steps of SQLite's machine between two looks at the cancellation: some milliseconds.
const STEPS_PER_LOOK: i32 = 100_000;

/// Nothing of the file's own schema is trusted.
const PRAGMAS: &str = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;";

const ROWS: &str = "SELECT id, source_id, url, lang, sha256, n_chars, shard, row, split, domain FROM documents";

/// What the table says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) rows: u64,
    /// By split and number of the shard.
    pub(crate) shards: HashMap<(SplitName, u64), PlacedRows>,
    /// The first document that is placed where no shard of the manifest is.
    pub(crate) stranger: Option<String>,
    /// The first document whose domain is not the host of its url: its id, and the domain.
    pub(crate) domain: Option<(String, String)>,
}

/// Reads the whole table of the dataset in `folder`, whose shards are `shards`, in memory bounded by their number.
///
/// # Errors
/// [`CheckError`].
pub(crate) fn read(
    folder: &Path,
    shards: impl IntoIterator<Item = (SplitName, u64)>,
    watch: &Watch,
) -> Result<Result<Table, FileProblem>, CheckError> {
    let path = folder.join(METADATA);
    match fs::symlink_metadata(&path) {
        Ok(found) if !found.is_file() => return Ok(Err(FileProblem::NotRegular { path: METADATA.to_owned() })),
        Err(error) if files::is_absent(&error) => {
            return Ok(Err(FileProblem::Missing { path: METADATA.to_owned() }));
        }
        // What the system says about a file that we may not read is told better here than by SQLite.
        _ => drop(File::open(&path).map_err(durable::on("open", &path))?),
    }
    let mut table = Table::default();
    table.shards.extend(shards.into_iter().map(|shard| (shard, PlacedRows::default())));
    let unreadable = |reason: &str| FileProblem::Unreadable { path: METADATA.to_owned(), reason: shown(reason) };
    match fill(&path, &mut table, watch) {
        Ok(None) => Ok(Ok(table)),
        Ok(Some(reason)) => Ok(Err(unreadable(&reason))),
        Err(_) if watch.is_cancelled() => Err(CheckError::Cancelled),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory) => {
                Err(durable::on("read", &path)(io::Error::other(error)).into())
            }
            _ => Ok(Err(unreadable(&error.to_string()))),
        },
    }
}

/// Fills the table, or says what is wrong with the file.
fn fill(path: &Path, table: &mut Table, watch: &Watch) -> Result<Option<String>, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(uri(path), flags)?;
    let cancelled = watch.cancellation();
    connection.progress_handler(STEPS_PER_LOOK, Some(move || cancelled.is_cancelled()))?;
    connection.execute_batch(PRAGMAS)?;
    let sound: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if sound != "ok" {
        return Ok(Some(sound));
    }
    let kind = "SELECT type FROM sqlite_schema WHERE name = 'documents'";
    if connection.query_row(kind, [], |row| row.get::<_, String>(0))? != "table" {
        return Ok(Some("`documents` is no table".to_owned()));
    }
    let mut statement = connection.prepare(ROWS)?;
    let (mut rows, mut domains) = (statement.query([])?, Domains::default());
    while let Some(row) = rows.next()? {
        table.add(row, &mut domains)?;
    }
    Ok(None)
}

/// The path as SQLite's URI (RFC 3986) of a file that nobody changes.
fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(*byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri + "?mode=ro&immutable=1"
}

impl Table {
    fn add(&mut self, row: &Row<'_>, domains: &mut Domains) -> Result<(), rusqlite::Error> {
        let text = |at| row.get_ref(at).map(bytes);
        let strings = [text(0)?, text(1)?, text(2)?, text(3)?, text(4)?];
        let number = |at| row.get_ref(at).map(integer);
        let (n_chars, shard, at, split) = (number(5)?, number(6)?, number(7)?, text(8)?);
        self.rows += 1;
        let split = [SplitName::Train, SplitName::Val].into_iter().find(|it| it.as_str().as_bytes() == split);
        let place = split.zip(shard.and_then(|shard| u64::try_from(shard).ok()));
        let placed = place.and_then(|place| self.shards.get_mut(&place));
        match (placed, n_chars, at.and_then(|at| u64::try_from(at).ok())) {
            (Some(placed), Some(n_chars), Some(at)) => placed.add(&PlacedRow { strings, n_chars, at }),
            _ if self.stranger.is_none() => self.stranger = Some(shown(&String::from_utf8_lossy(strings[0]))),
            _ => {}
        }
        let domain = text(9)?;
        let is_host = domain == domains.of(&String::from_utf8_lossy(strings[2])).as_bytes();
        if !is_host && self.domain.is_none() {
            let told = |bytes| shown(&String::from_utf8_lossy(bytes));
            self.domain = Some((told(strings[0]), told(domain)));
        }
        Ok(())
    }
}

/// The bytes of a text or a blob; what is neither is like no row of a shard.
fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => b"\0no text",
    }
}

fn integer(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(number) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn any_path_is_a_uri() {
        assert_eq!(uri(Path::new("/a b/v1?x#y%/é")), "file:/a%20b/v1%3Fx%23y%25/%C3%A9?mode=ro&immutable=1");
        assert_eq!(uri(Path::new(OsStr::from_bytes(b"a\xff"))), "file:a%FF?mode=ro&immutable=1");
    }
}
