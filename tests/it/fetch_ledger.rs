//! The ledger: terms, revocation, damage, and who writes it when.

use std::fs;

use corpora_contracts::config::{PiiPolicy, Use};
use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, SourceToml, TINY, documents};
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

/// Appends to the ledger as a person or a later command would.
fn append(lab: &Lab, text: &str) {
    fs::write(lab.work.path(LEDGER), lab.work.ledger() + text).unwrap();
}

#[test]
fn new_terms_are_a_new_row_and_no_request() {
    let lab = fetched();
    let tree = lab.work.tree();
    let moved = lab.server.url("/elsewhere.jsonl");
    let changes: [(&str, serde_json::Value); 4] = [
        ("license_spdx", "CC0-1.0".into()),
        ("url", moved.clone().into()),
        ("allowed_uses", serde_json::json!(["eval"])),
        ("pii_policy", "none".into()),
    ];
    let mut source = lab.tiny();
    for (count, (key, value)) in changes.into_iter().enumerate() {
        source = source.with(key, value);
        lab.work.configure(source.clone());
        let run = lab.fetch().env("CORPORA_CLOCK", TOMORROW).run().exits(0);
        assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Cached, 0), "{key}");
        assert_eq!(lab.work.rows().len(), count + 2, "{key} is a term");
        lab.assert_rerun_is_free();
    }
    assert!(lab.server.log().is_empty());
    let rows = lab.work.rows();
    let last = rows.last().unwrap();
    assert_eq!((last.license_spdx.as_str(), &last.url), ("CC0-1.0", &moved));
    assert_eq!((&last.allowed_uses[..], last.pii_policy), (&[Use::Eval][..], PiiPolicy::None));
    assert!(rows.iter().all(|row| row.retrieved_at == rows[0].retrieved_at), "the bytes are as old as they were");
    for path in tree.under("corpus/raw/").into_iter().chain(tree.under("corpus/receipts/")) {
        assert_eq!(lab.work.tree().files.get(path), tree.files.get(path), "raw parts keep what was captured");
    }

    let _ = lab.fetch_config(lab.tiny()).exits(0);
    let rows = lab.work.rows();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0], rows[5], "going back is a change too, and the last row is the state");
}

#[test]
fn a_revoked_source_is_left_alone_until_a_row_says_otherwise() {
    let lab = fetched();
    let row = lab.work.ledger();
    let with =
        |revoked: bool| row.replace("\"notes\":\"\"}", &format!("\"notes\":\"on request\",\"revoked\":{revoked}}}"));
    append(&lab, &with(true));
    fs::remove_dir_all(lab.work.path("corpus/raw/tiny")).unwrap();
    let other = documents("other", 2);
    lab.server.serve("/other.jsonl", Answer::object(&other));
    let newer = documents("newer", 2);
    for source in [lab.tiny(), lab.tiny().with("license_spdx", "CC0-1.0"), lab.source("tiny", &newer)] {
        lab.work.configure([source, lab.source("other", &other)]);
        let run = lab.fetch().run().exits(0);
        assert!(run.summary().ok);
        assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Revoked, 0));
        assert_eq!(run.entry("tiny").error, None);
        assert_eq!(lab.work.ledger_ids(), ["tiny", "tiny", "other"], "no row is appended for a revoked source");
    }
    assert!(lab.server.requests("/tiny.jsonl").is_empty(), "also under another pin or other terms");

    append(&lab, &with(false));
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Fetched, 1));
    lab.assert_rerun_is_free();
}

