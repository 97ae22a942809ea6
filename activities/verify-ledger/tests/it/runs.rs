//! Undisturbed runs, reruns, and what changed since.

use std::fs;

use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::Verified;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::StageStatus;
use corpora_license::Policy;
use tokio_util::sync::CancellationToken;

use crate::lab::{CONFIG, Lab, config, tree};

/// What changes, how, and a problem that it gives.
type Change = (&'static str, fn(&mut Lab), &'static str);

#[test]
fn what_is_right_is_published_and_a_rerun_does_nothing() {
    let lab = Lab::staged();
    let before = tree(&lab.staged_dir());
    assert!(before.keys().any(|name| name == "val-00000-of-00001.parquet"), "{:?}", before.keys());
    let outcome = lab.run();
    let entry = &outcome.summary.entries[0];
    assert_eq!((entry.id.as_str(), entry.status, entry.n_docs), ("small/v1", StageStatus::Done, 8), "{entry:?}");
    assert_eq!((entry.path.as_str(), entry.dropped["empty"]), ("corpus/datasets/small/v1", 2));
    assert_eq!((outcome.exit, outcome.outputs), (ExitCode::Success, vec!["corpus/datasets/small/v1".to_owned()]));

    let mut after = tree(&lab.published_dir());
    let verified: Verified = serde_json::from_slice(&after.remove("_VERIFIED.json").unwrap()).unwrap();
    assert_eq!(after, before, "the folder is published as it was judged");
    assert_eq!(verified.manifest_sha256, Digest::of(&before["_MANIFEST.json"]));
    assert_eq!(verified.rows_sha256, Digest::of(&before["ledger.jsonl"]));
    assert_eq!(verified.policy_sha256, Policy::default().digest());
    let names = corpora_stage::durable::names_in(&lab.layout.datasets(&lab.config.dataset)).unwrap();
    assert_eq!(names, ["v1"], "nothing is left beside it");

    let whole = tree(lab.root.path());
    let entry = lab.expect(StageStatus::Cached);
    assert_eq!((entry.path.as_str(), entry.n_docs), ("corpus/datasets/small/v1", 8));
    assert_eq!(tree(lab.root.path()), whole, "a rerun changes no file");
}

#[test]
fn what_is_staged_again_replaces_what_is_published_whole() {
    let lab = Lab::published();
    fs::write(lab.published_dir().join("README.md"), "of the old one").unwrap();
    lab.stage();
    lab.expect(StageStatus::Done);
    assert!(!lab.published_dir().join("README.md").exists());
    lab.expect(StageStatus::Cached);
}

#[test]
fn one_format_and_one_source_are_a_dataset_too() {
    for (formats, revoked) in [("\"jsonl\"", None), ("\"parquet\"", Some("b")), ("\"parquet\", \"jsonl\"", Some("a"))] {
        let lab = Lab::of(&format!("{CONFIG}formats = [{formats}]\n"));
        if let Some(id) = revoked {
            lab.append_rows(&[Row { revoked: Some(true), ..lab.last_row(id) }]);
        }
        lab.stage();
        lab.expect(StageStatus::Done);
        lab.expect(StageStatus::Cached);
    }
}

#[test]
fn nothing_staged_and_nothing_published_says_what_to_run() {
    let entry = Lab::new().expect(StageStatus::Failed);
    let error = entry.error.unwrap();
    assert_eq!((error.kind.as_str(), entry.path.as_str()), ("not_staged", ""));
    assert!(error.message.contains("`corpus/datasets/small/v1.staged`; run extract and store, or build"), "{error:?}");
}

#[test]
fn what_changed_since_is_never_cached() {
    let changes: [Change; 6] = [
        (
            "a licence is corrected",
            |lab| {
                *lab = Lab { config: config(&CONFIG.replace("CC0-1.0", "CC-BY-SA-4.0")), ..take(lab) };
                lab.append_rows(&[Row { license_spdx: "CC-BY-SA-4.0".into(), ..lab.last_row("b") }]);
            },
            "`license_spdx` is `CC0-1.0`, then `CC-BY-SA-4.0`; run extract and store again",
        ),
        (
            "a row is added by hand",
            |lab| lab.append_rows(&[Row { notes: "seen".into(), ..lab.last_row("b") }]),
            "source `b`: the manifest's row is not the ledger's last one: `notes` is ``, then `seen`",
        ),
        (
            "a source is revoked",
            |lab| lab.append_rows(&[Row { revoked: Some(true), ..lab.last_row("a") }]),
            "source `a`: the ledger revokes it, and the dataset holds it",
        ),
        (
            "the config changes",
            |lab| *lab = Lab { config: config(&CONFIG.replace("shard_rows = 3", "shard_rows = 4")), ..take(lab) },
            "`_MANIFEST.json` is of the config",
        ),
        (
            "the policy forbids",
            |lab| *lab = Lab { config: config(&format!("{CONFIG}[licenses]\n\"CC0-1.0\" = []\n")), ..take(lab) },
            "source `b`: `license_spdx` is `CC0-1.0`: permits no use",
        ),
        (
            "a shard is gone",
            |lab| fs::remove_file(lab.published_dir().join("train-00001-of-00002.parquet")).unwrap(),
            "`train-00001-of-00002.parquet` is missing",
        ),
    ];
    for (change, make, problem) in changes {
        let mut lab = Lab::published();
        make(&mut lab);
        let before = tree(&lab.published_dir());
        let entry = lab.expect(StageStatus::Failed);
        let error = entry.error.unwrap();
        assert_eq!(error.kind, "stale", "{change}");
        assert!(error.message.contains("run extract and store, or build"), "{change}: {error:?}");
        let forecast = corpora_verify_ledger::forecast(&lab.config, &lab.layout).unwrap().to_string();
        assert!(forecast.starts_with("due: ") && forecast.contains(problem), "{change}: {forecast}");
        assert!(entry.problems.iter().any(|it| it.contains(problem)), "{change}: {:#?}", entry.problems);
        assert_eq!(tree(&lab.published_dir()), before, "{change}");
    }
}

