//! The state of a crawl in a SQLite file.
//!
//! What was written since the last commit is one transaction. The file is in WAL mode, so that others may read the state
//! of the last commit while a crawl writes; each commit is synced, so that it survives a power cut. Its page cache has a
//! bound, which keeps memory flat however many URLs there are.

mod links;
mod schema;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use corpora_contracts::outcome::Disposition;
use corpora_ports::frontier::{
    Answer, FrontierStore, FrontierStoreError, HostId, HostRecord, Link, NewUrl, Queued, Result, State, StoredPage,
    Tally, UrlId, UrlRecord,
};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Params, Row, params};

/// The state of one crawl in a file. One process writes at a time; the caller holds the crawl's lock.
#[derive(Debug)]
pub struct SqliteFrontier {
    connection: Connection,
    /// Whether a transaction is open.
    writing: bool,
}

impl SqliteFrontier {
    /// Opens the state in this file, which is made where it is not. Its folder has to stand.
    ///
    /// # Errors
    /// When the file cannot be opened, or is no state of a crawl.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = Connection::open(path).and_then(|connection| {
            connection.busy_timeout(std::time::Duration::from_secs(10))?;
            connection.execute_batch(schema::PRAGMAS)?;
            connection.execute_batch(schema::TABLES)?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        });
        opened.map(|connection| Self { connection, writing: false }).map_err(failed("open"))
    }

    /// Opens the state in this file to look at it; None when there is no such file. Its writing methods fail, and nothing is
    /// written beside the file.
    ///
    /// A state that nobody has open has no journal beside it: it is read as a file that does not change. A crawl that begins
    /// at that very moment may then be seen half; the next look is right.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let opened = Connection::open_with_flags(address(path, !journal_of(path).exists()), flags);
        let opened = opened.and_then(|connection| {
            connection.busy_timeout(std::time::Duration::from_secs(10))?;
            Ok(connection)
        });
        opened.map(|connection| Some(Self { connection, writing: false })).map_err(failed("open"))
    }

    /// Runs a statement that writes; the number of rows it changed.
    fn write(&mut self, sql: &str, params: impl Params) -> Result<usize> {
        self.begin()?;
        let run = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params));
        run.map_err(failed("write"))
    }

    fn begin(&mut self) -> Result<()> {
        if !self.writing {
            self.connection.execute_batch("BEGIN IMMEDIATE").map_err(failed("write"))?;
            self.writing = true;
        }
        Ok(())
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let run = self.connection.prepare_cached(sql);
        let rows = run.and_then(|mut statement| statement.query_map(params, read)?.collect());
        rows.map_err(failed("read"))
    }

    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let run = self.connection.prepare_cached(sql);
        let row = run.and_then(|mut statement| statement.query_row(params, read).optional());
        row.map_err(failed("read"))
    }
}

/// The journal of a file in WAL mode, which is there while somebody has it open, or died with it open.
fn journal_of(path: &Path) -> PathBuf {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    journal.into()
}

/// The file as SQLite's URI: three characters mean something there.
fn address(path: &Path, is_immutable: bool) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}{}", if is_immutable { "?immutable=1" } else { "" })
}

/// Wraps an error of SQLite with what was tried.
fn failed(action: &'static str) -> impl FnOnce(rusqlite::Error) -> FrontierStoreError {
    move |source| FrontierStoreError {
        action,
        disposition: disposition(source.sqlite_error_code()),
        is_disk_full: source.sqlite_error_code() == Some(ErrorCode::DiskFull),
        source: Box::new(source),
    }
}

/// A file that is damaged, or no database, stays so; a full disk, a lock, a lost mount may pass.
fn disposition(code: Option<ErrorCode>) -> Disposition {
    match code {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
            Disposition::Fail
        }
        _ => Disposition::Retry,
    }
}

/// A change that met no row: the caller names what it never added.
fn met(changed: usize) -> Result<()> {
    if changed == 1 { Ok(()) } else { Err(failed("write")(rusqlite::Error::StatementChangedRows(changed))) }
}

/// SQLite's integers are signed; ours are counts and times far below the sign.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn url(row: &Row<'_>) -> rusqlite::Result<UrlRecord> {
    let key: String = row.get(1)?;
    let address: Option<String> = row.get(2)?;
    Ok(UrlRecord {
        id: UrlId(unsigned(row.get(0)?)),
        address: address.unwrap_or_else(|| key.clone()),
        key,
        host: HostId(row.get(3)?),
        depth: row.get(4)?,
        state: schema::state(row.get(5)?),
        reason: row.get(6)?,
        parent: row.get::<_, Option<i64>>(7)?.map(|id| UrlId(unsigned(id))),
        attempts: row.get(8)?,
        due: unsigned(row.get(9)?),
        asked: row.get(10)?,
        found: unsigned(row.get(11)?),
    })
}

