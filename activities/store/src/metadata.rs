//! `metadata.sqlite`: where each document is, for people and tools that look one up. Never a text.

use std::fs::File;
use std::path::Path;

use corpora_contracts::document::Domains;
use corpora_stage::durable;
use rusqlite::{Connection, params};
use tokio_util::sync::CancellationToken;

use crate::error::StoreError;
use crate::group::{Group, Origin, SharedGroup};

/// The table's file in a dataset folder.
pub(crate) const FILE: &str = "metadata.sqlite";

/// Steps of SQLite's machine between two looks at the cancellation: some milliseconds.
const STEPS_PER_LOOK: i32 = 100_000;

/// The file is made aside and published whole, so that it needs neither a journal nor a sync of its own meanwhile.
const PRAGMAS: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;";

/// `shard` is the number of the shard in its split, `row` that of the row in the shard, both from 0; `domain` is the host
/// of the url, empty without one; `sha256` the 32 bytes.
const TABLE: &str = "CREATE TABLE documents (
    id TEXT NOT NULL PRIMARY KEY,
    source_id TEXT NOT NULL,
    url TEXT NOT NULL,
    domain TEXT NOT NULL,
    lang TEXT NOT NULL,
    n_chars INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    shard INTEGER NOT NULL,
    row INTEGER NOT NULL,
    split TEXT NOT NULL
)";

const INSERT: &str = "INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// Made when all rows are there, which is several times faster than keeping them up.
const INDEXES: [&str; 4] = [
    "CREATE INDEX documents_source_id ON documents (source_id)",
    "CREATE INDEX documents_domain ON documents (domain)",
    "CREATE INDEX documents_lang ON documents (lang)",
    "CREATE INDEX documents_sha256 ON documents (sha256)",
];

/// Writes the table of all groups into `folder`. SQLite sorts the indexes in its own temporary files.
///
/// # Errors
/// When it cannot be written, or two documents have one id.
pub(crate) fn write(
    folder: &Path,
    origins: &[Origin],
    cancel: &CancellationToken,
    groups: impl IntoIterator<Item = SharedGroup>,
) -> Result<(), StoreError> {
    let path = folder.join(FILE);
    let filled = fill(&path, origins, cancel, groups);
    if cancel.is_cancelled() {
        return Err(StoreError::Cancelled);
    }
    filled.map_err(|source| StoreError::Metadata { path: path.clone(), source })?;
    File::open(&path).and_then(|file| file.sync_all()).map_err(durable::on("sync", &path))?;
    Ok(())
}

fn fill(
    path: &Path,
    origins: &[Origin],
    cancel: &CancellationToken,
    groups: impl IntoIterator<Item = SharedGroup>,
) -> Result<(), rusqlite::Error> {
    let mut connection = Connection::open(path)?;
    let cancel = cancel.clone();
    connection.progress_handler(STEPS_PER_LOOK, Some(move || cancel.is_cancelled()))?;
    connection.execute_batch(PRAGMAS)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLE)?;
    let mut insert = transaction.prepare(INSERT)?;
    let mut domains = Domains::default();
    for group in groups {
        insert_group(&mut insert, &group, origins, &mut domains)?;
    }
    drop(insert);
    for index in INDEXES {
        transaction.execute_batch(index)?;
    }
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn insert_group(
    insert: &mut rusqlite::Statement<'_>,
    group: &Group,
    origins: &[Origin],
    domains: &mut Domains,
) -> Result<(), rusqlite::Error> {
    let rows = &group.rows;
    for at in 0..rows.len() {
        let url = rows.url.get(at);
        insert.execute(params![
            rows.id.get(at),
            origins[rows.source[at]].source_id.as_str(),
            url,
            domains.of(url),
            rows.lang.get(at),
            rows.n_chars[at],
            &rows.sha256[at][..],
            number(group.shard),
            number(group.first_row + at as u64),
            group.split.as_str(),
        ])?;
    }
    Ok(())
}

/// SQLite's integers have a sign.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
