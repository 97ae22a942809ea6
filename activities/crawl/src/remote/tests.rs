use corpora_contracts::time::Timestamp;
use corpora_ports::queue::{Level, MemoryQueue};

use super::*;

/// Nobody asks anything about hosts here.
#[derive(Debug, Clone)]
struct Nobody;

impl Fetcher for Nobody {
    async fn visit(&self, _job: &CrawlJob) -> Visit {
        std::future::pending().await
    }

    async fn ask(&self, _url: &NormalUrl, _most: usize) -> Answer {
        Answer::default()
    }
}

fn job(id: &str) -> CrawlJob {
    CrawlJob {
        v: None,
        job_id: id.to_owned(),
        crawl_id: "crawl".to_owned(),
        url: format!("http://a.example/{id}"),
        depth: 1,
        discovered_from: None,
        discovered_at: Timestamp::EPOCH,
    }
}

/// What a worker tells of a job.
fn answer(job: &CrawlJob) -> Vec<u8> {
    let outcome = Outcome { status_code: Some(404), took_ms: Some(7), ..Outcome::default() };
    let message = DiscoveryMessage {
        v: None,
        job_id: job.job_id.clone(),
        crawl_id: job.crawl_id.clone(),
        requested_url: job.url.clone(),
        final_url: job.url.clone(),
        parent_depth: job.depth,
        links: Vec::new(),
        outcome: Some(outcome),
    };
    serde_json::to_vec(&message).unwrap()
}

fn queues() -> (Arc<MemoryQueue>, Arc<MemoryQueue>) {
    (Arc::new(MemoryQueue::new(9)), Arc::new(MemoryQueue::new(9)))
}

const LONG: Duration = Duration::from_secs(600);

/// A worker that does every job once; how many jobs each call gave it.
async fn work(crawl: Arc<MemoryQueue>, discovery: Arc<MemoryQueue>, jobs: usize) -> Vec<usize> {
    let mut batches = Vec::new();
    while batches.iter().sum::<usize>() < jobs {
        let received = crawl.receive(BATCH, LONG, LONG).await.unwrap();
        batches.push(received.len());
        for delivery in received {
            let job = message::read(&delivery.body).unwrap();
            discovery.send(&[answer(&job)]).await.unwrap();
            crawl.delete(&[delivery.id]).await.unwrap();
        }
    }
    batches
}

/// What came of these jobs, while the exchange runs.
async fn visit_all<Q: Queue>(remote: &Remote<Nobody>, exchange: &mut Exchange<Q>, jobs: &[CrawlJob]) -> Vec<Visit> {
    let visits = futures::future::join_all(jobs.iter().map(|job| remote.visit(job)));
    tokio::select! {
        // Who waits is known before the first message comes.
        biased;
        visits = visits => visits,
        error = exchange.run() => panic!("{error:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn jobs_go_in_batches_and_answers_stay_until_they_are_durable() {
    let (crawl, discovery) = queues();
    let (remote, mut exchange) = over(crawl.clone(), discovery.clone(), Nobody);
    let jobs: Vec<CrawlJob> = (0..25).map(|number| job(&number.to_string())).collect();
    let worker = tokio::spawn(work(crawl.clone(), discovery.clone(), jobs.len()));
    let visits = visit_all(&remote, &mut exchange, &jobs).await;
    assert_eq!(worker.await.unwrap(), [10, 10, 5]);
    for (job, visit) in jobs.iter().zip(&visits) {
        assert_eq!((&visit.discovery.job_id, visit.took), (&job.job_id, Some(Duration::from_millis(7))));
        assert!(visit.storage.is_none());
    }
    let level = discovery.level().await.unwrap();
    assert_eq!(level.ready + level.hidden, 25, "nothing is deleted before the coordinator says so");
    remote.settled(jobs[..20].iter().map(|job| job.job_id.clone()).collect());
    exchange.finish().await.unwrap();
    assert_eq!(discovery.level().await.unwrap(), Level { ready: 0, hidden: 5, dead: 0 });
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_waits_for_is_deleted_and_one_that_comes_again_is_told_once() {
    let (crawl, discovery) = queues();
    let (remote, mut exchange) = over(crawl.clone(), discovery.clone(), Nobody);
    let one = job("one");
    discovery.send(&[answer(&job("of an earlier coordinator")), answer(&one), answer(&one)]).await.unwrap();
    let visits = visit_all(&remote, &mut exchange, std::slice::from_ref(&one)).await;
    assert_eq!(visits.len(), 1);
    remote.settled(vec![one.job_id.clone()]);
    // The second one has taken the first one's place; the first comes again and finds nobody.
    let later = tokio::time::timeout(HIDDEN * 2, exchange.run()).await;
    assert!(later.is_err());
    assert_eq!(discovery.level().await.unwrap(), Level::default());
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_nowhere_is_lost_and_one_that_waits_is_not() {
    let (crawl, discovery) = queues();
    let (remote, mut exchange) = over(crawl.clone(), discovery.clone(), Nobody);
    let lone = job("lone");
    let thief = tokio::spawn({
        let crawl = crawl.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            let received = crawl.receive(1, LONG, LONG).await.unwrap();
            crawl.delete(&[received[0].id.clone()]).await.unwrap();
            tokio::time::Instant::now()
        }
    });
    let began = tokio::time::Instant::now();
    let visits = visit_all(&remote, &mut exchange, std::slice::from_ref(&lone)).await;
    let outcome = visits[0].discovery.outcome.clone().unwrap();
    assert_eq!((outcome.status_code, outcome.error.as_deref()), (None, Some(reason::LOST)));
    let stolen = thief.await.unwrap() - began;
    assert!(stolen >= Duration::from_secs(3600), "not while the job waited for a worker");
}

#[tokio::test(start_paused = true)]
async fn an_earlier_coordinators_jobs_are_taken_back_and_those_in_work_waited_for() {
    let (crawl, discovery) = queues();
    let bodies: Vec<Vec<u8>> = (0..10).map(|number| serde_json::to_vec(&job(&number.to_string())).unwrap()).collect();
    crawl.send(&bodies).await.unwrap();
    let in_work = crawl.receive(2, LONG, LONG).await.unwrap();
    let worker = tokio::spawn({
        let (crawl, discovery) = (crawl.clone(), discovery.clone());
        async move {
            tokio::time::sleep(Duration::from_secs(30)).await;
            discovery.send(&[answer(&job("0"))]).await.unwrap();
            crawl.delete(&in_work.into_iter().map(|delivery| delivery.id).collect::<Vec<_>>()).await.unwrap();
        }
    });
    let began = tokio::time::Instant::now();
    assert!(take_back(&crawl, &discovery, &CancellationToken::new()).await.unwrap());
    assert!(began.elapsed() >= Duration::from_secs(30));
    worker.await.unwrap();
    assert_eq!(crawl.level().await.unwrap(), Level::default());
    assert_eq!(discovery.level().await.unwrap(), Level::default());

    crawl.send(&bodies[..1]).await.unwrap();
    let _in_work = crawl.receive(1, LONG, LONG).await.unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(!take_back(&crawl, &discovery, &cancel).await.unwrap(), "cancelled, and nothing is awaited");
}
