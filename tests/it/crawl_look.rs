//! A look at a crawl: before it is run, while it runs, and afterwards.

use corpora_tests::harness::{Footprints, Lab, Signal, crawl_config, wait_until};
use corpora_tests::servers::{Answer, Site};
use serde_json::{Value, json};

fn status(lab: &Lab) -> Value {
    let run = lab.program(["status", "--config"]).arg(lab.work.config_file()).run().exits(0);
    serde_json::from_str(run.stdout.lines().last().unwrap_or_default()).unwrap()
}

#[test]
fn a_dry_run_says_what_would_be_asked_for_and_why_not() {
    let lab = Lab::new();
    let site = Site::start(1, 30, &["http://elsewhere.example/".to_owned()]);
    lab.work.configure(crawl_config(&[site.url("/")], &json!({ "exclude": ["/p/2$"], "max_depth": 1 })));
    let before = Footprints::of(lab.work.root());
    let run = lab.program(["crawl", "dry-run", "--config"]).arg(lab.work.config_file()).run().exits(0);
    assert!(run.stderr.contains("robots.txt and the seeds"), "it says what it asks for: {}", run.stderr);
    assert_eq!(before.changes(&Footprints::of(lab.work.root())), [""; 0], "nothing is kept");
    assert_eq!(site.asked(), ["/"], "no page but the seed");
    let told: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    let crawl = &told["crawls"][0];
    assert_eq!(crawl["id"], "site");
    assert_eq!(crawl["would_fetch"], json!([site.url("/"), site.url("/p/1"), site.url("/p/0")]));
    let left: Vec<(&str, &str)> = crawl["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| (left["url"].as_str().unwrap(), left["reason"].as_str().unwrap()))
        .collect();
    let (excluded, private) = (site.url("/p/2"), site.url("/private/0"));
    let expected =
        [(excluded.as_str(), "exclude"), (&private, "robots"), ("http://elsewhere.example/", "allowed_domains")];
    assert_eq!(left, expected);
    assert_eq!(crawl["hosts"][0]["robots"], "rules");
    let text = lab.program(["crawl", "dry-run", "--output", "text", "--config"]).arg(lab.work.config_file()).run();
    assert!(text.exits(0).stdout.contains("allowed_domains"), "for people, too");
}

#[test]
fn a_dry_run_of_a_host_without_robots_says_so() {
    let lab = Lab::new();
    let site = Site::start(1, 3, &[]);
    site.server.serve("/robots.txt", Answer::status(503));
    lab.work.configure(crawl_config(&[site.url("/")], &json!({})));
    let run = lab.program(["crawl", "dry-run", "--config"]).arg(lab.work.config_file()).run().exits(0);
    let told: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(told["crawls"][0]["would_fetch"], json!([]));
    assert_eq!(told["crawls"][0]["left_out"], json!([{ "url": site.url("/"), "reason": "robots_unreachable" }]));
    assert!(site.asked().is_empty());
}

#[test]
fn status_tells_how_far_a_crawl_is_while_it_runs_and_afterwards() {
    let lab = Lab::new();
    let site = Site::start(1, 150, &[]);
    lab.work.configure(crawl_config(&[site.url("/")], &json!({})));
    assert_eq!(status(&lab)["crawls"], Value::Null, "nothing was begun");
    let running = lab.fetch().start();
    wait_until(|| site.asked().len() >= 40);
    let told = status(&lab);
    let crawl = &told["crawls"][0];
    assert_eq!((&crawl["id"], &crawl["ended"]), (&json!("site"), &json!(false)), "{crawl}");
    assert!(crawl["pages"].as_u64().unwrap() >= 30 && crawl["queued"].as_u64().unwrap() > 0, "{crawl}");
    running.signal(Signal::Kill);
    let _ = running.wait();
    assert_eq!(status(&lab)["crawls"][0]["ended"], false, "killed");
    let _ = lab.fetch().run().exits(0);
    let told = status(&lab);
    let crawl = &told["crawls"][0];
    assert_eq!(
        (&crawl["ended"], &crawl["stored"], &crawl["queued"]),
        (&json!(true), &json!(151), &json!(0)),
        "{crawl}"
    );
    assert_eq!(crawl["reasons"]["robots"], 150, "{crawl}");
    assert_eq!((&crawl["hosts"][0]["host"], &crawl["hosts"][0]["pages"]), (&json!(site.url("")), &json!(151)));
    let text = lab.program(["status", "--output", "text", "--config"]).arg(lab.work.config_file()).run().exits(0);
    assert!(text.stdout.contains("151 stored") && text.stdout.contains("robots 150"), "{}", text.stdout);
}