#[test]
fn the_commit_can_be_left_out_and_made_up_for() {
    let lab = Lab::new();
    let other = documents("other", 2);
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.server.serve("/other.jsonl", Answer::object(&other));
    let sources = || [lab.tiny(), lab.source("other", &other), lab.source("gone", b"gone")];
    lab.work.configure(sources());
    for id in ["other", "tiny"] {
        let run = lab.fetch().args(["--no-commit", "--source", id]).run().exits(0);
        assert_eq!(run.statuses(), [(id.to_owned(), Status::Fetched)]);
    }
    assert_eq!(lab.work.ledger(), "");
    let again = lab.fetch().args(["--no-commit", "--source", "tiny"]).run().exits(0);
    assert_eq!((again.entry("tiny").requests, lab.work.ledger()), (0, String::new()), "finished, row or not");

    lab.server.forget();
    for _ in 0..2 {
        let run = lab.fetch().args(["--commit"]).run().exits(0);
        let _ = run.summary();
        assert_eq!(lab.work.ledger_ids(), ["tiny", "other"], "in config order; one without a receipt is no error");
    }
    assert!(lab.server.log().is_empty(), "the commit asks nobody");
    lab.work.configure([lab.tiny().with("license_spdx", "CC0-1.0"), lab.source("other", &other)]);
    let _ = lab.fetch().args(["--no-commit"]).run().exits(0);
    assert_eq!(lab.work.rows().len(), 2);
    let _ = lab.fetch().args(["--commit"]).run().exits(0);
    assert_eq!(lab.work.ledger_ids(), ["tiny", "other", "tiny"], "terms are the commit's affair");
}

#[test]
fn a_last_line_that_lacks_only_its_newline_is_kept() {
    let lab = fetched();
    let whole = lab.work.ledger();
    fs::write(lab.work.path(LEDGER), whole.trim_end()).unwrap();
    let run = lab.fetch().run().exits(0);
    assert_eq!((run.entry("tiny").status, lab.work.rows().len()), (Status::Cached, 1));
    fs::write(lab.work.path(LEDGER), whole.trim_end()).unwrap();
    let _ = lab.fetch_config(lab.tiny().with("license_spdx", "CC0-1.0")).exits(0);
    assert_eq!(lab.work.rows().len(), 2, "the next row starts on a line of its own");
    assert!(lab.work.ledger().starts_with(&whole));
    assert!(lab.server.log().is_empty());
}

#[test]
fn a_torn_last_line_is_cut_off_with_a_warning() {
    let lab = fetched();
    let whole = lab.work.ledger();
    for kept in [1, 40, whole.len() - 2] {
        fs::write(lab.work.path(LEDGER), &whole[..kept]).unwrap();
        let run = lab.fetch().run().exits(0);
        assert_eq!(lab.work.ledger(), whole, "cut at {kept}: the row is written again");
        assert!(run.stderr.contains("ledger") && run.stderr.contains("torn"), "{}", run.stderr);
    }
    append(&lab, &whole[..40]);
    let _ = lab.fetch_config(lab.tiny().with("license_spdx", "CC0-1.0")).exits(0);
    assert_eq!(lab.work.rows().len(), 2);
    assert!(lab.server.log().is_empty());
}

#[test]
fn any_other_bad_line_is_a_persons_to_mend() {
    let lab = fetched();
    let row = lab.work.ledger();
    let unknown = row.replace("\"notes\"", "\"remarks\"");
    for (name, text, line) in [
        ("no JSON", format!("{row}nonsense\n{row}"), 2),
        ("no row", format!("{{}}\n{row}"), 1),
        ("a blank line", format!("{row}\n{row}"), 2),
        ("an unknown key", format!("{row}{unknown}"), 2),
        ("a bad last line with its newline", format!("{row}{{\"source_id\":\n"), 2),
    ] {
        fs::write(lab.work.path(LEDGER), &text).unwrap();
        let newer = documents("newer", 2);
        let run = lab.fetch_config(lab.source("tiny", &newer)).exits(65);
        let named = run.stderr.contains("LEDGER.jsonl") && run.stderr.contains(&format!("line {line}"));
        assert!(named, "{name}: {}", run.stderr);
        assert_eq!(lab.work.ledger(), text, "{name}: nothing is mended behind a person's back");
    }
    assert!(lab.server.log().is_empty(), "what is done already cannot be known, so nothing is asked");
}

