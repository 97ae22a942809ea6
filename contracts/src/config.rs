//! The corpus config, complete and valid: no defaults left to apply.
//!
//! A config is written as TOML by people and as JSON by orchestrators.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{Digest, Name};

/// A reviewed list of sources and what to make of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    /// The dataset's name.
    pub dataset: Name,
    /// The dataset's version.
    pub version: Name,
    /// Whether a complete download stays after its raw directory is published.
    pub keep_downloads: bool,
    /// Pinned files, in the order written.
    pub sources: Vec<Source>,
}

/// A pinned file: where its bytes are, which bytes they are, and under what terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Unique among sources and crawls.
    pub id: Name,
    /// `http(s):`, `file:` or a path relative to the config's folder, exactly as written.
    pub url: String,
    /// The only checksum that is trusted.
    pub sha256: Digest,
    /// The SPDX expression that was reviewed.
    pub license_spdx: String,
    /// Where the licence can be read.
    pub license_url: Option<String>,
    /// What the corpus will be used for, in the order written.
    pub allowed_uses: Vec<Use>,
    /// What is to be done about personal data.
    pub pii_policy: PiiPolicy,
    /// Other places of the same bytes, tried in order.
    pub mirrors: Vec<String>,
    /// The credential for the hosts of `url` and `mirrors`.
    pub auth: Option<Auth>,
    /// How the bytes become documents.
    pub split: Split,
}

/// How a source's bytes become documents; part of the receipt, since other settings give other documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The format of the bytes.
    pub format: Format,
    /// The key of a JSON line that holds the text.
    pub text_field: String,
    /// Further keys of a JSON line that are kept in `meta`.
    pub meta_fields: Vec<String>,
    /// What a malformed document does.
    pub on_bad_document: OnBadDocument,
    /// The longest line, and the longest block of lines, in bytes.
    pub max_line_bytes: u64,
}

/// A permitted use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// Training a model.
    Train,
    /// Evaluating one.
    Eval,
}

/// What is to be done about personal data; a declaration until a filter has applied it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PiiPolicy {
    /// Replace it.
    Scrub,
    /// Drop the document.
    Drop,
    /// Leave it.
    None,
}

/// The format of a source's bytes, after gzip or zstd is unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON Lines.
    Jsonl,
    /// Blocks of lines.
    Text,
    /// Apache Parquet.
    Parquet,
    /// One HTML page.
    Html,
    /// WARC response records.
    Warc,
    /// WARC conversion records.
    Wet,
}

/// What a malformed document does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnBadDocument {
    /// The source fails, naming the line.
    Fail,
    /// The document is left out and counted.
    Drop,
}

/// Where a credential comes from; never the credential itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The environment variable that holds a bearer token (RFC 6750).
    pub bearer_env: String,
}

/// Which uses each licence permits beyond the documented default: SPDX id (or `id WITH exception`) to uses.
pub type LicensePolicy = BTreeMap<String, Vec<Use>>;
