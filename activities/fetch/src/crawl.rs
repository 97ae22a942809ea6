//! One crawl from config to raw directory: nothing to do, or pages asked for, collected and published.
//!
//! The roles and their state are `corpora-crawl`'s; here they are put together over local ports, run to their end, and
//! what they came to becomes a raw directory, a receipt and an exit code like any source's.

mod earlier;
mod ending;
mod gauge;
mod publish;
pub mod queues;
mod turn;

use std::sync::Arc;

use corpora_contracts::config::{Crawl, Engine};
use corpora_contracts::progress::Kind;
use corpora_contracts::receipt::{CrawlReport, SplitSettings};
use corpora_contracts::summary::Status;
use corpora_crawl::coordinator::{self, Coordinator, End, Ended, Standing};
use corpora_crawl::embedded::{self, CrawlError, RunClock};
use corpora_crawl::metrics_file::MetricsFile;
use corpora_crawl::remote;
use corpora_crawl::role::Nowhere;
use corpora_crawl::runs::{self, Ending, Run};
use corpora_crawl::storage::{self, StorageWorker};
use corpora_crawl::worker::{Earlier, Settings, Worker};
use corpora_local::SqliteMetadata;
use corpora_local::frontier::SqliteFrontier;
use corpora_ports::metrics::Metrics;
use corpora_ports::queue::{Level, Queue as _};
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
        if let Some(nothing_to_do) = self.settled(&held).filter(|_| !self.waits_to_be_collected()) {
            return Ok(nothing_to_do);
        }
        let lock = layout.source_lock(&self.crawl.id);
        let _lock = Lock::acquire(&lock, self.shop.options.lock_timeout, &self.shop.stop).await?;
        // Another run may have crawled while this one waited.
        let held = tidy::tidy(layout, &self.crawl.id)?;
        if let Some(nothing_to_do) = self.settled(&held).filter(|_| !self.waits_to_be_collected()) {
            return Ok(nothing_to_do);
        }
        if self.crawl.engine == Engine::Queues {
            return self.collect(&held).await;
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

    /// Whether the roles of the crawl have crawled again, beside what stands: nobody but a fetch makes raw parts of it.
    fn waits_to_be_collected(&self) -> bool {
        let newest = || runs::newest(&self.shop.context.layout, &self.crawl.id, &self.crawl.key).ok().flatten();
        let ended = |run: Run| run.note.ended.is_some_and(|ended| ended.raw.is_none());
        self.crawl.engine == Engine::Queues && newest().is_some_and(ended)
    }

    /// Runs a crawl whose workers run apart to its end, from where an earlier coordinator stopped. Its pages are then collected
    /// by whoever fetches. What it came to; None when there is nothing to do.
    pub(crate) async fn coordinate(&mut self) -> Result<Option<CrawlReport>, SourceError> {
        let layout = &self.shop.context.layout;
        let lock = layout.source_lock(&self.crawl.id);
        let _lock = Lock::acquire(&lock, self.shop.options.lock_timeout, &self.shop.stop).await?;
        let held = tidy::tidy(layout, &self.crawl.id)?;
        if self.settled(&held).is_some() {
            return Ok(None);
        }
        let mut run = turn::begin(layout, &self.crawl, self.shop.options.refresh, &held)?.run;
        let ending = match run.note.ended.take() {
            Some(ending) => ending,
            None => self.crawl_apart(&run).await?,
        };
        let report = ending.report.clone();
        run.note.ended = Some(ending);
        run.save()?;
        Ok(Some(report))
    }

    /// Publishes the pages of a crawl whose roles run apart, once they have ended.
    async fn collect(&self, held: &[Holding]) -> Result<(Status, Option<Holding>), SourceError> {
        let layout = &self.shop.context.layout;
        let ended = runs::newest(layout, &self.crawl.id, &self.crawl.key)?.filter(|run| run.note.ended.is_some());
        let mut run = ended.ok_or(SourceError::NotEnded)?;
        let level = queues::open(layout, &self.crawl.id, queues::STORAGE)?.level().await?;
        match level {
            Level { dead: letters @ 1.., .. } => return Err(SourceError::DeadLetters { letters }),
            Level { ready: 0, hidden: 0, .. } => {}
            Level { ready, hidden, .. } => return Err(SourceError::NotStored { pages: ready + hidden }),
        }
        let holding = self.publish(&mut run, held).await?;
        turn::tidy(layout, &self.crawl.id, &run)?;
        Ok((Status::Fetched, Some(holding)))
    }

    /// Asks until nothing is left to ask, from where an earlier process stopped.
    async fn crawl_to_its_end(&mut self, run: &Run, earlier: Option<&Run>) -> Result<Ending, SourceError> {
        let context = &self.shop.context;
        let earlier = match earlier {
            Some(earlier) => Some(earlier::open(earlier).await?),
            None => None,
        };
        let worker = self.worker(earlier)?;
        let metadata = SqliteMetadata::open(&run.metadata()).map_err(storage::StorageError::from)?;
        let objects = storage::local_objects(&run.folder)?;
        let mut keeper = StorageWorker::new(objects, metadata.clone(), STORAGE, context.clock);
        let clock = RunClock::start();
        let coordinator = self.coordinator(run, clock)?;
        let before = coordinator.standing();
        let (mut gauge, reporter) = (self.gauge(before), self.reporter());
        let watch = |standing: Standing| {
            reporter.report(standing.stored, None);
            gauge.note(standing);
        };
        let ended = embedded::run(coordinator, clock, worker, &mut keeper, &self.shop.stop, watch).await;
        gauge.write();
        self.ended(&ended?, before, run, &metadata).await
    }

    /// The same by workers and a storage worker that run apart.
    async fn crawl_apart(&mut self, run: &Run) -> Result<Ending, SourceError> {
        let (layout, stop) = (&self.shop.context.layout, &self.shop.stop);
        let [jobs, answers] = [queues::CRAWL, queues::DISCOVERY].map(|name| queues::open(layout, &self.crawl.id, name));
        let (jobs, answers) = (jobs?, answers?);
        if !remote::take_back(&jobs, &answers, stop).await? {
            return Err(SourceError::Cancelled);
        }
        let (fetcher, mut exchange) = remote::over(jobs, answers, self.worker(None)?);
        let clock = RunClock::start();
        let coordinator = self.coordinator(run, clock)?;
        let before = coordinator.standing();
        let (mut gauge, reporter) = (self.gauge(before), self.reporter());
        let watch = |standing: Standing| {
            reporter.report(standing.stored, None);
            gauge.note(standing);
        };
        let mut nowhere = Nowhere;
        let crawl = embedded::run(coordinator, clock, fetcher, &mut nowhere, stop, watch);
        let ended = tokio::select! {
            ended = crawl => ended.map_err(SourceError::from),
            error = exchange.run() => match error {
                Ok(never) => match never {},
                Err(error) => Err(error.into()),
            },
        };
        gauge.write();
        let ended = ended?;
        exchange.finish().await?;
        let table = queues::store(layout, &self.crawl.id)?.join(queues::METADATA);
        let metadata = SqliteMetadata::open(&table).map_err(storage::StorageError::from)?;
        self.ended(&ended, before, run, &metadata).await
    }

    fn worker(&self, earlier: Option<Arc<dyn Earlier>>) -> Result<Worker, SourceError> {
        let options = &self.shop.options;
        let metrics: Arc<dyn Metrics> = Arc::new(options.counters.clone());
        let settings = Settings::of(&self.crawl, options.timeout, self.shop.context.clock);
        Ok(Worker::refreshing(settings, metrics, earlier).map_err(Arc::new)?)
    }

    fn coordinator(&self, run: &Run, clock: RunClock) -> Result<Coordinator, CrawlError> {
        let options = &self.shop.options;
        let retries = Retries { attempts: options.attempts, base_delay: options.base_delay };
        let settings = coordinator::Settings { crawl: (*self.crawl).clone(), retries };
        let frontier = SqliteFrontier::open(&run.frontier()).map_err(coordinator::CoordinatorError::from)?;
        Ok(Coordinator::open(Box::new(frontier), settings, clock.now())?)
    }

    fn gauge(&self, before: Standing) -> Gauge {
        let options = &self.shop.options;
        let file = MetricsFile::new(options.counters.clone(), options.metrics.clone());
        Gauge::new(options.counters.clone(), file, before)
    }

    fn reporter(&self) -> Reporter {
        Reporter::new(self.shop.context.progress.clone(), &self.crawl.id, "pages")
    }

    /// What the end of a run means; what is not stored gets its rows in the table of pages.
    async fn ended(
        &mut self,
        ended: &Ended,
        before: Standing,
        run: &Run,
        metadata: &SqliteMetadata,
    ) -> Result<Ending, SourceError> {
        self.tally.requests += ended.requests.saturating_sub(before.requests);
        self.tally.bytes += ended.bytes.saturating_sub(before.bytes);
        if ended.end != End::Cancelled {
            let frontier = SqliteFrontier::open(&run.frontier()).map_err(coordinator::CoordinatorError::from);
            storage::tell_the_rest(&mut frontier.map_err(CrawlError::from)?, metadata).await?;
        }
        ending::tell(&self.crawl.id, ended);
        ending::judge(ended, run, self.shop.context.clock)
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
