//! The embedded engine: everything once, whatever stops it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use corpora_contracts::config::{Crawl, parse_toml, validate};
use corpora_contracts::message::{CrawlJob, DiscoveryMessage, Document, Outcome, StorageMessage};
use corpora_contracts::outcome::Disposition;
use corpora_contracts::time::Timestamp;
use corpora_crawl::coordinator::{Coordinator, End, Ended, Settings};
use corpora_crawl::embedded::{self, CrawlError, RunClock};
use corpora_crawl::role::{Answer, Fetcher, KeepError, Keeper, Visit};
use corpora_local::frontier::SqliteFrontier;
use corpora_web::frontier::Retries;
use corpora_web::url::NormalUrl;
use tokio_util::sync::CancellationToken;

const PAGES: usize = 300;

fn crawl() -> Crawl {
    let text = r#"
dataset = "d"
version = "v"
[[crawls]]
id = "c"
seed_urls = ["http://a.h/0"]
allowed_domains = ["h"]
max_depth = 1000
user_agent = "corpora/0.1"
license_spdx = "CC-BY-4.0"
delay = 0
"#;
    validate(&parse_toml(text).unwrap()).config.unwrap().crawls.remove(0)
}

/// Page `n` links to two more; three hosts. Remembers what it was asked for, and stops the crawl at the n-th request.
#[derive(Clone)]
struct Site {
    asked: Arc<Mutex<BTreeMap<String, u32>>>,
    stop: Option<(u32, CancellationToken)>,
}

fn address(page: usize) -> String {
    format!("http://{}.h/{page}", ["a", "b", "c"][page % 3])
}

impl Site {
    fn log(&self, url: &str) {
        let mut asked = self.asked.lock().unwrap();
        *asked.entry(url.to_owned()).or_default() += 1;
        if let Some((nth, token)) = &self.stop
            && asked.values().sum::<u32>() >= *nth
        {
            token.cancel();
        }
    }
}

impl Fetcher for Site {
    async fn visit(&self, job: &CrawlJob) -> Visit {
        self.log(&job.url);
        tokio::task::yield_now().await;
        let page: usize = job.url.rsplit('/').next().unwrap().parse().unwrap();
        let links = [2 * page + 1, 2 * page + 2].into_iter().filter(|next| *next < PAGES).map(address).collect();
        let storage = StorageMessage {
            v: None,
            crawl_id: job.crawl_id.clone(),
            url: job.url.clone(),
            status_code: 200,
            depth: job.depth,
            document: Document { html: format!("page {page}"), ..Document::default() },
            fetched_at: Timestamp::EPOCH,
            processing_time_ms: 0,
        };
        let discovery = DiscoveryMessage {
            v: None,
            job_id: job.job_id.clone(),
            crawl_id: job.crawl_id.clone(),
            requested_url: job.url.clone(),
            final_url: job.url.clone(),
            parent_depth: job.depth,
            links,
            outcome: Some(Outcome { status_code: Some(200), bytes: Some(10), ..Outcome::default() }),
        };
        Visit { storage: Some(storage), discovery, took: None }
    }

    async fn ask(&self, url: &NormalUrl, _most: usize) -> Answer {
        self.log(url.as_str());
        Answer { status: Some(404), ..Answer::default() }
    }
}

/// Keeps pages, and fails from the n-th batch on.
#[derive(Clone, Default)]
struct Shelf {
    pages: Arc<Mutex<Vec<String>>>,
    batches: u32,
    fails_at: Option<u32>,
}

impl Keeper for Shelf {
    async fn keep(&mut self, pages: Vec<StorageMessage>) -> Result<(), KeepError> {
        self.batches += 1;
        if self.fails_at.is_some_and(|nth| self.batches >= nth) {
            let source = "no space".into();
            return Err(KeepError { disposition: Disposition::Retry, is_disk_full: true, source });
        }
        self.pages.lock().unwrap().extend(pages.into_iter().map(|page| page.url));
        Ok(())
    }
}

async fn run(folder: &Path, site: Site, shelf: &mut Shelf, cancel: &CancellationToken) -> Result<Ended, CrawlError> {
    let store = SqliteFrontier::open(&folder.join("frontier.sqlite")).unwrap();
    let retries = Retries { attempts: 2, base_delay: Duration::from_millis(1) };
    let clock = RunClock::start();
    let settings = Settings { crawl: crawl(), retries };
    let coordinator = Coordinator::open(Box::new(store), settings, clock.now()).unwrap();
    embedded::run(coordinator, clock, site, shelf, cancel, |_| ()).await
}

fn site() -> Site {
    Site { asked: Arc::default(), stop: None }
}

#[tokio::test]
async fn a_crawl_runs_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (site, mut shelf) = (site(), Shelf::default());
    let ended = run(folder.path(), site.clone(), &mut shelf, &CancellationToken::new()).await.unwrap();
    assert_eq!((ended.end, ended.stored, ended.pages), (End::Idle, PAGES as u64, PAGES as u64));
    assert_eq!(ended.requests, PAGES as u64 + 6, "robots.txt and tdmrep.json of three hosts");
    assert!(site.asked.lock().unwrap().values().all(|times| *times == 1));
    assert_eq!(shelf.pages.lock().unwrap().len(), PAGES);
    let again = run(folder.path(), site.clone(), &mut shelf, &CancellationToken::new()).await.unwrap();
    assert_eq!((again.stored, again.pages, again.requests), (ended.stored, ended.pages, ended.requests));
    assert!(site.asked.lock().unwrap().values().all(|times| *times == 1), "a second run asks for nothing");
}

#[tokio::test]
async fn a_cancelled_crawl_goes_on_where_it_was() {
    for nth in [1, 2, 7, 50, 200] {
        let folder = tempfile::tempdir().unwrap();
        let (site, mut shelf) = (site(), Shelf::default());
        let cancel = CancellationToken::new();
        let stopped = Site { stop: Some((nth, cancel.clone())), ..site.clone() };
        let ended = run(folder.path(), stopped, &mut shelf, &cancel).await.unwrap();
        assert_eq!(ended.end, End::Cancelled, "after {nth}");
        let ended = run(folder.path(), site.clone(), &mut shelf, &CancellationToken::new()).await.unwrap();
        assert_eq!((ended.end, ended.stored, ended.pages), (End::Idle, PAGES as u64, PAGES as u64), "after {nth}");
        let twice = site.asked.lock().unwrap().values().filter(|times| **times > 1).count();
        assert!(twice <= 3, "{twice} asked twice after {nth}: three hosts have three requests under way");
        let mut kept = shelf.pages.lock().unwrap().clone();
        kept.sort();
        kept.dedup();
        assert_eq!(kept.len(), PAGES);
    }
}

#[tokio::test]
async fn what_was_not_kept_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let (site, mut shelf) = (site(), Shelf { fails_at: Some(20), ..Shelf::default() });
    let error = run(folder.path(), site.clone(), &mut shelf, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, CrawlError::Keep(KeepError { is_disk_full: true, .. })), "{error}");
    shelf.fails_at = None;
    let ended = run(folder.path(), site, &mut shelf, &CancellationToken::new()).await.unwrap();
    assert_eq!((ended.stored, ended.pages), (PAGES as u64, PAGES as u64));
    let mut kept = shelf.pages.lock().unwrap().clone();
    kept.sort();
    kept.dedup();
    assert_eq!(kept.len(), PAGES, "no page is lost");
}
