//! A run over several sources: who is in it, who stops whom, what the code says.

use std::time::Duration;

use corpora_contracts::summary::Status::{Cached, Cancelled, Failed, Fetched, Quarantined};
use corpora_tests::harness::{Lab, Outcome, SourceToml, documents, noise};
use corpora_tests::servers::{Answer, Proxy};

/// A source that succeeds.
fn good(lab: &Lab, id: &str) -> SourceToml {
    let bytes = documents(id, 3);
    lab.server.serve(&format!("/{id}.jsonl"), Answer::object(&bytes));
    lab.source(id, &bytes)
}

/// A source whose server always answers so.
fn bad(lab: &Lab, id: &str, answer: Answer) -> SourceToml {
    lab.server.serve(&format!("/{id}.jsonl"), answer);
    lab.source(id, b"never served")
}

#[track_caller]
fn assert_statuses(run: &Outcome, expected: &[(&str, corpora_contracts::summary::Status)]) {
    let expected: Vec<_> = expected.iter().map(|&(id, status)| (id.to_owned(), status)).collect();
    assert_eq!(run.statuses(), expected, "{}", run.stderr);
    for entry in run.summary().entries {
        assert_eq!(entry.error.is_none(), entry.status.is_ok(), "{entry:?}");
        if let Some(error) = entry.error {
            assert!(!error.kind.is_empty() && !error.message.is_empty(), "{error:?}");
        }
    }
    assert_eq!(run.summary().ok, run.statuses().iter().all(|(_, status)| status.is_ok()));
}

#[test]
fn only_the_named_sources_are_in_a_run() {
    let lab = Lab::new();
    lab.work.configure(["a", "b", "c"].map(|id| good(&lab, id)));
    let run = lab.fetch().args(["--source", "c", "--source", "a"]).run().exits(0);
    assert_statuses(&run, &[("a", Fetched), ("c", Fetched)]);
    assert_eq!(lab.work.ledger_ids(), ["a", "c"]);
    assert!(lab.server.requests("/b.jsonl").is_empty());
    let run = lab.fetch().run().exits(0);
    assert_statuses(&run, &[("a", Cached), ("b", Fetched), ("c", Cached)]);
    lab.assert_rerun_is_free();
}

#[test]
fn a_failure_stops_those_in_flight_and_starts_nothing_new() {
    let lab = Lab::new();
    let slow = noise(1, 40_000);
    lab.server.serve("/slow.jsonl", Answer::object(&slow).drip(1000, Duration::from_millis(100)));
    let gone = bad(&lab, "gone", Answer::status(404).head_after(Duration::from_millis(300)));
    lab.work.configure([lab.source("slow", &slow), gone, good(&lab, "next")]);
    let run = lab.fetch().args(["--concurrency", "2"]).run().exits(65);
    assert_statuses(&run, &[("slow", Cancelled), ("gone", Failed), ("next", Cancelled)]);
    assert!(lab.server.requests("/next.jsonl").is_empty(), "nothing new starts");
    assert_eq!((run.entry("next").requests, run.entry("slow").requests), (0, 1));
    let kept = lab.work.read("corpus/downloads/slow/slow.jsonl.part").expect("the part is kept");
    assert!(!kept.is_empty() && slow.starts_with(&kept));
    assert_eq!(run.entry("slow").bytes, kept.len() as u64);

    lab.server.serve("/slow.jsonl", Answer::object(&slow));
    lab.server.serve("/gone.jsonl", Answer::object("never served"));
    lab.work.configure([lab.source("slow", &slow), good(&lab, "next")]);
    let run = lab.fetch().run().exits(0);
    assert_statuses(&run, &[("slow", Fetched), ("next", Fetched)]);
    assert_eq!(lab.server.ranges("/slow.jsonl")[1], format!("bytes={}-", kept.len()), "and goes on from the part");
    lab.assert_rerun_is_free();
}

#[test]
fn used_up_attempts_stop_the_others_too() {
    let lab = Lab::new();
    lab.work.configure([bad(&lab, "down", Answer::status(503)), good(&lab, "next")]);
    let run = lab.fetch().args(["--concurrency", "1", "--attempts", "2"]).run().exits(75);
    assert_statuses(&run, &[("down", Failed), ("next", Cancelled)]);
}

