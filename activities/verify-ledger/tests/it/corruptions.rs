//! Each corruption flips one fact, gives exactly its one problem, and leaves what is published untouched.

use std::fs;
use std::os::unix::fs::symlink;

use corpora_contracts::config::ShardFormat::{Jsonl, Parquet};
use corpora_contracts::ledger::Row;
use corpora_contracts::summary::StageStatus;
use serde_json::{Value, json};

use crate::lab::{CONFIG, Lab, config, tree};

const TRAIN: &str = "train-00000-of-00002.parquet";
const LINES: &str = "jsonl/train-00000-of-00002.jsonl.zst";

/// What is flipped, how, and the one problem that it gives.
type Corruption = (&'static str, fn(&mut Lab), &'static str);

#[rustfmt::skip]
const CORRUPTIONS: &[Corruption] = &[
    // Files.
    ("a byte of a Parquet shard", |lab| flip(lab, TRAIN), "`train-00000-of-00002.parquet` has the digest"),
    ("a byte of a JSON Lines shard", |lab| flip(lab, LINES), "`jsonl/train-00000-of-00002.jsonl.zst` has the digest"),
    ("a byte more", |lab| append(lab, TRAIN, b"x"), "`train-00000-of-00002.parquet` has "),
    ("a missing shard", |lab| remove(lab, TRAIN), "`train-00000-of-00002.parquet` is missing"),
    ("a missing JSON Lines shard", |lab| remove(lab, LINES), "`jsonl/train-00000-of-00002.jsonl.zst` is missing"),
    ("an extra shard", |lab| append(lab, "train-00002-of-00003.parquet", b""), "`train-00002-of-00003.parquet` belongs to no dataset"),
    ("an extra shard of lines", |lab| append(lab, "jsonl/x", b""), "`jsonl/x` belongs to no dataset"),
    ("a hidden file", |lab| append(lab, ".hidden", b""), "`.hidden` belongs to no dataset"),
    ("a folder", |lab| fs::create_dir(lab.staged_dir().join("more")).unwrap(), "`more` belongs to no dataset"),
    ("a link for a shard", |lab| link(lab, TRAIN), "`train-00000-of-00002.parquet` is no regular file"),
    ("a link for the manifest", |lab| link(lab, "_MANIFEST.json"), "`_MANIFEST.json` is no regular file"),
    ("a folder for a shard", |lab| { remove(lab, TRAIN); fs::create_dir(lab.staged_dir().join(TRAIN)).unwrap(); }, "`train-00000-of-00002.parquet` is no regular file"),
    ("no metadata", |lab| remove(lab, "metadata.sqlite"), "`metadata.sqlite` is missing"),
    ("no manifest", |lab| remove(lab, "_MANIFEST.json"), "`_MANIFEST.json` is missing"),
    ("a torn manifest", |lab| cut(lab, "_MANIFEST.json"), "`_MANIFEST.json` cannot be read: EOF while parsing"),
    ("an unknown key of the manifest", |lab| lab.patch_manifest(|it| it["extra"] = json!(1)), "`_MANIFEST.json` cannot be read: unknown field `extra`"),
    ("no rows", |lab| remove(lab, "ledger.jsonl"), "`ledger.jsonl` is missing"),
    ("a row too many", |lab| append(lab, "ledger.jsonl", b"{}\n"), "`ledger.jsonl` does not hold the ledger rows of `_MANIFEST.json`: line 3 differs"),
    ("a torn row", |lab| cut(lab, "ledger.jsonl"), "`ledger.jsonl` does not hold the ledger rows of `_MANIFEST.json`: line 1 differs"),
    // Shards as the manifest lists them.
    ("a shard outside the folder", |lab| { rename(lab, TRAIN, "../../out.parquet"); name(lab, 0, "../../out.parquet"); }, "`_MANIFEST.json` names a shard `../../out.parquet`"),
    ("an absolute shard", |lab| { remove(lab, TRAIN); name(lab, 0, "/etc/passwd"); }, "`_MANIFEST.json` names a shard `/etc/passwd`"),
    ("a shard named otherwise", |lab| { rename(lab, TRAIN, "train-0-of-2.parquet"); name(lab, 0, "train-0-of-2.parquet"); }, "`_MANIFEST.json` names a shard `train-0-of-2.parquet`"),
    ("a shard of the other split", |lab| lab.patch_manifest(|it| it["shards"][0]["split"] = json!("val")), "shard `train-00000-of-00002.parquet` is of split `val` by the manifest"),
    ("a shard listed twice", |lab| lab.patch_manifest(twice), "`_MANIFEST.json` lists shard `train-00000-of-00002.parquet` more than once"),
    ("shards out of order", |lab| lab.patch_manifest(|it| it["shards"].as_array_mut().unwrap().swap(0, 1)), "`_MANIFEST.json` lists shard `train-00000-of-00002.parquet` out of order"),
    ("a total that no shard has", |lab| { rename(lab, TRAIN, "train-00000-of-00003.parquet"); name(lab, 0, "train-00000-of-00003.parquet"); }, "`_MANIFEST.json` lists an incomplete set of parquet shards of split `train`: `train-00000-of-00003.parquet`, `train-00001-of-00002.parquet`"),
    ("a number of shards", |lab| lab.patch_manifest(|it| it["n_shards"] = json!(7)), "`_MANIFEST.json`: `n_shards` is 7, its parts add up to 6"),
    // Rows of shards, under digests that are right.
    ("a row's licence", |lab| row(lab, Parquet, |it| it.license_spdx = "MIT".into()), "shard `train-00000-of-00002.parquet`, row 1: source `a`: licence `MIT`, expected the ledger row's `CC-BY-4.0`"),
    ("a line's licence", |lab| row(lab, Jsonl, |it| it.license_spdx = "MIT".into()), "shard `jsonl/train-00000-of-00002.jsonl.zst`, row 1: source `a`: licence `MIT`, expected the ledger row's `CC-BY-4.0`"),
    ("a row's source", |lab| row(lab, Parquet, |it| it.source_id = "c".into()), "shard `train-00000-of-00002.parquet`, row 1: source `c` is none of the manifest's"),
    ("a line's source", |lab| row(lab, Jsonl, |it| it.source_id = "c".into()), "shard `jsonl/train-00000-of-00002.jsonl.zst`, row 1: source `c` is none of the manifest's"),
    ("a row's url", |lab| row(lab, Parquet, |it| it.url = "https://elsewhere/a.jsonl#1".into()), "shard `train-00000-of-00002.parquet`, row 1: source `a`: url `https://elsewhere/a.jsonl#1`, expected `https://host/a.jsonl#<line>`"),
    ("a row's split", |lab| row(lab, Parquet, |it| it.split = "val".into()), "shard `train-00000-of-00002.parquet`, row 1: split `val`"),
    ("a null in a line", |lab| lines(lab, "{\"source_id\":null}\n"), "`jsonl/train-00000-of-00002.jsonl.zst` cannot be read: line 1 is no row of a shard"),
    ("a shard that is no Parquet", |lab| replace(lab, TRAIN, b"PAR1 nothing PAR1"), "`train-00000-of-00002.parquet` cannot be read"),
    ("a shard that is no zstd", |lab| replace(lab, LINES, b"nothing"), "`jsonl/train-00000-of-00002.jsonl.zst` cannot be read"),
    // Counts.
    ("a shard's rows", |lab| lab.patch_manifest(|it| it["shards"][0]["rows"] = json!(2)), "shard `train-00000-of-00002.parquet` has 3 rows, expected 2 by the manifest"),
    ("all documents", |lab| lab.patch_manifest(|it| it["n_docs"] = json!(9)), "`_MANIFEST.json`: `n_docs` is 9, its parts add up to 8"),
    ("a source's documents", |lab| lab.patch_manifest(|it| it["sources"][0]["n_docs"] = json!(4)), "source `a`: documents do not agree: 4 by the manifest, 5 in the Parquet shards, 5 in the JSON Lines shards, 5 kept by extract"),
    ("a source's held-out documents", |lab| lab.patch_manifest(|it| it["sources"][1]["n_val"] = json!(9)), "source `b`: documents of split `val` do not agree: 9 by the manifest"),
    ("a source's dropped documents", |lab| lab.patch_manifest(|it| it["sources"][0]["dropped"] = json!({"empty": 2})), "source `a`: dropped documents do not agree: 2 `empty` by the manifest, 1 `empty` by extract"),
    ("all dropped documents", |lab| lab.patch_manifest(|it| it["dropped"] = json!({})), "`_MANIFEST.json`: `dropped` is none, its parts add up to 2 `empty`"),
    ("a document that extract kept", |lab| lab.patch(&lab.record_path("a"), |it| { it["kept"] = json!(6); }), "source `a`: documents do not agree: 5 by the manifest, 5 in the Parquet shards, 5 in the JSON Lines shards, 6 kept by extract"),
    ("a document lost by extract", |lab| lab.patch(&lab.record_path("a"), |it| { it["dropped"] = json!({"empty": 2}); }), "source `a`: dropped documents do not agree: 1 `empty` by the manifest, 2 `empty` by extract"),
    ("no record of extract", |lab| fs::remove_file(lab.record_path("b")).unwrap(), "source `b`: extract has no record `corpus/extract/small/v1/b/_STAGE.json`"),
    // Receipts.
    ("a document of a receipt", |lab| lab.patch(&lab.receipt_path("a"), |it| { it["n_docs"] = json!(7); it["parts"][0]["n_docs"] = json!(7); }), "source `a`: fetched documents do not agree: 7 by the receipt, 6 by the ledger, 6 kept or dropped by extract"),
    ("a receipt against itself", |lab| lab.patch(&lab.receipt_path("a"), |it| it["n_docs"] = json!(7)), "receipt `corpus/receipts/a/20260101.json`: `n_docs` is 7, its parts hold 6"),
    ("an unknown key of a receipt", |lab| lab.patch(&lab.receipt_path("a"), |it| it["x"] = json!(7)), "receipt `corpus/receipts/a/20260101.json`: unknown field `x`"),
    ("no receipt", |lab| fs::remove_file(lab.receipt_path("a")).unwrap(), "source `a`: no receipt of the pinned digest"),
    ("a receipt of other bytes", |lab| lab.patch(&lab.receipt_path("a"), |it| it["sha256"] = json!("c".repeat(64))), "source `a`: no receipt of the pinned digest"),
    // The ledger.
    ("no ledger row", |lab| ledger(lab, |rows| { rows.remove(0); }), "source `a`: the ledger has no row of the pinned digest `aaaa"),
    ("no last ledger row", |lab| ledger(lab, |rows| { rows.pop(); }), "source `b`: the ledger has no row of the pinned digest `bbbb"),
    ("a damaged ledger", |lab| { let path = lab.layout.ledger(); fs::write(&path, format!("{{}}\n{}", fs::read_to_string(&path).unwrap())).unwrap(); }, "the ledger is damaged; restore the line, or the file from a backup: line 1 of the ledger is not a row"),
    ("a revoked source", |lab| lab.append_rows(&[Row { revoked: Some(true), ..lab.last_row("a") }]), "source `a`: the ledger revokes it"),
    ("a newer row", |lab| lab.append_rows(&[Row { notes: "corrected".into(), ..lab.last_row("a") }]), "source `a`: the manifest's row is not the ledger's last one: `notes` is ``, then `corrected`"),
    ("a row that the ledger never had", |lab| ledger(lab, |rows| rows[0].notes = "edited".into()), "source `a`: the manifest's row is not in the ledger; it differs from the last one: `notes` is ``, then `edited`"),
    ("what a row keeps", |lab| stranger(lab, |row| row.kept = 3), "line 1 of the ledger (source `x`): `kept` 3 and `dropped` 0 do not add up to `n_docs` 6"),
    ("what a row permits", |lab| stranger(lab, |row| row.allowed_uses.clear()), "line 1 of the ledger (source `x`): `allowed_uses` is empty"),
    ("a password in a row", |lab| stranger(lab, |row| row.url = "https://me:secret@host/x".into()), "line 1 of the ledger (source `x`): `url` carries a user name or password"),
    ("a row of the manifest", |lab| manifest_row(lab, |row| row.license_spdx = "MIT".into()), "source `a`: the manifest's row is not in the ledger; it differs from the last one: `license_spdx` is `MIT`, then `CC-BY-4.0`"),
    ("a row of `ledger.jsonl`", |lab| { let path = lab.staged_dir().join("ledger.jsonl"); fs::write(&path, fs::read_to_string(&path).unwrap().replace("CC0-1.0", "MIT")).unwrap(); }, "`ledger.jsonl` does not hold the ledger rows of `_MANIFEST.json`: line 2 differs"),
    // Whose dataset it is.
    ("another config", |lab| lab.patch_manifest(|it| it["config_sha256"] = json!("0".repeat(64))), "`_MANIFEST.json` is of the config `0000"),
    ("another dataset", |lab| lab.patch_manifest(|it| it["version"] = json!("v2")), "`_MANIFEST.json` is of dataset `small/v2`, expected `small/v1`"),
    ("a policy that forbids", |lab| reconfigure(lab, &format!("{CONFIG}[licenses]\n\"CC0-1.0\" = [\"eval\"]\n")), "source `b`: `license_spdx` is `CC0-1.0`: permits `eval`"),
    ("other terms", |lab| reconfigure(lab, &CONFIG.replace("CC-BY-4.0", "CC-BY-SA-4.0")), "source `a`: the config and the ledger's last row differ: `license_spdx` is `CC-BY-4.0`, then `CC-BY-SA-4.0`; run fetch with --commit"),
    ("sources in another order", |lab| lab.patch_manifest(|it| { it["sources"].as_array_mut().unwrap().swap(0, 1); it["ledger"].as_array_mut().unwrap().swap(0, 1); swap_lines(lab); }), "`_MANIFEST.json` lists the sources `b`, `a`, expected are `a`, `b`"),
    ("other formats", |lab| reconfigure(lab, &format!("{CONFIG}formats = [\"parquet\"]\n")), "`_MANIFEST.json` lists shards of the formats `parquet`, `jsonl`, the config asks for `parquet`"),
];

