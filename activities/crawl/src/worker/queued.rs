//! The worker behind queues, as a role of its own.

use std::sync::Arc;
use std::time::Duration;

use corpora_contracts::config::Redirects;
use corpora_contracts::message::{self, CrawlJob};
use corpora_ports::PortError;
use corpora_ports::queue::{BATCH, Delivery, Queue};
use corpora_web::redirect::MOST_HOPS;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Settings, Worker, publish};

/// How long one call waits for jobs: as long as a worker without work takes to see that it is to stop.
const WAIT: Duration = Duration::from_secs(1);

/// What a job may take beside its requests before it is given to somebody else.
const MARGIN: Duration = Duration::from_secs(5);

/// The queues that a worker is at.
#[derive(Debug)]
pub struct Queues<Q> {
    /// Jobs.
    pub crawl: Q,
    /// Pages for the storage worker.
    pub storage: Q,
    /// What the coordinator learns.
    pub discovery: Q,
}

/// Why a worker stopped by itself.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A queue failed.
    #[error(transparent)]
    Queue(#[from] PortError),
    /// A message is no JSON.
    #[error("write a message of job {job_id}")]
    Encode {
        /// The job.
        job_id: String,
        /// What the serializer says.
        source: serde_json::Error,
    },
}

/// Works off jobs, `slots` at a time, until it is cancelled; then it ends those that it has begun. How many it has done.
///
/// The page is sent before the answer, and the job is deleted last: a worker that dies leaves a job that somebody else does
/// again. A delivery that is no job is left to become a dead letter.
///
/// # Errors
/// [`WorkError`]; what was not done comes again.
pub async fn run<Q: Queue + 'static>(
    worker: &Worker,
    queues: Arc<Queues<Q>>,
    slots: usize,
    cancel: &CancellationToken,
) -> Result<u64, WorkError> {
    let hidden = hidden(&worker.0.settings);
    let free = Arc::new(Semaphore::new(slots));
    let mut jobs = JoinSet::new();
    let mut done = 0;
    loop {
        let slot = tokio::select! {
            () = cancel.cancelled() => break,
            slot = Arc::clone(&free).acquire_owned() => slot,
        };
        // This one's slot and those that are free beside it; nobody else takes them meanwhile.
        let most = free.available_permits() + 1;
        drop(slot);
        for delivery in queues.crawl.receive(most.min(BATCH), hidden, WAIT).await? {
            let Ok(slot) = Arc::clone(&free).acquire_owned().await else { break };
            let (worker, queues) = (worker.clone(), Arc::clone(&queues));
            jobs.spawn(async move {
                let is_done = work(&worker, &queues, &delivery).await;
                drop(slot);
                is_done
            });
        }
        while let Some(ended) = jobs.try_join_next() {
            done += counted(ended)?;
        }
    }
    while let Some(ended) = jobs.join_next().await {
        done += counted(ended)?;
    }
    Ok(done)
}

/// How long a job is hidden from other workers: longer than its requests may take.
fn hidden(settings: &Settings) -> Duration {
    let requests = if settings.redirects == Redirects::Worker { MOST_HOPS + 1 } else { 1 };
    settings.page_timeout * u32::try_from(requests).unwrap_or(u32::MAX) + MARGIN
}

fn counted(ended: Result<Result<bool, WorkError>, tokio::task::JoinError>) -> Result<u64, WorkError> {
    match ended {
        Ok(is_done) => is_done.map(u64::from),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Does one job; false for what is none.
async fn work<Q: Queue>(worker: &Worker, queues: &Queues<Q>, delivery: &Delivery) -> Result<bool, WorkError> {
    let job: CrawlJob = match message::read(&delivery.body) {
        Ok(job) => job,
        Err(error) => {
            tracing::error!(delivery = %delivery.id.0, "read a crawl job: {error}");
            return Ok(false);
        }
    };
    let visit = publish(worker.work(&job).await);
    let encode = |source| WorkError::Encode { job_id: job.job_id.clone(), source };
    if let Some(page) = &visit.storage {
        queues.storage.send(&[serde_json::to_vec(page).map_err(encode)?]).await?;
    }
    queues.discovery.send(&[serde_json::to_vec(&visit.discovery).map_err(encode)?]).await?;
    queues.crawl.delete(std::slice::from_ref(&delivery.id)).await?;
    Ok(true)
}
