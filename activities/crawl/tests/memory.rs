//! Memory does not grow with the number of URLs: a crawl that discovers very many of them, over the durable state.
//!
//! A test of its own process, so that nothing else is measured. `CORPORA_TEST_LONG=1` discovers a million.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

use std::time::Duration;

use corpora_contracts::config::{parse_toml, validate};
use corpora_contracts::message::{CrawlJob, DiscoveryMessage, Outcome};
use corpora_crawl::coordinator::{Coordinator, End, Rest, Settings, Timing};
use corpora_crawl::role::{Answer, Visit};
use corpora_local::frontier::SqliteFrontier;
use corpora_web::frontier::{Moment, Retries};

/// Links of a page, all of them new.
const LINKS: u64 = 200;

/// MiB that may come on top once the caches are full, while the number of URLs grows fivefold.
const GROWTH: u64 = 24;

const CONFIG: &str = r#"
dataset = "d"
version = "v"
[[crawls]]
id = "c"
seed_urls = ["http://h.example/0"]
allowed_domains = ["h.example"]
max_depth = 1000
max_pages = 1_000_000
user_agent = "corpora/0.1 (+http://h.example/)"
license_spdx = "CC-BY-4.0"
delay = 0
respect_rights = false
"#;

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// A page whose links are all new, on ten hosts.
fn visit(job: &CrawlJob, number: u64) -> Visit {
    let link = |n: u64| format!("http://{}.h.example/section/{n}/a-page-with-a-name-of-some-length?id={n}", n % 10);
    let discovery = DiscoveryMessage {
        v: None,
        job_id: job.job_id.clone(),
        crawl_id: job.crawl_id.clone(),
        requested_url: job.url.clone(),
        final_url: job.url.clone(),
        parent_depth: job.depth,
        links: (number * LINKS..(number + 1) * LINKS).map(link).collect(),
        outcome: Some(Outcome { status_code: Some(200), error: Some("noindex".to_owned()), ..Outcome::default() }),
    };
    Visit { storage: None, discovery, took: None }
}

#[test]
fn memory_is_flat_however_many_urls_are_discovered() {
    let urls: u64 = if std::env::var("CORPORA_TEST_LONG").as_deref() == Ok("1") { 1_000_000 } else { 40_000 };
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteFrontier::open(&folder.path().join("frontier.sqlite")).unwrap();
    let crawl = validate(&parse_toml(CONFIG).unwrap()).config.unwrap().crawls.remove(0);
    let retries = Retries { attempts: 1, base_delay: Duration::ZERO };
    let now = Moment::from_millis(1_800_000_000_000);
    let timing = Timing { began: now, ended: now };
    let mut coordinator = Coordinator::open(Box::new(store), Settings { crawl, retries }, now).unwrap();
    let (mut pages, mut early) = (0, 0);
    while pages * LINKS < urls {
        let due = coordinator.hand_out(now).unwrap();
        coordinator.commit(now).unwrap();
        assert_ne!(due.then, Rest::Over);
        for job in due.jobs {
            assert!(coordinator.on_visit(visit(&job, pages), timing).unwrap().is_none());
            pages += 1;
        }
        for errand in due.errands {
            let answer = Answer { status: Some(404), ..Answer::default() };
            coordinator.on_answer(errand, answer, timing).unwrap();
        }
        if early == 0 && pages * LINKS >= urls / 5 {
            early = resident_mib();
        }
    }
    let late = resident_mib();
    let ended = coordinator.finish(End::Cancelled, now).unwrap();
    assert_eq!((ended.pages, ended.reasons.get("noindex")), (pages, Some(&pages)));
    assert!(late <= early + GROWTH, "{early} MiB with {} URLs, {late} MiB with {urls}", urls / 5);
}
