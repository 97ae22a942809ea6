//! `[[sources]]`: pinned files.

use serde::{Deserialize, Serialize};

use super::words::words;
use crate::ids::{Digest, Name};

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
    /// The credential for the origin of `url`; a mirror on another host gets none.
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
    /// The largest page, in bytes before its charset is decoded; of formats that have pages alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u64>,
    /// The key of the crawl whose pages these are; none of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl: Option<Digest>,
}

impl Split {
    /// Whether the source is one page, whose address is the source's own.
    #[must_use]
    pub fn is_one_page(&self) -> bool {
        self.format == Format::Html && self.crawl.is_none()
    }
}

/// Where a credential comes from; never the credential itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The environment variable that holds a bearer token (RFC 6750).
    pub bearer_env: String,
}

words! {
    /// A permitted use.
    pub enum Use {
        /// Training a model.
        Train = "train",
        /// Evaluating one.
        Eval = "eval",
    }
}

words! {
    /// What is to be done about personal data; a declaration until a filter has applied it.
    pub enum PiiPolicy {
        /// Replace it.
        Scrub = "scrub",
        /// Drop the document.
        Drop = "drop",
        /// Leave it.
        None = "none",
    }
}

words! {
    /// The format of a source's bytes, after gzip or zstd is unpacked.
    pub enum Format {
        /// JSON Lines.
        Jsonl = "jsonl",
        /// Blocks of lines.
        Text = "text",
        /// Apache Parquet.
        Parquet = "parquet",
        /// One HTML page.
        Html = "html",
        /// WARC response records.
        Warc = "warc",
        /// WARC conversion records.
        Wet = "wet",
    }
}

words! {
    /// What a malformed document does.
    pub enum OnBadDocument {
        /// The source fails, naming the line.
        Fail = "fail",
        /// The document is left out and counted.
        Drop = "drop",
    }
}

impl Format {
    /// Whether its documents have named fields: `text_field` and `meta_fields` mean something.
    #[must_use]
    pub fn has_fields(self) -> bool {
        matches!(self, Self::Jsonl | Self::Parquet)
    }

    /// Whether it is read line by line: `max_line_bytes` means something.
    #[must_use]
    pub fn has_lines(self) -> bool {
        matches!(self, Self::Jsonl | Self::Text)
    }

    /// Whether its documents are pages, each with an address of its own: `page_bytes` means something.
    #[must_use]
    pub fn has_pages(self) -> bool {
        matches!(self, Self::Html | Self::Warc | Self::Wet)
    }
}
