//! Cached: what has to stand for a source to be left alone, and what is done when some of it does not.

use std::fs;

use corpora_contracts::ids::Digest;
use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, TINY, TINY_SHA256, documents};
use corpora_tests::servers::Answer;

const TOMORROW: &str = "1767312000";
const LEDGER: &str = "corpus/LEDGER.jsonl";

/// A lab where `tiny` was fetched; its log starts empty.
fn fetched() -> Lab {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let _ = lab.fetch_config(lab.tiny()).exits(0);
    lab.server.forget();
    lab
}

#[test]
fn a_raw_directory_that_is_gone_is_fetched_again_under_its_name() {
    let lab = fetched();
    let before = lab.work.tree();
    fs::remove_dir_all(lab.work.path("corpus/raw/tiny/20260101")).unwrap();
    let run = lab.fetch().run().exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Fetched, 1));
    assert_eq!(lab.work.tree(), before, "the receipt without its directory went, so the name was free; the row stands");
    lab.assert_rerun_is_free();
}

#[test]
fn a_raw_directory_without_a_receipt_is_not_trusted() {
    let lab = fetched();
    let before = lab.work.tree();
    fs::remove_file(lab.work.path("corpus/receipts/tiny/20260101.json")).unwrap();
    lab.work.plant("corpus/raw/tiny/20260101/part-00001.jsonl.zst", "left by somebody");
    let run = lab.fetch().run().exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Fetched, 1));
    assert_eq!(lab.work.tree(), before);
    lab.assert_rerun_is_free();
}

#[test]
fn a_receipt_vouches_for_every_part() {
    let lab = Lab::new();
    let bytes = documents("parts", 5);
    lab.server.serve("/parts.jsonl", Answer::object(&bytes));
    lab.work.configure(lab.source("parts", &bytes).with("text_field", "text"));
    let _ = lab.fetch().args(["--part-docs", "2"]).run().exits(0);
    let receipt = lab.work.receipt("parts", "20260101");
    assert_eq!(
        (receipt.source_id.as_str(), receipt.sha256, receipt.bytes),
        ("parts", Digest::of(&bytes), bytes.len() as u64)
    );
    assert_eq!((receipt.n_docs, receipt.split.part_docs, receipt.split.documents.text_field.as_str()), (5, 2, "text"));
    let tree = lab.work.tree();
    let parts = tree.under("corpus/raw/parts/20260101/");
    assert_eq!(parts.len(), receipt.parts.len());
    for (path, part) in parts.into_iter().zip(&receipt.parts) {
        assert!(path.ends_with(&part.name));
        assert_eq!(tree.files[path], (part.bytes, part.sha256));
    }
}

#[test]
fn what_was_quarantined_stays_for_a_human_when_the_right_bytes_come() {
    let lab = Lab::new();
    lab.server.script("/tiny.jsonl", [Answer::object("swapped"), Answer::object(TINY)]);
    let _ = lab.fetch_config(lab.tiny()).exits(65);
    let _ = lab.fetch().run().exits(0);
    assert_eq!(lab.work.read("corpus/quarantine/tiny/tiny.jsonl").as_deref(), Some(&b"swapped"[..]));
    assert_eq!(lab.work.texts("tiny"), ["Tom has a red ball.", "Mia naps."]);
    lab.assert_rerun_is_free();
}

#[test]
fn a_half_written_raw_directory_counts_for_nothing() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.plant("corpus/raw/tiny/20260101.tmp/part-00000.jsonl.zst", "half");
    lab.work.plant("corpus/raw/tiny/20260101.tmp/part-00007.jsonl.zst", "of another split");
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(run.entry("tiny").raw_dir, "corpus/raw/tiny/20260101");
    assert_eq!(lab.work.versions("tiny"), ["20260101"]);
    assert_eq!(lab.work.texts("tiny"), ["Tom has a red ball.", "Mia naps."]);
    lab.assert_rerun_is_free();
}

#[test]
fn finished_bytes_without_a_row_get_their_row_without_a_request() {
    let lab = fetched();
    let before = lab.work.tree();
    fs::remove_file(lab.work.path(LEDGER)).unwrap();
    let run = lab.fetch().env("CORPORA_CLOCK", TOMORROW).run().exits(0);
    assert!(run.entry("tiny").status.is_ok());
    assert_eq!((run.entry("tiny").requests, lab.server.log().len()), (0, 0));
    assert_eq!(run.entry("tiny").retrieved_at, "2026-01-01T00:00:00Z", "the receipt's time, not today's");
    assert_eq!(lab.work.tree(), before, "the row is the one it would have had");
    lab.assert_rerun_is_free();
}

