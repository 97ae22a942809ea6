//! Every path of the contract, as other programs find it.

use std::path::{Path, PathBuf};

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::{Layout, RawVersion, part_name};
use corpora_contracts::manifest::SplitName;

#[test]
fn every_path_stands_where_the_contract_says() {
    let layout = Layout::new("/a");
    let name = |text: &str| -> Name { text.parse().unwrap() };
    let (id, dataset, version) = (name("tiny"), name("small"), name("v1"));
    let raw: RawVersion = "20260101.2".parse().unwrap();
    let table: [(PathBuf, &str); 24] = [
        (layout.ledger(), "corpus/LEDGER.jsonl"),
        (layout.downloads(&id), "corpus/downloads/tiny"),
        (layout.quarantine(&id), "corpus/quarantine/tiny"),
        (layout.raw(&id), "corpus/raw/tiny"),
        (layout.raw_dir(&id, &raw), "corpus/raw/tiny/20260101.2"),
        (layout.raw_tmp(&id, &raw), "corpus/raw/tiny/20260101.2.tmp"),
        (layout.receipts(&id), "corpus/receipts/tiny"),
        (layout.receipt(&id, &raw), "corpus/receipts/tiny/20260101.2.json"),
        (layout.crawl(&id), "corpus/crawls/tiny"),
        (layout.crawl_run(&id, 2), "corpus/crawls/tiny/2"),
        (layout.crawl_queue(&id, "storage"), "corpus/crawls/tiny/queues/storage.sqlite"),
        (layout.crawl_store(&id), "corpus/crawls/tiny/store"),
        (layout.extracted(&dataset, &version, &id), "corpus/extract/small/v1/tiny"),
        (layout.extracted_tmp(&dataset, &version, &id), "corpus/extract/small/v1/.tiny.tmp"),
        (layout.stage("store", &dataset, &version), "corpus/store/small/v1"),
        (layout.datasets(&dataset), "corpus/datasets/small"),
        (layout.dataset(&dataset, &version), "corpus/datasets/small/v1"),
        (layout.staged(&dataset, &version), "corpus/datasets/small/v1.staged"),
        (layout.staged_tmp(&dataset, &version), "corpus/datasets/small/.v1.staged.tmp"),
        (layout.swap(&dataset, &version), "corpus/datasets/small/.v1.swap.json"),
        (layout.dataset_lock(&dataset, &version), "corpus/locks/datasets/small/v1.lock"),
        (layout.source_lock(&id), "corpus/locks/tiny.lock"),
        (layout.ledger_lock(), "corpus/locks/LEDGER.lock"),
        (layout.root().to_owned(), ""),
    ];
    for (path, expected) in table {
        assert_eq!(layout.relative(&path), expected);
    }
    assert_eq!(layout.relative(Path::new("/elsewhere/x")), "/elsewhere/x", "what is not inside stays as it is");
    assert_eq!((part_name(0).as_str(), part_name(123_456).as_str()), ("part-00000.jsonl.zst", "part-123456.jsonl.zst"));
}

#[test]
fn raw_versions_are_dates_with_a_number_and_sort_by_age() {
    let parse = str::parse::<RawVersion>;
    let sorted = ["20251231", "20251231.10", "20260101", "20260101.2", "20260101.10"];
    let versions = sorted.map(|text| parse(text).unwrap());
    assert!(versions.is_sorted());
    assert_eq!(versions.clone().map(|version| version.to_string()), sorted);
    for bad in ["", "2026010", "202601011", "2026010a", "20260101.", "20260101.1", "20260101.02", "20260101.x", "x.2"] {
        assert_eq!(parse(bad).unwrap_err().to_string(), format!("`{bad}` is not the name of a raw directory"));
    }
    let json = serde_json::to_string(&versions[3]).unwrap();
    assert_eq!(json, "\"20260101.2\"");
    assert_eq!(serde_json::from_str::<RawVersion>(&json).unwrap(), versions[3]);
    assert!(serde_json::from_str::<RawVersion>("\"20260101.1\"").is_err());
    assert_eq!(RawVersion::first_free("20260102", &versions).to_string(), "20260102");
    assert_eq!(RawVersion::first_free("20260101", &versions).to_string(), "20260101.3");
}

#[test]
fn names_and_digests_show_what_they_are() {
    let name: Name = "tiny".parse().unwrap();
    assert_eq!(name.as_str(), "tiny");
    let digest = Digest::of(b"");
    assert_eq!(format!("{digest:?}"), digest.to_string(), "hex in messages of tests, too");
    assert_eq!([SplitName::Train.as_str(), SplitName::Val.as_str()], ["train", "val"]);
}
