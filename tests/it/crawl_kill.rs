//! A crawl that is killed again and again ends as one that was not, and asks nobody twice for what it had been given.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use corpora_tests::harness::{Lab, Signal, crawl_config, wait_until};
use corpora_tests::servers::Site;
use serde_json::json;

/// Pages of each of the four sites; with `/` beside `/p/0` there are 2,004 in all.
const PAGES: usize = 500;

const HOSTS: [&str; 4] = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"];

/// How often the sites were asked for each address.
fn asked(sites: &[Site]) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for site in sites {
        for logged in site.server.log() {
            *asked.entry(site.url(&logged.request.target)).or_default() += 1;
        }
    }
    asked
}

fn requests(sites: &[Site]) -> usize {
    sites.iter().map(|site| site.server.log().len()).sum()
}

#[test]
fn killed_at_any_moment_a_crawl_ends_as_if_nothing_had_been() {
    let kills: usize = if std::env::var("CORPORA_TEST_LONG").as_deref() == Ok("1") { 20 } else { 5 };
    let lab = Lab::new();
    let sites = [1, 2, 3, 4].map(|number| Site::start(number, PAGES, &[]));
    let seeds = [0, 1, 2, 3].map(|index: usize| sites[index].url("/"));
    lab.work.configure(crawl_config(&seeds, &json!({ "allowed_domains": HOSTS })));
    let total = sites.len() * (PAGES + 1);
    let mut state: u64 = 20_261_130;
    for kill in 0..kills {
        // Any sequence does, as long as the seed fixes it: Knuth's MMIX constants.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Somewhere in the kill's share of the crawl, so that each one meets a crawl that has gone on.
        let share = total * 9 / 10 / kills;
        let moment = kill * share + (state >> 33) as usize % share;
        let mut running = lab.fetch().start();
        wait_until(|| requests(&sites) >= moment || !running.runs());
        sleep(Duration::from_millis((state >> 20) % 20));
        running.signal(Signal::Kill);
        let run = running.wait();
        assert_eq!(run.signal, Some(9), "killed at request {moment}: {}", run.printed());
        assert!(lab.work.versions("site").is_empty(), "nothing is published before the end");
    }
    let run = lab.fetch().run().exits(0);
    assert_eq!(run.entry("site").n_docs, total as u64, "{}", run.stderr);
    let urls: Vec<String> = lab.work.raw_documents("site").into_iter().map(|document| document.url).collect();
    let mut expected: Vec<String> = sites.iter().flat_map(Site::addresses).collect();
    expected.sort();
    assert_eq!(urls, expected, "every page once, in order");
    let again: Vec<(String, usize)> = asked(&sites).into_iter().filter(|(_, times)| *times > 1).collect();
    let twice: usize = again.iter().map(|(_, times)| times - 1).sum();
    assert!(twice <= kills * HOSTS.len(), "one request under way at each host when it is killed: {again:?}");
    lab.assert_rerun_is_free();
}

#[test]
fn a_crawl_that_is_told_to_stop_says_so_and_goes_on_later() {
    let lab = Lab::new();
    let site = Site::start(1, 200, &[]);
    lab.work.configure(crawl_config(&[site.url("/")], &json!({})));
    let running = lab.fetch().start();
    wait_until(|| site.asked().len() >= 40);
    running.signal(Signal::Terminate);
    let run = running.wait().exits(130);
    assert_eq!(run.entry("site").status, corpora_contracts::summary::Status::Cancelled);
    let run = lab.fetch().run().exits(0);
    assert_eq!(run.entry("site").n_docs, 201);
    let mut asked = site.asked();
    let count = asked.len();
    asked.sort();
    asked.dedup();
    assert!(count - asked.len() <= 1, "what was under way, and nothing else");
    assert!(site.count("/robots.txt") <= 2);
}
