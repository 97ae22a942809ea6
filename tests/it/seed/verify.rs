//! Fetch seed, sections 2.3 and 2.5: the pinned digest decides, and the ledger spares every second download.

use corpora_contracts::ids::Digest;
use corpora_contracts::summary::Status;
use corpora_tests::harness::{Setup, TINY, TINY_SHA256, documents};
use corpora_tests::servers::Answer;

/// Whole bytes that are not the pinned ones: for a human, and the other sources go on.
pub(crate) fn mismatch_is_quarantined(setup: &Setup) {
    let lab = setup.lab();
    let (swapped, good) = (documents("swapped", 3), documents("good", 3));
    lab.server.serve("/tiny.jsonl", Answer::object(&swapped));
    lab.server.serve("/good.jsonl", Answer::object(&good));
    lab.work.configure([lab.tiny(), lab.source("good", &good)]);
    for asked in [1, 2] {
        let run = lab.fetch().run().exits(65);
        assert!(!run.summary().ok);
        assert_eq!(lab.server.requests("/tiny.jsonl").len(), asked, "once per run");

        let entry = run.entry("tiny");
        assert_eq!((entry.status, entry.requests, entry.n_docs), (Status::Quarantined, 1, 0));
        assert_eq!(entry.sha256, Digest::of(&swapped).to_string(), "the digest of what came");
        assert_eq!((entry.raw_dir.as_str(), entry.retrieved_at.as_str()), ("", ""));
        assert!(run.error("tiny").message.contains(TINY_SHA256), "the message names the pin");
        assert_eq!(lab.work.read("corpus/quarantine/tiny/tiny.jsonl"), Some(swapped.clone()));
        assert_eq!(lab.work.versions("tiny"), [""; 0]);
        assert_eq!(lab.work.ledger_ids(), ["good"], "a quarantined source stops nobody and has no row");
        assert!(lab.work.tree().under("corpus/downloads/").is_empty());
    }
    assert_eq!(lab.server.requests("/good.jsonl").len(), 1);
}

/// What the server says about its bytes comes from the same place as the bytes.
pub(crate) fn checksum_header_is_not_trusted(setup: &Setup) {
    let lab = setup.lab();
    let swapped = documents("swapped", 3);
    lab.server.serve("/tiny.jsonl", Answer::object(&swapped).header("X-Content-Sha256", TINY_SHA256));
    let run = lab.fetch_config(lab.tiny()).exits(65);
    assert_eq!(run.entry("tiny").status, Status::Quarantined, "a swapped file with the pinned digest in its header");

    lab.server.serve("/good.jsonl", Answer::object(TINY).header("X-Content-Sha256", &Digest::of(&swapped).to_string()));
    let run = lab.fetch_config(lab.source("good", TINY)).exits(0);
    assert_eq!(run.entry("good").status, Status::Fetched, "the pinned file with another digest in its header");
    lab.assert_rerun_is_free();
}

/// The second run costs nothing.
pub(crate) fn rerun_downloads_nothing(setup: &Setup) {
    let lab = setup.lab();
    let other = documents("other", 5);
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.server.serve("/other.jsonl", Answer::object(&other));
    let first = lab.fetch_config([lab.tiny(), lab.source("other", &other)]).exits(0);
    lab.assert_rerun_is_free();
    let (first, second) = (first.entry("tiny"), lab.fetch().run().exits(0).entry("tiny"));
    assert_eq!((second.status, second.requests, second.bytes), (Status::Cached, 0, 0));
    let same = |entry: &corpora_contracts::summary::Entry| {
        (entry.raw_dir.clone(), entry.sha256.clone(), entry.n_docs, entry.retrieved_at.clone())
    };
    assert_eq!(same(&first), same(&second), "all else is as it was");
}

/// A new pin is a new version, beside the old one.
pub(crate) fn new_pin_fetches_again(setup: &Setup) {
    let lab = setup.lab();
    let newer = documents("newer", 3);
    lab.server.script("/tiny.jsonl", [Answer::object(TINY), Answer::object(&newer)]);
    let _ = lab.fetch_config(lab.tiny()).exits(0);
    let first = lab.work.tree();

    lab.work.configure(lab.source("tiny", &newer));
    let run = lab.fetch().env("CORPORA_CLOCK", "1767312000").run().exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").n_docs), (Status::Fetched, 3));
    assert_eq!(lab.work.versions("tiny"), ["20260101", "20260102"]);
    let second = lab.work.tree();
    for path in first.under("corpus/raw/") {
        assert_eq!(first.files.get(path), second.files.get(path), "the first version stays as it was");
    }
    let digests: Vec<String> = lab.work.rows().iter().map(|row| row.sha256.to_string()).collect();
    assert_eq!(digests, [TINY_SHA256.to_owned(), Digest::of(&newer).to_string()]);
    lab.assert_rerun_is_free();
}

/// The crash came between the check and the split: the bytes are there, and right.
pub(crate) fn left_download_is_used(setup: &Setup) {
    let lab = setup.lab();
    lab.work.plant("corpus/downloads/tiny/tiny.jsonl", TINY);
    let run = lab.fetch_config(lab.tiny()).exits(0);
    let entry = run.entry("tiny");
    assert_eq!((entry.status, entry.requests, entry.bytes, entry.n_docs), (Status::Fetched, 0, 0, 2));
    assert!(lab.server.log().is_empty());
    assert_eq!(lab.work.texts("tiny"), ["Tom has a red ball.", "Mia naps."]);
    lab.assert_rerun_is_free();
}
