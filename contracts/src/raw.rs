//! Raw documents: one compact JSON line each, in `raw/<id>/<yyyymmdd>/part-<nnnnn>.jsonl.zst`.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// A raw document; the keys stand in this order in the file, non-ASCII text as UTF-8.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawDocument {
    /// `<url as configured>#<1-based line where the document starts>`; of a page its own address, of a source that is
    /// one page the url as configured.
    pub url: String,
    /// When the bytes were verified.
    pub fetched_at: Timestamp,
    /// The SPDX expression captured then.
    pub license_spdx: String,
    /// The text as the source has it, or the decoded page.
    pub text: String,
    /// Pages only: the media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Pages, and lines with `meta_fields`: what else is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<serde_json::Map<String, serde_json::Value>>,
}