#[test]
fn what_was_accepted_under_another_policy_is_judged_again_where_it_stands() {
    let changes: [fn(&Lab); 3] = [
        |lab| {
            let path = lab.published_dir().join("_VERIFIED.json");
            lab.patch(&path, |verified| verified["policy_sha256"] = "0".repeat(64).into());
        },
        |lab| fs::remove_file(lab.published_dir().join("_VERIFIED.json")).unwrap(),
        |lab| fs::write(lab.published_dir().join("_VERIFIED.json"), "{").unwrap(),
    ];
    for change in changes {
        let lab = Lab::published();
        let before = tree(&lab.published_dir());
        change(&lab);
        assert!(corpora_verify_ledger::forecast(&lab.config, &lab.layout).unwrap().is_due());
        lab.expect(StageStatus::Done);
        assert_eq!(tree(&lab.published_dir()), before);
        lab.expect(StageStatus::Cached);

        change(&lab);
        let shard = lab.published_dir().join("train-00000-of-00002.parquet");
        let mut bytes = fs::read(&shard).unwrap();
        bytes[100] ^= 1;
        fs::write(&shard, bytes).unwrap();
        let damaged = tree(&lab.published_dir());
        let entry = lab.expect(StageStatus::Failed);
        assert_eq!((entry.error.unwrap().kind.as_str(), entry.problems.len()), ("stale", 1));
        assert!(tree(&lab.published_dir()) == damaged, "nothing was accepted");
    }
}

#[test]
fn a_forecast_says_what_a_run_does() {
    let lab = Lab::new();
    let forecast = || corpora_verify_ledger::forecast(&lab.config, &lab.layout).unwrap().to_string();
    assert_eq!(forecast(), "due: nothing is staged or published");
    lab.stage();
    assert_eq!(forecast(), "due: the staged dataset is not verified");
    lab.expect(StageStatus::Done);
    assert_eq!(forecast(), "cached");
}

#[test]
fn a_changed_manifest_that_nobody_accepted_is_never_cached() {
    let lab = Lab::published();
    let path = lab.published_dir().join("_MANIFEST.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"exact_duplicates\":0", "\"exact_duplicates\":1")).unwrap();
    let entry = lab.expect(StageStatus::Failed);
    assert_eq!(entry.problems.len(), 1, "{:#?}", entry.problems);
    assert!(entry.problems[0].contains("`_MANIFEST.json` has the digest"), "{:#?}", entry.problems);
}

#[test]
fn a_cancelled_run_publishes_nothing_and_the_next_one_does() {
    let lab = Lab::staged();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = lab.run_cancelled_by(cancel);
    assert_eq!((outcome.exit, outcome.summary.entries[0].status), (ExitCode::Cancelled, StageStatus::Cancelled));
    assert_eq!(outcome.summary.entries[0].error.as_ref().unwrap().kind, "cancelled");
    assert!(!lab.published_dir().exists() && lab.staged_dir().exists());
    lab.expect(StageStatus::Done);
}

#[test]
fn a_held_lock_is_no_verdict() {
    let lab = Lab::staged();
    let lock = lab.layout.dataset_lock(&lab.config.dataset, &lab.config.version);
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let file = fs::File::create(lock).unwrap();
    file.lock().unwrap();
    let outcome = lab.run();
    assert_eq!(outcome.exit, ExitCode::Retry);
    assert_eq!(outcome.summary.entries[0].error.as_ref().unwrap().kind, "lock_held");
    drop(file);
    lab.expect(StageStatus::Done);
}

/// The lab, for one that has another config.
fn take(lab: &mut Lab) -> Lab {
    std::mem::replace(lab, Lab::new())
}
