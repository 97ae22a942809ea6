//! `[[crawls]]`: polite crawls of named domains.

use serde::Serialize;

use super::canonical::digest_of;
use super::number::Seconds;
use super::source::{Format, OnBadDocument, PiiPolicy, Source, Split, Use};
use super::words::words;
use crate::ids::{Digest, Name};
use crate::receipt::Receipt;

/// A polite crawl: where it starts, how far it goes, how it behaves, and under what terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crawl {
    /// Unique among sources and crawls.
    pub id: Name,
    /// Where it starts, at depth 0.
    pub seed_urls: Vec<String>,
    /// Names (with their subdomains) and IP literals that it may ask.
    pub allowed_domains: Vec<String>,
    /// The longest path of links from a seed.
    pub max_depth: u32,
    /// The User-Agent header; its first product token is the name that robots.txt is read for (RFC 9309).
    pub user_agent: String,
    /// The SPDX expression that was reviewed for this site.
    pub license_spdx: String,
    /// What the corpus will be used for, in the order written.
    pub allowed_uses: Vec<Use>,
    /// What is to be done about personal data.
    pub pii_policy: PiiPolicy,
    /// At most so many pages are asked for.
    pub max_pages: u64,
    /// At most so many pages are asked for of one host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pages_per_host: Option<u64>,
    /// At most so many pages are asked for whose URLs differ in numbers and values of parameters alone: endless calendars
    /// and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pages_per_pattern: Option<u64>,
    /// A soft end after so many unpacked bytes.
    pub max_bytes: u64,
    /// A soft end after so much running time.
    pub max_duration: Seconds,
    /// Bounds one whole answer.
    pub page_timeout: Seconds,
    /// The largest page that is stored, in bytes.
    pub page_bytes: u64,
    /// From request start to request start on one host.
    pub delay: Seconds,
    /// Hosts asked at the same time.
    pub concurrency: u32,
    /// Requests at the same time to one host.
    pub per_host: u32,
    /// Regular expressions, one of which a canonical URL must match; empty means all match.
    pub include: Vec<String>,
    /// Regular expressions, none of which a canonical URL may match; wins over `include`.
    pub exclude: Vec<String>,
    /// Media types that are stored.
    pub content_types: Vec<String>,
    /// Whether the `Sitemap:` lines of robots.txt give URLs.
    pub sitemaps: bool,
    /// Who follows redirects.
    pub redirects: Redirects,
    /// Whether a refusal of training is acted on.
    pub respect_rights: bool,
    /// Whether hosts in private networks may be asked.
    pub allow_private_networks: bool,
    /// What carries the messages between the roles.
    pub engine: Engine,
    /// What decides about the pages: the digest of the canonical JSON of this table, but for `license_spdx` and
    /// `pii_policy`, which are terms. A finished crawl of the same key is not repeated.
    #[serde(skip)]
    pub key: Digest,
}

/// What is declared about the pages, and decides neither which are asked for nor which are kept.
const TERMS: [&str; 2] = ["license_spdx", "pii_policy"];

impl Crawl {
    /// The crawl with its key, which depends on the other fields.
    ///
    /// # Errors
    /// Never for a crawl that [`super::validate`] built; the serializer's error is passed on all the same.
    pub fn keyed(self) -> Result<Self, serde_json::Error> {
        let mut table = serde_json::to_value(&self)?;
        if let Some(table) = table.as_object_mut() {
            table.retain(|key, _| !TERMS.contains(&key.as_str()));
            // A set: the order in which uses are written decides nothing.
            let mut uses = self.allowed_uses.clone();
            uses.sort_unstable();
            table.insert("allowed_uses".to_owned(), serde_json::to_value(uses)?);
        }
        Ok(Self { key: digest_of(&table)?, ..self })
    }

    /// The crawl as a source that is pinned to what it gave: the pages of the newest of these receipts, which come oldest
    /// first. The stages after fetch know no other difference. Without a receipt it is pinned to its key, which no pages
    /// have: it is then missing where a source would be that was never fetched.
    #[must_use]
    pub fn pinned<'a>(&self, receipts: impl DoubleEndedIterator<Item = &'a Receipt>) -> Source {
        let split = self.split();
        let newest = receipts.rev().find(|receipt| receipt.split.documents == split);
        let sha256 = newest.map_or(self.key, |receipt| receipt.sha256);
        Source {
            id: self.id.clone(),
            url: self.seed_urls.first().cloned().unwrap_or_default(),
            sha256,
            license_spdx: self.license_spdx.clone(),
            license_url: None,
            allowed_uses: self.allowed_uses.clone(),
            pii_policy: self.pii_policy,
            mirrors: Vec::new(),
            auth: None,
            split,
        }
    }

    /// How its pages become raw documents: as they are.
    #[must_use]
    pub fn split(&self) -> Split {
        Split {
            format: Format::Html,
            text_field: "text".to_owned(),
            meta_fields: Vec::new(),
            on_bad_document: OnBadDocument::Fail,
            max_line_bytes: 64 << 20,
            page_bytes: Some(self.page_bytes),
            crawl: Some(self.key),
        }
    }
}

words! {
    /// Who follows redirects.
    pub enum Redirects {
        /// The coordinator, as a new job under all checks.
        Coordinator = "coordinator",
        /// The worker, at once, within one host.
        Worker = "worker",
    }
}

words! {
    /// What carries the messages between the roles of a crawl.
    pub enum Engine {
        /// Queues inside one process.
        Embedded = "embedded",
        /// Real queues between processes.
        Queues = "queues",
    }
}
