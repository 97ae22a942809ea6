//! Workers that run apart: a job goes to one queue, and what came of it comes back over another one.
//!
//! To the coordinator it is a [`Fetcher`] like any other; [`Exchange::run`] carries the messages while it works. Each queue
//! delivers at least once and in any order:
//!
//! - an answer is deleted once the coordinator has made durable what it learnt of it, and not before;
//! - an answer to a job that nobody waits for (a second delivery, or a job of an earlier coordinator) is deleted;
//! - a job that is on no queue any more, and whose answer is on none either, is [`reason::LOST`]: its worker died too often.
//!
//! A coordinator that was killed asks again for what was under way. It first takes its jobs back ([`take_back`]), so that no
//! host is asked by an old job and a new one at the same time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use corpora_contracts::message::{self, CrawlJob, DiscoveryMessage, Outcome};
use corpora_ports::PortError;
use corpora_ports::queue::{BATCH, Delivery, DeliveryId, Queue};
use corpora_web::url::NormalUrl;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::coordinator::reason;
use crate::role::{Answer, Fetcher, Visit};

/// How long an answer is hidden while the coordinator makes durable what it says.
const HIDDEN: Duration = Duration::from_secs(60);

/// How long one call waits for answers.
const WAIT: Duration = Duration::from_secs(1);

/// How often it is looked whether the workers are done with what an earlier coordinator asked.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The coordinator's side of the two queues; robots.txt and the like it asks for itself, by `local`.
#[derive(Debug)]
pub struct Remote<F> {
    local: F,
    shared: Arc<Shared>,
    jobs: mpsc::UnboundedSender<CrawlJob>,
}

// Not derived: what is shared need not be cloned.
impl<F: Clone> Clone for Remote<F> {
    fn clone(&self) -> Self {
        Self { local: self.local.clone(), shared: Arc::clone(&self.shared), jobs: self.jobs.clone() }
    }
}

/// What the fetcher and the exchange both know.
#[derive(Debug, Default)]
struct Shared(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Jobs without an answer.
    waiting: HashMap<String, Waiting>,
    /// Answers that were told and are not durable yet, by job.
    told: HashMap<String, DeliveryId>,
    /// Deliveries that are to be deleted.
    done: Vec<DeliveryId>,
}

