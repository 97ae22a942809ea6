//! A crawl whose roles run apart, each as a process of its own over durable queues: the same bytes as in one process, whoever
//! of them dies.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use corpora_contracts::summary::Status;
use corpora_local::SqliteQueue;
use corpora_ports::queue::Queue as _;
use corpora_tests::harness::{ConfigToml, Lab, Run, Running, Signal, crawl_config, wait_until};
use corpora_tests::servers::{Answer, Site, html};
use serde_json::{Value, json};

const HOSTS: [&str; 3] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];

/// The config of the crawl `site`, by roles that run apart unless the keys say otherwise.
fn config(seeds: &[String], keys: &Value) -> ConfigToml {
    // A job that a killed worker had comes back 5 s behind the page's timeout.
    let mut all = json!({ "engine": "queues", "page_timeout": 1 });
    all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    crawl_config(seeds, &all)
}

fn role(lab: &Lab, name: &str) -> Run {
    let run = lab.program(["crawl", name, "--config"]).arg(lab.work.config_file());
    if name == "coordinator" { run.args(["--base-delay", "0.01", "--timeout", "5"]) } else { run }
}

/// Runs a crawl by its roles until its coordinator has ended.
fn crawl(lab: &Lab) -> Value {
    let (workers, storage) = ([0, 1].map(|_| role(lab, "worker").start()), role(lab, "storage-worker").start());
    let told = role(lab, "coordinator").run().exits(0);
    wait_until(|| collect(lab) == Some(0));
    for stopped in workers.into_iter().chain([storage]) {
        stopped.signal(Signal::Terminate);
        let _ = stopped.wait().exits(130);
    }
    serde_json::from_str(told.stdout.trim()).unwrap()
}

fn collect(lab: &Lab) -> Option<i32> {
    role(lab, "collect").run().code
}

fn queue(lab: &Lab, name: &str) -> SqliteQueue {
    let path: PathBuf = lab.work.artifacts().join(format!("corpus/crawls/site/queues/{name}.sqlite"));
    wait_until(|| path.exists());
    SqliteQueue::open(&path, 5).unwrap()
}

/// Everything below a folder of the artifacts, by name.
fn files(lab: &Lab, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = lab.work.artifacts().join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect()
}

#[test]
fn roles_apart_make_the_bytes_of_one_process() {
    let sites = [1, 2].map(|number| Site::start(number, 30, &[]));
    let signals = "User-agent: *\nDisallow: /private/\nContent-Signal: search=yes, ai-input=no\n";
    sites[0].server.serve("/robots.txt", Answer::object(signals).header("Content-Type", "text/plain"));
    sites[1].server.serve("/p/7", html("<title>no</title><meta name=robots content=noindex><a href=/more>more</a>"));
    sites[1].server.serve("/more", html("<title>more</title><p>More of it.</p>").header("TDM-Reservation", "0"));
    let seeds = [0, 1].map(|index: usize| sites[index].url("/"));

    let one = Lab::new();
    one.work.configure(config(&seeds, &json!({ "engine": "embedded" })));
    let _ = one.fetch().run().exits(0);
    let apart = Lab::new();
    apart.work.configure(config(&seeds, &json!({})));
    let told = crawl(&apart);
    assert_eq!((&told["ok"], &told["cached"], &told["crawl"]["asked"]), (&json!(true), &json!(false), &json!(61)));

    assert_eq!(files(&apart, "corpus/raw/site/20260101"), files(&one, "corpus/raw/site/20260101"));
    let signals =
        one.work.raw_documents("site").into_iter().filter(|document| json!(document.meta)["rights"].is_object());
    assert_eq!(signals.count(), 32, "what the hosts and `/more` state stands in the pages");
    let [of_one, of_apart] = [&one, &apart].map(|lab| lab.work.receipt("site", "20260101"));
    assert_eq!((of_one.sha256, of_one.n_docs), (of_apart.sha256, of_apart.n_docs));
    assert_eq!(of_one.crawl, of_apart.crawl);

    // Everything is there: the ledger row costs no request, and so does a second coordinator.
    let asked: usize = sites.iter().map(|site| site.server.log().len()).sum();
    let run = apart.fetch().run().exits(0);
    assert_eq!(run.entry("site").status, Status::Fetched);
    apart.assert_rerun_is_free();
    let again = role(&apart, "coordinator").run().exits(0);
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap()["cached"], json!(true));
    assert_eq!(asked, sites.iter().map(|site| site.server.log().len()).sum::<usize>());
}

#[test]
fn whoever_is_killed_a_crawl_by_roles_ends_as_if_nothing_had_been() {
    const PAGES: usize = 60;
    const ROLES: [&str; 4] = ["coordinator", "worker", "worker", "storage-worker"];
    let kills: usize = if std::env::var("CORPORA_TEST_LONG").as_deref() == Ok("1") { 12 } else { 4 };
    let sites = [1, 2, 3].map(|number| Site::start(number, PAGES, &[]));
    let lab = Lab::new();
    lab.work.configure(config(&[0, 1, 2].map(|index: usize| sites[index].url("/")), &json!({})));
    let requests = || sites.iter().map(|site| site.asked().len()).sum::<usize>();
    let total = HOSTS.len() * (PAGES + 1);
    let mut running: Vec<Running> = ROLES.iter().map(|name| role(&lab, name).start()).collect();
    let mut state: u64 = 20_261_201;
    for kill in 0..kills {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = total * 8 / 10 / kills;
        let moment = kill * share + (state >> 33) as usize % share;
        wait_until(|| requests() >= moment || !running[0].runs());
        sleep(Duration::from_millis((state >> 20) % 20));
        // Everybody has a turn.
        let victim = kill % ROLES.len();
        let next = role(&lab, ROLES[victim]).start();
        let killed = std::mem::replace(&mut running[victim], next);
        killed.signal(Signal::Kill);
        let _ = killed.wait();
    }
    let storage_and_workers = running.split_off(1);
    let coordinator = running.remove(0).wait();
    assert_eq!(coordinator.code, Some(0), "{}", coordinator.printed());
    wait_until(|| collect(&lab) == Some(0));
    for role in storage_and_workers {
        role.signal(Signal::Terminate);
        let _ = role.wait().exits(130);
    }
    let urls: Vec<String> = lab.work.raw_documents("site").into_iter().map(|document| document.url).collect();
    let mut expected: Vec<String> = sites.iter().flat_map(Site::addresses).collect();
    expected.sort();
    assert_eq!(urls, expected, "every page once, in order");
    let twice = requests() - total;
    assert!(twice <= kills * HOSTS.len(), "one request under way at each host when somebody is killed: {twice}");
}

