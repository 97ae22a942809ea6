//! `[[crawls]]`: polite crawls of named domains.

use serde::Serialize;

use super::number::Seconds;
use super::source::{PiiPolicy, Use};
use super::words::words;
use crate::ids::Name;

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