#[test]
fn a_failure_cuts_the_waits_of_the_others_short() {
    let lab = Lab::new();
    let busy = bad(&lab, "busy", Answer::status(503).header("Retry-After", "30"));
    lab.work.configure([busy, bad(&lab, "gone", Answer::status(404).head_after(Duration::from_millis(200)))]);
    let run = lab.fetch().run().exits(65);
    assert_statuses(&run, &[("busy", Cancelled), ("gone", Failed)]);
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
}

#[test]
fn keep_going_lets_everyone_finish_and_lists_every_failure() {
    let lab = Lab::new();
    let sources = [
        bad(&lab, "gone", Answer::status(404)),
        good(&lab, "a"),
        bad(&lab, "down", Answer::status(503)),
        bad(&lab, "swapped", Answer::object("swapped")),
        good(&lab, "b"),
    ];
    lab.work.configure(sources);
    let run = lab.fetch().args(["--concurrency", "1", "--keep-going"]).run().exits(65);
    let expected = [("gone", Failed), ("a", Fetched), ("down", Failed), ("swapped", Quarantined), ("b", Fetched)];
    assert_statuses(&run, &expected);
    assert_eq!(lab.work.ledger_ids(), ["a", "b"]);
    for id in ["gone", "down", "swapped"] {
        assert!(run.stderr.contains(id), "every failure is listed: {}", run.stderr);
    }
    let before = lab.work.tree();
    let again = lab.fetch().args(["--concurrency", "1", "--keep-going"]).run().exits(65);
    assert_statuses(
        &again,
        &[("gone", Failed), ("a", Cached), ("down", Failed), ("swapped", Quarantined), ("b", Cached)],
    );
    assert_eq!(lab.work.tree(), before);
}

#[test]
fn wrong_input_outranks_bad_luck() {
    let cases: [(&[&str], i32); 5] = [
        (&["down"], 75),
        (&["swapped"], 65),
        (&["down", "swapped"], 65),
        (&["down", "gone"], 65),
        (&["gone", "down"], 65),
    ];
    for (ids, code) in cases {
        let lab = Lab::new();
        let sources: Vec<SourceToml> = ids
            .iter()
            .map(|&id| match id {
                "down" => bad(&lab, id, Answer::status(503)),
                "gone" => bad(&lab, id, Answer::status(404)),
                _ => bad(&lab, id, Answer::object("swapped")),
            })
            .chain([good(&lab, "good")])
            .collect();
        lab.work.configure(sources);
        let run = lab.fetch().args(["--keep-going"]).run();
        assert_eq!(run.code, Some(code), "{ids:?}\n{}", run.printed());
        assert_eq!(run.entry("good").status, Fetched);
    }
}

#[test]
fn a_quarantined_source_stops_nobody() {
    let lab = Lab::new();
    lab.work.configure([bad(&lab, "swapped", Answer::object("swapped")), good(&lab, "a"), good(&lab, "b")]);
    let run = lab.fetch().args(["--concurrency", "1"]).run().exits(65);
    assert_statuses(&run, &[("swapped", Quarantined), ("a", Fetched), ("b", Fetched)]);
}

#[test]
fn the_same_bytes_give_the_same_tree_in_whatever_order_they_come() {
    let ids = ["delta", "alpha", "echo", "bravo", "charlie", "foxtrot"];
    let mut trees = Vec::new();
    let mut ledgers = Vec::new();
    for (concurrency, slowest) in [("1", 0), ("2", 0), ("8", 3), ("8", 5), ("3", 1)] {
        let lab = Lab::new();
        // A proxy makes the urls the same in every lab, so that the bytes can be.
        for (place, id) in ids.iter().enumerate() {
            let pause = Duration::from_millis(if place == slowest { 150 } else { 0 });
            let answer = Answer::object(documents(id, 40)).head_after(pause);
            lab.server.serve(&format!("/{id}.jsonl"), answer);
        }
        let url = |id: &str| format!("http://corpus.invalid/{id}.jsonl");
        lab.work.configure(ids.map(|id| SourceToml::new(id, &url(id), &documents(id, 40))));
        let proxy = Proxy::start(lab.server.port());
        let run = lab.fetch().args(["--concurrency", concurrency, "--part-docs", "16"]);
        let run = run.env("http_proxy", proxy.url("")).run().exits(0);
        assert!(run.summary().ok);
        trees.push(lab.work.tree());
        ledgers.push(lab.work.ledger_ids());
    }
    assert_eq!(ledgers[0], ids);
    for tree in &trees {
        assert_eq!(tree, &trees[0]);
    }
}