#[test]
fn no_host_is_asked_faster_through_queues() {
    let lab = Lab::new();
    let site = Site::start(1, 5, &[]);
    lab.work.configure(config(&[site.url("/")], &json!({ "delay": 0.4 })));
    crawl(&lab);
    let gap = site.shortest_gap().unwrap();
    assert!(gap >= Duration::from_millis(395), "{gap:?}");
}

#[test]
fn pages_are_collected_when_all_roles_are_done_and_not_before() {
    let lab = Lab::new();
    let site = Site::start(1, 3, &[]);
    lab.work.configure(config(&[site.url("/")], &json!({})));

    let early = role(&lab, "collect").run().exits(75);
    assert_eq!(early.error("site").kind, "not_ended");
    assert_eq!(lab.fetch().run().exits(75).error("site").kind, "not_ended", "nor does fetch crawl by itself");
    assert_eq!(site.server.log().len(), 0);

    let worker = role(&lab, "worker").start();
    let waiting = role(&lab, "coordinator").run().exits(0);
    assert!(waiting.stdout.contains("\"asked\":4"), "{}", waiting.stdout);
    let unstored = role(&lab, "collect").run().exits(75);
    let error = unstored.error("site");
    assert!(error.message.contains("4 wait for a storage worker"), "{}", error.message);

    // What is no page is received again and again, and is a dead letter then.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let storage = queue(&lab, "storage");
    runtime.block_on(storage.send(&[b"no page".to_vec()])).unwrap();
    for _ in 0..5 {
        let received = runtime.block_on(storage.receive(10, Duration::ZERO, Duration::ZERO)).unwrap();
        assert_eq!(received.len(), 5);
    }
    let dead = role(&lab, "collect").run().exits(65);
    assert_eq!(dead.error("site").kind, "dead_letters");
    let redriven = role(&lab, "redrive").run().exits(0);
    let told: Value = serde_json::from_str(&redriven.stdout).unwrap();
    assert_eq!((&told["storage"], &told["crawl"], &told["discovery"]), (&json!(5), &json!(0), &json!(0)));

    let keeper = role(&lab, "storage-worker").start();
    keeper.wait_until_stderr_says("read a storage message");
    wait_until(|| runtime.block_on(storage.level()).unwrap().hidden == 1);
    keeper.signal(Signal::Terminate);
    let told: Value = serde_json::from_str(&keeper.wait().exits(130).stdout).unwrap();
    assert_eq!((&told["stored"], &told["unreadable"]), (&json!(4), &json!(1)));
    let received = runtime.block_on(storage.receive(10, Duration::ZERO, Duration::ZERO)).unwrap();
    assert_eq!(received.len(), 0, "it is hidden from everybody for a while");

    worker.signal(Signal::Terminate);
    let told: Value = serde_json::from_str(&worker.wait().exits(130).stdout).unwrap();
    assert_eq!(told["jobs"], json!(4));
}

#[test]
fn a_job_whose_worker_never_tells_is_asked_for_again() {
    let lab = Lab::new();
    let site = Site::start(1, 1, &[]);
    lab.work.configure(config(&[site.url("/")], &json!({ "max_depth": 0 })));
    let coordinator = role(&lab, "coordinator").start();
    let jobs = queue(&lab, "crawl");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // A thief in place of a worker.
    let stolen = runtime.block_on(async {
        loop {
            let received = jobs.receive(1, Duration::from_secs(60), Duration::from_secs(1)).await.unwrap();
            if let [delivery] = &received[..] {
                jobs.delete(std::slice::from_ref(&delivery.id)).await.unwrap();
                break delivery.body.clone();
            }
        }
    });
    coordinator.wait_until_stderr_says("no worker tells what came of a job");
    let worker = role(&lab, "worker").start();
    let run = coordinator.wait().exits(0);
    assert!(run.stdout.contains("\"asked\":1"), "{}", run.stdout);
    worker.signal(Signal::Terminate);
    let _ = worker.wait().exits(130);
    assert!(String::from_utf8(stolen).unwrap().contains(&site.url("/")));
    assert_eq!(site.asked(), ["/"]);
}

#[test]
fn which_crawl_is_meant_is_told_or_asked() {
    let lab = Lab::new();
    let site = lab.url("/");
    lab.work.configure(crawl_config(std::slice::from_ref(&site), &json!({})));
    let none = role(&lab, "worker").run().exits(65);
    assert!(none.stderr.contains("none in the config has engine = \"queues\""), "{}", none.stderr);
    lab.work.configure(config(std::slice::from_ref(&site), &json!({})));
    let unknown = role(&lab, "worker").args(["--source", "other"]).run().exits(2);
    assert!(
        unknown.stderr.contains("no crawl `other`") && unknown.stderr.contains("it has site"),
        "{}",
        unknown.stderr
    );
}
