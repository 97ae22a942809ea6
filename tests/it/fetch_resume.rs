//! A part goes on only where it provably is the beginning of the same bytes (RFC 9110 sections 13.1.5 and 14).

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, TINY};
use corpora_tests::servers::{Answer, Ranges};

const DATE: &str = "Tue, 02 Dec 2025 08:00:00 GMT";
const PART: &str = "corpus/downloads/tiny/tiny.jsonl.part";

/// A lab where source `tiny` was cut after 20 bytes, in a run that had one attempt; its log is the next run's alone.
fn interrupted(first: Answer) -> Lab {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", first.cut_after(20));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["--attempts", "1"]).run().exits(75);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").bytes), (Status::Failed, 20));
    assert_eq!(lab.work.read(PART).map(|part| part.len()), Some(20), "what came is kept");
    lab.server.forget();
    lab
}

/// Runs fetch to a good end and gives back the ranges it asked for.
#[track_caller]
fn resume(lab: &Lab, attempts: &str) -> Vec<String> {
    let run = lab.fetch().args(["--attempts", attempts]).run().exits(0);
    assert_eq!(run.entry("tiny").status, Status::Fetched);
    assert_eq!(lab.work.texts("tiny"), ["Tom has a red ball.", "Mia naps."]);
    let ranges = lab.server.ranges("/tiny.jsonl");
    assert_eq!(run.entry("tiny").requests, ranges.len() as u64);
    lab.assert_rerun_is_free();
    ranges
}

#[test]
fn if_range_carries_the_strongest_validator_there_is() {
    let plain = || Answer::object(TINY);
    let cases = [
        ("strong tag", plain().etag("\"v1\""), Some("\"v1\"")),
        ("date", plain().last_modified(DATE), Some(DATE)),
        ("tag and date", plain().etag("\"v1\"").last_modified(DATE), Some("\"v1\"")),
        ("weak tag", plain().etag("W/\"v1\""), None),
        ("weak tag and date", plain().etag("W/\"v1\"").last_modified(DATE), Some(DATE)),
        ("nothing", plain(), None),
    ];
    for (name, answer, validator) in cases {
        let across_runs = interrupted(answer.clone());
        across_runs.server.serve("/tiny.jsonl", answer.clone());
        let within_a_run = Lab::new();
        within_a_run.work.configure(within_a_run.tiny());
        within_a_run.server.script("/tiny.jsonl", [answer.clone().cut_after(20), answer]);
        for lab in [across_runs, within_a_run] {
            assert_eq!(resume(&lab, "2").last().unwrap(), "bytes=20-", "{name}");
            let last = lab.server.log().pop().unwrap();
            assert_eq!(last.request.header("if-range"), validator, "{name}");
            assert_eq!(last.sent(), 34, "{name}: only the rest is sent");
        }
    }
}

#[test]
fn another_object_under_the_same_url_is_never_mixed_in() {
    let old = b"{\"text\": \"Tim had a big dog!\"}\n{\"text\": \"Moo sings.\"}\n";
    assert_eq!(old.len(), TINY.len());
    let (tagged, dated) = (|body: &[u8], tag| Answer::object(body).etag(tag), "Wed, 03 Dec 2025 08:00:00 GMT");
    let cases = [
        ("the server heeds If-Range", tagged(old, "\"v1\""), tagged(TINY, "\"v2\""), vec!["bytes=20-"]),
        (
            "the server ignores If-Range and says who it is",
            tagged(old, "\"v1\""),
            tagged(TINY, "\"v2\"").ignoring_if_range(),
            vec!["bytes=20-", ""],
        ),
        (
            "the date is another",
            Answer::object(old).last_modified(DATE),
            Answer::object(TINY).last_modified(dated).ignoring_if_range(),
            vec!["bytes=20-", ""],
        ),
    ];
    for (name, before, after, ranges) in cases {
        let lab = Lab::new();
        lab.work.configure(lab.tiny());
        lab.server.serve("/tiny.jsonl", before.cut_after(20));
        let _ = lab.fetch().args(["--attempts", "1"]).run().exits(75);
        lab.server.forget();
        lab.server.serve("/tiny.jsonl", after);
        assert_eq!(resume(&lab, "3"), ranges, "{name}");
    }
}