impl FrontierStore for SqliteFrontier {
    fn hosts(&mut self) -> Result<Vec<HostRecord>> {
        self.all("SELECT id, name, asked, rest FROM hosts ORDER BY id", [], |row| {
            let (asked, rest) = (unsigned(row.get(2)?), unsigned(row.get(3)?));
            Ok(HostRecord { id: HostId(row.get(0)?), name: row.get(1)?, asked, rest })
        })
    }

    fn host(&mut self, name: &str) -> Result<HostId> {
        let known = self.one("SELECT id FROM hosts WHERE name = ?1", [name], |row| row.get(0).map(HostId))?;
        if let Some(id) = known {
            return Ok(id);
        }
        let number = "SELECT coalesce(max(id) + 1, 0) FROM hosts";
        let id = self.one(number, [], |row| row.get(0))?.unwrap_or_default();
        self.write("INSERT INTO hosts (id, name, asked, rest) VALUES (?1, ?2, 0, 0)", params![id, name])?;
        Ok(HostId(id))
    }

    fn put_host(&mut self, host: &HostRecord) -> Result<()> {
        let row = params![host.id.0, signed(host.asked), signed(host.rest)];
        met(self.write("UPDATE hosts SET asked = ?2, rest = ?3 WHERE id = ?1", row)?)
    }

    fn answers(&mut self, host: HostId) -> Result<Vec<Answer>> {
        let sql = "SELECT about, at, verdict, body FROM answers WHERE host = ?1 ORDER BY about";
        self.all(sql, [host.0], |row| {
            let (about, at) = (row.get(0)?, unsigned(row.get(1)?));
            Ok(Answer { about, at, verdict: row.get(2)?, body: row.get(3)? })
        })
    }

    fn put_answer(&mut self, host: HostId, answer: &Answer) -> Result<()> {
        let row = params![host.0, answer.about, signed(answer.at), answer.verdict, answer.body];
        self.write("INSERT OR REPLACE INTO answers (host, about, at, verdict, body) VALUES (?1, ?2, ?3, ?4, ?5)", row)?;
        Ok(())
    }

    fn find(&mut self, key: &str) -> Result<Option<UrlRecord>> {
        self.one(schema::FIND, [key], url)
    }

    fn get(&mut self, id: UrlId) -> Result<Option<UrlRecord>> {
        self.one(schema::GET, [signed(id.0)], url)
    }

    fn add(&mut self, new: &NewUrl<'_>) -> Result<UrlId> {
        let address = (new.address != new.key).then_some(new.address);
        let parent = new.parent.map(|id| signed(id.0));
        let state = schema::number(new.state);
        self.write(
            schema::ADD,
            params![new.key, address, new.host.0, new.depth, state, new.reason, parent, signed(new.found)],
        )?;
        Ok(UrlId(unsigned(self.connection.last_insert_rowid())))
    }

    fn put(&mut self, url: &UrlRecord) -> Result<()> {
        let address = (url.address != url.key).then_some(url.address.as_str());
        let parent = url.parent.map(|id| signed(id.0));
        let (id, due, state) = (signed(url.id.0), signed(url.due), schema::number(url.state));
        let row = params![id, address, url.depth, state, url.reason, parent, url.attempts, due, url.asked];
        met(self.write(schema::PUT, row)?)
    }

    fn due(&mut self, host: HostId, now: u64, most: usize) -> Result<Vec<UrlRecord>> {
        self.all(schema::DUE, params![host.0, signed(now), signed(most as u64)], url)
    }

    fn next_due(&mut self, host: HostId) -> Result<Option<u64>> {
        self.one(schema::NEXT_DUE, [host.0], |row| row.get(0).map(unsigned))
    }

    fn links(&mut self, from: UrlId) -> Result<Vec<Link>> {
        let packed = self.one("SELECT ways FROM links WHERE url = ?1", [signed(from.0)], |row| row.get(0));
        Ok(packed?.map(|packed: Vec<u8>| links::unpack(&packed)).unwrap_or_default())
    }

    fn put_links(&mut self, from: UrlId, ways: &[Link]) -> Result<()> {
        let row = params![signed(from.0), links::pack(ways)];
        self.write("INSERT OR REPLACE INTO links (url, ways) VALUES (?1, ?2)", row)?;
        Ok(())
    }

    fn note(&mut self, name: &str) -> Result<Option<String>> {
        self.one("SELECT value FROM notes WHERE name = ?1", [name], |row| row.get(0))
    }

