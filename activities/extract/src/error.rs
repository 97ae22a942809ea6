//! Why a source has no documents, and what to do about it.

use std::io;
use std::sync::Arc;

use corpora_contracts::config::Format;
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::outcome::Disposition;
use corpora_stage::durable::FileError;
use corpora_stage::holdings::HoldingsError;
use corpora_stage::ledger::ReadLedgerError;
use corpora_stage::lock::LockError;

pub use crate::convert::Problem;

/// Why a source has no documents.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The ledger cannot be read, so no source was looked at.
    #[error(transparent)]
    Ledger(#[from] Arc<ReadLedgerError>),
    /// Its receipts cannot be told.
    #[error(transparent)]
    Holdings(#[from] HoldingsError),
    /// Another run works on it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file of ours failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no raw directory of the pinned bytes, split as the config says.
    #[error(
        "find the raw documents of source `{id}` with digest {sha256}, split as the config says; run `corpora fetch` \
         first"
    )]
    NotFetched {
        /// The source.
        id: Name,
        /// The pinned digest.
        sha256: Digest,
    },
    /// The ledger has no row of the pinned bytes, so there are no terms.
    #[error("find the ledger row of source `{id}` with digest {sha256}; run `corpora fetch` first")]
    NoRow {
        /// The source.
        id: Name,
        /// The pinned digest.
        sha256: Digest,
    },
    /// Documents of this format cannot be extracted.
    #[error("extract source `{id}`, whose format {format:?} is not built yet")]
    UnbuiltFormat {
        /// The source.
        id: Name,
        /// Its format.
        format: Format,
    },
    /// The bytes of a raw part are not those of its receipt.
    #[error(
        "read `{path}`: raw part changed, it has not the digest {expected} of its receipt; restore it, or remove its raw \
         directory and run `corpora fetch`"
    )]
    RawPartChanged {
        /// The part, relative to the artifacts root.
        path: String,
        /// The receipt's digest.
        expected: Digest,
    },
    /// A raw part has its receipt's digest and is no zstd file.
    #[error("unpack `{path}`, which has the digest of its receipt; report this, and fetch the source again")]
    Unpack {
        /// The part, relative to the artifacts root.
        path: String,
        /// What the decoder says.
        source: io::Error,
    },
    /// A raw part has its receipt's digest and other documents than the receipt counts.
    #[error(
        "read `{path}`, which has {found} lines where its receipt counts {expected}; remove its raw directory and run \
         `corpora fetch`"
    )]
    Miscounted {
        /// The part, relative to the artifacts root.
        path: String,
        /// The receipt's count.
        expected: u64,
        /// Lines in the part.
        found: u64,
    },
    /// A line of a raw part is no raw document.
    #[error("read line {line} of `{path}`: {problem}")]
    Line {
        /// The part, relative to the artifacts root.
        path: String,
        /// The 1-based line of the unpacked part.
        line: u64,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The system gives no thread, or no memory for a compressor.
    #[error("start the threads that extract source `{id}`")]
    Threads {
        /// The source.
        id: Name,
        /// What the system says.
        source: io::Error,
    },
    /// A digest cannot be made of a part of the config.
    #[error("write down the settings that documents depend on")]
    Keys(#[from] serde_json::Error),
    /// The run was asked to stop, or another source's failure stopped it.
    #[error("stopped before it was done; what was done is kept")]
    Cancelled,
}

impl SourceError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Ledger(error) => error.disposition(),
            Self::Holdings(error) => error.disposition(),
            Self::Lock(error) => error.disposition(),
            Self::File(error) => error.disposition(),
            Self::Threads { .. } => Disposition::Retry,
            Self::NotFetched { .. }
            | Self::NoRow { .. }
            | Self::UnbuiltFormat { .. }
            | Self::RawPartChanged { .. }
            | Self::Unpack { .. }
            | Self::Miscounted { .. }
            | Self::Line { .. }
            | Self::Keys(_) => Disposition::Fail,
            Self::Cancelled => Disposition::Cancelled,
        }
    }

    /// The stable name of the kind of error, as the result object carries it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ledger(_) => "ledger",
            Self::Holdings(_) => "receipt",
            Self::Lock(LockError::Held { .. }) => "lock_held",
            Self::Lock(LockError::Cancelled { .. }) | Self::Cancelled => "cancelled",
            Self::Lock(LockError::File(error)) | Self::File(error) if error.is_disk_full() => "disk_full",
            Self::Lock(LockError::File(_)) | Self::File(_) | Self::Threads { .. } => "io",
            Self::NotFetched { .. } => "not_fetched",
            Self::NoRow { .. } => "no_row",
            Self::UnbuiltFormat { .. } => "format",
            Self::RawPartChanged { .. } => "raw_part_changed",
            Self::Unpack { .. } | Self::Miscounted { .. } => "raw_part",
            Self::Line { .. } => "document",
            Self::Keys(_) => "settings",
        }
    }
}