#[derive(Debug)]
struct Waiting {
    job: CrawlJob,
    answer: oneshot::Sender<DiscoveryMessage>,
    is_sent: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Carries jobs to the workers, and what came of them back.
#[derive(Debug)]
pub struct Exchange<Q> {
    crawl: Q,
    discovery: Q,
    shared: Arc<Shared>,
    jobs: mpsc::UnboundedReceiver<CrawlJob>,
}

/// A fetcher whose jobs go over `crawl` and come back over `discovery`, and what carries them.
pub fn over<Q: Queue, F: Fetcher>(crawl: Q, discovery: Q, local: F) -> (Remote<F>, Exchange<Q>) {
    let (sender, jobs) = mpsc::unbounded_channel();
    let shared = Arc::<Shared>::default();
    (Remote { local, shared: Arc::clone(&shared), jobs: sender }, Exchange { crawl, discovery, shared, jobs })
}

/// Takes back the jobs of an earlier coordinator, and waits for those that workers are at; their answers are dropped, since
/// the crawl asks again for what was under way. False when it was cancelled meanwhile.
///
/// # Errors
/// [`PortError`].
pub async fn take_back<Q: Queue>(crawl: &Q, discovery: &Q, cancel: &CancellationToken) -> Result<bool, PortError> {
    let mut is_said = false;
    loop {
        if drain(crawl).await? == 0 {
            let level = crawl.level().await?;
            if level.ready + level.hidden == 0 {
                drain(discovery).await?;
                return Ok(true);
            }
            if !std::mem::replace(&mut is_said, true) {
                tracing::info!(
                    jobs = level.hidden,
                    "waiting for workers to be done with jobs of an earlier coordinator"
                );
            }
        }
        tokio::select! {
            () = cancel.cancelled() => return Ok(false),
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Deletes what can be received now; how much that was.
async fn drain<Q: Queue>(queue: &Q) -> Result<usize, PortError> {
    let mut count = 0;
    loop {
        let ids: Vec<DeliveryId> =
            queue.receive(BATCH, HIDDEN, Duration::ZERO).await?.into_iter().map(|delivery| delivery.id).collect();
        if ids.is_empty() {
            return Ok(count);
        }
        queue.delete(&ids).await?;
        count += ids.len();
    }
}

impl<F: Fetcher> Fetcher for Remote<F> {
    async fn visit(&self, job: &CrawlJob) -> Visit {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { job: job.clone(), answer, is_sent: false };
        self.shared.state().waiting.insert(job.job_id.clone(), waiting);
        // When nobody carries messages any more, the crawl is over and this future is dropped.
        let _ = self.jobs.send(job.clone());
        let Ok(discovery) = answered.await else { return std::future::pending().await };
        let took = discovery.outcome.as_ref().and_then(|outcome| outcome.took_ms).unwrap_or(0);
        Visit { storage: None, discovery, took: Some(Duration::from_millis(took)) }
    }

    async fn ask(&self, url: &NormalUrl, most: usize) -> Answer {
        self.local.ask(url, most).await
    }

    fn settled(&self, jobs: Vec<String>) {
        let mut state = self.shared.state();
        for job in jobs {
            let done = state.told.remove(&job);
            state.done.extend(done);
        }
    }
}

impl<Q: Queue> Exchange<Q> {
    /// Carries messages for as long as it is polled.
    ///
    /// # Errors
    /// [`PortError`]; the crawl cannot go on without its queues.
    pub async fn run(&mut self) -> Result<Infallible, PortError> {
        let Self { crawl, discovery, shared, jobs } = self;
        let sending = send(crawl, shared, jobs);
        let receiving = receive(crawl, discovery, shared);
        let (never, _) = tokio::try_join!(sending, receiving)?;
        Ok(never)
    }

    /// Deletes the answers that are durable; for when the crawl has ended.
    ///
    /// # Errors
    /// [`PortError`]; what is not deleted comes again and is dropped then.
    pub async fn finish(&self) -> Result<(), PortError> {
        delete_done(&self.discovery, &self.shared).await
    }
}

/// Sends jobs, as many at once as there are and a queue takes.
async fn send<Q: Queue>(
    crawl: &Q,
    shared: &Shared,
    jobs: &mut mpsc::UnboundedReceiver<CrawlJob>,
) -> Result<Infallible, PortError> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        if jobs.recv_many(&mut batch, BATCH).await == 0 {
            return Ok(std::future::pending().await);
        }
        let bodies: Vec<Vec<u8>> = batch.iter().map(|job| serde_json::to_vec(job).unwrap_or_default()).collect();
        crawl.send(&bodies).await?;
        let mut state = shared.state();
        for job in batch.drain(..) {
            if let Some(waiting) = state.waiting.get_mut(&job.job_id) {
                waiting.is_sent = true;
            }
        }
    }
}

async fn receive<Q: Queue>(crawl: &Q, discovery: &Q, shared: &Shared) -> Result<Infallible, PortError> {
    loop {
        let received = discovery.receive(BATCH, HIDDEN, WAIT).await?;
        let is_quiet = received.is_empty();
        take(shared, received);
        delete_done(discovery, shared).await?;
        if is_quiet {
            tell_lost(crawl, discovery, shared).await?;
        }
    }
}

/// Tells answers to whoever waits for them.
fn take(shared: &Shared, received: Vec<Delivery>) {
    let mut state = shared.state();
    for delivery in received {
        let message: DiscoveryMessage = match message::read(&delivery.body) {
            Ok(message) => message,
            Err(error) => {
                // It becomes a dead letter, for a person to look at.
                tracing::error!(delivery = %delivery.id.0, "read a discovery message: {error}");
                continue;
            }
        };
        if let Some(waiting) = state.waiting.remove(&message.job_id) {
            state.told.insert(message.job_id.clone(), delivery.id);
            let _ = waiting.answer.send(message);
        } else if let Some(told) = state.told.get_mut(&message.job_id) {
            // The same answer again: the later delivery is the one that counts.
            *told = delivery.id;
        } else {
            state.done.push(delivery.id);
        }
    }
}

async fn delete_done<Q: Queue>(discovery: &Q, shared: &Shared) -> Result<(), PortError> {
    let done = std::mem::take(&mut shared.state().done);
    for ids in done.chunks(BATCH) {
        discovery.delete(ids).await?;
    }
    Ok(())
}

/// A worker sends its answer before it deletes the job. So when the queue of jobs is empty, and the queue of answers is empty
/// after that, no answer will come.
async fn tell_lost<Q: Queue>(crawl: &Q, discovery: &Q, shared: &Shared) -> Result<(), PortError> {
    let sent: Vec<String> = {
        let state = shared.state();
        state.waiting.iter().filter(|(_, waiting)| waiting.is_sent).map(|(id, _)| id.clone()).collect()
    };
    if sent.is_empty() {
        return Ok(());
    }
    let level = crawl.level().await?;
    if level.ready + level.hidden > 0 {
        return Ok(());
    }
    let received = discovery.receive(BATCH, HIDDEN, Duration::ZERO).await?;
    if !received.is_empty() {
        take(shared, received);
        return Ok(());
    }
    let mut state = shared.state();
    for id in sent {
        let Some(Waiting { job, answer, .. }) = state.waiting.remove(&id) else { continue };
        tracing::warn!(
            job_id = job.job_id,
            url = job.url,
            "no worker tells what came of a job; it may be a dead letter"
        );
        let outcome = Outcome { error: Some(reason::LOST.to_owned()), ..Outcome::default() };
        let _ = answer.send(DiscoveryMessage {
            v: None,
            job_id: job.job_id,
            crawl_id: job.crawl_id,
            final_url: job.url.clone(),
            requested_url: job.url,
            parent_depth: job.depth,
            links: Vec::new(),
            outcome: Some(outcome),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
