//! What the coordinator asks of those who fetch and of those who keep, wherever they run.

use std::time::Duration;

use corpora_contracts::message::{CrawlJob, DiscoveryMessage, StorageMessage};
use corpora_contracts::outcome::Disposition;
use corpora_web::url::NormalUrl;

/// What a worker made of one job.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The page, where there is one that may be kept and the worker has not sent it to the storage itself.
    pub storage: Option<StorageMessage>,
    /// What the coordinator learns.
    pub discovery: DiscoveryMessage,
    /// How long the request took, where it did not begin when the job was handed out.
    pub took: Option<Duration>,
}

/// An answer to one request that is about a host and not about a page; redirects are not followed.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Its status; None when there was no answer.
    pub status: Option<u16>,
    /// What went wrong, as a stable word.
    pub error: Option<String>,
    /// Where it redirects to, as sent.
    pub location: Option<String>,
    /// The seconds that the server asks to wait.
    pub retry_after_s: Option<u64>,
    /// The body, unpacked, as far as was asked for.
    pub body: Vec<u8>,
}

/// Who asks: stateless, never the same thing twice on its own, and never for longer than the crawl's timeouts.
pub trait Fetcher: Clone + Send + Sync + 'static {
    /// Asks for one page. A failure is an outcome.
    fn visit(&self, job: &CrawlJob) -> impl Future<Output = Visit> + Send;

    /// Asks for robots.txt and the like, reading `most` bytes at the most.
    fn ask(&self, url: &NormalUrl, most: usize) -> impl Future<Output = Answer> + Send;

    /// What came of these jobs is durable: nobody needs to tell it again.
    fn settled(&self, jobs: Vec<String>) {
        drop(jobs);
    }
}

/// A page could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("keep the pages of the crawl")]
pub struct KeepError {
    /// What the caller should do.
    pub disposition: Disposition,
    /// Whether the disk is full.
    pub is_disk_full: bool,
    /// The store's own error.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Who keeps pages.
pub trait Keeper: Send {
    /// Keeps pages so that they survive a power cut once this returns. A page may come again after a kill.
    fn keep(&mut self, pages: Vec<StorageMessage>) -> impl Future<Output = Result<(), KeepError>> + Send;
}

/// Keeps nothing: for a look at a crawl, and for a crawl whose workers send their pages to the storage themselves.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere;

impl Keeper for Nowhere {
    async fn keep(&mut self, pages: Vec<StorageMessage>) -> Result<(), KeepError> {
        drop(pages);
        Ok(())
    }
}