#[test]
fn a_ledger_that_another_run_holds_is_waited_for_and_then_left_for_later() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let lock = fs::File::open(lab.work.plant("corpus/locks/LEDGER.lock", "")).unwrap();
    lock.lock().unwrap();
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["--lock-timeout", "0.3"]).run().exits(75);
    assert!(run.stderr.contains("LEDGER.lock"), "{}", run.stderr);
    assert_eq!((lab.work.versions("tiny"), lab.work.ledger()), (vec!["20260101".to_owned()], String::new()));
    lock.unlock().unwrap();
    let _ = lab.fetch().run().exits(0);
    assert_eq!((lab.work.ledger_ids(), lab.server.log().len()), (vec!["tiny".to_owned()], 1));
    lab.assert_rerun_is_free();
}

#[test]
fn other_peoples_rows_are_left_alone() {
    let lab = fetched();
    let foreign = lab.work.ledger().replace("\"tiny\"", "\"of-another-config\"");
    append(&lab, &foreign);
    let other = documents("other", 2);
    lab.server.serve("/other.jsonl", Answer::object(&other));
    let _ = lab.fetch_config([lab.source("other", &other), lab.tiny()]).exits(0);
    assert_eq!(lab.work.ledger_ids(), ["tiny", "of-another-config", "other"]);
    lab.assert_rerun_is_free();
}

#[test]
fn the_url_stands_in_the_ledger_as_it_was_written() {
    let lab = Lab::new();
    lab.server.serve_the_rest(Answer::object(TINY));
    let url = format!("HTTP://127.0.0.1:{}/a/../b/./t%69ny.jsonl?q=a b#fragment", lab.server.port());
    let _ = lab.fetch_config(SourceToml::new("tiny", &url, TINY)).exits(0);
    assert_eq!(lab.work.rows()[0].url, url);
    assert_eq!(lab.work.raw_documents("tiny")[0].url, format!("{url}#1"));
}

#[test]
fn uses_in_another_order_are_the_same_terms() {
    let lab = fetched();
    let ledger = lab.work.ledger();
    let uses = |uses: &[&str]| lab.tiny().with("allowed_uses", serde_json::json!(uses));
    let _ = lab.fetch_config(uses(&["eval", "train"])).exits(0);
    assert_eq!(lab.work.ledger(), ledger, "nothing is new, so nothing is written");
    let _ = lab.program(["ledger", "verify", "--config"]).arg(lab.work.config_file()).run().exits(0);
    let _ = lab.build().args(["--part-docs", "100000"]).run().exits(0);
    let _ = lab.fetch_config(uses(&["eval"])).exits(0);
    assert_eq!(lab.work.rows().len(), 2, "fewer uses are other terms");
    assert!(lab.server.log().is_empty());
}

#[test]
fn ledger_verify_looks_at_the_sources_it_is_asked_for() {
    let lab = Lab::new();
    let other = documents("other", 3);
    let sources = [lab.serve("tiny", TINY), lab.serve("other", &other)];
    let _ = lab.fetch_config(sources).exits(0);
    lab.work.plant("corpus/raw/other/20260101/part-00000.jsonl.zst", "damaged");
    let verify = |ids: &[&str]| {
        let flags = ids.iter().flat_map(|id| ["--source", id]);
        lab.program(["ledger", "verify", "--config"]).arg(lab.work.config_file()).args(flags).run()
    };
    let report = |run: &corpora_tests::harness::Outcome| -> serde_json::Value {
        serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap()
    };
    let good = report(&verify(&["tiny"]).exits(0));
    assert_eq!((&good["ok"], &good["n_docs"]), (&true.into(), &2.into()), "the other one is not looked at");
    for ids in [&["other"][..], &["tiny", "other"], &[]] {
        let bad = report(&verify(ids).exits(65));
        assert_eq!(bad["problems"].as_array().unwrap().len(), 1, "{bad}");
        assert!(bad["problems"][0].as_str().unwrap().contains("corpus/raw/other/"), "{bad}");
    }
    let unknown = verify(&["unknown"]).exits(2);
    assert!(unknown.stderr.contains("`unknown`") && unknown.stdout.is_empty(), "{}", unknown.stderr);
}