#[test]
fn a_mix_that_no_validator_prevents_is_found_by_the_pin() {
    let old = b"{\"text\": \"Tim had a big dog!\"}\n{\"text\": \"Moo sings.\"}\n";
    let lab = interrupted(Answer::object(old));
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    assert_eq!(resume(&lab, "1"), ["bytes=20-", ""], "the mix is not the pinned file; the whole is");

    let lab = interrupted(Answer::object(TINY));
    lab.server.serve("/tiny.jsonl", Answer::object(old));
    let run = lab.fetch().run().exits(65);
    assert_eq!(run.entry("tiny").status, Status::Quarantined);
    assert_eq!(lab.work.read("corpus/quarantine/tiny/tiny.jsonl").as_deref(), Some(&old[..]), "never a mix");
}

#[test]
fn a_206_of_something_else_is_dropped_and_the_download_starts_over() {
    let good = || Answer::object(TINY).etag("\"v1\"");
    let packed = || good().header("Content-Encoding", "gzip");
    let cases = [
        ("another start", good(), good().ranges(Ranges::StartEarlier(1))),
        ("another total", good(), good().ranges(Ranges::ClaimTotal("55".to_owned()))),
        ("a coding", good(), packed()),
        ("no coding any more", packed(), good()),
    ];
    for (name, first, strange) in cases {
        let lab = interrupted(first);
        lab.server.script("/tiny.jsonl", [strange, good()]);
        assert_eq!(resume(&lab, "3"), ["bytes=20-", ""], "{name}");
    }
}

#[test]
fn a_restart_takes_the_new_objects_validator_along() {
    let old = Answer::object("an older file, of which only the beginning came\n").etag("\"v1\"");
    let new = || Answer::object(TINY).etag("\"v2\"");
    let lab = Lab::new();
    lab.server.script("/tiny.jsonl", [old.cut_after(20), new().cut_after(30), new()]);
    lab.work.configure(lab.tiny());
    assert_eq!(resume(&lab, "3"), ["", "bytes=20-", "bytes=30-"]);
    let if_ranges: Vec<Option<String>> =
        lab.server.log().iter().map(|logged| logged.request.header("if-range").map(str::to_owned)).collect();
    assert_eq!(if_ranges, [None, Some("\"v1\"".to_owned()), Some("\"v2\"".to_owned())]);
}

#[test]
fn a_206_that_leaves_out_what_is_known_already_goes_on() {
    let cases = [
        ("no total", Answer::object(TINY).etag("\"v1\"").ranges(Ranges::ClaimTotal("*".to_owned()))),
        ("no validator", Answer::object(TINY).ignoring_if_range()),
        ("no length", Answer::object(TINY).etag("\"v1\"").chunked()),
    ];
    for (name, sparse) in cases {
        let lab = interrupted(Answer::object(TINY).etag("\"v1\""));
        lab.server.serve("/tiny.jsonl", sparse);
        assert_eq!(resume(&lab, "1"), ["bytes=20-"], "{name}");
    }
}

#[test]
fn a_server_that_cannot_do_ranges_is_asked_without_one_in_the_same_attempt() {
    let cases = [
        ("403", Ranges::Refuse(403)),
        ("unreadable", Ranges::ClaimRange(Some("lines 3-4".to_owned()))),
        ("absent", Ranges::ClaimRange(None)),
    ];
    for (name, ranges) in cases {
        let lab = interrupted(Answer::object(TINY));
        lab.server.serve("/tiny.jsonl", Answer::object(TINY).ranges(ranges));
        assert_eq!(resume(&lab, "1"), ["bytes=20-", ""], "{name}");
    }
}

#[test]
fn a_403_without_a_range_is_final() {
    let lab = interrupted(Answer::object(TINY));
    lab.server.serve("/tiny.jsonl", Answer::status(403));
    let run = lab.fetch().run().exits(65);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["bytes=20-", ""]);
    assert!(run.error("tiny").message.contains("403"), "{:?}", run.error("tiny"));
    assert_eq!(lab.work.read(PART).map(|part| part.len()), Some(20), "a signed url may expire: the part is kept");
}

