//! What `fetch` prints as its last line of stdout.

use serde::{Deserialize, Serialize};

use crate::ids::Name;

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FetchSummary {
    /// Always `fetch`.
    pub stage: String,
    /// Whether every entry is fetched, cached or revoked.
    pub ok: bool,
    /// One entry per source, in config order.
    pub entries: Vec<Entry>,
    /// Why the rows were not committed, when they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<EntryError>,
    /// `fixed` when `CORPORA_CLOCK` fixed the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
}

/// What became of one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The source.
    pub source_id: Name,
    /// What became of it.
    pub status: Status,
    /// Its raw directory relative to the artifacts root, empty without one.
    pub raw_dir: String,
    /// The pinned digest; of a quarantined entry the digest of the bytes received.
    pub sha256: String,
    /// Body bytes received by this run.
    pub bytes: u64,
    /// Documents in the raw directory.
    pub n_docs: u64,
    /// The receipt's time, empty without one.
    pub retrieved_at: String,
    /// HTTP requests made by this run, redirect hops included.
    pub requests: u64,
    /// Why the entry is not fetched, cached or revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<EntryError>,
}

/// What became of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Its raw directory was published by this run.
    Fetched,
    /// Ledger, receipt and raw directory were there already.
    Cached,
    /// Complete bytes whose digest is not the pinned one.
    Quarantined,
    /// It failed for good, or its attempts are used up.
    Failed,
    /// Another source's failure or a signal stopped it.
    Cancelled,
    /// The ledger revokes it.
    Revoked,
}

impl Status {
    /// Whether the entry counts as success.
    #[must_use]
    pub fn is_ok(self) -> bool {
        matches!(self, Self::Fetched | Self::Cached | Self::Revoked)
    }
}

/// Why an entry is not fetched, cached or revoked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryError {
    /// A stable name of the kind of error.
    pub kind: String,
    /// What happened and what the person can do, without secrets.
    pub message: String,
    /// Seconds the server asked to wait, when that was too long to wait here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
}
