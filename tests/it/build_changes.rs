//! After a change, a build does exactly what the change asks for: untouched files stay the files they are.

use std::fs;

use corpora_contracts::config::PiiPolicy;
use corpora_tests::harness::{ConfigToml, Footprints, Lab, NOTES, Outcome, PUBLISHED, SourceToml, documents};
use corpora_tests::servers::Answer;
use serde_json::json;

const DATASET: [&str; 2] = ["store small/v1", "verify-ledger small/v1"];

/// A lab whose shelf is built, and the shelf; its server's log starts empty.
fn built() -> (Lab, [SourceToml; 3]) {
    let lab = Lab::new();
    let shelf = lab.shelf();
    let _ = lab.build_config(ConfigToml::shelved(shelf.clone())).exits(0);
    lab.server.forget();
    (lab, shelf)
}

/// Builds, and requires that these entries were worked on, that so many requests were made, and that below `corpus/`
/// nothing but these folders and files was touched.
#[track_caller]
fn rebuild(lab: &Lab, worked: &[&str], requests: usize, touched: &[&str]) -> Outcome {
    lab.server.forget();
    let before = Footprints::of(&lab.work.path("corpus"));
    let run = lab.build().run().exits(0);
    let after = Footprints::of(&lab.work.path("corpus"));
    assert_eq!(run.worked_on(), worked, "{}", run.stderr);
    assert_eq!(lab.server.log().len(), requests, "{:?}", lab.server.log());
    let may = |path: &String| touched.iter().any(|prefix| path.starts_with(prefix)) || path.starts_with("locks/");
    let wrongly: Vec<String> = before.changes(&after).into_iter().filter(|path| !may(path)).collect();
    assert_eq!(wrongly, [""; 0], "touched without need");
    assert_sound(lab);
    lab.assert_rebuild_is_free(lab.build());
    run
}

/// What is published is right, and rests on the ledger's last rows.
#[track_caller]
fn assert_sound(lab: &Lab) {
    let _ = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run().exits(0);
    let _ = lab.program(["ledger", "verify", "--full", "--config"]).arg(lab.work.config_file()).run().exits(0);
}

#[test]
fn a_corrected_licence_reaches_ledger_documents_shards_and_manifest_without_a_request() {
    let (lab, [tiny, many, notes]) = built();
    let changed = many.with("license_spdx", "CC0-1.0").with("pii_policy", "none");
    lab.work.configure(ConfigToml::shelved([tiny, changed, notes]));
    let touched = ["LEDGER.jsonl", "extract/small/v1/many/", "datasets/small/", "store/"];
    let run = rebuild(&lab, &["extract many", DATASET[0], DATASET[1]], 0, &touched);
    assert!(run.stderr.contains("replacing"), "{}", run.stderr);

    assert_eq!(lab.work.ledger_ids(), ["tiny", "many", "notes", "many"]);
    let row = lab.work.rows().pop().unwrap();
    assert_eq!((row.license_spdx.as_str(), row.pii_policy), ("CC0-1.0", PiiPolicy::None));
    assert!(lab.work.documents("many").iter().all(|document| document.license_spdx == "CC0-1.0"));
    assert!(lab.work.documents("tiny").iter().all(|document| document.license_spdx == "CC-BY-4.0"));
    for row in lab.work.shard_rows() {
        let expected = if row["source_id"] == "tiny" { "CC-BY-4.0" } else { "CC0-1.0" };
        assert_eq!(row["license_spdx"], expected, "{row}");
    }
    assert_eq!(lab.work.manifest().unwrap().ledger[1], row);
    let raw = lab.work.raw_documents("many");
    assert!(raw.iter().all(|document| document.license_spdx == "CC-BY-4.0"), "raw parts keep what was captured");
}

#[test]
fn terms_that_no_document_carries_touch_no_document() {
    let (lab, [tiny, many, notes]) = built();
    lab.work.configure(ConfigToml::shelved([tiny, many.with("allowed_uses", json!(["eval"])), notes]));
    let _ = rebuild(&lab, &DATASET, 0, &["LEDGER.jsonl", "datasets/small/", "store/"]);
    let manifest = lab.work.manifest().unwrap();
    assert_eq!(manifest.ledger[1], lab.work.rows()[3]);
}

