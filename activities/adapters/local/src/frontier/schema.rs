//! The tables of a crawl's state, and the statements of every day.

use corpora_ports::frontier::State;

/// WAL lets others read meanwhile; FULL syncs each commit; the cache is 8 MiB and never more.
pub(super) const PRAGMAS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;
PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;";

/// `address` is NULL where it is the key, and `state` one of [`number`]. The partial index holds what is queued alone, so
/// that it shrinks as the crawl goes on. `ways` is what `links` packs.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hosts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, asked INTEGER NOT NULL, rest INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS urls (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, address TEXT, host INTEGER NOT NULL, depth INTEGER NOT NULL,
    state INTEGER NOT NULL, reason TEXT NOT NULL, parent INTEGER, attempts INTEGER NOT NULL, due INTEGER NOT NULL,
    asked INTEGER NOT NULL, found INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS queued ON urls (host, due, depth, id) WHERE state = 0;
CREATE TABLE IF NOT EXISTS links (url INTEGER PRIMARY KEY, ways BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS answers (
    host INTEGER NOT NULL, about TEXT NOT NULL, at INTEGER NOT NULL, verdict TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (host, about)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
";

pub(super) const CLEAR: &str =
    "DELETE FROM hosts; DELETE FROM urls; DELETE FROM links; DELETE FROM answers; DELETE FROM notes;";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, key, address, host, depth, state, reason, parent, attempts, due, asked, found FROM urls ",
            $rest
        )
    };
}

pub(super) const FIND: &str = select!("WHERE key = ?1");
pub(super) const GET: &str = select!("WHERE id = ?1");
pub(super) const DUE: &str = select!("WHERE state = 0 AND host = ?1 AND due <= ?2 ORDER BY due, depth, id LIMIT ?3");
pub(super) const LIST: &str = select!("WHERE id > ?1 ORDER BY id LIMIT ?2");
pub(super) const NEXT_DUE: &str = "SELECT due FROM urls WHERE state = 0 AND host = ?1 ORDER BY due LIMIT 1";

pub(super) const ADD: &str =
    "INSERT INTO urls (key, address, host, depth, state, reason, parent, attempts, due, asked, found)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0, ?8)";

pub(super) const PUT: &str = "UPDATE urls SET address = ?2, depth = ?3, state = ?4, reason = ?5, parent = ?6,
    attempts = ?7, due = ?8, asked = ?9 WHERE id = ?1";

pub(super) const REOPEN: &str = "UPDATE urls SET state = 0, attempts = 0, due = 0, reason = '' WHERE state = ?1";

pub(super) const SETTLE: &str =
    "UPDATE urls SET state = ?2, reason = ?3 WHERE state = 0 AND (?1 IS NULL OR host = ?1) AND (NOT ?4 OR asked = 0)";

pub(super) const STORED: &str = "SELECT key, depth FROM urls WHERE state = 2 AND key > ?1 ORDER BY key LIMIT ?2";

pub(super) const TALLY: &str = "SELECT host, state, reason, count(*) FROM urls GROUP BY host, state, reason";

/// The number of a state in the table.
pub(super) fn number(state: State) -> u8 {
    match state {
        State::Queued => 0,
        State::InFlight => 1,
        State::Stored => 2,
        State::Left => 3,
        State::Failed => 4,
    }
}

/// The state of a number; one that no release of ours writes was not had.
pub(super) fn state(number: u8) -> State {
    match number {
        0 => State::Queued,
        1 => State::InFlight,
        2 => State::Stored,
        3 => State::Left,
        _ => State::Failed,
    }
}
