//! `ledger verify` and `verify DIR` as values.

use std::fs;

use corpora_contracts::ledger::Row;
use corpora_contracts::outcome::ExitCode;
use corpora_verify_ledger::{Report, Verdict, verify_folder, verify_ledger};
use serde_json::json;

use crate::lab::{CONFIG, Lab, config, tree};

const SHARD: &str = "train-00000-of-00002.parquet";

/// What is flipped, how, and a problem that it gives.
type Corruption = (&'static str, fn(&Lab), &'static str);

/// What is done, the one problem that it gives, and whether it takes `--full` to see it.
type Damage<'a> = (fn(&mut Lab), &'a str, bool);

#[test]
fn a_dataset_folder_says_what_it_is_wherever_it_stands() {
    let lab = Lab::staged();
    let staged = verify_folder(&lab.staged_dir());
    assert_eq!((staged.verdict, staged.headline().as_str()), (Verdict::Staged, "not verified (staged)"));
    assert_eq!((staged.ok, staged.exit, staged.problems.len()), (false, ExitCode::Data, 0), "{staged:?}");

    lab.run();
    let elsewhere = lab.root.path().join("copied to another place");
    fs::rename(lab.published_dir(), &elsewhere).unwrap();
    let before = tree(&elsewhere);
    let report = verify_folder(&elsewhere);
    assert_eq!((report.verdict, report.headline().as_str()), (Verdict::Verified, "verified"));
    assert_eq!((report.ok, report.exit, report.files, report.n_docs), (true, ExitCode::Success, 6, 8), "{report:?}");
    let shards = before.iter().filter(|(name, _)| name.ends_with(".parquet") || name.ends_with(".zst"));
    assert_eq!(report.bytes, shards.map(|(_, bytes)| bytes.len() as u64).sum::<u64>(), "every byte once");
    assert_eq!(tree(&elsewhere), before, "it changes nothing");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["verdict"], &json["ok"]), (&json!("verified"), &json!(true)));
}

#[test]
fn a_dataset_folder_that_contradicts_itself_is_told() {
    let corruptions: [Corruption; 8] = [
        ("a byte", |lab| flip(&lab.published_dir().join(SHARD)), "`train-00000-of-00002.parquet` has the digest"),
        ("an extra file", |lab| fs::write(lab.published_dir().join("x"), "").unwrap(), "`x` belongs to no dataset"),
        ("a missing shard", |lab| fs::remove_file(lab.published_dir().join(SHARD)).unwrap(), "is missing"),
        (
            "a manifest that nobody accepted",
            |lab| {
                let path = lab.published_dir().join("_MANIFEST.json");
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("\"exact_duplicates\":0", "\"exact_duplicates\":1")).unwrap();
            },
            "`_MANIFEST.json` has the digest",
        ),
        (
            "a mark of other rows",
            |lab| {
                let path = lab.published_dir().join("_VERIFIED.json");
                lab.patch(&path, |it| it["rows_sha256"] = json!("0".repeat(64)));
            },
            "`ledger.jsonl` has the digest",
        ),
        (
            "a mark that cannot be read",
            |lab| fs::write(lab.published_dir().join("_VERIFIED.json"), "{}").unwrap(),
            "`_VERIFIED.json` cannot be read",
        ),
        (
            "a licence that is none",
            |lab| {
                for name in ["_MANIFEST.json", "ledger.jsonl"] {
                    let path = lab.published_dir().join(name);
                    let text = fs::read_to_string(&path).unwrap();
                    fs::write(&path, text.replace("CC0-1.0", "CC0")).unwrap();
                }
            },
            "source `b`: `license_spdx` is `CC0`: not an SPDX expression",
        ),
        ("no manifest", |lab| fs::remove_file(lab.published_dir().join("_MANIFEST.json")).unwrap(), "is missing"),
    ];
    for (what, corrupt, problem) in corruptions {
        let lab = Lab::published();
        corrupt(&lab);
        let report = verify_folder(&lab.published_dir());
        assert_eq!((report.verdict, report.ok, report.exit), (Verdict::Refused, false, ExitCode::Data), "{what}");
        assert!(report.problems.iter().any(|it| it.contains(problem)), "{what}: {:#?}", report.problems);
        assert!(what == "a licence that is none" || report.headline() == "1 problem", "{what}: {:#?}", report.problems);
    }
    let report = verify_folder(std::path::Path::new("/nowhere"));
    assert_eq!(report.problems, ["`/nowhere` is no folder"]);
}

