//! Receipts: what one raw directory holds, `receipts/<id>/<yyyymmdd[.n]>.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::Split;
use crate::ids::{Digest, Name};
use crate::time::Timestamp;

/// What one raw directory holds; synced before the directory is renamed into place, never changed after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The source.
    pub source_id: Name,
    /// The digest of the source's bytes, equal to the pinned one.
    pub sha256: Digest,
    /// How many bytes they were.
    pub bytes: u64,
    /// When they were verified.
    pub retrieved_at: Timestamp,
    /// Documents in all parts.
    pub n_docs: u64,
    /// Malformed documents left out, by reason; empty unless `on_bad_document = "drop"`.
    pub dropped: BTreeMap<String, u64>,
    /// The settings that made these parts of those bytes.
    pub split: SplitSettings,
    /// The parts in order.
    pub parts: Vec<Part>,
}

impl Receipt {
    /// The receipt as stored: compact JSON and a newline.
    ///
    /// # Errors
    /// Never for a receipt built by these types; the serializer's error is passed on all the same.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        Ok(line)
    }
}

/// Everything that decides which parts a source's bytes become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitSettings {
    /// Format and fields.
    pub documents: Split,
    /// At most so many documents a part.
    pub part_docs: u64,
}

/// One part of a raw directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// `part-<nnnnn>.jsonl.zst`.
    pub name: String,
    /// The digest of the file as stored (compressed).
    pub sha256: Digest,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its documents.
    pub n_docs: u64,
}
