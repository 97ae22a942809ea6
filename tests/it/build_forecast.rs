//! `build --dry-run` and `status`: what is due and which key changed, told without a request and without writing.

use std::fs;

use corpora_tests::harness::{ConfigToml, Lab, SourceToml, documents};
use corpora_tests::servers::Answer;
use serde_json::{Value, json};

/// A lab whose shelf is built, and the shelf.
fn built() -> (Lab, [SourceToml; 3]) {
    let lab = Lab::new();
    let shelf = lab.shelf();
    let _ = lab.build_config(ConfigToml::shelved(shelf.clone())).exits(0);
    (lab, shelf)
}

/// The reasons for which something is due; `cached` or `revoked` where it is not.
fn told(forecast: &Value) -> String {
    let because = forecast["because"].as_array();
    let reasons = because.map(|because| because.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "));
    reasons.unwrap_or_else(|| forecast["state"].as_str().unwrap_or_default().to_owned())
}

/// What a dry run says of fetch and extract of source `many`, of store and of verify-ledger.
#[track_caller]
fn forecast<const N: usize>(lab: &Lab, flags: [&str; N]) -> [String; 4] {
    let said = lab.dry_run(flags);
    let sources = said["sources"].as_array().expect("an entry for each source");
    let many = sources.iter().find(|source| source["source_id"] == "many").expect("an entry of `many`");
    let told = [&many["fetch"], &many["extract"], &said["store"], &said["verify-ledger"]].map(told);
    let is_free = sources.iter().flat_map(|source| [&source["fetch"], &source["extract"]]).map(self::told);
    let is_free = is_free.chain(told.clone()).all(|word| word == "cached" || word == "revoked");
    assert_eq!(said["up_to_date"], json!(is_free), "{said}");
    told
}

/// After a dry run, the build does what was told, and the next dry run finds nothing to do.
#[track_caller]
fn build_as_told(lab: &Lab, worked: &[&str]) {
    let run = lab.build().run().exits(0);
    assert_eq!(run.worked_on(), worked, "{}", run.stderr);
    assert!(forecast(lab, []).iter().all(|word| word == "cached" || word == "revoked"));
}

const DATASET: [&str; 2] = ["store small/v1", "verify-ledger small/v1"];

#[test]
fn everything_is_due_at_first_and_nothing_afterwards() {
    let lab = Lab::new();
    lab.work.configure(ConfigToml::shelved(lab.shelf()));
    let [fetch, extract, store, verify] = forecast(&lab, []);
    assert_eq!((fetch.as_str(), extract.as_str()), ("never fetched", "not fetched yet"));
    assert!(store.contains("not fetched yet") && verify.contains("made anew"), "{store}; {verify}");
    assert!(!lab.work.artifacts().exists());
    let _ = lab.build().args(["--until", "extract"]).run().exits(0);
    assert_eq!(forecast(&lab, [])[..3], ["cached", "cached", "never stored"]);
    let _ = lab.build().args(["--until", "store"]).run().exits(0);
    let [_, _, store, verify] = forecast(&lab, []);
    assert_eq!((store.as_str(), verify.as_str()), ("cached", "the staged dataset is not verified"));
    build_as_told(&lab, &["verify-ledger small/v1"]);
}

#[test]
fn a_key_of_a_source_that_changed_is_named() {
    let (lab, [tiny, many, notes]) = built();
    let newer = documents("newer", 60);
    let changes: [(&str, Value, &str, &[&str]); 5] = [
        ("license_spdx", json!("CC0-1.0"), "license_spdx", &["extract many", DATASET[0], DATASET[1]]),
        ("pii_policy", json!("none"), "pii_policy", &DATASET),
        ("format", json!("text"), "format", &["fetch many", "extract many", DATASET[0], DATASET[1]]),
        ("meta_fields", json!(["lang"]), "meta_fields", &["fetch many", "extract many", DATASET[0], DATASET[1]]),
        ("sha256", json!(digest(&newer)), "sha256", &["fetch many", "extract many", DATASET[0], DATASET[1]]),
    ];
    for (key, value, named, worked) in changes {
        lab.work.configure(ConfigToml::shelved([tiny.clone(), many.clone().with(key, value), notes.clone()]));
        let [fetch, extract, store, verify] = forecast(&lab, []);
        assert!(fetch.contains(named), "{key}: {fetch}");
        assert_eq!(extract != "cached", worked.contains(&"extract many"), "{key}: {extract}");
        assert!(store != "cached" && verify != "cached", "{key}: {store}; {verify}");
        let is_free_of_requests = fetch.contains("no request is needed");
        assert_eq!(is_free_of_requests, !worked.contains(&"fetch many"), "{key}: {fetch}");
        if key == "sha256" {
            lab.server.serve("/many.jsonl", Answer::object(&newer));
        }
        build_as_told(&lab, worked);
        // Back to the config of the shelf, whose bytes are here.
        lab.server.serve("/many.jsonl", Answer::object(documents("many", 60)));
        let _ = lab.build_config(ConfigToml::shelved([tiny.clone(), many.clone(), notes.clone()])).exits(0);
    }
}

fn digest(bytes: &[u8]) -> String {
    corpora_contracts::ids::Digest::of(bytes).to_string()
}

#[test]
fn a_setting_that_changed_is_named() {
    let (lab, shelf) = built();
    let [fetch, extract, store, _] = forecast(&lab, ["--part-docs", "30"]);
    assert_eq!(fetch, "part_docs changed");
    assert!(extract.contains("raw directory") && store.contains("documents"), "{extract}; {store}");

    let settings = [("shard_rows", json!(17)), ("val_permille", json!(300)), ("formats", json!(["parquet"]))];
    for (key, value) in settings {
        let mut table = json!({ "shard_rows": 16, "val_permille": 200 });
        table[key] = value;
        lab.work.configure(ConfigToml::new(shelf.clone()).with("store", table));
        let [fetch, extract, store, verify] = forecast(&lab, []);
        assert_eq!([fetch.as_str(), extract.as_str()], ["cached", "cached"], "{key}");
        assert!(store.contains("store changed") && verify != "cached", "{key}: {store}; {verify}");
        build_as_told(&lab, &DATASET);
    }
    let _ = lab.build_config(ConfigToml::shelved(shelf.clone())).exits(0);
    lab.work.configure(ConfigToml::shelved(shelf).with("extract", json!({ "favor": "recall" })));
    let [fetch, extract, store, _] = forecast(&lab, []);
    assert_eq!((fetch.as_str(), extract.as_str()), ("cached", "extract changed"));
    assert!(store.contains("config changed") || store.contains("made anew"), "{store}");
}

#[test]
fn what_is_missing_is_named() {
    let (lab, _) = built();
    fs::remove_dir_all(lab.work.path("corpus/raw/many")).unwrap();
    let [fetch, extract, store, verify] = forecast(&lab, []);
    assert_eq!(fetch, "its raw directory is missing or damaged");
    assert!(extract != "cached" && store != "cached" && verify != "cached", "{extract}; {store}; {verify}");
    let _ = lab.build().run().exits(0);

    fs::remove_dir_all(lab.work.path("corpus/extract/small/v1/many")).unwrap();
    let [fetch, extract, store, _] = forecast(&lab, []);
    assert_eq!((fetch.as_str(), extract.as_str()), ("cached", "never extracted"));
    assert!(store.contains("not extracted yet"), "{store}");
    let _ = lab.build().run().exits(0);

    fs::remove_dir_all(lab.work.path("corpus/datasets/small/v1")).unwrap();
    let [_, extract, store, _] = forecast(&lab, []);
    assert_eq!((extract.as_str(), store.as_str()), ("cached", "its folder is missing or damaged"));
    build_as_told(&lab, &DATASET);
}

#[test]
fn a_revoked_source_is_told_and_the_dataset_is_due() {
    let (lab, _) = built();
    let revoke = ["ledger", "revoke", "--source", "many", "--reason", "on request", "--config"];
    let _ = lab.program(revoke).arg(lab.work.config_file()).run().exits(0);
    let [fetch, extract, store, verify] = forecast(&lab, []);
    assert_eq!((fetch.as_str(), extract.as_str()), ("revoked", "revoked"));
    assert!(store != "cached" && verify != "cached", "{store}; {verify}");
    build_as_told(&lab, &DATASET);
}

#[test]
fn status_says_what_a_dry_run_says_and_reads_well() {
    let (lab, _) = built();
    let status = || lab.program(["status", "--part-docs", "20", "--config"]).arg(lab.work.config_file());
    let said: Value = serde_json::from_str(&status().run().exits(0).stdout).unwrap();
    assert_eq!(said, lab.dry_run([]));
    assert_eq!(said["up_to_date"], json!(true));
    let text = status().args(["--output", "text"]).run().exits(0).stdout;
    assert!(text.contains("up to date") && text.contains("many"), "{text}");
    fs::remove_file(lab.work.path("corpus/LEDGER.jsonl")).unwrap();
    let said: Value = serde_json::from_str(&status().run().exits(0).stdout).unwrap();
    assert_eq!(said, lab.dry_run([]));
    let text = status().args(["--output", "text"]).run().exits(0).stdout;
    assert!(text.contains("a build has work to do") && text.contains("no ledger row yet"), "{text}");
}