#[test]
fn sound_evidence_is_verified() {
    let lab = Lab::published();
    let before = tree(lab.root.path());
    let (quick, full) = (verify_ledger(&lab.layout, &lab.config, false), verify_ledger(&lab.layout, &lab.config, true));
    for report in [&quick, &full] {
        assert_eq!(
            (report.verdict, report.exit, report.subject.as_str()),
            (Verdict::Verified, ExitCode::Success, "corpus/LEDGER.jsonl")
        );
        assert_eq!((report.problems.len(), report.warnings.len(), report.n_docs), (0, 0, 10), "{report:?}");
    }
    assert_eq!((quick.files, quick.bytes), (2, 0), "two raw parts, by their size");
    assert_eq!(full.files, 2 + 2 + 6, "raw parts, documents, shards");
    assert!(full.bytes > 0);
    assert_eq!(tree(lab.root.path()), before, "it changes nothing");
}

#[test]
fn what_is_wrong_with_the_evidence_is_told() {
    let raw = "corpus/raw/a/20260101/part-00000.jsonl.zst";
    let extracted = "corpus/extract/small/v1/a/part-00000.jsonl.zst";
    let corruptions: [Damage<'_>; 11] = [
        (
            |lab| fs::write(path(lab, "corpus/raw/a/20260101/part-00000.jsonl.zst"), "cut").unwrap(),
            &format!("`{raw}` has 3 bytes"),
            false,
        ),
        (|lab| fs::remove_dir_all(path(lab, "corpus/raw/a")).unwrap(), &format!("`{raw}` is missing"), false),
        (
            |lab| flip(&path(lab, "corpus/raw/a/20260101/part-00000.jsonl.zst")),
            &format!("`{raw}` has the digest"),
            true,
        ),
        (
            |lab| flip(&path(lab, "corpus/extract/small/v1/a/part-00000.jsonl.zst")),
            &format!("`{extracted}` has the digest"),
            true,
        ),
        (
            |lab| flip(&lab.published_dir().join(SHARD)),
            "`corpus/datasets/small/v1`: `train-00000-of-00002.parquet` has the digest",
            true,
        ),
        (
            |lab| fs::write(lab.receipt_path("a"), "{}").unwrap(),
            "receipt `corpus/receipts/a/20260101.json`: missing field",
            false,
        ),
        (|lab| fs::remove_file(lab.receipt_path("a")).unwrap(), "source `a`: no receipt of the pinned digest", false),
        (|lab| fs::write(lab.layout.ledger(), "{}\n").unwrap(), "the ledger is damaged", false),
        (
            |lab| lab.append_rows(&[Row { kept: 0, ..lab.last_row("a") }]),
            "line 3 of the ledger (source `a`): `kept` 0",
            false,
        ),
        (
            |lab| lab.config = config(&CONFIG.replace("CC-BY-4.0", "MIT")),
            "source `a`: the config and the ledger's last row differ",
            false,
        ),
        (
            |lab| lab.config = config(&format!("{CONFIG}[licenses]\n\"CC0-1.0\" = []\n")),
            "source `b`: `license_spdx` is `CC0-1.0`: permits no use",
            false,
        ),
    ];
    for (corrupt, problem, needs_full) in corruptions {
        let mut lab = Lab::published();
        corrupt(&mut lab);
        let told = |full: bool| verify_ledger(&lab.layout, &lab.config, full);
        let only = |report: &Report| matches!(report.problems.as_slice(), [only] if only.contains(problem));
        assert!(only(&told(true)), "{problem}: {:#?}", told(true));
        assert_eq!(told(true).exit, ExitCode::Data);
        let quick = told(false);
        assert!(if needs_full { quick.ok } else { only(&quick) }, "{problem}: {quick:#?}");
    }
}

#[test]
fn what_is_worth_knowing_is_a_warning() {
    let lab = Lab::published();
    let ledger = fs::read_to_string(lab.layout.ledger()).unwrap();
    lab.append_rows(&[Row { revoked: Some(true), ..lab.last_row("a") }]);
    let revoked = fs::read_to_string(lab.layout.ledger()).unwrap();
    fs::write(lab.layout.ledger(), revoked + &ledger[..20]).unwrap();
    fs::create_dir(path(&lab, "corpus/raw/b/20260102.tmp")).unwrap();
    let report = verify_ledger(&lab.layout, &lab.config, false);
    assert!(report.ok, "{report:?}");
    let [torn, revoked, orphan] = report.warnings.as_slice() else { panic!("{report:?}") };
    assert!(torn.contains("torn by a crash"), "{torn}");
    assert_eq!(revoked, "source `a`: the ledger revokes it");
    assert!(orphan.contains("`corpus/raw/b/20260102.tmp` has no receipt"), "{orphan}");
}

fn path(lab: &Lab, relative: &str) -> std::path::PathBuf {
    lab.root.path().join(relative)
}

fn flip(path: &std::path::Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}
