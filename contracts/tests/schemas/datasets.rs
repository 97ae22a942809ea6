//! What the document stages write and say.

use std::collections::BTreeMap;

use corpora_contracts::document::Document;
use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::{Manifest, Shard, SourceCount, SplitName, Verified};
use corpora_contracts::record::{FileState, OutputFile, StageRecord};
use corpora_contracts::summary::{EntryError, StageEntry, StageStatus, StageSummary};
use serde_json::json;

use crate::JANUARY;
use crate::agreement::{Unknown, agree};
use crate::fetches::{object, row};

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
        outputs: vec![OutputFile {
            path: "corpus/extract/small/v1/tiny/part-00000.jsonl.zst".into(),
            sha256: Digest::of(b"documents"),
            bytes: 160,
            n_docs: 1,
        }],
    };
    agree("stage-record", Unknown::Refused, &[("", record)]);
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
        error: Some(EntryError { kind: "ledger".into(), message: "2 problems".into(), retry_after_s: None }),
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
