//! The stage flags of fetch.

use std::path::PathBuf;
use std::time::Duration;

use corpora_contracts::ids::Name;
use corpora_ports::metrics::Counters;

/// The stage flags of fetch, with the contract's defaults.
#[derive(Debug, Clone)]
pub struct Options {
    /// Downloads and crawls at a time.
    pub concurrency: usize,
    /// Attempts per location of a source; of a crawl for each page, robots.txt and sitemap.
    pub attempts: u32,
    /// The longest wait for each read, never for the whole download.
    pub timeout: Duration,
    /// The wait after the first failed attempt; it doubles with each further one.
    pub base_delay: Duration,
    /// Documents per raw part at most.
    pub part_docs: u64,
    /// Only these sources; all of them when empty.
    pub only: Vec<Name>,
    /// Whether crawls that are cached are asked again, with conditional requests.
    pub refresh: bool,
    /// Where the counters of crawls are kept, in the text format of Prometheus.
    pub metrics: Option<PathBuf>,
    /// The counters of all crawls of this run.
    pub counters: Counters,
    /// Whether a source's failure leaves the others alone.
    pub keep_going: bool,
    /// What to do about the ledger.
    pub commit: CommitMode,
    /// The longest wait for a lock that another run holds.
    pub lock_timeout: Duration,
}

/// What a run does about the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitMode {
    /// Fetch, then commit.
    AtEnd,
    /// Fetch only: an orchestrator commits as a step of its own.
    Never,
    /// Commit only.
    Only,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: 8,
            attempts: 4,
            timeout: Duration::from_secs(30),
            base_delay: Duration::from_millis(500),
            part_docs: 100_000,
            only: Vec::new(),
            refresh: false,
            metrics: None,
            counters: Counters::default(),
            keep_going: false,
            commit: CommitMode::AtEnd,
            lock_timeout: Duration::from_secs(30),
        }
    }
}
