//! Fetch seed, sections 2.4 and 2.5: which errors are retried, how long is waited, how many are asked at once.

use std::time::Duration;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, Setup, SourceToml, TINY, documents, noise};
use corpora_tests::servers::{Answer, Gate};

/// The times between the requests to one path.
fn gaps(lab: &Lab, path: &str) -> Vec<Duration> {
    let at: Vec<_> = lab.server.requests(path).iter().map(|logged| logged.request.at).collect();
    at.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// 503, 503, 200: the second wait is twice the first.
pub(crate) fn backoff_doubles(setup: &Setup) {
    let lab = setup.lab();
    lab.server.script("/tiny.jsonl", [Answer::status(503), Answer::status(500), Answer::object(TINY)]);
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["--base-delay", "0.3"]).run().exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Fetched, 3));
    let gaps = gaps(&lab, "/tiny.jsonl");
    let (first, second) = (Duration::from_millis(300), Duration::from_millis(600));
    assert!(gaps[0] >= first && gaps[1] >= second, "{gaps:?}");
    assert!(gaps[0] + gaps[1] < Duration::from_secs(5), "{gaps:?}");
    lab.assert_rerun_is_free();
}

/// A wrong URL is wrong next time too.
pub(crate) fn not_found_is_final(setup: &Setup) {
    let lab = setup.lab();
    lab.work.configure(lab.tiny());
    for asked in [1, 2] {
        let run = lab.fetch().run().exits(65);
        assert_eq!(lab.server.requests("/tiny.jsonl").len(), asked, "one request per run");
        assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Failed, 1));
        assert!(run.error("tiny").message.contains("404"), "{:?}", run.error("tiny"));
        assert!(run.stderr.contains("tiny") && run.stderr.contains("404"), "{}", run.stderr);
    }
    assert_eq!(lab.work.ledger(), "");
}

/// Three attempts, two waits, and a code that says "later".
pub(crate) fn attempts_run_out(setup: &Setup) {
    let lab = setup.lab();
    lab.server.serve("/tiny.jsonl", Answer::status(503));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["--attempts", "3", "--base-delay", "0.1"]).run().exits(75);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Failed, 3));
    let gaps = gaps(&lab, "/tiny.jsonl");
    assert_eq!(gaps.len(), 2);
    assert!(gaps[0] >= Duration::from_millis(100) && gaps[1] >= Duration::from_millis(200), "{gaps:?}");
    assert_eq!(lab.work.ledger(), "");
}

/// The timeout bounds the wait for each read: silence is an error, a slow download is none.
pub(crate) fn silence_times_out(setup: &Setup) {
    let lab = setup.lab();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY).head_after(Duration::from_secs(1)));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["--timeout", "0.2", "--attempts", "2"]).run().exits(75);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Failed, 2));
    assert!(run.took < Duration::from_secs(5), "{:?}", run.took);

    let slow = noise(9, 3000);
    lab.server.serve("/slow.jsonl", Answer::object(&slow).drip(60, Duration::from_millis(20)));
    lab.work.configure(lab.source("slow", &slow));
    let run = lab.fetch().args(["--timeout", "0.8"]).run().exits(0);
    assert_eq!(run.entry("slow").requests, 1);
    assert!(run.took > Duration::from_secs(1), "the download took longer than the timeout: {:?}", run.took);
    lab.assert_rerun_is_free();
}

/// Eight sources, three at a time: never more, and no fewer.
pub(crate) fn concurrency_is_bounded(setup: &Setup) {
    let lab = setup.lab();
    let gate = Gate::opening_at(3).lingering(Duration::from_millis(100));
    let sources: Vec<SourceToml> = (0..8)
        .map(|number| {
            let (id, bytes) = (format!("s{number}"), documents("some", number + 1));
            lab.server.serve(&format!("/{id}.jsonl"), Answer::object(&bytes).held_at(&gate));
            lab.source(&id, &bytes)
        })
        .collect();
    lab.work.configure(sources);
    let _ = lab.fetch().args(["--concurrency", "3"]).run().exits(0);
    assert_eq!(lab.server.gauge().max(), 3);
    lab.assert_rerun_is_free();
}

/// A dataset host sends the client to its CDN; the ledger keeps the configured place.
pub(crate) fn redirects_are_followed(setup: &Setup) {
    for status in [301, 302, 303, 307, 308] {
        let lab = setup.lab();
        lab.server.serve("/tiny.jsonl", Answer::redirect(status, "/cdn/7f/tiny?signature=x"));
        lab.server.serve("/cdn/7f/tiny", Answer::object(TINY));
        let run = lab.fetch_config(lab.tiny()).exits(0);
        assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Fetched, 2), "{status}");
        assert_eq!(lab.work.rows()[0].url, lab.server.url("/tiny.jsonl"));
        assert_eq!(lab.work.raw_documents("tiny")[0].url, lab.server.url("/tiny.jsonl#1"));
        lab.assert_rerun_is_free();
    }
}
