//! Fetch seed, sections 2.5 and 4: the ledger's rows and the config they come from.

use std::collections::BTreeMap;
use std::time::Duration;

use corpora_contracts::config::{PiiPolicy, Use};
use corpora_contracts::ids::Digest;
use corpora_contracts::summary::Status;
use corpora_tests::harness::{ConfigToml, Setup, SourceToml, TINY, TINY_SHA256, documents, wait_until};
use corpora_tests::servers::Answer;
use serde_json::Value;

/// Every row fits the published schema, also on a machine whose day has begun already.
pub(crate) fn rows_validate_against_the_schema(setup: &Setup) {
    let lab = setup.lab();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.server.serve("/text.txt", Answer::object("A block.\n"));
    let text = SourceToml::new("text", &lab.server.url("/text.txt"), b"A block.\n").with("format", "text");
    let text = text.with("allowed_uses", ["eval"].as_slice()).with("pii_policy", "none");
    lab.work.configure([lab.tiny(), text]);
    let _ = lab.fetch().env("TZ", "EAST-14").run().exits(0);

    let schema = include_str!("../../../contracts/schemas/ledger-row.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let rows: Vec<Value> = lab.work.ledger().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let problems: Vec<String> = schema.iter_errors(&row).map(|error| error.to_string()).collect();
        assert_eq!(problems, [""; 0], "{row}");
        assert_eq!(row["retrieved_at"], "2026-01-01T00:00:00Z", "UTC, wherever the machine stands");
    }
    assert_eq!(lab.work.versions("tiny"), ["20260101"]);
    lab.assert_rerun_is_free();
}

/// Each field of a row comes from the config or from the receipt, and from nowhere else.
pub(crate) fn row_is_a_pure_function(setup: &Setup) {
    let lab = setup.lab();
    let bytes = documents("many", 7);
    lab.server.serve("/many.jsonl", Answer::object(&bytes));
    let source = lab.source("many", &bytes).with("license_spdx", "CC0-1.0 OR MIT");
    let source = source.with("allowed_uses", ["eval"].as_slice()).with("pii_policy", "drop");
    lab.work.configure(source);
    let _ = lab.fetch().env("CORPORA_CLOCK", "1800000000").run().exits(0);
    let row = lab.work.rows().remove(0);
    let receipt = lab.work.receipt("many", "20270115");
    assert_eq!(row.source_id.as_str(), "many");
    assert_eq!(row.url, lab.server.url("/many.jsonl"));
    assert_eq!(row.license_spdx, "CC0-1.0 OR MIT");
    assert_eq!(row.retrieved_at.to_string(), "2027-01-15T08:00:00Z");
    assert_eq!((row.retrieved_at, row.sha256, row.n_docs), (receipt.retrieved_at, receipt.sha256, receipt.n_docs));
    assert_eq!((row.sha256, row.n_docs), (Digest::of(&bytes), 7));
    assert_eq!((row.allowed_uses, row.pii_policy), (vec![Use::Eval], PiiPolicy::Drop));
    assert_eq!((row.filters_applied.len(), row.kept, row.dropped, row.notes.as_str()), (0, 7, 0, ""));
    assert_eq!(row.revoked, None);
    assert_eq!((receipt.bytes, &receipt.dropped), (bytes.len() as u64, &BTreeMap::new()));
    lab.assert_rerun_is_free();
}

/// The first source finishes last and has the first row all the same.
pub(crate) fn rows_follow_the_input_order(setup: &Setup) {
    let lab = setup.lab();
    let ids = ["first", "second", "third"];
    let sources = ids.map(|id| {
        let bytes = documents(id, 4);
        let wait = Duration::from_millis(if id == "first" { 600 } else { 0 });
        lab.server.serve(&format!("/{id}.jsonl"), Answer::object(&bytes).head_after(wait));
        lab.source(id, &bytes)
    });
    let run = lab.fetch_config(sources).exits(0);
    assert_eq!(lab.work.ledger_ids(), ids);
    assert_eq!(run.statuses(), ids.map(|id| (id.to_owned(), Status::Fetched)));
    lab.assert_rerun_is_free();
}

/// One source is finished when the next turns out not to be there: its work is kept.
pub(crate) fn failure_keeps_finished_rows(setup: &Setup) {
    let lab = setup.lab();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let finished = lab.work.path("corpus/raw/tiny/20260101");
    lab.server.handle("/gone.jsonl", move |_, _| {
        wait_until(|| finished.exists());
        Answer::status(404).head_after(Duration::from_millis(100))
    });
    lab.work.configure([lab.tiny(), lab.source("gone", b"gone")]);
    let run = lab.fetch().run().exits(65);
    assert_eq!(run.statuses(), [("tiny".to_owned(), Status::Fetched), ("gone".to_owned(), Status::Failed)]);
    assert_eq!(lab.work.ledger_ids(), ["tiny"]);

    let before = lab.work.tree();
    let again = lab.fetch().run().exits(65);
    assert_eq!(again.statuses(), [("tiny".to_owned(), Status::Cached), ("gone".to_owned(), Status::Failed)]);
    assert_eq!(lab.server.requests("/tiny.jsonl").len(), 1, "a finished source is never fetched twice");
    assert_eq!(lab.work.tree(), before);
}

/// Four keys suffice; wrong ones are all named before anything is asked.
pub(crate) fn config_defaults_and_rejections(setup: &Setup) {
    let lab = setup.lab();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let _ = lab.fetch_config(lab.tiny()).exits(0);
    let row = lab.work.rows().remove(0);
    assert_eq!((row.allowed_uses, row.pii_policy), (vec![Use::Train, Use::Eval], PiiPolicy::Scrub));
    assert_eq!(row.sha256.to_string(), TINY_SHA256);

    let lab = setup.lab();
    let malformed = lab.source("other", TINY).with("sha256", "E9D5");
    let config = ConfigToml::new([lab.tiny(), lab.tiny(), malformed]);
    let run = lab.fetch_config(config.clone()).exits(65);
    let line = |needle: &str| {
        let toml = config.to_toml();
        let at = toml.lines().enumerate().filter(|(_, line)| line.contains(needle)).last();
        format!("corpus.toml:{}:", at.expect("the line is there").0 + 1)
    };
    for (problem, told) in [("id = \"tiny\"", "tiny"), ("E9D5", "E9D5")] {
        let place = line(problem);
        let said = run.stderr.lines().any(|line| line.contains(&place) && line.contains(told));
        assert!(said, "{place} {told}\n{}", run.stderr);
    }
    assert!(lab.server.log().is_empty());
    assert!(lab.work.tree().paths().is_empty(), "nothing is written for a config that is refused");
    assert_eq!(run.stdout, "", "no result without an accepted config");
}
