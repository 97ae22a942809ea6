//! The commit: rows for what receipts vouch for, in config order, under the ledger's lock.
//!
//! Another process sees the ledger before or after the append; a crash in the append leaves a torn last line, which
//! counts for nothing and which the next commit cuts off.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::{Ledger, Row, Tail};
use corpora_contracts::outcome::Disposition;
use corpora_stage::durable::{self, FileError};
use corpora_stage::fault;
use corpora_stage::holdings::{self, HoldingsError};
use corpora_stage::ledger::{self, ReadLedgerError};
use corpora_stage::lock::{Lock, LockError};
use corpora_stage::pinned;
use tokio_util::sync::CancellationToken;

/// Why the ledger was not written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Another run holds the ledger's lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file of ours failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] ReadLedgerError),
    /// A source's receipts cannot be told.
    #[error(transparent)]
    Holdings(#[from] HoldingsError),
}

impl CommitError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Lock(error) => error.disposition(),
            Self::File(error) => error.disposition(),
            Self::Ledger(error) => error.disposition(),
            Self::Holdings(error) => error.disposition(),
        }
    }
}

/// Appends the rows that are due for the sources and crawls of a config, in its order: a first row for one with a receipt,
/// and one with what is true now where its terms changed. Returns the ledger as it stands then.
///
/// It is not cancelled: what was fetched gets its row also when the run is stopped.
///
/// # Errors
/// [`CommitError`]; the ledger then holds what it held.
pub async fn commit(config: &Config, layout: &Layout, lock_timeout: Duration) -> Result<Ledger, CommitError> {
    let ledger = ledger::read(layout)?;
    if ledger.tail == Tail::Whole && due(config, layout, &ledger)?.is_empty() {
        return Ok(ledger);
    }
    let append = |ledger: &Ledger| due(config, layout, ledger);
    append_rows(layout, lock_timeout, append).await
}

/// The ledger as the commit would leave it, without writing: what a dry run tells later stages.
///
/// # Errors
/// As [`commit`].
pub fn ledger_after(config: &Config, layout: &Layout) -> Result<Ledger, CommitError> {
    let ledger = ledger::read(layout)?;
    let rows = due(config, layout, &ledger)?;
    Ok(ledger.appended(rows))
}

/// Appends the row that a closure makes of the ledger as it stands under the lock; for `ledger revoke`.
///
/// # Errors
/// [`CommitError`]; the ledger then holds what it held.
pub async fn append_rows(
    layout: &Layout,
    lock_timeout: Duration,
    rows: impl FnOnce(&Ledger) -> Result<Vec<Row>, CommitError>,
) -> Result<Ledger, CommitError> {
    let _lock = Lock::acquire(&layout.ledger_lock(), lock_timeout, &CancellationToken::new()).await?;
    let ledger = ledger::read(layout)?;
    let rows = rows(&ledger)?;
    write_rows(layout, &ledger, &rows)?;
    Ok(ledger.appended(rows))
}

fn due(config: &Config, layout: &Layout, ledger: &Ledger) -> Result<Vec<Row>, CommitError> {
    let mut rows = Vec::new();
    for source in pinned::resolve(config, layout)?.pinned() {
        let held = holdings::read(layout, &source.id)?;
        let holding = holdings::newest(&held, &source.sha256, |receipt| receipt.split.documents == source.split);
        rows.extend(holding.and_then(|holding| ledger.due(source, &holding.receipt)));
    }
    Ok(rows)
}

/// Mends the tail, then appends all rows with one write and syncs.
fn write_rows(layout: &Layout, ledger: &Ledger, rows: &[Row]) -> Result<(), FileError> {
    let path = layout.ledger();
    let on = |action| durable::on(action, &path);
    if rows.is_empty() && ledger.tail == Tail::Whole {
        return Ok(());
    }
    let is_new = !path.exists();
    let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(on("open"))?;
    mend(&mut file, ledger.tail).map_err(on("mend"))?;
    let mut lines = String::new();
    for row in rows {
        lines.push_str(&row.to_line().map_err(io::Error::from).map_err(on("write"))?);
    }
    append(&mut file, lines.as_bytes()).map_err(on("append to"))?;
    if is_new && let Some(folder) = path.parent() {
        durable::sync_folder(folder)?;
    }
    fault::point("ledger.after");
    Ok(())
}

fn mend(file: &mut File, tail: Tail) -> io::Result<()> {
    match tail {
        Tail::Whole => return Ok(()),
        Tail::NoNewline => file.write_all(b"\n")?,
        Tail::Torn { start } => {
            tracing::warn!(at_byte = start, "cutting off the ledger's torn last line, which a crash left");
            file.set_len(start)?;
        }
    }
    file.sync_all()?;
    fault::point("ledger-mended.after");
    Ok(())
}

fn append(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    if fault::wants("ledger.torn") {
        file.write_all(&lines[..lines.len() / 2])?;
        fault::point("ledger.torn");
    }
    let written = file.write_all(lines).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a row may be there: cut it off, so that readers that come before the next commit see none.
        let _ = file.set_len(before);
    }
    written
}
