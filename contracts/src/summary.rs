//! What the stages print as their last line of stdout.

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

/// What extract, store and verify-ledger print: what became of each thing that the stage works on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageSummary {
    /// The stage's verb.
    pub stage: String,
    /// Whether every entry is done, cached or revoked.
    pub ok: bool,
    /// One entry per source in config order, or one for the dataset.
    pub entries: Vec<StageEntry>,
    /// `fixed` when `CORPORA_CLOCK` fixed the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
}

/// What became of one source or dataset in a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageEntry {
    /// The source; of store and verify-ledger `<dataset>/<version>`.
    pub id: String,
    /// What became of it.
    pub status: StageStatus,
    /// What it wrote or found, relative to the artifacts root; empty when there is none.
    pub path: String,
    /// Documents kept.
    pub n_docs: u64,
    /// Documents left out, by reason.
    pub dropped: std::collections::BTreeMap<String, u64>,
    /// Why the entry is not done, cached or revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<EntryError>,
    /// Every further problem, where a stage lists all it found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What became of one source or dataset in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StageStatus {
    /// Its outputs were published by this run.
    Done,
    /// They stood already, made of the same inputs with the same config.
    Cached,
    /// It failed.
    Failed,
    /// Another failure or a signal stopped it.
    Cancelled,
    /// The ledger revokes it, so it is left out.
    Revoked,
}

impl StageStatus {
    /// Whether the entry counts as success.
    #[must_use]
    pub fn is_ok(self) -> bool {
        matches!(self, Self::Done | Self::Cached | Self::Revoked)
    }
}

/// What `corpora build` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildSummary {
    /// Always `build`.
    pub stage: String,
    /// Whether every stage that was asked for is done.
    pub ok: bool,
    /// The dataset.
    pub dataset: Name,
    /// Its version.
    pub version: Name,
    /// The verified dataset relative to the artifacts root; empty when this build did not get that far.
    pub dataset_dir: String,
    /// Its documents.
    pub n_docs: u64,
    /// The result of each stage that ran, in order.
    pub stages: Vec<StageResult>,
    /// `fixed` when `CORPORA_CLOCK` fixed the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
}

/// The result of one stage of a build, as that stage prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StageResult {
    /// Of fetch.
    Fetch(FetchSummary),
    /// Of extract, store and verify-ledger.
    Documents(StageSummary),
}
