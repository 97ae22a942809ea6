//! Why a source is not fetched, and what to do about it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::Disposition;
use corpora_crawl::collect::CollectError;
use corpora_crawl::embedded::CrawlError;
use corpora_crawl::role::KeepError;
use corpora_crawl::storage::StorageError;
use corpora_http::client::ClientError;
use corpora_ports::PortError;
use corpora_ports::frontier::FrontierStoreError;
use corpora_stage::chain;
use corpora_stage::durable::{FileError, is_disk_full};
use corpora_stage::holdings::HoldingsError;
use corpora_stage::ledger::ReadLedgerError;
use corpora_stage::lock::LockError;

use crate::credentials::CredentialError;
use crate::failure::DownloadError;
use crate::http::HttpError;
use crate::location::InvalidLocation;
use crate::split::SplitError;

/// Why a source is not fetched.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Another run holds its lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Its receipts cannot be told.
    #[error(transparent)]
    Holdings(#[from] HoldingsError),
    /// A file of ours failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its url names no place.
    #[error(transparent)]
    Location(#[from] InvalidLocation),
    /// Its credential is missing.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// There is no HTTP client to ask with.
    #[error(transparent)]
    Client(#[from] Arc<ClientError>),
    /// A location did not give its bytes.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// No location gave its bytes.
    #[error("{}", failures.iter().map(|error| chain(error)).collect::<Vec<_>>().join("; then "))]
    Everywhere {
        /// The url's failure, then each mirror's.
        failures: Vec<SourceError>,
    },
    /// The local file cannot be read.
    #[error("read `{}`; put the file there, or correct the source's url", path.display())]
    Local {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The local file had the pinned digest and then was other bytes.
    #[error("read `{}`: the file changed while it was read", path.display())]
    ChangedWhileRead {
        /// The file.
        path: PathBuf,
    },
    /// Complete bytes, but not the pinned ones.
    #[error("the bytes have digest {received}, not the pinned {pinned}{hint}; {kept}")]
    Quarantined {
        /// The digest of the bytes.
        received: Digest,
        /// The digest that the config pins.
        pinned: Digest,
        /// What they seem to be, where that can be told.
        hint: String,
        /// Where they are and what the person can do.
        kept: String,
    },
    /// The verified bytes are no documents.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A crawl's pages cannot be stored.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A crawl cannot go on.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// A finished crawl's pages cannot be collected.
    #[error(transparent)]
    Collect(#[from] CollectError),
    /// A queue between the roles of a crawl failed.
    #[error(transparent)]
    Queue(#[from] PortError),
    /// A crawl whose roles run apart is not over.
    #[error("collect its pages: its coordinator has not ended; `corpora crawl coordinator` runs it to its end")]
    NotEnded,
    /// Pages of a crawl whose roles run apart are on their way.
    #[error("collect its pages: {pages} wait for a storage worker; `corpora crawl storage-worker` stores them")]
    NotStored {
        /// Messages on the storage queue.
        pages: u64,
    },
    /// Pages of a crawl whose roles run apart could not be stored.
    #[error(
        "collect its pages: {letters} could not be stored, as the log of the storage worker says; `corpora crawl redrive` puts them back"
    )]
    DeadLetters {
        /// Dead letters of the storage queue.
        letters: u64,
    },
    /// No seed of a crawl leads to a page, and none will next time.
    #[error("read any of its seeds ({reasons}); correct `seed_urls`, or ask their owner")]
    SeedsFailed {
        /// What became of the URLs, by reason.
        reasons: String,
    },
    /// A crawl has no page yet, and may get some later.
    #[error(
        "read any page: {retryable} are left that may come later; what is known is kept, and the next run asks again. {hosts}"
    )]
    NothingYet {
        /// Hosts that could not be had, with the reason.
        hosts: String,
        /// URLs that may still come.
        retryable: u64,
    },
    /// What the whole run needs cannot be had, so no source was looked at.
    #[error(transparent)]
    Run(#[from] Arc<RunError>),
    /// The run was asked to stop, or another source's failure stopped it.
    #[error("stopped before it was done; what was done is kept")]
    Cancelled,
}

/// Why no source was looked at.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The ledger cannot be read, so what is cached cannot be told.
    #[error(transparent)]
    Ledger(#[from] ReadLedgerError),
}

impl RunError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Ledger(error) => error.disposition(),
        }
    }
}

