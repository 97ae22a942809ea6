//! Why there is no dataset, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;
use corpora_contracts::ids::Name;
use corpora_contracts::outcome::Disposition;
use corpora_stage::durable::{self, FileError};
use corpora_stage::holdings::HoldingsError;
use corpora_stage::ledger::ReadLedgerError;
use corpora_stage::lock::LockError;

/// Why there is no dataset.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another run holds the dataset's lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file of ours failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] ReadLedgerError),
    /// A source's receipt cannot be read.
    #[error(transparent)]
    Holdings(#[from] HoldingsError),
    /// The config asks for what this release cannot do.
    #[error("store as `{key} = \"{value}\"`: that is not built yet; {instead}")]
    NotBuilt {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What to write.
        instead: &'static str,
    },
    /// The ledger has no row of a source's pinned bytes.
    #[error("store source `{source_id}`: the ledger has no row of its pinned bytes; run `corpora fetch` first")]
    NotFetched {
        /// The source.
        source_id: Name,
    },
    /// A source has no documents yet.
    #[error("store source `{source_id}`: `{folder}` has no `_STAGE.json`; run `corpora extract` first")]
    NotExtracted {
        /// The source.
        source_id: Name,
        /// Where its documents would be, relative to the artifacts root.
        folder: String,
    },
    /// A source's documents are of other bytes, fields or terms than the config's and the ledger's.
    #[error("store source `{source_id}`: {reason}; run `corpora extract` again")]
    Stale {
        /// The source.
        source_id: Name,
        /// How that is known.
        reason: String,
    },
    /// A file of extract's is not what it recorded.
    #[error("read `{path}`: {reason}; remove its folder and run `corpora extract` again")]
    Damaged {
        /// The file, relative to the artifacts root.
        path: String,
        /// How that is known.
        reason: String,
    },
    /// A line of a file of extract's is no document.
    #[error("read `{path}`: line {line} is no document; remove its folder and run `corpora extract` again")]
    Document {
        /// The file, relative to the artifacts root.
        path: String,
        /// 1-based.
        line: u64,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A shard cannot be encoded: a page of it would be larger than the format takes.
    #[error("write `{}`", path.display())]
    Parquet {
        /// The shard.
        path: PathBuf,
        /// What the writer says.
        source: ParquetError,
    },
    /// The metadata table cannot be written.
    #[error("write `{}`", path.display())]
    Metadata {
        /// The table's file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The config has no digest.
    #[error("tell the digest of the config")]
    Digest(#[source] serde_json::Error),
    /// The system has no thread for us.
    #[error("start a thread")]
    Thread(#[source] io::Error),
    /// The run was asked to stop.
    #[error("stopped before it was done; what is staged or published is untouched")]
    Cancelled,
}

impl StoreError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Lock(error) => error.disposition(),
            Self::File(error) => error.disposition(),
            Self::Ledger(error) => error.disposition(),
            Self::Holdings(error) => error.disposition(),
            Self::Metadata { source, .. } => metadata_disposition(source),
            Self::Thread(_) => Disposition::Retry,
            Self::Parquet { .. }
            | Self::NotBuilt { .. }
            | Self::NotFetched { .. }
            | Self::NotExtracted { .. }
            | Self::Stale { .. }
            | Self::Damaged { .. }
            | Self::Document { .. }
            | Self::Digest(_) => Disposition::Fail,
            Self::Cancelled => Disposition::Cancelled,
        }
    }

    /// The stable name of the kind of error, as the result object carries it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Lock(LockError::Held { .. }) => "lock_held",
            Self::Lock(LockError::Cancelled { .. }) | Self::Cancelled => "cancelled",
            _ if self.is_disk_full() => "disk_full",
            Self::Lock(LockError::File(_)) | Self::File(_) | Self::Thread(_) => "io",
            Self::Ledger(_) => "ledger",
            Self::Holdings(_) => "receipt",
            Self::NotBuilt { .. } => "not_built",
            Self::NotFetched { .. } => "not_fetched",
            Self::NotExtracted { .. } => "not_extracted",
            Self::Stale { .. } => "stale",
            Self::Damaged { .. } => "damaged",
            Self::Document { .. } => "document",
            Self::Parquet { .. } => "parquet",
            Self::Metadata { .. } => "metadata",
            Self::Digest(_) => "config",
        }
    }

    /// Whether the disk or the quota is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Lock(LockError::File(error)) | Self::File(error) => error.is_disk_full(),
            Self::Metadata { source, .. } => source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            _ => false,
        }
    }
}

/// What the Parquet writer says about a file: that the system fails it, or that the rows do.
pub(crate) fn of_parquet(path: &Path, error: ParquetError) -> StoreError {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => durable::on("write", path)(*cause).into(),
            Err(cause) => StoreError::Parquet { path: path.to_owned(), source: ParquetError::External(cause) },
        },
        source => StoreError::Parquet { path: path.to_owned(), source },
    }
}

/// A table that two documents of one id cannot both enter is wrong input; all else that SQLite says is about the disk.
fn metadata_disposition(error: &rusqlite::Error) -> Disposition {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ConstraintViolation | rusqlite::ErrorCode::TooBig) => Disposition::Fail,
        _ => Disposition::Retry,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_whoever_meets_it() {
        let full = || io::Error::from_raw_os_error(28);
        let path = PathBuf::from("shard");
        let sqlite = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None);
        for error in [
            StoreError::File(durable::on("write", &path)(full())),
            of_parquet(&path, full().into()),
            StoreError::Metadata { path: path.clone(), source: sqlite },
        ] {
            assert_eq!((error.kind(), error.disposition()), ("disk_full", Disposition::Retry), "{error:?}");
        }
        let ours = of_parquet(&path, ParquetError::General("page too large".to_owned()));
        assert_eq!((ours.kind(), ours.disposition()), ("parquet", Disposition::Fail));
    }
}
