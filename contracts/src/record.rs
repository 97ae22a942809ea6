//! `_STAGE.json`: what a stage made of what, so that a rerun with nothing new does nothing.
//!
//! Of extract it lies beside its parts, of store in `corpus/store/<dataset>/<version>/`. Sizes and times of files stand
//! here and never in a dataset folder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::Digest;

/// What a stage made of what; published last, so that its presence means that the outputs are whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// The stage's verb.
    pub stage: String,
    /// What the outputs depend on beside the files: by name, the digest of each part of the config, the terms, and the
    /// stage's own version. A dry run names those that differ.
    pub keys: BTreeMap<String, Digest>,
    /// The files that were read, in the order read.
    pub inputs: Vec<FileState>,
    /// Documents written.
    pub kept: u64,
    /// Documents left out, by reason, by this stage and those before it.
    pub dropped: BTreeMap<String, u64>,
    /// Pages of which a limit of `[extract]` cut something, by the name of its key; a page may count under several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cut: BTreeMap<String, u64>,
    /// The files that were written, in order.
    pub outputs: Vec<OutputFile>,
}

/// A file as it was when its bytes were digested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileState {
    /// Relative to the artifacts root.
    pub path: String,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its modification time, in nanoseconds since 1970-01-01T00:00:00Z.
    pub mtime_ns: i64,
}

/// A file that a stage wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputFile {
    /// Relative to the artifacts root.
    pub path: String,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its documents or rows.
    pub n_docs: u64,
}
