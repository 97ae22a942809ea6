//! The durable state of one crawl: every URL that was found, every host, every answer about a host.
//!
//! The coordinator is its only writer. What it writes stands after [`FrontierStore::commit`] and not before: a process that
//! dies in between finds the state of the last commit. A URL that was handed out and has no outcome yet is
//! [`State::InFlight`]; [`FrontierStore::reopen`] makes it due again.

mod memory;
pub mod suite;

use std::collections::BTreeMap;
use std::error::Error;

use corpora_contracts::outcome::Disposition;

pub use memory::MemoryFrontier;

/// A host of the crawl, numbered from 0 in the order of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A URL of the crawl, numbered from 1 in the order of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlId(pub u64);

/// The state cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{action} the state of the crawl")]
pub struct FrontierStoreError {
    /// What was tried, as a verb.
    pub action: &'static str,
    /// What the caller should do.
    pub disposition: Disposition,
    /// Whether the disk is full.
    pub is_disk_full: bool,
    /// The store's own error.
    pub source: Box<dyn Error + Send + Sync>,
}

/// What became of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It waits to be asked for.
    Queued,
    /// It was handed out, and no outcome is here.
    InFlight,
    /// Its page is stored.
    Stored,
    /// It has no page that is stored, for the reason beside it, and never will have.
    Left,
    /// It could not be had in this run, for the reason beside it; the next run asks again.
    Failed,
}

/// A URL and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlRecord {
    /// Its number.
    pub id: UrlId,
    /// The canonical URL, by which it is known.
    pub key: String,
    /// The normalised URL, which is asked for.
    pub address: String,
    /// Its host.
    pub host: HostId,
    /// Links on the shortest path from a seed that is known so far.
    pub depth: u32,
    /// What became of it.
    pub state: State,
    /// Why it is not stored, or not yet: a stable word, empty when there is nothing to say.
    pub reason: String,
    /// Where it was found first; None for a seed.
    pub parent: Option<UrlId>,
    /// When it was found, in milliseconds since the Unix epoch.
    pub found: u64,
    /// Attempts so far in this run.
    pub attempts: u32,
    /// Not asked for before, in milliseconds since the Unix epoch.
    pub due: u64,
    /// Whether it was ever handed out: it counts as a page asked for.
    pub asked: bool,
}

/// Which of the queued URLs are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// All of them.
    All,
    /// Those of one host.
    OfHost(HostId),
    /// Those that were never handed out.
    NeverAsked,
}

/// A URL that is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUrl<'a> {
    /// The canonical URL, which no other record has.
    pub key: &'a str,
    /// The normalised URL.
    pub address: &'a str,
    /// Its host.
    pub host: HostId,
    /// Links from a seed.
    pub depth: u32,
    /// Queued, or left for a reason.
    pub state: State,
    /// The reason, empty when there is none.
    pub reason: &'a str,
    /// Where it was found; None for a seed.
    pub parent: Option<UrlId>,
    /// When, in milliseconds since the Unix epoch.
    pub found: u64,
}

/// A way from one URL to another one: a link, or a redirect, which costs no depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub to: UrlId,
    /// Whether it is a redirect.
    pub is_redirect: bool,
}

/// A host and what is known of it beside its URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRecord {
    /// Its number.
    pub id: HostId,
    /// Scheme, name and port, as in an origin.
    pub name: String,
    /// Pages asked of it.
    pub asked: u64,
    /// Not asked before, in milliseconds since the Unix epoch.
    pub rest: u64,
}

/// An answer about a host: its robots.txt, its tdmrep.json, a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What was asked for: a word of the coordinator, and the address where there can be several.
    pub about: String,
    /// When it came, in milliseconds since the Unix epoch.
    pub at: u64,
    /// What it means, in a word of the coordinator.
    pub verdict: String,
    /// What it says.
    pub body: Vec<u8>,
}

/// A stored page, for whoever collects them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPage {
    /// Its canonical URL.
    pub key: String,
    /// Links on the shortest path from a seed.
    pub depth: u32,
}

/// How many URLs of one host are in which state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Waiting to be asked for.
    pub queued: u64,
    /// Handed out.
    pub in_flight: u64,
    /// Stored.
    pub stored: u64,
    /// Not stored for good, by reason.
    pub left: BTreeMap<String, u64>,
    /// Not had in this run, by reason.
    pub failed: BTreeMap<String, u64>,
}

/// The result of a store's method.
pub type Result<T> = std::result::Result<T, FrontierStoreError>;

/// The durable state of one crawl.
pub trait FrontierStore: Send {
    /// Every host, by number.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn hosts(&mut self) -> Result<Vec<HostRecord>>;

    /// The number of a host, which is made known where it is not.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    fn host(&mut self, name: &str) -> Result<HostId>;

    /// Keeps what changed of a host; its name stays.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn put_host(&mut self, host: &HostRecord) -> Result<()>;

    /// The answers about a host, in the order of what they are about.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn answers(&mut self, host: HostId) -> Result<Vec<Answer>>;

    /// Keeps an answer in place of an older one about the same.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn put_answer(&mut self, host: HostId, answer: &Answer) -> Result<()>;

    /// The URL with this canonical form.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn find(&mut self, key: &str) -> Result<Option<UrlRecord>>;

    /// The URL with this number.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn get(&mut self, id: UrlId) -> Result<Option<UrlRecord>>;

    /// Keeps a URL whose canonical form no other one has, and gives it a number.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn add(&mut self, url: &NewUrl<'_>) -> Result<UrlId>;

    /// Keeps what changed of a URL; its canonical form and its host stay.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn put(&mut self, url: &UrlRecord) -> Result<()>;

    /// At most so many queued URLs of a host that are due `now`: the earliest due first, of those the least deep, of those
    /// the one found first.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn due(&mut self, host: HostId, now: u64, most: usize) -> Result<Vec<UrlRecord>>;

    /// When the first queued URL of a host is due.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn next_due(&mut self, host: HostId) -> Result<Option<u64>>;

    /// The ways from a URL, in the order in which they were given.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn links(&mut self, from: UrlId) -> Result<Vec<Link>>;

    /// Keeps the ways from a URL in place of older ones.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn put_links(&mut self, from: UrlId, links: &[Link]) -> Result<()>;

    /// A value that the coordinator keeps under a name.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn note(&mut self, name: &str) -> Result<Option<String>>;

    /// Keeps a value under a name.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn put_note(&mut self, name: &str, value: &str) -> Result<()>;

    /// Queues again, with no attempts behind them, all URLs of a state. How many there were.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn reopen(&mut self, state: State) -> Result<u64>;

    /// Gives these queued URLs this state for this reason. How many there were.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn settle_queued(&mut self, which: Queued, state: State, reason: &str) -> Result<u64>;

    /// Stored pages in the order of the bytes of their canonical URLs, from behind `after` on, at most so many.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn stored(&mut self, after: Option<&str>, most: usize) -> Result<Vec<StoredPage>>;

    /// URLs in the order in which they were found, from behind `after` on, at most so many.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn list(&mut self, after: Option<UrlId>, most: usize) -> Result<Vec<UrlRecord>>;

    /// How many URLs are in which state, by host.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn tally(&mut self) -> Result<BTreeMap<HostId, Tally>>;

    /// Forgets everything.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn clear(&mut self) -> Result<()>;

    /// Makes durable all that was written since the last commit.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn commit(&mut self) -> Result<()>;
}