#[test]
fn a_revoked_source_is_left_out_until_it_is_taken_back() {
    let (lab, _) = built();
    let whole = lab.work.manifest().unwrap();
    let revoke = |flags: &[&str]| {
        let run = lab.program(["ledger", "revoke", "--source", "many", "--config"]).arg(lab.work.config_file());
        let _ = run.args(flags).run().exits(0);
    };
    revoke(&["--reason", "on request"]);
    let run = rebuild(&lab, &DATASET, 0, &["datasets/small/", "store/"]);
    assert!(run.build_statuses().contains(&("extract".into(), "many".into(), "revoked".into())));
    let manifest = lab.work.manifest().unwrap();
    let ids: Vec<&str> = manifest.sources.iter().map(|source| source.source_id.as_str()).collect();
    assert_eq!((ids, manifest.n_docs), (vec!["tiny", "notes"], 6));
    assert!(lab.work.shard_rows().iter().all(|row| row["source_id"] != "many"));
    assert!(manifest.ledger.iter().all(|row| row.source_id.as_str() != "many"));

    revoke(&["--undo"]);
    let _ = rebuild(&lab, &DATASET, 0, &["datasets/small/", "store/"]);
    let again = lab.work.manifest().unwrap();
    assert_eq!((&again.shards, again.n_docs), (&whole.shards, 66), "as it was before");
}

#[test]
fn another_format_is_fetched_and_extracted_anew_and_the_others_are_left_alone() {
    let (lab, [tiny, many, notes]) = built();
    let before = Footprints::of(&lab.work.path("corpus/raw/many/20260101"));
    lab.work.configure(ConfigToml::shelved([tiny, many.with("format", "text"), notes]));
    let touched =
        ["LEDGER.jsonl", "raw/many/", "receipts/many/", "extract/small/v1/many/", "datasets/small/", "store/"];
    let _ = rebuild(&lab, &["fetch many", "extract many", DATASET[0], DATASET[1]], 1, &touched);
    assert_eq!(lab.work.manifest().unwrap().sources[1].n_docs, 1, "60 lines without a blank one are one block");
    let after = Footprints::of(&lab.work.path("corpus/raw/many/20260101"));
    assert_eq!(before.changes(&after), [""; 0], "old raw versions are immutable");
}

#[test]
fn another_cut_of_parts_is_fetched_anew_and_changes_no_row_of_the_dataset() {
    let (lab, _) = built();
    let manifest = lab.work.manifest();
    let run = lab.build().args(["--part-docs", "7"]).run().exits(0);
    assert_eq!(run.worked_on().len(), 8, "the cut is a setting of the whole run");
    assert_eq!(lab.server.log().len(), 2);
    assert_eq!(lab.work.path("corpus/extract/small/v1/many").read_dir().unwrap().count(), 10, "9 parts and the record");
    assert_eq!(lab.work.rows().len(), 3, "part_docs is no term");
    assert_eq!(lab.work.manifest(), manifest, "to the digest of each shard");
    lab.assert_rebuild_is_free(lab.build().args(["--part-docs", "7"]));
}

#[test]
fn what_vanished_is_made_again_from_what_it_was_made_of() {
    let (lab, _) = built();
    let manifest = lab.work.manifest();
    let dataset = lab.work.tree().under("corpus/datasets/").len();
    let refetch = ["fetch many", "extract many", DATASET[0], DATASET[1]];
    let fetched =
        ["raw/many/", "receipts/many/", "downloads/many", "extract/small/v1/many/", "datasets/small/", "store/"];
    let cases: [(&str, &[&str], usize, &[&str]); 6] = [
        ("corpus/extract/small/v1/many", &["extract many"], 0, &["extract/small/v1/many/", "store/"]),
        ("corpus/extract", &["extract tiny", "extract many", "extract notes"], 0, &["extract/", "store/"]),
        ("corpus/store", &DATASET, 0, &["store/", "datasets/small/"]),
        (PUBLISHED, &DATASET, 0, &["store/", "datasets/small/"]),
        ("corpus/datasets", &DATASET, 0, &["store/", "datasets/small/"]),
        ("corpus/raw/many", &refetch[..1], 1, &fetched),
    ];
    for (path, worked, requests, touched) in cases {
        fs::remove_dir_all(lab.work.path(path)).unwrap();
        let _ = rebuild(&lab, worked, requests, touched);
        assert_eq!(lab.work.manifest(), manifest, "without {path}");
        assert_eq!(lab.work.tree().under("corpus/datasets/").len(), dataset, "without {path}");
    }
}