#[test]
fn each_corruption_is_its_one_problem_and_what_is_published_stays() {
    let mut wrong = Vec::new();
    for (what, corrupt, problem) in CORRUPTIONS {
        let mut lab = Lab::published();
        let published = tree(&lab.published_dir());
        lab.stage();
        corrupt(&mut lab);
        let staged = tree(&lab.staged_dir());
        let entry = lab.expect(StageStatus::Failed);
        assert_eq!(entry.error.unwrap().kind, "refused", "{what}");
        let [told] = entry.problems.as_slice() else {
            wrong.push(format!("{what}: {:#?}", entry.problems));
            continue;
        };
        if !told.contains(problem) {
            wrong.push(format!("{what}: {told}"));
        }
        assert_eq!(tree(&lab.published_dir()), published, "{what}: what is published is untouched");
        assert_eq!(tree(&lab.staged_dir()), staged, "{what}: what is staged stays for a look");
        let again = lab.expect(StageStatus::Failed);
        assert_eq!(again.problems, entry.problems, "{what}: a second run says the same");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_byte_of_what_is_staged_counts() {
    let lab = Lab::staged();
    let duplicates = "\"exact_duplicates\":0";
    for (name, bytes) in tree(&lab.staged_dir()) {
        // The table is outside the promise, and nobody counts duplicates a second time.
        let free = String::from_utf8_lossy(&bytes).find(duplicates).map(|at| at + duplicates.len() - 1);
        if name == "metadata.sqlite" {
            continue;
        }
        for at in (0..bytes.len()).step_by(37).chain([bytes.len() - 1]).filter(|at| Some(*at) != free) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            fs::write(lab.staged_dir().join(&name), flipped).unwrap();
            let outcome = lab.run();
            assert_eq!(outcome.summary.entries[0].status, StageStatus::Failed, "byte {at} of `{name}`");
            assert!(!lab.published_dir().exists(), "byte {at} of `{name}`");
        }
        fs::write(lab.staged_dir().join(&name), bytes).unwrap();
    }
    lab.expect(StageStatus::Done);
}

#[test]
fn shards_are_as_large_as_the_config_says() {
    let mut lab = Lab::staged();
    reconfigure(&mut lab, &CONFIG.replace("shard_rows = 3", "shard_rows = 2"));
    let problems = lab.expect(StageStatus::Failed).problems;
    let told = "shard `train-00000-of-00002.parquet` has 3 rows, the config allows 2; run store again";
    assert!(problems.iter().any(|problem| problem == told), "{problems:#?}");
    assert!(problems.iter().all(|problem| problem.contains("the config allows 2")), "{problems:#?}");
}

#[test]
fn a_text_is_in_the_split_that_its_digest_says() {
    let mut lab = Lab::staged();
    reconfigure(&mut lab, &CONFIG.replace("val_permille = 200", "val_permille = 0"));
    let problems = lab.expect(StageStatus::Failed).problems;
    let told = "its text belongs to split `train`, by its digest and the config's `val_permille`";
    assert!(!problems.is_empty() && problems.iter().all(|problem| problem.ends_with(told)), "{problems:#?}");
    assert!(problems.iter().all(|problem| problem.contains("val-00000-of-00001")), "{problems:#?}");
}

#[test]
fn every_problem_is_listed() {
    let lab = Lab::staged();
    flip(&lab, TRAIN);
    remove(&lab, LINES);
    append(&lab, ".hidden", b"");
    let entry = lab.expect(StageStatus::Failed);
    assert_eq!(entry.problems.len(), 3, "{:#?}", entry.problems);
    assert!(entry.error.unwrap().message.contains("3 problems"));
}

fn flip(lab: &Lab, name: &str) {
    let path = lab.staged_dir().join(name);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn append(lab: &Lab, name: &str, more: &[u8]) {
    let path = lab.staged_dir().join(name);
    let mut bytes = fs::read(&path).unwrap_or_default();
    bytes.extend(more);
    fs::write(path, bytes).unwrap();
}

fn cut(lab: &Lab, name: &str) {
    let path = lab.staged_dir().join(name);
    let bytes = fs::read(&path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 3]).unwrap();
}

fn remove(lab: &Lab, name: &str) {
    fs::remove_file(lab.staged_dir().join(name)).unwrap();
}

fn rename(lab: &Lab, from: &str, to: &str) {
    fs::rename(lab.staged_dir().join(from), lab.staged_dir().join(to)).unwrap();
}

/// The same bytes, behind a link.
fn link(lab: &Lab, name: &str) {
    let elsewhere = lab.root.path().join("elsewhere");
    fs::rename(lab.staged_dir().join(name), &elsewhere).unwrap();
    symlink(elsewhere, lab.staged_dir().join(name)).unwrap();
}

fn name(lab: &Lab, at: usize, name: &str) {
    lab.patch_manifest(|it| it["shards"][at]["name"] = json!(name));
}

fn twice(manifest: &mut Value) {
    let first = manifest["shards"][0].clone();
    manifest["shards"].as_array_mut().unwrap().insert(0, first);
    manifest["n_shards"] = json!(7);
}

/// Other bytes of a shard, under their own digest.
fn replace(lab: &Lab, name: &str, bytes: &[u8]) {
    fs::write(lab.staged_dir().join(name), bytes).unwrap();
    lab.patch_manifest(|it| {
        let shard = it["shards"].as_array_mut().unwrap().iter_mut().find(|shard| shard["name"] == name).unwrap();
        shard["sha256"] = json!(corpora_contracts::ids::Digest::of(bytes));
        shard["bytes"] = json!(bytes.len());
    });
}

fn swap_lines(lab: &Lab) {
    let path = lab.staged_dir().join("ledger.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    fs::write(path, format!("{second}{first}\n")).unwrap();
}

fn lines(lab: &Lab, text: &str) {
    replace(lab, LINES, &zstd::encode_all(text.as_bytes(), 3).unwrap());
}

/// Changes the first document of split `train` in the shards of one format.
fn row(lab: &Lab, format: corpora_contracts::config::ShardFormat, change: fn(&mut crate::lab::Document)) {
    let mut documents = lab.all_documents();
    change(documents.iter_mut().find(|document| document.split == "train").unwrap());
    lab.rewrite_shards(format, &documents);
}

fn ledger(lab: &Lab, change: impl FnOnce(&mut Vec<Row>)) {
    let mut rows = corpora_stage::ledger::read(&lab.layout).unwrap().rows().to_vec();
    change(&mut rows);
    fs::remove_file(lab.layout.ledger()).unwrap();
    lab.append_rows(&rows);
}

/// A row of a source of another corpus, first in the ledger.
fn stranger(lab: &Lab, change: fn(&mut Row)) {
    ledger(lab, |rows| {
        let mut row = Row { source_id: "x".parse().unwrap(), ..rows[0].clone() };
        change(&mut row);
        rows.insert(0, row);
    });
}

/// Changes the manifest's first row, in the manifest alone.
fn manifest_row(lab: &Lab, change: fn(&mut Row)) {
    lab.patch_manifest(|it| {
        let mut row: Row = serde_json::from_value(it["ledger"][0].clone()).unwrap();
        change(&mut row);
        it["ledger"][0] = json!(row);
    });
}

/// The same staged dataset, made with another config.
fn reconfigure(lab: &mut Lab, toml: &str) {
    lab.config = config(toml);
    lab.patch_manifest(|it| it["config_sha256"] = json!(lab.config.digest().unwrap()));
}
