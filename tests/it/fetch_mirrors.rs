//! Mirrors: other places of the same bytes, tried in order.

use std::time::Duration;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, SourceToml, TINY, documents};
use corpora_tests::servers::Answer;

fn with_mirrors(lab: &Lab, paths: &[&str]) -> SourceToml {
    let mirrors: Vec<String> = paths.iter().map(|path| lab.server.url(path)).collect();
    lab.tiny().with("mirrors", mirrors)
}

#[test]
fn a_mirror_takes_over_whatever_the_first_place_says() {
    let cases = [
        ("not found", Answer::status(404)),
        ("down", Answer::status(503)),
        ("busy for an hour", Answer::status(429).header("Retry-After", "3600")),
        ("hung up", Answer::hang_up()),
        ("cut", Answer::object(TINY).etag("\"first\"").cut_after(20)),
        ("silent", Answer::object(TINY).head_after(Duration::from_secs(5))),
        ("swapped", Answer::object(documents("swapped", 2))),
        ("nonsense", Answer::garbage("220 mail.example.org ESMTP\r\n")),
    ];
    for (name, answer) in cases {
        let lab = Lab::new();
        lab.server.serve("/tiny.jsonl", answer);
        lab.server.serve("/mirror/tiny.jsonl", Answer::object(TINY).etag("\"mirror\""));
        lab.work.configure(with_mirrors(&lab, &["/mirror/tiny.jsonl"]));
        let run = lab.fetch().args(["--timeout", "1"]).run().exits(0);
        assert_eq!(run.entry("tiny").status, Status::Fetched, "{name}");
        assert_eq!(run.entry("tiny").requests, lab.server.log().len() as u64, "{name}");
        assert!(run.took < Duration::from_secs(20), "{name}: {:?}", run.took);
        assert_eq!(lab.work.rows()[0].url, lab.server.url("/tiny.jsonl"), "the configured place stays the source");
        assert_eq!(lab.work.raw_documents("tiny")[0].url, lab.server.url("/tiny.jsonl#1"));
        lab.assert_rerun_is_free();
    }
}

#[test]
fn mirrors_are_left_alone_while_the_first_place_works() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.server.serve("/mirror/tiny.jsonl", Answer::object(TINY));
    let _ = lab.fetch_config(with_mirrors(&lab, &["/mirror/tiny.jsonl"])).exits(0);
    assert!(lab.server.requests("/mirror/tiny.jsonl").is_empty());
}

#[test]
fn mirrors_are_tried_in_order() {
    let lab = Lab::new();
    lab.server.serve("/third", Answer::object(TINY));
    let _ = lab.fetch_config(with_mirrors(&lab, &["/second", "/third", "/fourth"])).exits(0);
    let asked: Vec<String> = lab.server.log().into_iter().map(|logged| logged.request.target).collect();
    assert_eq!(asked, ["/tiny.jsonl", "/second", "/third"]);
}

#[test]
fn when_all_places_fail_the_hopeful_failure_decides() {
    let cases = [
        ("all are wrong", Answer::status(404), Answer::status(403), 65),
        ("one is only down", Answer::status(404), Answer::status(503), 75),
        ("the first is only down", Answer::status(503), Answer::status(404), 75),
    ];
    for (name, first, mirror, code) in cases {
        let lab = Lab::new();
        lab.server.serve("/tiny.jsonl", first);
        lab.server.serve("/mirror", mirror);
        lab.work.configure(with_mirrors(&lab, &["/mirror"]));
        let run = lab.fetch().args(["--attempts", "2"]).run().exits(code);
        assert_eq!(run.entry("tiny").status, Status::Failed, "{name}");
        assert!(!lab.server.requests("/tiny.jsonl").is_empty() && !lab.server.requests("/mirror").is_empty(), "{name}");
    }
}

#[test]
fn busy_places_hand_their_wait_on_after_all_were_tried() {
    let lab = Lab::new();
    for path in ["/tiny.jsonl", "/mirror"] {
        lab.server.serve(path, Answer::status(503).header("Retry-After", "900"));
    }
    let run = lab.fetch_config(with_mirrors(&lab, &["/mirror"])).exits(75);
    assert_eq!(run.error("tiny").retry_after_s, Some(900));
    assert_eq!((lab.server.requests("/tiny.jsonl").len(), lab.server.requests("/mirror").len()), (1, 1));
}

#[test]
fn a_swapped_file_is_never_published_whichever_place_serves_it() {
    let swapped = documents("swapped", 2);
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::status(404));
    lab.server.serve("/mirror", Answer::object(&swapped));
    let run = lab.fetch_config(with_mirrors(&lab, &["/mirror"])).exits(65);
    assert_eq!(run.entry("tiny").status, Status::Quarantined);
    assert_eq!(lab.server.requests("/mirror").len(), 1);
    assert!(lab.work.versions("tiny").is_empty() && lab.work.ledger().is_empty());
}
