//! A crawl of two generated sites: every page once, none that is not allowed, and manners as the servers saw them.

use std::time::Duration;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{AGENT, Lab, crawl_config};
use corpora_tests::servers::Site;
use serde_json::json;

/// What a request may come early by the server's clock: it notes a request when its head is there, and the first one of a
/// connection took longer to get there than the next one.
const JITTER: Duration = Duration::from_millis(30);

#[test]
fn every_page_is_there_once_and_a_second_run_is_free() {
    let lab = Lab::new();
    let other = Site::start(2, 40, &[]);
    let site = Site::start(1, 60, &[other.url("/"), "http://elsewhere.example/".to_owned()]);
    lab.work.configure(crawl_config(&[site.url("/")], &json!({})));
    let run = lab.fetch().run().exits(0);
    let entry = run.entry("site");
    assert_eq!((entry.status, entry.n_docs), (Status::Fetched, 61 + 41), "{}", run.stderr);
    for server in [&site, &other] {
        let mut asked = server.asked();
        asked.sort();
        let count = asked.len();
        asked.dedup();
        assert_eq!(asked.len(), count, "no page twice");
        assert!(asked.iter().all(|target| !target.starts_with("/private/")), "{asked:?}");
        assert_eq!((server.count("/robots.txt"), server.count("/.well-known/tdmrep.json")), (1, 1));
        assert_eq!(server.server.gauge().max(), 1, "one request at a time");
        let agents =
            server.server.log().into_iter().map(|logged| logged.request.header("user-agent").map(str::to_owned));
        assert!(agents.into_iter().all(|agent| agent.as_deref() == Some(AGENT)), "one name everywhere");
    }
    let urls: Vec<String> = lab.work.raw_documents("site").into_iter().map(|document| document.url).collect();
    let mut expected = [site.addresses(), other.addresses()].concat();
    expected.sort();
    assert_eq!(urls, expected, "by canonical URL, in order");
    for reason in ["robots 100", "allowed_domains 1"] {
        let (reason, count) = reason.split_once(' ').unwrap();
        assert!(
            run.stderr.lines().any(|line| line.contains(reason) && line.contains(count)),
            "{reason}: {}",
            run.stderr
        );
    }
    let before = site.server.log().len() + other.server.log().len();
    lab.assert_rerun_is_free();
    assert_eq!(site.server.log().len() + other.server.log().len(), before, "a finished crawl asks for nothing");
}

#[test]
fn the_delay_is_kept_and_a_slow_host_holds_nobody_up() {
    let lab = Lab::new();
    let (fast, slow) = (Site::start(1, 12, &[]), Site::start(2, 12, &[]));
    slow.be_slow(Duration::from_millis(600));
    let keys = json!({ "delay": 0.2, "respect_rights": false });
    lab.work.configure(crawl_config(&[fast.url("/p/0"), slow.url("/p/0")], &keys));
    let run = lab.fetch().run().exits(0);
    assert_eq!(run.entry("site").n_docs, 26, "{}", run.stderr);
    for site in [&fast, &slow] {
        assert_eq!(site.server.gauge().max(), 1);
    }
    let delay = Duration::from_millis(200) - JITTER;
    assert!(fast.shortest_gap() >= Some(delay), "{:?}", fast.shortest_gap());
    let answer = Duration::from_millis(600) - JITTER;
    let pages = slow.server.log().split_off(1);
    let gap = pages.windows(2).map(|pair| pair[1].request.at - pair[0].request.at).min();
    assert!(gap >= Some(answer), "never before the last answer ended: {gap:?}");
    let end = |site: &Site| site.server.log().last().unwrap().request.at;
    assert!(end(&fast) < end(&slow), "the fast host is done while the slow one goes on");
}

#[test]
fn counters_stand_in_a_file_for_prometheus() {
    let lab = Lab::new();
    let site = Site::start(1, 10, &[]);
    site.server.serve("/p/3", corpora_tests::servers::Answer::status(500));
    lab.work.configure(crawl_config(&[site.url("/")], &json!({})));
    let file = lab.work.path("metrics/corpora.prom");
    let _ = lab.fetch().arg("--metrics").arg(&file).run().exits(0);
    let text = std::fs::read_to_string(file).unwrap();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        line.trim().parse::<u64>().unwrap()
    };
    assert!(text.contains("# TYPE corpora_worker_jobs_started_total counter"), "{text}");
    // Page 3 fails in each of its four attempts, so that 7 and 8, which it links to, are not found.
    assert_eq!((value("corpora_crawl_pages_asked_total "), value("corpora_crawl_pages_stored_total ")), (9, 8));
    assert_eq!((value("corpora_worker_jobs_started_total "), value("corpora_worker_jobs_failed_total ")), (12, 4));
}

#[test]
fn a_crawl_becomes_a_dataset() {
    let lab = Lab::new();
    let site = Site::start(1, 20, &[]);
    lab.work.configure(crawl_config(&[site.url("/")], &json!({})));
    let _ = lab.build().run().exits(0);
    let rows = lab.work.shard_rows();
    assert_eq!(rows.len(), 21);
    for row in rows {
        assert!(row["title"].as_str().unwrap().starts_with("Page "), "{row}");
        assert!(row["text"].as_str().unwrap().contains("lies behind the house"), "{row}");
        assert_eq!(row["lang"], "en");
    }
}
