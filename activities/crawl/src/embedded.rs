//! A crawl in one process: the coordinator, as many workers as it hands out jobs to, and the storage, run to idle.
//!
//! **Durability.** Per round: what came back is told to the coordinator, its pages are kept (synced), more is handed out, and
//! then one commit makes all of it durable, before anything new is asked for. A kill before the commit forgets the round:
//! its pages are asked for again, as what was under way is; a page that was kept twice is one page to whoever collects.
//! A kill after it forgets nothing.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use corpora_contracts::outcome::Disposition;
use corpora_web::frontier::Moment;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::coordinator::{Coordinator, CoordinatorError, Due, End, Ended, Errand, Rest, Standing, Timing};
use crate::role::{Answer, Fetcher, KeepError, Keeper, Visit};

/// What comes back in one round, at most: as much is lost and asked for again when the process dies.
const MOST_OF_A_ROUND: usize = 64;

/// So long is waited for more to come back in the same round: what comes together is made durable together, and each sync of the
/// disk costs more than this.
const LINGER: Duration = Duration::from_millis(5);

/// Why a crawl stopped before its end. Its state stands, and the next run goes on.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The coordinator cannot go on.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
    /// Pages cannot be kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// A worker died: a fault of ours.
    #[error("wait for a worker")]
    Worker {
        /// How it died.
        source: JoinError,
    },
}

impl CrawlError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Coordinator(error) => error.disposition(),
            Self::Keep(error) => error.disposition,
            Self::Worker { .. } => Disposition::Retry,
        }
    }

    /// Whether the disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Coordinator(error) => error.is_disk_full(),
            Self::Keep(error) => error.is_disk_full,
            Self::Worker { .. } => false,
        }
    }
}

/// Real time that never goes back within the process.
#[derive(Debug, Clone, Copy)]
pub struct RunClock {
    began: Instant,
    epoch: Duration,
}

impl RunClock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { began: Instant::now(), epoch }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Moment {
        let millis = (self.epoch + self.began.elapsed()).as_millis();
        Moment::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }
}

/// Runs a crawl to its end, or until it is cancelled: what is under way then is dropped and asked for again.
///
/// `watch` sees how far it is after every round.
///
/// # Errors
/// [`CrawlError`]; the state of the last commit stands.
pub async fn run<F: Fetcher, K: Keeper>(
    mut coordinator: Coordinator,
    clock: RunClock,
    fetcher: F,
    keeper: &mut K,
    cancel: &CancellationToken,
    watch: impl FnMut(Standing),
) -> Result<Ended, CrawlError> {
    let end = drive(&mut coordinator, clock, fetcher, keeper, cancel, watch).await?;
    Ok(coordinator.finish(end, clock.now())?)
}

/// As [`run`], and leaves it to the caller what to make of the end.
///
/// # Errors
/// As [`run`].
pub async fn drive<F: Fetcher, K: Keeper>(
    coordinator: &mut Coordinator,
    clock: RunClock,
    fetcher: F,
    keeper: &mut K,
    cancel: &CancellationToken,
    mut watch: impl FnMut(Standing),
) -> Result<End, CrawlError> {
    let mut workers = Workers { fetcher, clock, tasks: JoinSet::new() };
    let mut told = Vec::new();
    loop {
        let then = next_requests(coordinator, &mut workers)?;
        workers.fetcher.settled(std::mem::take(&mut told));
        watch(coordinator.standing());
        if then == Rest::Over {
            return Ok(End::Idle);
        }
        let Some(round) = workers.round(then, cancel).await? else {
            tracing::info!("the crawl stops; the next run goes on from here");
            return Ok(End::Cancelled);
        };
        let mut pages = Vec::new();
        for back in round {
            match back {
                Back::Visit(visit, timing) => {
                    told.push(visit.discovery.job_id.clone());
                    pages.extend(coordinator.on_visit(*visit, timing)?);
                }
                Back::Answer(errand, answer, timing) => coordinator.on_answer(*errand, answer, timing)?,
            }
        }
        if !pages.is_empty() {
            keeper.keep(pages).await?;
        }
    }
}

/// Hands out all that is due, commits, and asks.
fn next_requests<F: Fetcher>(
    coordinator: &mut Coordinator,
    workers: &mut Workers<F>,
) -> Result<Rest, CoordinatorError> {
    let mut batches = Vec::new();
    let mut then = Rest::More;
    while then == Rest::More {
        let due = coordinator.hand_out(workers.clock.now())?;
        then = due.then;
        batches.push(due);
    }
    coordinator.commit(workers.clock.now())?;
    batches.into_iter().for_each(|due| workers.ask(due));
    Ok(then)
}

/// What a request brought back.
enum Back {
    Visit(Box<Visit>, Timing),
    Answer(Box<Errand>, Answer, Timing),
}

/// The requests under way.
struct Workers<F> {
    fetcher: F,
    clock: RunClock,
    tasks: JoinSet<Back>,
}

impl<F: Fetcher> Workers<F> {
    fn ask(&mut self, due: Due) {
        for job in due.jobs {
            let (fetcher, clock) = (self.fetcher.clone(), self.clock);
            self.tasks.spawn(async move {
                let asked = clock.now();
                let visit = fetcher.visit(&job).await;
                let ended = clock.now();
                let began = visit.took.map_or(asked, |took| ended.before(took));
                Back::Visit(Box::new(visit), Timing { began, ended })
            });
        }
        for errand in due.errands {
            let (fetcher, clock) = (self.fetcher.clone(), self.clock);
            self.tasks.spawn(async move {
                let began = clock.now();
                let answer = fetcher.ask(&errand.url, errand.most).await;
                Back::Answer(Box::new(errand), answer, Timing { began, ended: clock.now() })
            });
        }
    }

    /// What came back, once something has, or nothing at the moment that was asked for; None when the crawl is to stop.
    async fn round(&mut self, then: Rest, cancel: &CancellationToken) -> Result<Option<Vec<Back>>, CrawlError> {
        let wait = match then {
            Rest::Until(moment) => Some(moment.since(self.clock.now())),
            _ => None,
        };
        let first = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(None),
            Some(back) = self.tasks.join_next(), if !self.tasks.is_empty() => Some(back),
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => None,
            else => None,
        };
        let mut round = Vec::new();
        let mut next = first;
        let linger = tokio::time::sleep(LINGER);
        tokio::pin!(linger);
        while let Some(back) = next {
            round.push(back.map_err(|source| CrawlError::Worker { source })?);
            if round.len() == MOST_OF_A_ROUND {
                break;
            }
            next = tokio::select! {
                biased;
                back = self.tasks.join_next() => back,
                () = &mut linger => None,
            };
        }
        Ok(Some(round))
    }
}