impl SourceError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Lock(error) => error.disposition(),
            Self::Holdings(error) => error.disposition(),
            Self::File(error) => error.disposition(),
            Self::Download(error) => error.disposition(),
            Self::Everywhere { failures } => everywhere(failures),
            Self::Split(error) => error.disposition(),
            Self::ChangedWhileRead { .. } => Disposition::Retry,
            Self::Run(error) => error.disposition(),
            Self::Storage(error) => error.disposition(),
            Self::Crawl(error) => error.disposition(),
            Self::Collect(error) => error.disposition(),
            Self::Queue(error) => error.disposition(),
            Self::NothingYet { .. } | Self::NotEnded | Self::NotStored { .. } => Disposition::Retry,
            Self::DeadLetters { .. } => Disposition::Fail,
            Self::SeedsFailed { .. } => Disposition::Fail,
            Self::Location(_) | Self::Credential(_) | Self::Client(_) => Disposition::Fail,
            Self::Local { .. } | Self::Quarantined { .. } => Disposition::Fail,
            Self::Cancelled => Disposition::Cancelled,
        }
    }

    /// The stable name of the kind of error, as the result object carries it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Lock(LockError::Held { .. }) => "lock_held",
            Self::Lock(LockError::File(error)) | Self::File(error) if error.is_disk_full() => "disk_full",
            Self::Lock(_) | Self::File(_) | Self::ChangedWhileRead { .. } => "io",
            Self::Holdings(_) => "receipt",
            Self::Location(_) => "location",
            Self::Credential(_) => "credential",
            Self::Client(_) => "client",
            Self::Download(error) => error.kind(),
            Self::Everywhere { failures } => self.decisive(failures).map_or("failed", Self::kind),
            Self::Local { .. } => "local_file",
            Self::Quarantined { .. } => "digest_mismatch",
            Self::Split(error) => split_kind(error),
            Self::Storage(_) | Self::Crawl(_) | Self::Collect(_) | Self::Queue(_) => crawl_kind(self),
            Self::NotEnded | Self::NotStored { .. } => "not_ended",
            Self::DeadLetters { .. } => "dead_letters",
            Self::SeedsFailed { .. } => "seeds",
            Self::NothingYet { .. } => "unreachable",
            Self::Run(_) => "ledger",
            Self::Cancelled => "cancelled",
        }
    }

    /// The seconds that a server asks to wait, when that is left to a later run.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Download(error) => error.retry_after(),
            Self::Everywhere { failures } => failures.iter().filter_map(Self::retry_after).min(),
            _ => None,
        }
    }

    /// The digest of bytes that were quarantined.
    #[must_use]
    pub fn quarantined(&self) -> Option<Digest> {
        match self {
            Self::Quarantined { received, .. } => Some(*received),
            Self::Everywhere { failures } => failures.iter().find_map(Self::quarantined),
            _ => None,
        }
    }

    /// Whether another location of the same bytes may do better: not when our own disk or environment, the verified
    /// bytes or a cancel are the reason.
    #[must_use]
    pub fn mirror_may_help(&self) -> bool {
        match self {
            Self::Quarantined { .. } | Self::Location(_) | Self::Credential(_) => true,
            Self::Download(DownloadError::File(_) | DownloadError::Http(HttpError::Cancelled)) => false,
            Self::Download(_) => true,
            _ => false,
        }
    }

    /// The failure that decides what to do.
    fn decisive<'a>(&self, failures: &'a [Self]) -> Option<&'a Self> {
        let disposition = self.disposition();
        let quarantined = failures.iter().find(|error| error.quarantined().is_some());
        quarantined.or_else(|| failures.iter().find(|error| error.disposition() == disposition))
    }
}

/// Wrong bytes need a human; else a location that may answer later makes a later attempt worth while.
fn everywhere(failures: &[SourceError]) -> Disposition {
    let retry = failures.iter().any(|error| error.disposition() == Disposition::Retry);
    let quarantined = failures.iter().any(|error| error.quarantined().is_some());
    if retry && !quarantined { Disposition::Retry } else { Disposition::Fail }
}

/// A crawl's own files: a full disk is told from other causes, which stand somewhere below.
fn crawl_kind(error: &SourceError) -> &'static str {
    let mut cause = std::error::Error::source(error);
    while let Some(current) = cause {
        if current.downcast_ref::<io::Error>().is_some_and(is_disk_full)
            || current.downcast_ref::<FrontierStoreError>().is_some_and(|error| error.is_disk_full)
            || current.downcast_ref::<KeepError>().is_some_and(|error| error.is_disk_full)
        {
            return "disk_full";
        }
        cause = current.source();
    }
    if error.disposition() == Disposition::Fail { "crawl" } else { "io" }
}

fn split_kind(error: &SplitError) -> &'static str {
    match error {
        SplitError::Document { .. } => "document",
        SplitError::UnsupportedFormat { .. } => "format",
        SplitError::Write { source, .. } if is_disk_full(source) => "disk_full",
        SplitError::Write { .. } | SplitError::Read(_) => "io",
        SplitError::Cancelled => "cancelled",
        _ => "archive",
    }
}
