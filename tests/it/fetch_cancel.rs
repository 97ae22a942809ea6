//! Signals, and two runs at once.

use std::time::Duration;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, Signal, SourceToml, TINY, documents, noise, wait_until};
use corpora_tests::servers::{Answer, Gate};

#[test]
fn a_cancelled_run_keeps_what_it_has_and_says_so() {
    for signal in [Signal::Terminate, Signal::Interrupt] {
        let lab = Lab::new();
        let (slow, done) = (noise(2, 20_000), documents("done", 2));
        lab.server.serve("/done.jsonl", Answer::object(&done));
        lab.server.serve("/slow.jsonl", Answer::object(&slow).stall_after(5000, Duration::from_secs(9)));
        let sources = || [lab.source("done", &done), lab.source("slow", &slow), lab.source("later", &done)];
        lab.work.configure(sources());
        let run = lab.fetch().args(["--concurrency", "1", "--timeout", "15"]).start();
        let part = "corpus/downloads/slow/slow.jsonl.part";
        wait_until(|| lab.work.read(part).is_some_and(|bytes| bytes.len() == 5000));
        // A source is split while the next one is downloaded.
        wait_until(|| lab.work.versions("done") == ["20260101"]);
        run.signal(signal);
        let run = run.wait().exits(130);
        assert!(run.took < Duration::from_secs(7), "{signal:?}: {:?}", run.took);
        let expected = [("done", Status::Fetched), ("slow", Status::Cancelled), ("later", Status::Cancelled)];
        assert_eq!(run.statuses(), expected.map(|(id, status)| (id.to_owned(), status)));
        assert!(!run.summary().ok);
        assert_eq!(lab.work.ledger_ids(), ["done"], "the commit comes after a cancel too");
        assert_eq!(lab.work.read(part).unwrap(), slow[..5000]);

        lab.server.serve("/slow.jsonl", Answer::object(&slow));
        lab.work.configure(sources()[..2].to_vec());
        let run = lab.fetch().run().exits(0);
        assert_eq!(run.entry("slow").bytes, slow.len() as u64 - 5000);
        assert_eq!(lab.server.ranges("/slow.jsonl")[1], "bytes=5000-");
        lab.assert_rerun_is_free();
    }
}

#[test]
fn a_signal_ends_a_wait_for_the_server() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::status(503).header("Retry-After", "50"));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().start();
    wait_until(|| !lab.server.log().is_empty());
    std::thread::sleep(Duration::from_millis(100));
    run.signal(Signal::Terminate);
    let run = run.wait().exits(130);
    assert_eq!(run.entry("tiny").status, Status::Cancelled);
}

#[test]
fn a_signal_ends_a_split_and_nothing_of_it_is_published() {
    let lab = Lab::new();
    let line = format!("{{\"text\":\"{}\"}}\n", "some words and others ".repeat(500));
    let bytes = line.repeat(4000).into_bytes();
    lab.work.place("long.jsonl", &bytes);
    lab.work.configure(SourceToml::new("long", "long.jsonl", &bytes));
    let fetch = || lab.fetch().args(["--part-docs", "200"]);
    let run = fetch().start();
    let second_part = lab.work.path("corpus/raw/long/20260101.tmp/part-00001.jsonl.zst");
    wait_until(|| second_part.exists());
    run.signal(Signal::Terminate);
    assert_eq!(run.wait().exits(130).entry("long").status, Status::Cancelled);
    assert!(!lab.work.versions("long").contains(&"20260101".to_owned()) && lab.work.receipts("long").is_empty());
    assert_eq!(fetch().run().exits(0).entry("long").n_docs, 4000);
    assert_eq!(lab.work.versions("long"), ["20260101"]);
}

