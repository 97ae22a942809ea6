//! The ledger as it stands; only the commit and `ledger revoke` write it.

use std::{fs, io};

use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::{Ledger, LedgerError};
use corpora_contracts::outcome::Disposition;

use crate::durable::{self, FileError};

/// Why the ledger cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadLedgerError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is no row.
    #[error("read the ledger `{}`; restore the line, or the file from a backup", path.display())]
    Damaged {
        /// The ledger.
        path: std::path::PathBuf,
        /// The line.
        source: LedgerError,
    },
}

impl ReadLedgerError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::File(error) => error.disposition(),
            Self::Damaged { .. } => Disposition::Fail,
        }
    }
}

/// Reads the ledger. It needs no lock: a torn last line, which a writer may be in the middle of, counts for nothing.
///
/// # Errors
/// [`ReadLedgerError`]; a ledger that is not there yet is empty.
pub fn read(layout: &Layout) -> Result<Ledger, ReadLedgerError> {
    let path = layout.ledger();
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(durable::on("read", &path)(error).into()),
    };
    Ledger::parse(&bytes).map_err(|source| ReadLedgerError::Damaged { path, source })
}