    fn put_note(&mut self, name: &str, value: &str) -> Result<()> {
        self.write("INSERT OR REPLACE INTO notes (name, value) VALUES (?1, ?2)", [name, value])?;
        Ok(())
    }

    fn reopen(&mut self, state: State) -> Result<u64> {
        Ok(self.write(schema::REOPEN, [schema::number(state)])? as u64)
    }

    fn settle_queued(&mut self, which: Queued, state: State, reason: &str) -> Result<u64> {
        let (host, never_asked) = match which {
            Queued::All => (None, false),
            Queued::OfHost(host) => (Some(host.0), false),
            Queued::NeverAsked => (None, true),
        };
        let row = params![host, schema::number(state), reason, never_asked];
        Ok(self.write(schema::SETTLE, row)? as u64)
    }

    fn stored(&mut self, after: Option<&str>, most: usize) -> Result<Vec<StoredPage>> {
        // Every canonical URL is behind the empty text.
        let from = params![after.unwrap_or_default(), signed(most as u64)];
        self.all(schema::STORED, from, |row| Ok(StoredPage { key: row.get(0)?, depth: row.get(1)? }))
    }

    fn list(&mut self, after: Option<UrlId>, most: usize) -> Result<Vec<UrlRecord>> {
        let after = after.map_or(0, |id| signed(id.0));
        self.all(schema::LIST, params![after, signed(most as u64)], url)
    }

    fn tally(&mut self) -> Result<BTreeMap<HostId, Tally>> {
        let rows = self.all(schema::TALLY, [], |row| {
            let (state, count) = (schema::state(row.get(1)?), unsigned(row.get(3)?));
            Ok((HostId(row.get(0)?), state, row.get::<_, String>(2)?, count))
        })?;
        let mut tallies: BTreeMap<HostId, Tally> = BTreeMap::new();
        for (host, state, reason, count) in rows {
            let tally = tallies.entry(host).or_default();
            match state {
                State::Queued => tally.queued += count,
                State::InFlight => tally.in_flight += count,
                State::Stored => tally.stored += count,
                State::Left => *tally.left.entry(reason).or_default() += count,
                State::Failed => *tally.failed.entry(reason).or_default() += count,
            }
        }
        Ok(tallies)
    }

    fn clear(&mut self) -> Result<()> {
        self.begin()?;
        self.connection.execute_batch(schema::CLEAR).map_err(failed("write"))
    }

    fn commit(&mut self) -> Result<()> {
        if self.writing {
            self.connection.execute_batch("COMMIT").map_err(failed("write"))?;
            self.writing = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use corpora_ports::frontier::suite;

    use super::*;

    #[test]
    fn the_file_passes_the_suite() {
        let folder = tempfile::tempdir().unwrap();
        let mut count = 0;
        suite::run(|| {
            count += 1;
            SqliteFrontier::open(&folder.path().join(format!("{count}.sqlite"))).unwrap()
        });
        assert!(count > 5);
    }

    #[test]
    fn what_was_committed_stands_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frontier.sqlite");
        assert!(SqliteFrontier::open_to_read(&path).unwrap().is_none());
        let mut store = SqliteFrontier::open(&path).unwrap();
        store.host("http://a").unwrap();
        store.commit().unwrap();
        store.host("http://b").unwrap();
        let names =
            |store: &mut SqliteFrontier| store.hosts().unwrap().into_iter().map(|host| host.name).collect::<Vec<_>>();
        let mut reader = SqliteFrontier::open_to_read(&path).unwrap().unwrap();
        assert_eq!(names(&mut reader), ["http://a"], "while it is written");
        assert!(reader.put_note("n", "1").is_err(), "a reader writes nothing");
        drop(store);
        let mut store = SqliteFrontier::open(&path).unwrap();
        assert_eq!(names(&mut store), ["http://a"]);
    }

    #[test]
    fn a_look_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a?b#c%20.sqlite");
        let mut store = SqliteFrontier::open(&path).unwrap();
        store.host("http://a").unwrap();
        store.commit().unwrap();
        drop(store);
        let mut reader = SqliteFrontier::open_to_read(&path).unwrap().unwrap();
        assert_eq!(reader.hosts().unwrap().len(), 1);
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1, "no journal and no lock beside it");
    }

    #[test]
    fn a_file_of_something_else_is_refused_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frontier.sqlite");
        std::fs::write(&path, vec![b'x'; 5000]).unwrap();
        let error = SqliteFrontier::open(&path).unwrap_err();
        assert_eq!((error.disposition, error.is_disk_full), (Disposition::Fail, false));
        let absent = folder.path().join("absent/frontier.sqlite");
        assert_eq!(SqliteFrontier::open(&absent).unwrap_err().disposition, Disposition::Retry);
    }
}
