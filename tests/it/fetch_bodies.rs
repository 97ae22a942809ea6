//! What arrives after the head: every framing, every way to end too early, and which error is which.

use std::time::Duration;

use corpora_contracts::ids::Digest;
use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, Outcome, TINY, TINY_SHA256, documents, pack_gzip};
use corpora_tests::servers::Answer;

/// Runs fetch over source `tiny` with this answer, always.
fn fetch(answer: Answer, attempts: &str) -> (Lab, Outcome) {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", answer);
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["--attempts", attempts, "--timeout", "2"]).run();
    (lab, run)
}

#[test]
fn every_framing_of_a_whole_body_is_read() {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 54\r\n\r\n";
    let cases = [
        ("length", Answer::object(TINY)),
        ("chunks", Answer::object(TINY).chunked()),
        ("many chunks", Answer::object(TINY).chunked().drip(7, Duration::from_millis(1))),
        ("until close", Answer::object(TINY).until_close()),
        ("an informational answer first", Answer::garbage([hints.as_bytes(), TINY].concat())),
        ("a coding label that is not true", Answer::object(TINY).header("Content-Encoding", "gzip")),
    ];
    for (name, answer) in cases {
        let (lab, run) = fetch(answer, "1");
        let entry = run.exits(0).entry("tiny");
        assert_eq!((entry.status, entry.requests, entry.bytes), (Status::Fetched, 1, 54), "{name}");
        lab.assert_rerun_is_free();
    }
}

#[test]
fn a_body_is_never_decoded_in_transit() {
    let lab = Lab::new();
    let packed = pack_gzip(TINY);
    lab.server.serve("/tiny.jsonl.gz", Answer::object(&packed).header("Content-Encoding", "gzip"));
    let source = lab.tiny().with("url", lab.server.url("/tiny.jsonl.gz"));
    let run = lab.fetch_config(source.clone().with("sha256", Digest::of(&packed).to_string())).exits(0);
    assert_eq!(run.entry("tiny").bytes, packed.len() as u64);
    assert_eq!(lab.work.texts("tiny"), ["Tom has a red ball.", "Mia naps."]);

    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(&packed).header("Content-Encoding", "gzip"));
    let run = lab.fetch_config(lab.tiny()).exits(65);
    assert_eq!(run.entry("tiny").status, Status::Quarantined, "the pin is about the bytes as sent");
}

#[test]
fn a_body_that_ends_too_early_is_retried_and_goes_on() {
    let stalled = Answer::object(TINY).stall_after(20, Duration::from_secs(3));
    let cases = [
        ("closed", Answer::object(TINY).cut_after(20), 20),
        ("reset", Answer::object(TINY).reset_after(20), 20),
        ("a torn chunk", Answer::object(TINY).chunked().cut_after(20), 20),
        ("a claim too long", Answer::object(TINY).claim_length(60), 54),
        ("silence", stalled, 20),
    ];
    for (name, answer, kept) in cases {
        let lab = Lab::new();
        lab.server.script("/tiny.jsonl", [answer, Answer::object(TINY)]);
        lab.work.configure(lab.tiny());
        let run = lab.fetch().args(["--attempts", "3", "--timeout", "1"]).run().exits(0);
        assert_eq!(run.entry("tiny").status, Status::Fetched, "{name}");
        assert_eq!(lab.server.ranges("/tiny.jsonl")[..2], ["".to_owned(), format!("bytes={kept}-")], "{name}");
        lab.assert_rerun_is_free();
    }
}

#[test]
fn nothing_and_nonsense_in_place_of_an_answer() {
    let cases = [
        ("closed before the head", Answer::hang_up(), 75, 2),
        ("silence before the head", Answer::object(TINY).head_after(Duration::from_secs(5)), 75, 2),
        ("not HTTP", Answer::garbage("SSH-2.0-OpenSSH_9.2\r\n"), 65, 1),
        ("a torn head", Answer::garbage("HTTP/1.1 200 OK\r\nContent-Le"), 75, 2),
        ("two lengths", Answer::object(TINY).header("Content-Length", "7"), 65, 1),
        ("an answer for nobody", Answer::status(204), 65, 1),
        ("nothing new", Answer::status(304), 65, 1),
    ];
    for (name, answer, code, requests) in cases {
        let (lab, run) = fetch(answer, "2");
        assert_eq!(run.code, Some(code), "{name}: {}", run.printed());
        let entry = run.entry("tiny");
        assert_eq!((entry.status, entry.requests), (Status::Failed, requests), "{name}: {}", run.stdout);
        assert_eq!(lab.server.log().len() as u64, requests, "{name}");
        assert!(lab.work.versions("tiny").is_empty() && lab.work.ledger().is_empty());
    }
}

