//! Documents after extract: one compact JSON line each, in `corpus/extract/<dataset>/<version>/<id>/part-<nnnnn>.jsonl.zst`.

use serde::{Deserialize, Serialize};

use crate::ids::Name;
use crate::time::Timestamp;

/// A document; the keys stand in this order in the file, non-ASCII text as UTF-8.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// `<source_id>:<k>`, `k` the 0-based position in the source's raw files: it points through the raw line into
    /// bytes that were checksummed.
    pub id: String,
    /// The source.
    pub source_id: Name,
    /// `<url of the ledger row>#<line>`; of a page its own address.
    pub url: String,
    /// The raw document's.
    pub fetched_at: Timestamp,
    /// The ledger row's, which may have been corrected since the raw document captured it.
    pub license_spdx: String,
    /// The language identified from the text, an ISO 639 code (two letters where there is one); `und` when it cannot
    /// be told.
    pub lang: String,
    /// The string `title` of `meta` as one line; empty where the source has none.
    pub title: String,
    /// The text, normalised: LF line ends, no control characters but LF and TAB, no U+FEFF, NFC, no white space at the
    /// end of a line, at most one blank line in a row and none at either end.
    pub text: String,
    /// What else is known: the raw document's, byte for byte in the file, so that numbers are spelt as the source
    /// spells them. This type reads them as `serde_json` does, and refuses those beyond the range of an `f64`.
    pub meta: serde_json::Map<String, serde_json::Value>,
}
