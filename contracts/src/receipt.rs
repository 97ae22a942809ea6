//! Receipts: what one raw directory holds, `receipts/<id>/<yyyymmdd[.n]>.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::Split;
use crate::ids::{Digest, Name};
use crate::line::to_line;
use crate::time::Timestamp;

/// What one raw directory holds; synced before the directory is renamed into place, never changed after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The source.
    pub source_id: Name,
    /// The digest of the source's bytes, equal to the pinned one; of a crawl the digest over the sorted lines
    /// `<canonical url>\t<sha256 of the body>\n` of its pages.
    pub sha256: Digest,
    /// How many bytes they were; of a crawl those of its pages, unpacked and decoded.
    pub bytes: u64,
    /// When they were verified; of a crawl when it ended.
    pub retrieved_at: Timestamp,
    /// Documents in all parts.
    pub n_docs: u64,
    /// What was left out, by reason: malformed documents, with `on_bad_document = "drop"`; records of web archives that
    /// are no pages.
    pub dropped: BTreeMap<String, u64>,
    /// The settings that made these parts of those bytes.
    pub split: SplitSettings,
    /// The parts in order.
    pub parts: Vec<Part>,
    /// What the crawl came to whose pages these are; none of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl: Option<CrawlReport>,
}

impl Receipt {
    /// The receipt as stored: compact JSON and a newline.
    ///
    /// # Errors
    /// Never for a receipt built by these types; the serializer's error is passed on all the same.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        to_line(self)
    }
}

/// What a crawl came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrawlReport {
    /// Why nothing more was asked for.
    pub ended: CrawlEnd,
    /// Pages asked for: one per URL, without robots.txt, sitemaps and further attempts.
    pub asked: u64,
    /// What was not asked for or not stored, by reason.
    pub not_stored: BTreeMap<String, u64>,
    /// Hosts that gave no answer, or none to be relied on, by name.
    pub unreachable: Vec<String>,
}

/// Why a crawl asks for nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrawlEnd {
    /// Everything in its bounds was asked for.
    Complete,
    /// So many pages were asked for.
    MaxPages,
    /// So many bytes were received.
    MaxBytes,
    /// So much time was spent.
    MaxDuration,
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
