//! One crawl from config to raw directory: nothing to do, or pages asked for, collected and published.
//!
//! The roles and their state are `corpora-crawl`'s; here they are put together over local ports, run to their end, and
//! what they came to becomes a raw directory, a receipt and an exit code like any source's.

mod earlier;
mod ending;
mod gauge;
mod publish;
mod turn;

use std::sync::Arc;

use corpora_contracts::config::Crawl;
use corpora_contracts::progress::Kind;
use corpora_contracts::receipt::SplitSettings;
use corpora_contracts::summary::Status;
use corpora_crawl::coordinator::{self, Coordinator};
use corpora_crawl::embedded::{self, CrawlError, RunClock};
use corpora_crawl::runs::Run;
use corpora_crawl::storage::{self, StorageWorker};
use corpora_crawl::worker::{Settings, Worker};
use corpora_local::SqliteMetadata;
use corpora_local::frontier::SqliteFrontier;
use corpora_ports::metrics::Metrics;
use corpora_stage::holdings::{self, Holding};
use corpora_stage::lock::Lock;
use corpora_web::frontier::Retries;

use crate::error::SourceError;
use crate::exchange::Tally;
use crate::plan::{self, Action};
use crate::source::{Reporter, Shop};
use crate::tidy;
use gauge::Gauge;

/// The name of the one storage worker of an embedded crawl.
const STORAGE: &str = "1";

/// One crawl's way through a run.
#[derive(Debug)]
pub(crate) struct CrawlVisit<'a> {
    shop: &'a Shop,
    crawl: Arc<Crawl>,
    settings: SplitSettings,
    pub(crate) tally: Tally,
}

impl<'a> CrawlVisit<'a> {
    pub(crate) fn new(shop: &'a Shop, crawl: Arc<Crawl>) -> Self {
        let settings = SplitSettings { documents: crawl.split(), part_docs: shop.options.part_docs };
        Self { shop, crawl, settings, tally: Tally::default() }
    }

    /// Does what is to be done about the crawl and tells what became of it.
    pub(crate) async fn run(&mut self) -> Result<(Status, Option<Holding>), SourceError> {
        let layout = &self.shop.context.layout;
        let held = holdings::read(layout, &self.crawl.id)?;
        if let Some(nothing_to_do) = self.settled(&held) {
            return Ok(nothing_to_do);
        }
        let lock = layout.source_lock(&self.crawl.id);
        let _lock = Lock::acquire(&lock, self.shop.options.lock_timeout, &self.shop.stop).await?;
        // Another run may have crawled while this one waited.
        let held = tidy::tidy(layout, &self.crawl.id)?;
        if let Some(nothing_to_do) = self.settled(&held) {
            return Ok(nothing_to_do);
        }
        let mut turn = turn::begin(layout, &self.crawl, self.shop.options.refresh, &held)?;
        if turn.run.note.ended.is_none() {
            turn.run.note.ended = Some(self.crawl_to_its_end(&turn.run, turn.earlier.as_ref()).await?);
            turn.run.save()?;
        }
        let holding = self.publish(&mut turn.run, &held).await?;
        turn::tidy(layout, &self.crawl.id, &turn.run)?;
        Ok((Status::Fetched, Some(holding)))
    }

    /// What is to be done when nothing is asked again.
    fn settled(&self, held: &[Holding]) -> Option<(Status, Option<Holding>)> {
        let pinned = self.crawl.pinned(held.iter().map(|holding| &holding.receipt));
        match plan::decide(&pinned, &self.settings, &self.shop.ledger, held) {
            Action::Revoked(holding) => Some((Status::Revoked, holding)),
            Action::Cached(holding) if !self.shop.options.refresh => Some((Status::Cached, Some(holding))),
            Action::Finished(holding) if !self.shop.options.refresh => Some((Status::Fetched, Some(holding))),
            Action::Cached(_) | Action::Finished(_) | Action::Fetch => None,
        }
    }

    /// Asks until nothing is left to ask, from where an earlier process stopped.
    async fn crawl_to_its_end(
        &mut self,
        run: &Run,
        earlier: Option<&Run>,
    ) -> Result<corpora_crawl::runs::Ending, SourceError> {
        let context = &self.shop.context;
        let options = &self.shop.options;
        let earlier = match earlier {
            Some(earlier) => Some(earlier::open(earlier).await?),
            None => None,
        };
        let metrics: Arc<dyn Metrics> = Arc::new(options.counters.clone());
        let settings = Settings::of(&self.crawl, options.timeout, context.clock);
        let worker = Worker::refreshing(settings, metrics, earlier).map_err(SourceError::CrawlClient)?;
        let metadata = SqliteMetadata::open(&run.metadata()).map_err(storage::StorageError::from)?;
        let mut keeper = StorageWorker::new(storage::local_objects(&run.folder)?, metadata, STORAGE, context.clock);
        let retries = Retries { attempts: options.attempts, base_delay: options.base_delay };
        let settings = coordinator::Settings { crawl: (*self.crawl).clone(), retries };
        let clock = RunClock::start();
        let frontier = SqliteFrontier::open(&run.frontier())
            .map_err(coordinator::CoordinatorError::from)
            .map_err(CrawlError::from)?;
        let coordinator = Coordinator::open(Box::new(frontier), settings, clock.now()).map_err(CrawlError::from)?;
        let before = coordinator.standing();
        let reporter = Reporter::new(context.progress.clone(), &self.crawl.id, "pages");
        let mut gauge = Gauge::new(options.counters.clone(), options.metrics.clone(), before);
        let watch = |standing: coordinator::Standing| {
            reporter.report(standing.stored, None);
            gauge.note(standing);
        };
        let ended = embedded::run(coordinator, clock, worker, &mut keeper, &self.shop.stop, watch).await;
        gauge.write();
        let ended = ended?;
        self.tally.requests += ended.requests.saturating_sub(before.requests);
        self.tally.bytes += ended.bytes.saturating_sub(before.bytes);
        ending::tell(&self.crawl.id, &ended);
        ending::judge(&ended, run, context.clock)
    }

    async fn publish(&self, run: &mut Run, held: &[Holding]) -> Result<Holding, SourceError> {
        let holding = publish::publish(self.shop, &self.crawl, &self.settings, run, held).await?;
        let raw_dir = self.shop.context.layout.raw_dir(&self.crawl.id, &holding.version);
        let path = self.shop.context.layout.relative(&raw_dir);
        let (stage, source) = ("fetch".to_owned(), self.crawl.id.to_string());
        self.shop.context.progress.emit(Kind::Ckpt { stage, source, path });
        Ok(holding)
    }
}
