//! Which failures are tried again, and how long the server may ask us to wait.

use std::net::TcpListener;
use std::time::{Duration, SystemTime};

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, SourceToml, TINY};
use corpora_tests::servers::Answer;

/// The wait between the first two requests to `/tiny.jsonl`.
fn first_wait(lab: &Lab) -> Duration {
    let log = lab.server.requests("/tiny.jsonl");
    log[1].request.at - log[0].request.at
}

fn in_seconds(seconds: u64) -> String {
    httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(seconds))
}

#[test]
fn statuses_are_final_or_tried_again() {
    let lab = Lab::new();
    let retried = [429, 500, 501, 502, 503, 504, 507, 599];
    let refused = [400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 412, 418, 421, 425, 431, 451];
    let sources: Vec<SourceToml> = retried
        .iter()
        .chain(&refused)
        .map(|&status| {
            let path = format!("/{status}");
            lab.server.serve(&path, Answer::status(status));
            SourceToml::new(&format!("s{status}"), &lab.server.url(&path), TINY)
        })
        .collect();
    lab.work.configure(sources);
    let run = lab.fetch().args(["--attempts", "2", "--keep-going"]).run().exits(65);
    for (statuses, requests) in [(&retried[..], 2), (&refused[..], 1)] {
        for status in statuses {
            let entry = run.entry(&format!("s{status}"));
            assert_eq!((entry.status, entry.requests), (Status::Failed, requests), "{status}");
            let message = run.error(&format!("s{status}")).message;
            assert!(message.contains(&status.to_string()), "{message}");
        }
    }
    assert_eq!(lab.work.ledger(), "");
}

#[test]
fn a_short_retry_after_is_waited_for() {
    let none = Duration::from_secs(5);
    let cases = [
        ("seconds", "1".to_owned(), Duration::from_secs(1), Duration::from_secs(9)),
        ("a date", in_seconds(2), Duration::from_millis(500), Duration::from_secs(9)),
        ("a date that is over", "Thu, 01 Jan 2026 00:00:00 GMT".to_owned(), Duration::ZERO, none),
        ("none to wait", "0".to_owned(), Duration::ZERO, none),
        ("nonsense", "soon".to_owned(), Duration::ZERO, none),
        ("negative", "-30".to_owned(), Duration::ZERO, none),
    ];
    for (name, value, least, most) in cases {
        for status in [429, 503] {
            let lab = Lab::new();
            let value = if name == "a date" { in_seconds(2) } else { value.clone() };
            let busy = Answer::status(status).header("Retry-After", &value);
            lab.server.script("/tiny.jsonl", [busy, Answer::object(TINY)]);
            let _ = lab.fetch_config(lab.tiny()).exits(0);
            let wait = first_wait(&lab);
            assert!(wait >= least && wait < most, "{name} ({status}): {wait:?}");
        }
    }
}

#[test]
fn the_longer_of_backoff_and_retry_after_is_waited() {
    let lab = Lab::new();
    lab.server.script("/tiny.jsonl", [Answer::status(503).header("Retry-After", "1"), Answer::object(TINY)]);
    lab.work.configure(lab.tiny());
    let _ = lab.fetch().args(["--base-delay", "1.5"]).run().exits(0);
    assert!(first_wait(&lab) >= Duration::from_millis(1500), "{:?}", first_wait(&lab));
}

#[test]
fn a_long_retry_after_is_the_orchestrators_to_wait() {
    for (value, least, most) in
        [("61".to_owned(), 61, 61), ("7200".to_owned(), 7200, 7200), (in_seconds(3600), 3500, 3600)]
    {
        let lab = Lab::new();
        lab.server.serve("/tiny.jsonl", Answer::status(429).header("Retry-After", &value));
        let run = lab.fetch_config(lab.tiny()).exits(75);
        assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Failed, 1), "{value}");
        assert!(run.took < Duration::from_secs(15), "at once");
        let asked = run.error("tiny").retry_after_s.expect("the wait is handed on");
        assert!((least..=most).contains(&asked), "{value}: {asked}");
    }
}

#[test]
fn retry_after_does_not_make_a_wrong_url_right() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::status(404).header("Retry-After", "3600"));
    let run = lab.fetch_config(lab.tiny()).exits(65);
    assert_eq!(run.entry("tiny").requests, 1);
}

#[test]
fn a_place_that_cannot_be_reached_may_be_reached_later() {
    let free_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cases = [
        ("refused", format!("http://127.0.0.1:{free_port}/tiny.jsonl"), "127.0.0.1"),
        ("no such host", "http://corpus.invalid/tiny.jsonl".to_owned(), "corpus.invalid"),
    ];
    for (name, url, host) in cases {
        let lab = Lab::new();
        lab.work.configure(lab.tiny().with("url", url));
        let run = lab.fetch().args(["--attempts", "2"]).run().exits(75);
        assert_eq!(run.entry("tiny").status, Status::Failed, "{name}");
        assert!(run.error("tiny").message.contains(host), "{name}: {:?}", run.error("tiny"));
    }
}

#[test]
fn one_attempt_waits_for_nothing() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::status(503).header("Retry-After", "5"));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["--attempts", "1", "--base-delay", "5"]).run().exits(75);
    assert_eq!(run.entry("tiny").requests, 1);
    assert!(run.took < Duration::from_secs(5), "there is nothing to wait for: {:?}", run.took);
}
