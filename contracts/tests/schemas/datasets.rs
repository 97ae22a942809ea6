//! What the document stages write and say.

use std::collections::BTreeMap;

use corpora_contracts::document::Document;
use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::{Manifest, Shard, SourceCount, SplitName, Verified};
use corpora_contracts::record::{FileState, OutputFile, StageRecord};
use corpora_contracts::summary::{
    BuildSummary, EntryError, FetchSummary, StageEntry, StageResult, StageStatus, StageSummary, Status,
};
use serde_json::json;

use crate::JANUARY;
use crate::agreement::{Unknown, agree};
use crate::fetches::{fetched, object, row};

#[test]
fn document() {
    let document = Document {
        id: "tiny:0".into(),
        source_id: "tiny".parse().unwrap(),
        url: "http://127.0.0.1:8765/tiny.jsonl#1".into(),
        fetched_at: JANUARY.parse().unwrap(),
        license_spdx: "CC-BY-4.0".into(),
        lang: "en".into(),
        title: String::new(),
        text: "Tom has a red ball.".into(),
        meta: object(&json!({})),
    };
    agree("document", Unknown::Refused, &[("", document)]);
}

#[test]
fn stage_record() {
    let record = StageRecord {
        stage: "extract".into(),
        keys: ["extract", "stage", "terms"].map(|key| (key.into(), Digest::of(key.as_bytes()))).into(),
        inputs: vec![FileState {
            path: "corpus/raw/tiny/20260101/part-00000.jsonl.zst".into(),
            sha256: Digest::of(b"raw"),
            bytes: 153,
            mtime_ns: 1_767_225_600_000_000_000,
        }],
        kept: 1,
        dropped: BTreeMap::from([("empty".into(), 1)]),
        cut: BTreeMap::new(),
        outputs: vec![OutputFile {
            path: "corpus/extract/small/v1/tiny/part-00000.jsonl.zst".into(),
            sha256: Digest::of(b"documents"),
            bytes: 160,
            n_docs: 1,
        }],
    };
    let pages = StageRecord {
        dropped: BTreeMap::from([("empty_page".into(), 1), ("request".into(), 2)]),
        cut: BTreeMap::from([("max_depth".into(), 1)]),
        ..record.clone()
    };
    agree("stage-record", Unknown::Refused, &[("", record), (".pages", pages)]);
}

#[test]
fn manifest() {
    let manifest = Manifest {
        dataset: "small".parse().unwrap(),
        version: "v1".parse().unwrap(),
        n_docs: 2,
        n_shards: 1,
        shards: vec![Shard {
            name: "train-00000-of-00001.parquet".into(),
            sha256: Digest::of(b"shard"),
            bytes: 4096,
            rows: 2,
            split: SplitName::Train,
        }],
        sources: vec![SourceCount {
            source_id: "tiny".parse().unwrap(),
            n_docs: 2,
            n_val: 0,
            dropped: BTreeMap::new(),
        }],
        dropped: BTreeMap::new(),
        exact_duplicates: 0,
        config_sha256: Digest::of(b"config"),
        ledger: vec![Row { notes: "revoked by mistake".into(), revoked: Some(false), ..row() }],
    };
    agree("manifest", Unknown::Refused, &[("", manifest)]);
}

#[test]
fn verified() {
    let verified = Verified {
        manifest_sha256: Digest::of(b"manifest"),
        rows_sha256: Digest::of(b"rows"),
        policy_sha256: Digest::of(b"policy"),
    };
    agree("verified", Unknown::Refused, &[("", verified)]);
}

#[test]
fn stage_summary() {
    let done = StageEntry {
        id: "tiny".into(),
        status: StageStatus::Done,
        path: "corpus/extract/small/v1/tiny".into(),
        n_docs: 1,
        dropped: BTreeMap::from([("empty".into(), 1)]),
        error: None,
        problems: vec![],
    };
    let failed = StageEntry {
        id: "small/v1".into(),
        status: StageStatus::Failed,
        path: String::new(),
        n_docs: 0,
        dropped: BTreeMap::new(),
        error: Some(EntryError { kind: "refused".into(), message: "2 problems".into(), retry_after_s: None }),
        problems: vec!["source `tiny`: revoked".into(), "source `far`: no row".into()],
    };
    let summary = |stage: &str, entry: StageEntry, clock| StageSummary {
        stage: stage.into(),
        ok: entry.status.is_ok(),
        entries: vec![entry],
        clock,
    };
    let late = StageEntry {
        error: Some(EntryError { kind: "lock_held".into(), message: "in use".into(), retry_after_s: Some(5) }),
        ..failed.clone()
    };
    let examples = [
        ("", summary("extract", done, Some("fixed".into()))),
        (".failed", summary("verify-ledger", failed, None)),
        (".held", summary("store", StageEntry { problems: vec![], ..late }, None)),
    ];
    agree("stage-summary", Unknown::Ignored, &examples);
}

#[test]
fn build_summary() {
    let error = |kind: &str, retry_after_s| EntryError { kind: kind.into(), message: "why".into(), retry_after_s };
    let entry = |id: &str, path: &str| StageEntry {
        id: id.into(),
        status: StageStatus::Done,
        path: path.into(),
        n_docs: 2,
        dropped: BTreeMap::new(),
        error: None,
        problems: vec![],
    };
    let clock = || Some("fixed".to_owned());
    let documents = |stage: &str, entry: StageEntry| {
        let ok = entry.status.is_ok();
        StageResult::Documents(StageSummary { stage: stage.into(), ok, entries: vec![entry], clock: clock() })
    };
    let fetch = |entries: Vec<_>, error: Option<EntryError>| {
        let ok = error.is_none();
        StageResult::Fetch(FetchSummary { stage: "fetch".into(), ok, entries, error, clock: clock() })
    };
    let (published, staged) = ("corpus/datasets/small/v1", "corpus/datasets/small/v1.staged");
    let done = BuildSummary {
        stage: "build".into(),
        ok: true,
        dataset: "small".parse().unwrap(),
        version: "v1".parse().unwrap(),
        dataset_dir: published.into(),
        n_docs: 2,
        stages: vec![
            fetch(vec![fetched()], None),
            documents("extract", entry("tiny", "corpus/extract/small/v1/tiny")),
            documents("store", entry("small/v1", staged)),
            documents("verify-ledger", entry("small/v1", published)),
        ],
        clock: clock(),
    };
    let unreachable = corpora_contracts::summary::Entry {
        status: Status::Failed,
        error: Some(error("server", Some(120))),
        ..fetched()
    };
    let refused = StageEntry {
        status: StageStatus::Failed,
        error: Some(error("refused", None)),
        n_docs: 0,
        problems: vec!["`metadata.sqlite` is missing".into()],
        ..entry("small/v1", "")
    };
    let failed = BuildSummary {
        ok: false,
        dataset_dir: String::new(),
        n_docs: 0,
        stages: vec![fetch(vec![unreachable], Some(error("disk_full", None))), documents("verify-ledger", refused)],
        clock: None,
        ..done.clone()
    };
    agree("build-summary", Unknown::Ignored, &[("", done), (".failed", failed)]);
}
