//! What can be freed, what is never freed, and the checks that say whether what is there is right.

use std::fs;

use corpora_tests::harness::{ConfigToml, Footprints, Lab, Outcome, PUBLISHED, SourceToml, documents};
use corpora_tests::servers::Answer;
use serde_json::Value;

/// A lab whose shelf is built, and the shelf.
fn built() -> (Lab, [SourceToml; 3]) {
    let lab = Lab::new();
    let shelf = lab.shelf();
    let _ = lab.build_config(ConfigToml::shelved(shelf.clone())).exits(0);
    (lab, shelf)
}

fn gc(lab: &Lab, flags: &[&str]) -> Outcome {
    lab.program(["gc", "--config"]).arg(lab.work.config_file()).args(flags).run()
}

/// What gc would free or freed.
fn items(run: &Outcome) -> Vec<String> {
    let said: Value = serde_json::from_str(run.stdout.lines().last().unwrap_or_default()).unwrap();
    let items = said["items"].as_array().unwrap().iter();
    items.map(|item| item["path"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Builds with other bytes of `many`.
fn renew(lab: &Lab, [tiny, _, notes]: &[SourceToml; 3], dataset: &str) {
    let newer = documents("newer", 30);
    let sources = [tiny.clone(), lab.serve("many", &newer), notes.clone()];
    let _ = lab.build_config(ConfigToml::shelved(sources).with("dataset", dataset)).exits(0);
}

#[test]
fn nothing_is_freed_that_a_dataset_or_the_config_rests_on() {
    let (lab, shelf) = built();
    assert_eq!(items(&gc(&lab, &["--yes"]).exits(0)), [""; 0], "all of it is needed");
    // Another dataset with newer bytes: the older ones are still what `small` rests on.
    renew(&lab, &shelf, "other");
    assert_eq!(lab.work.versions("many"), ["20260101", "20260101.2"]);
    assert_eq!(items(&gc(&lab, &["--yes"]).exits(0)), [""; 0]);
    assert_eq!(lab.work.versions("many").len(), 2);

    fs::remove_dir_all(lab.work.path("corpus/datasets/small")).unwrap();
    let freed = gc(&lab, &["--yes"]).exits(0);
    assert_eq!(items(&freed), ["corpus/raw/many/20260101"], "now nothing rests on it");
    assert!(freed.stdout.contains("\"freed\":true"), "{}", freed.stdout);
    assert_eq!(
        (lab.work.versions("many"), lab.work.receipts("many")),
        (vec!["20260101.2".to_owned()], vec!["20260101.2.json".to_owned()])
    );
    lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn old_versions_quarantine_downloads_and_finished_activities_are_freed() {
    let (lab, shelf) = built();
    renew(&lab, &shelf, "small");
    lab.work.plant("corpus/quarantine/many/many.jsonl", "not these");
    lab.work.plant("corpus/downloads/tiny/tiny.jsonl.part", "half");
    lab.work.plant("activities/w/r/done/DONE.json", "{}");
    lab.work.plant("activities/w/r/done/spec.json", "{}");
    lab.work.plant("activities/w/r/running/spec.json", "{}");
    let expected =
        ["activities/w/r/done", "corpus/downloads/tiny", "corpus/quarantine/many", "corpus/raw/many/20260101"];

    let before = Footprints::of(lab.work.artifacts());
    let asked = gc(&lab, &[]).exits(0);
    let mut found = items(&asked);
    found.sort();
    assert_eq!(found, expected);
    assert!(asked.stdout.contains("\"freed\":false") && asked.stderr.contains("--yes"), "{}", asked.printed());
    assert_eq!(before.changes(&Footprints::of(lab.work.artifacts())), [""; 0], "nobody was there to say yes");

    let _ = gc(&lab, &["--yes"]).exits(0);
    let gone = before.changes(&Footprints::of(lab.work.artifacts()));
    let is_expected = |path: &&String| {
        expected.iter().any(|prefix| path.starts_with(prefix)) || *path == "corpus/receipts/many/20260101.json"
    };
    assert_eq!(gone.iter().filter(|path| !is_expected(path)).count(), 0, "{gone:?}");
    assert_eq!((items(&gc(&lab, &["--yes"]).exits(0)), gone.len()), (vec![], 2 + 1 + 1 + 4));
    assert!(lab.work.path("activities/w/r/running/spec.json").exists());
    lab.assert_rebuild_is_free(lab.build());
    let _ = lab.program(["ledger", "verify", "--full", "--config"]).arg(lab.work.config_file()).run().exits(0);
}

#[test]
fn a_manifest_that_cannot_be_read_keeps_everything() {
    let (lab, shelf) = built();
    renew(&lab, &shelf, "small");
    let planted = lab.work.plant("corpus/datasets/another/v1/_MANIFEST.json", "{");
    let run = gc(&lab, &["--yes"]).exits(65);
    assert!(run.stderr.contains("another/v1/_MANIFEST.json"), "{}", run.stderr);
    assert_eq!(lab.work.versions("many").len(), 2);
    fs::remove_dir_all(planted.parent().unwrap()).unwrap();
    assert_eq!(items(&gc(&lab, &["--yes"]).exits(0)), ["corpus/raw/many/20260101"]);
}

/// Flips the last bit in the middle of a file.
fn flip(lab: &Lab, path: &str) {
    let mut bytes = lab.work.read(path).expect(path);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    lab.work.plant(path, bytes);
}

#[test]
fn a_flipped_bit_of_a_shard_is_found_and_named() {
    let (lab, _) = built();
    let shards: Vec<String> = lab.work.manifest().unwrap().shards.into_iter().map(|shard| shard.name).collect();
    assert!(shards.len() >= 8, "{shards:?}");
    let folder = lab.work.path(PUBLISHED);
    for shard in &shards {
        let path = format!("{PUBLISHED}/{shard}");
        flip(&lab, &path);
        let run = lab.program(["verify"]).arg(&folder).run().exits(65);
        assert!(run.stdout.contains("\"verdict\":\"refused\"") && run.stderr.contains(shard), "{}", run.printed());
        let ledger =
            lab.program(["ledger", "verify", "--full", "--config"]).arg(lab.work.config_file()).run().exits(65);
        assert!(ledger.stderr.contains(shard), "{}", ledger.printed());
        flip(&lab, &path);
    }
    let _ = lab.program(["verify"]).arg(&folder).run().exits(0);
    // What was accepted contradicts what stands, whichever of the two was touched.
    for (paper, named) in
        [("_MANIFEST.json", "_MANIFEST.json"), ("ledger.jsonl", "ledger.jsonl"), ("_VERIFIED.json", "digest")]
    {
        let path = format!("{PUBLISHED}/{paper}");
        flip(&lab, &path);
        let run = lab.program(["verify"]).arg(&folder).run().exits(65);
        assert!(run.stderr.contains(named), "{paper}: {}", run.printed());
        flip(&lab, &path);
    }
    let elsewhere = lab.work.root().join("elsewhere");
    fs::rename(&folder, &elsewhere).unwrap();
    let _ = lab.program(["verify"]).arg(&elsewhere).run().exits(0);
    let _ = lab.program(["verify"]).arg(&folder).run().exits(65);
}

#[test]
fn the_ledger_check_reads_sizes_or_with_full_every_byte() {
    let (lab, _) = built();
    let verify = |flags: &[&str]| {
        let run = lab.program(["ledger", "verify", "--config"]).arg(lab.work.config_file());
        run.args(flags).run()
    };
    assert!(verify(&[]).exits(0).stdout.contains("\"verdict\":\"verified\""));
    for path in ["corpus/raw/many/20260101/part-00001.jsonl.zst", "corpus/extract/small/v1/many/part-00001.jsonl.zst"] {
        flip(&lab, path);
        let _ = verify(&[]).exits(0);
        let run = verify(&["--full"]).exits(65);
        assert!(run.stderr.contains(path), "{}", run.printed());
        flip(&lab, path);
    }
    let receipt = lab.work.path("corpus/receipts/many/20260101.json");
    let text = fs::read_to_string(&receipt).unwrap();
    fs::write(&receipt, text.replace("\"n_docs\":60", "\"n_docs\":61")).unwrap();
    assert!(verify(&[]).exits(65).stderr.contains("many"));
    fs::write(&receipt, text).unwrap();
    let ledger = lab.work.ledger();
    lab.work.plant("corpus/LEDGER.jsonl", ledger.replace("\"n_docs\":60", "\"n_docs\":59"));
    assert!(verify(&[]).exits(65).stderr.contains("many"));
    lab.work.plant("corpus/LEDGER.jsonl", &ledger[..ledger.len() - 5]);
    let torn = verify(&[]);
    assert!(torn.stderr.contains("torn"), "{}", torn.printed());
    lab.work.plant("corpus/LEDGER.jsonl", ledger);
    let _ = verify(&["--full"]).exits(0);
}

#[test]
fn a_dataset_that_is_not_what_the_ledger_says_is_refused_and_the_good_one_stays() {
    let (lab, [tiny, _, notes]) = built();
    let newer = documents("newer", 30);
    lab.server.serve("/many.jsonl", Answer::object(&newer));
    lab.work.configure(ConfigToml::shelved([tiny, lab.source("many", &newer), notes]));
    let _ = lab.build().args(["--until", "store"]).run().exits(0);
    let shards = lab.work.tree();
    let staged = shards.under("corpus/datasets/small/v1.staged/train-");
    flip(&lab, staged[0]);
    let before = Footprints::of(&lab.work.path(PUBLISHED));
    let run = lab.program(["verify-ledger", "--config"]).arg(lab.work.config_file()).run().exits(65);
    let entry = &run.stage_summary().entries[0];
    assert!(!entry.problems.is_empty() && entry.error.is_some(), "{}", run.stdout);
    let name = staged[0].rsplit('/').next().unwrap_or_default();
    assert!(run.stderr.contains(name), "{}", run.stderr);
    assert_eq!(before.changes(&Footprints::of(&lab.work.path(PUBLISHED))), [""; 0], "the good dataset stands");
}
