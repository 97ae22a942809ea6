//! Fetch seed, sections 2.2 and 3: a cut download goes on where it stopped.

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Setup, TINY, TINY_SHA256, documents};
use corpora_tests::servers::{Answer, Ranges};

/// Section 3, step by step.
pub(crate) fn hand_example(setup: &Setup) {
    let lab = setup.lab();
    lab.server.script("/tiny.jsonl", [Answer::object(TINY).cut_after(20), Answer::object(TINY)]);
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["", "bytes=20-"]);

    let entry = run.entry("tiny");
    assert_eq!((entry.status, entry.requests, entry.bytes, entry.n_docs), (Status::Fetched, 2, 54, 2));
    assert_eq!((entry.raw_dir.as_str(), entry.sha256.as_str()), ("corpus/raw/tiny/20260101", TINY_SHA256));
    assert_eq!(entry.retrieved_at, "2026-01-01T00:00:00Z");

    let url = lab.server.url("/tiny.jsonl");
    let line = |number: u8, text: &str| {
        format!(
            "{{\"url\":\"{url}#{number}\",\"fetched_at\":\"2026-01-01T00:00:00Z\",\
             \"license_spdx\":\"CC-BY-4.0\",\"text\":\"{text}\"}}\n"
        )
    };
    let raw = lab.work.raw_parts("tiny", "20260101");
    assert_eq!(raw, [line(1, "Tom has a red ball.") + &line(2, "Mia naps.")]);
    let row = format!(
        "{{\"source_id\":\"tiny\",\"url\":\"{url}\",\"license_spdx\":\"CC-BY-4.0\",\
         \"retrieved_at\":\"2026-01-01T00:00:00Z\",\"sha256\":\"{TINY_SHA256}\",\"n_docs\":2,\
         \"allowed_uses\":[\"train\",\"eval\"],\"pii_policy\":\"scrub\",\"filters_applied\":[],\"kept\":2,\
         \"dropped\":0,\"notes\":\"\"}}\n"
    );
    assert_eq!(lab.work.ledger(), row);
    assert!(lab.work.tree().under("corpus/downloads/").is_empty(), "the download is gone once its parts stand");
    lab.assert_rerun_is_free();
}

/// A 200 to a range request is the whole file, not its rest.
pub(crate) fn range_ignored(setup: &Setup) {
    let lab = setup.lab();
    let deaf = || Answer::object(TINY).ranges(Ranges::Ignore);
    lab.server.script("/tiny.jsonl", [deaf().cut_after(20), deaf()]);
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["", "bytes=20-"]);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").bytes), (Status::Fetched, 20 + 54));
    assert_eq!(lab.work.texts("tiny"), ["Tom has a red ball.", "Mia naps."]);
    lab.assert_rerun_is_free();
}

/// Three cuts in four attempts.
pub(crate) fn cut_three_times(setup: &Setup) {
    let lab = setup.lab();
    let bytes = documents("cut", 60);
    assert!(bytes.len() > 1500);
    let whole = || Answer::object(&bytes);
    let cut = || whole().cut_after(500);
    lab.server.script("/cut.jsonl", [cut(), cut(), cut(), whole()]);
    let run = lab.fetch_config(lab.source("cut", &bytes)).exits(0);
    assert_eq!(lab.server.ranges("/cut.jsonl"), ["", "bytes=500-", "bytes=1000-", "bytes=1500-"]);
    let entry = run.entry("cut");
    assert_eq!((entry.requests, entry.bytes, entry.n_docs), (4, bytes.len() as u64, 60));
    lab.assert_rerun_is_free();
}

/// The crash came between the last byte and the rename: 416 says that nothing is missing.
pub(crate) fn whole_part_is_kept(setup: &Setup) {
    let lab = setup.lab();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.plant("corpus/downloads/tiny/tiny.jsonl.part", TINY);
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["bytes=54-"]);
    let entry = run.entry("tiny");
    assert_eq!((entry.status, entry.requests, entry.bytes), (Status::Fetched, 1, 0));
    lab.assert_rerun_is_free();
}

/// The part is longer than the file, which changed upstream: it is dropped.
pub(crate) fn part_is_too_long(setup: &Setup) {
    let lab = setup.lab();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.plant("corpus/downloads/tiny/tiny.jsonl.part", [TINY, b"a longer file"].concat());
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["bytes=67-", ""]);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").bytes), (Status::Fetched, 54));
    lab.assert_rerun_is_free();
}

/// A 206 with other bytes than asked for is of no use.
pub(crate) fn range_starts_elsewhere(setup: &Setup) {
    let lab = setup.lab();
    let early = Answer::object(TINY).ranges(Ranges::StartEarlier(7));
    lab.server.script("/tiny.jsonl", [Answer::object(TINY).cut_after(20), early, Answer::object(TINY)]);
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["", "bytes=20-", ""]);
    assert_eq!(run.entry("tiny").status, Status::Fetched);
    assert_eq!(lab.work.texts("tiny"), ["Tom has a red ball.", "Mia naps."]);
    lab.assert_rerun_is_free();
}