#[test]
fn cut_wrong_and_changed_bytes_are_told_apart() {
    let old = documents("old", 2);
    let swapped = || Answer::object(documents("swapped", 2));
    let cases: [(&str, Vec<Answer>, i32, &[&str]); 4] = [
        ("cut", vec![Answer::object(TINY).cut_after(20)], 75, &["20", "54"]),
        ("another file", vec![swapped()], 65, &[TINY_SHA256]),
        ("a page for people", vec![Answer::error_page()], 65, &["html", TINY_SHA256]),
        (
            "changed meanwhile",
            vec![Answer::object(&old).etag("\"v1\"").cut_after(20), swapped().etag("\"v2\"")],
            65,
            &["changed", TINY_SHA256],
        ),
    ];
    let mut messages = Vec::new();
    for (name, answers, code, told) in cases {
        let lab = Lab::new();
        let attempts = answers.len().to_string();
        lab.server.script("/tiny.jsonl", answers);
        lab.work.configure(lab.tiny());
        let run = lab.fetch().args(["--attempts", &attempts]).run().exits(code);
        let error = run.error("tiny");
        let message = error.message.to_lowercase();
        assert!(told.iter().all(|&part| message.contains(part)), "{name}: {message}");
        assert_eq!(run.entry("tiny").status == Status::Quarantined, code == 65, "{name}");
        messages.push(message.replace(|letter: char| letter.is_ascii_hexdigit(), ""));
    }
    let count = messages.len();
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), count, "each says what it is, not only which digest came: {messages:#?}");
}

#[test]
fn only_as_many_bytes_as_announced_are_taken() {
    let (lab, run) = fetch(Answer::object([TINY, b"trailing"].concat()).claim_length(54), "1");
    assert_eq!(run.exits(0).entry("tiny").bytes, 54, "what follows the announced end is no part of the body");
    lab.assert_rerun_is_free();

    let (lab, run) = fetch(Answer::object(TINY).claim_length(30), "1");
    assert_eq!(run.exits(65).entry("tiny").status, Status::Quarantined);
    assert_eq!(lab.work.read("corpus/quarantine/tiny/tiny.jsonl").as_deref(), Some(&TINY[..30]));
}

#[test]
fn an_end_that_was_never_announced_is_judged_by_the_pin() {
    let (lab, run) = fetch(Answer::object(TINY).until_close().cut_after(20), "2");
    assert_ne!(run.code, Some(0), "{}", run.printed());
    assert_ne!(run.entry("tiny").status, Status::Fetched);
    assert!(lab.work.versions("tiny").is_empty() && lab.work.ledger().is_empty());
}

#[test]
fn a_206_that_nobody_asked_for_is_not_taken_for_the_file() {
    let beginning = Answer::garbage(
        [b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-19/54\r\nContent-Length: 20\r\n\r\n", &TINY[..20]]
            .concat(),
    );
    let (lab, run) = fetch(beginning, "2");
    assert_eq!(run.entry("tiny").status, Status::Failed);
    assert!(lab.work.versions("tiny").is_empty() && lab.work.ledger().is_empty());
}

#[test]
fn chunks_that_are_none_are_malformed_and_not_tried_again() {
    for (name, chunks) in
        [("no size", "ZZ\r\n"), ("a negative size", "-5\r\n"), ("no end of a chunk", "3\r\nabcde\r\n")]
    {
        let lab = Lab::new();
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        lab.server.serve("/tiny.jsonl", Answer::garbage(format!("{head}{chunks}")));
        let run = lab.fetch_config(lab.tiny()).exits(65);
        assert_eq!(run.entry("tiny").error.as_ref().unwrap().kind, "malformed_response", "{name}");
        assert_eq!(run.entry("tiny").requests, 1, "{name}");
    }
}