#[test]
fn what_is_damaged_is_made_again() {
    let (lab, _) = built();
    let manifest = lab.work.manifest().unwrap();
    let truncate = |path: &str| {
        let bytes = lab.work.read(path).expect(path);
        fs::remove_file(lab.work.path(path)).unwrap();
        lab.work.plant(path, &bytes[..bytes.len() / 2]);
    };
    truncate("corpus/extract/small/v1/many/part-00001.jsonl.zst");
    let _ = rebuild(&lab, &["extract many"], 0, &["extract/small/v1/many/", "store/"]);
    truncate("corpus/extract/small/v1/tiny/_STAGE.json");
    let _ = rebuild(&lab, &["extract tiny"], 0, &["extract/small/v1/tiny/", "store/"]);
    truncate(&format!("{PUBLISHED}/{}", manifest.shards[0].name));
    let _ = rebuild(&lab, &DATASET, 0, &["datasets/small/", "store/"]);
    truncate(&format!("{PUBLISHED}/_MANIFEST.json"));
    let _ = rebuild(&lab, &DATASET, 0, &["datasets/small/", "store/"]);
    truncate("corpus/store/small/v1/_STAGE.json");
    let _ = rebuild(&lab, &DATASET, 0, &["datasets/small/", "store/"]);
    truncate("corpus/raw/many/20260101/part-00002.jsonl.zst");
    let fetched = ["raw/many/", "receipts/many/", "downloads/many", "extract/small/v1/many/", "store/"];
    let _ = rebuild(&lab, &["fetch many"], 1, &fetched);
    fs::remove_file(lab.work.path(&format!("{PUBLISHED}/_VERIFIED.json"))).unwrap();
    let _ = rebuild(&lab, &["verify-ledger small/v1"], 0, &["datasets/small/v1/_VERIFIED.json"]);
    assert_eq!(lab.work.manifest(), Some(manifest));
}

#[test]
fn what_a_crash_left_half_written_is_not_believed() {
    let (lab, _) = built();
    let manifest = lab.work.manifest();
    let ledger = lab.work.ledger();
    lab.work.plant("corpus/LEDGER.jsonl", format!("{ledger}{}", &ledger[..50]));
    let run = rebuild(&lab, &[], 0, &["LEDGER.jsonl"]);
    assert!(run.stderr.contains("torn") || lab.work.ledger() == ledger, "{}", run.stderr);
    assert_eq!(lab.work.ledger(), ledger);

    lab.work.plant("corpus/datasets/small/v1.staged/_MANIFEST.json", "{\"dataset\":\"small\"");
    lab.work.plant("corpus/datasets/small/v1.staged/train-00000-of-00001.parquet", "PAR1");
    let _ = lab.build().run().exits(0);
    assert_eq!(lab.work.manifest(), manifest, "a half staged folder is neither judged nor published");
    assert_eq!(lab.work.tree().under("corpus/datasets/small/v1.staged"), [""; 0]);

    lab.work.plant("corpus/datasets/small/.v1.staged.tmp/train-00000.parquet", "PAR1");
    lab.work.plant("corpus/extract/small/v1/.many.tmp/part-00000.jsonl.zst", "half");
    fs::remove_dir_all(lab.work.path("corpus/extract/small/v1/many")).unwrap();
    fs::remove_dir_all(lab.work.path("corpus/store")).unwrap();
    let _ = lab.build().run().exits(0);
    let left: Vec<String> =
        lab.work.tree().paths().iter().filter(|path| path.contains(".tmp")).map(ToString::to_string).collect();
    assert_eq!(left, [""; 0]);
    assert_eq!(lab.work.manifest(), manifest);
    lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn new_content_replaces_the_dataset_whole_and_the_difference_is_said() {
    let (lab, [tiny, _, notes]) = built();
    let old = lab.work.manifest().unwrap();
    let newer = documents("newer", 40);
    lab.server.serve("/many.jsonl", Answer::object(&newer));
    let longer = [NOTES, b"\nOne more.\n"].concat();
    lab.work.place("notes.txt", &longer);
    let notes = notes.with("sha256", corpora_contracts::ids::Digest::of(&longer).to_string());
    let sources = [tiny, lab.source("many", &newer), notes];
    lab.work.configure(ConfigToml::shelved(sources));

    // Up to the swap the old dataset stands under its name, to the byte.
    let before = Footprints::of(&lab.work.path(PUBLISHED));
    let _ = lab.build().args(["--until", "store"]).run().exits(0);
    assert_eq!(before.changes(&Footprints::of(&lab.work.path(PUBLISHED))), [""; 0]);
    let _ = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run().exits(0);
    // Who has a file of it open reads on.
    let open = fs::File::open(lab.work.path(&format!("{PUBLISHED}/_MANIFEST.json"))).unwrap();

    let run = lab.build().run().exits(0);
    assert!(
        run.stderr.contains("replacing") && run.stderr.contains("66") && run.stderr.contains("47"),
        "{}",
        run.stderr
    );
    assert_eq!(serde_json::from_reader::<_, corpora_contracts::manifest::Manifest>(open).unwrap(), old);
    let manifest = lab.work.manifest().unwrap();
    assert_eq!(manifest.n_docs, 2 + 40 + 5);
    let expected: Vec<&str> = manifest.shards.iter().map(|shard| shard.name.as_str()).collect();
    let tree = lab.work.tree();
    let names = tree
        .under("corpus/datasets/small/")
        .into_iter()
        .filter(|path| path.ends_with(".parquet") || path.ends_with(".zst"));
    assert_eq!(names.count(), expected.len(), "no shard of the old dataset is left");
    assert_sound(&lab);
    lab.assert_rebuild_is_free(lab.build());
}