#[test]
fn a_416_that_does_not_confirm_the_part_starts_over() {
    let cases = [
        ("no Content-Range", Ranges::Unsatisfiable(None)),
        ("unreadable", Ranges::Unsatisfiable(Some("bytes twenty".to_owned()))),
        ("a longer file", Ranges::Unsatisfiable(Some("bytes */54".to_owned()))),
    ];
    for (name, ranges) in cases {
        let lab = interrupted(Answer::object(TINY));
        lab.server.script("/tiny.jsonl", [Answer::object(TINY).ranges(ranges), Answer::object(TINY)]);
        let asked = resume(&lab, "4");
        assert_eq!((asked.first().unwrap().as_str(), asked.last().unwrap().as_str()), ("bytes=20-", ""), "{name}");
    }
}

#[test]
fn a_part_of_another_url_or_pin_is_dropped() {
    let lab = interrupted(Answer::object(TINY));
    lab.server.serve("/moved/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny().with("url", lab.server.url("/moved/tiny.jsonl")));
    let _ = lab.fetch().run().exits(0);
    assert_eq!(lab.server.ranges("/moved/tiny.jsonl"), [""], "another url");
    lab.assert_rerun_is_free();

    let newer = b"{\"text\":\"A new version.\"}\n{\"text\":\"Of the same place.\"}\n";
    let lab = interrupted(Answer::object(TINY));
    lab.server.serve("/tiny.jsonl", Answer::object(newer));
    lab.work.configure(lab.source("tiny", newer));
    let _ = lab.fetch().run().exits(0);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), [""], "another pin");
    assert_eq!(lab.work.texts("tiny"), ["A new version.", "Of the same place."]);
    lab.assert_rerun_is_free();
}

#[test]
fn a_reset_connection_goes_on_like_a_closed_one() {
    let lab = Lab::new();
    lab.server.script("/tiny.jsonl", [Answer::object(TINY).reset_after(20), Answer::object(TINY)]);
    lab.work.configure(lab.tiny());
    assert_eq!(resume(&lab, "2"), ["", "bytes=20-"]);
}

#[test]
fn a_download_behind_a_redirect_goes_on_behind_it() {
    let lab = Lab::new();
    lab.server.script("/tiny.jsonl", [Answer::redirect(302, "/cdn?key=1"), Answer::redirect(302, "/cdn?key=2")]);
    let cdn = Answer::object(TINY).etag("\"v1\"");
    lab.server.script("/cdn?key=1", [cdn.clone().cut_after(20)]);
    lab.server.script("/cdn?key=2", [cdn]);
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(run.entry("tiny").requests, 4, "each attempt starts at the configured url");
    let last = lab.server.log().pop().unwrap();
    assert_eq!((last.request.target.as_str(), last.request.header("range")), ("/cdn?key=2", Some("bytes=20-")));
    assert_eq!(last.request.header("if-range"), Some("\"v1\""));
    lab.assert_rerun_is_free();
}

#[test]
fn every_request_asks_for_the_bytes_as_they_are() {
    let lab = interrupted(Answer::object(TINY));
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let _ = resume(&lab, "1");
    for logged in lab.server.log() {
        assert_eq!(logged.request.method, "GET");
        assert_eq!(logged.request.header("accept-encoding"), Some("identity"));
        assert!(logged.request.header("user-agent").is_some_and(|agent| agent.contains("corpora")), "{logged:?}");
    }
}

#[test]
fn a_part_that_is_a_link_is_not_followed() {
    for (name, link) in [("the part", PART.to_owned()), ("its note", format!("{PART}.json"))] {
        let lab = interrupted(Answer::object(TINY).etag("\"v1\""));
        let elsewhere = lab.work.root().join("elsewhere");
        std::fs::rename(lab.work.path(&link), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, lab.work.path(&link)).unwrap();
        let before = std::fs::read(&elsewhere).unwrap();
        lab.server.serve("/tiny.jsonl", Answer::object(TINY).etag("\"v1\""));
        // Bytes whose note is gone may go on: the pin decides.
        assert_eq!(resume(&lab, "1"), [if name == "the part" { "" } else { "bytes=20-" }], "{name}");
        assert_eq!(std::fs::read(&elsewhere).unwrap(), before, "{name}: what it leads to is left alone");
        assert!(lab.server.log()[0].request.header("if-range").is_none(), "{name}: nothing is known by a link");
    }
}

#[test]
fn a_link_to_nothing_makes_no_file_elsewhere() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let elsewhere = lab.work.root().join("elsewhere");
    let part = lab.work.plant(PART, "");
    std::fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &part).unwrap();
    lab.work.configure(lab.tiny());
    assert_eq!(resume(&lab, "1"), [""]);
    assert!(!elsewhere.exists());
}