#[test]
fn another_split_is_fetched_into_a_directory_of_its_own() {
    let lab = fetched();
    let ledger = lab.work.ledger();
    let run = lab.fetch().args(["--part-docs", "1"]).run().exits(0);
    assert_eq!(
        (run.entry("tiny").status, run.entry("tiny").raw_dir.as_str()),
        (Status::Fetched, "corpus/raw/tiny/20260101.2")
    );
    assert_eq!(lab.work.versions("tiny"), ["20260101", "20260101.2"]);
    assert_eq!(lab.work.raw_parts("tiny", "20260101.2").len(), 2);
    assert_eq!(lab.work.ledger(), ledger, "the same documents in other parts are no other terms");
    for (part_docs, version) in [("1", "20260101.2"), ("100000", "20260101")] {
        let run = lab.fetch().args(["--part-docs", part_docs]).run().exits(0);
        let entry = run.entry("tiny");
        assert_eq!((entry.status, entry.raw_dir), (Status::Cached, format!("corpus/raw/tiny/{version}")));
    }
}

#[test]
fn another_document_count_is_a_change_of_terms() {
    let lab = Lab::new();
    let bytes = b"{\"text\":\"a\"}\n{\"body\":\"b\"}\n";
    lab.server.serve("/data.jsonl", Answer::object(bytes));
    let source = lab.source("data", bytes).with("on_bad_document", "drop");
    let _ = lab.fetch_config(source.clone()).exits(0);
    lab.work.configure(source.with("format", "text"));
    let run = lab.fetch().env("CORPORA_CLOCK", TOMORROW).run().exits(0);
    assert_eq!((run.entry("data").status, run.entry("data").n_docs), (Status::Fetched, 1), "one block of two lines");
    assert_eq!(lab.work.rows().len(), 1, "the count is the same, and so are the terms");

    lab.work.configure(lab.source("data", bytes).with("text_field", "missing").with("on_bad_document", "drop"));
    let run = lab.fetch().env("CORPORA_CLOCK", TOMORROW).run().exits(0);
    assert_eq!(run.entry("data").n_docs, 0);
    let rows = lab.work.rows();
    assert_eq!(rows.iter().map(|row| (row.n_docs, row.kept)).collect::<Vec<_>>(), [(1, 1), (0, 0)]);
    assert_eq!(rows[1].retrieved_at.to_string(), "2026-01-02T00:00:00Z", "the time of the receipt that counts");
}

#[test]
fn a_second_version_on_one_day_is_numbered() {
    let lab = fetched();
    for number in [2, 3] {
        let newer = documents("newer", number);
        lab.server.serve("/tiny.jsonl", Answer::object(&newer));
        let run = lab.fetch_config(lab.source("tiny", &newer)).exits(0);
        assert_eq!(run.entry("tiny").raw_dir, format!("corpus/raw/tiny/20260101.{number}"));
        lab.assert_rerun_is_free();
    }
    assert_eq!(lab.work.receipts("tiny"), ["20260101.2.json", "20260101.3.json", "20260101.json"]);
    assert_eq!(lab.work.rows().len(), 3);

    lab.server.forget();
    let run = lab.fetch_config(lab.tiny()).exits(0);
    let entry = run.entry("tiny");
    assert_eq!(
        (entry.status, entry.raw_dir.as_str(), entry.sha256.as_str()),
        (Status::Cached, "corpus/raw/tiny/20260101", TINY_SHA256)
    );
    assert_eq!(lab.work.rows().len(), 3, "going back to a version that is there costs nothing");
}

#[test]
fn downloads_can_be_kept_and_spare_the_next_split_its_download() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let keeping = |source| corpora_tests::harness::ConfigToml::new([source]).with("keep_downloads", true);
    let _ = lab.fetch_config(keeping(lab.tiny())).exits(0);
    assert_eq!(lab.work.read("corpus/downloads/tiny/tiny.jsonl").as_deref(), Some(TINY));
    lab.assert_rerun_is_free();
    let run = lab.fetch().args(["--part-docs", "1"]).run().exits(0);
    assert_eq!((run.entry("tiny").status, lab.server.log().len()), (Status::Fetched, 1), "the bytes are here already");

    let newer = documents("newer", 2);
    lab.server.serve("/tiny.jsonl", Answer::object(&newer));
    let run = lab.fetch_config(keeping(lab.source("tiny", &newer))).exits(0);
    assert_eq!(run.entry("tiny").status, Status::Fetched, "a kept download of an older pin is no quarantine case");
    assert_eq!(lab.work.read("corpus/downloads/tiny/tiny.jsonl"), Some(newer));
}