#[test]
fn two_runs_at_once_give_one_right_result() {
    let lab = Lab::new();
    let gate = Gate::closed();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY).held_at(&gate));
    lab.work.configure(lab.tiny());
    let first = lab.fetch().args(["--timeout", "15"]).start();
    gate.wait_for(1);
    let second = lab.fetch().args(["--timeout", "15"]).start();
    second.wait_until_stderr_says(&first.id().to_string());
    gate.open();
    let (first, second) = (first.wait().exits(0), second.wait().exits(0));
    assert_eq!(first.entry("tiny").status, Status::Fetched);
    // The first run may not have come to its commit yet: then the second finds finished bytes without a row.
    assert!(second.entry("tiny").status.is_ok());
    assert_eq!(second.entry("tiny").requests, 0);
    assert_eq!(lab.server.log().len(), 1);
    assert_eq!(lab.work.ledger_ids(), ["tiny"]);
    assert_eq!(lab.work.versions("tiny"), ["20260101"]);
    lab.assert_rerun_is_free();
}

#[test]
fn a_run_that_waits_too_long_for_another_comes_back_later() {
    let lab = Lab::new();
    let gate = Gate::closed();
    let other = documents("other", 2);
    lab.server.serve("/tiny.jsonl", Answer::object(TINY).held_at(&gate));
    lab.server.serve("/other.jsonl", Answer::object(&other));
    lab.work.configure([lab.tiny(), lab.source("other", &other)]);
    let first = lab.fetch().args(["--source", "tiny", "--timeout", "15"]).start();
    gate.wait_for(1);
    let second = lab.fetch().args(["--lock-timeout", "0.3", "--keep-going"]).run().exits(75);
    assert!(second.took < Duration::from_secs(10), "{:?}", second.took);
    assert_eq!((second.entry("tiny").status, second.entry("tiny").requests), (Status::Failed, 0));
    assert!(second.error("tiny").message.contains(&first.id().to_string()), "{:?}", second.error("tiny"));
    assert_eq!(second.entry("other").status, Status::Fetched, "a lock is one source's");
    assert_eq!(lab.work.ledger_ids(), ["other"]);
    gate.open();
    let _ = first.wait().exits(0);
    let _ = lab.fetch().run().exits(0);
    lab.assert_rerun_is_free();
}

#[test]
fn a_signal_ends_a_wait_for_a_lock() {
    let lab = Lab::new();
    let gate = Gate::closed();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY).held_at(&gate));
    lab.work.configure(lab.tiny());
    let first = lab.fetch().args(["--timeout", "15"]).start();
    gate.wait_for(1);
    let second = lab.fetch().start();
    second.wait_until_stderr_says(&first.id().to_string());
    second.signal(Signal::Terminate);
    assert_eq!(second.wait().exits(130).entry("tiny").status, Status::Cancelled);
    gate.open();
    let _ = first.wait().exits(0);
}

#[test]
fn a_killed_run_leaves_no_lock_behind() {
    let lab = Lab::new();
    let gate = Gate::closed();
    lab.server.script("/tiny.jsonl", [Answer::object(TINY).held_at(&gate), Answer::object(TINY)]);
    lab.work.configure(lab.tiny());
    let first = lab.fetch().start();
    gate.wait_for(1);
    first.signal(Signal::Kill);
    assert_eq!(first.wait().signal, Some(9));
    gate.open();
    let _ = lab.fetch().args(["--lock-timeout", "1"]).run().exits(0);
    lab.assert_rerun_is_free();
}

#[test]
fn runs_over_different_sources_write_one_ledger() {
    let lab = Lab::new();
    let ids: Vec<String> = (0..6).map(|number| format!("s{number}")).collect();
    let gate = Gate::opening_at(ids.len());
    let sources: Vec<_> = ids
        .iter()
        .map(|id| {
            let bytes = documents(id, 2);
            lab.server.serve(&format!("/{id}.jsonl"), Answer::object(&bytes).held_at(&gate));
            lab.source(id, &bytes)
        })
        .collect();
    lab.work.configure(sources);
    let runs: Vec<_> = ids.iter().map(|id| lab.fetch().args(["--timeout", "15", "--source", id]).start()).collect();
    for run in runs {
        let _ = run.wait().exits(0);
    }
    let mut rows = lab.work.ledger_ids();
    rows.sort();
    assert_eq!(rows, ids, "every row whole, none twice");
    lab.assert_rerun_is_free();
}
