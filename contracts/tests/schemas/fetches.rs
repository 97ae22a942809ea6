//! What fetch writes and says.

use std::collections::BTreeMap;

use corpora_contracts::config::{Format, OnBadDocument, PiiPolicy, Split, Use};
use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::Row;
use corpora_contracts::progress::{Done, Event, Kind};
use corpora_contracts::raw::RawDocument;
use corpora_contracts::receipt::{CrawlEnd, CrawlReport, Part, Receipt, SplitSettings};
use corpora_contracts::summary::{Entry, EntryError, FetchSummary, Status};
use serde_json::{Map, Value, json};

use crate::agreement::{Unknown, agree};
use crate::{JANUARY, TINY};

#[test]
fn ledger_row() {
    let revoked = Row { notes: "withdrawn by its author".into(), revoked: Some(true), ..row() };
    agree("ledger-row", Unknown::Refused, &[("", row()), (".revoked", revoked)]);
}

#[test]
fn receipt() {
    let documents = Split {
        format: Format::Jsonl,
        text_field: "text".into(),
        meta_fields: vec![],
        on_bad_document: OnBadDocument::Fail,
        max_line_bytes: 64 << 20,
        page_bytes: None,
        crawl: None,
    };
    let part = Part {
        name: "part-00000.jsonl.zst".into(),
        sha256: "17b88f8e80903682a8c8d893da945a6bd2b1a7f7ea766f50cff17845916ba060".parse().unwrap(),
        bytes: 153,
        n_docs: 2,
    };
    let receipt = Receipt {
        source_id: "tiny".parse().unwrap(),
        sha256: TINY.parse().unwrap(),
        bytes: 54,
        retrieved_at: JANUARY.parse().unwrap(),
        n_docs: 2,
        dropped: BTreeMap::new(),
        split: SplitSettings { documents, part_docs: 100_000 },
        parts: vec![part],
        crawl: None,
    };
    let pages = Receipt {
        dropped: BTreeMap::from([("request".into(), 2), ("status".into(), 1)]),
        split: SplitSettings {
            documents: Split { format: Format::Warc, page_bytes: Some(10 << 20), ..receipt.split.documents.clone() },
            part_docs: 100_000,
        },
        ..receipt.clone()
    };
    let of_crawl =
        Split { format: Format::Html, crawl: Some(TINY.parse().unwrap()), ..receipt.split.documents.clone() };
    let crawl = Receipt {
        source_id: "docs".parse().unwrap(),
        split: SplitSettings { documents: of_crawl, ..receipt.split.clone() },
        crawl: Some(CrawlReport {
            ended: CrawlEnd::Complete,
            asked: 4,
            not_stored: BTreeMap::from([("http_status".into(), 1), ("robots".into(), 7)]),
            unreachable: vec!["https://down.example.org".into()],
        }),
        ..receipt.clone()
    };
    agree("receipt", Unknown::Refused, &[("", receipt), (".pages", pages), (".crawl", crawl)]);
}

#[test]
fn raw_document() {
    let line = RawDocument {
        url: "http://127.0.0.1:8765/tiny.jsonl#1".into(),
        fetched_at: JANUARY.parse().unwrap(),
        license_spdx: "CC-BY-4.0".into(),
        text: "Tom has a red ball.".into(),
        content_type: None,
        meta: None,
    };
    let page = RawDocument {
        url: "https://example.org/naps".into(),
        text: "<p>Mia naps.</p>".into(),
        content_type: Some("text/html".into()),
        meta: Some(object(&json!({"charset": "utf-8", "depth": 0, "status": 200}))),
        ..line.clone()
    };
    agree("raw-document", Unknown::Refused, &[("", line), (".page", page)]);
}

#[test]
fn progress_event() {
    let event = |ts, kind| Event { ts, attempt: 1, kind };
    let (stage, source) = ("fetch".to_owned(), "tiny".to_owned());
    let step =
        Kind::Step { stage: stage.clone(), source: source.clone(), done: 20, total: Some(54), unit: "bytes".into() };
    let metric = Kind::Metric { name: "retry_after_s".into(), value: 120.0, source: source.clone() };
    let ckpt = Kind::Ckpt { stage, source, path: "corpus/raw/tiny/20260101".into() };
    let done = Kind::Done { outputs: vec!["corpus/LEDGER.jsonl".into(), "corpus/raw/tiny/20260101".into()] };
    let events = [
        (".step", event(1_767_225_600.25, step)),
        (".metric", event(1_767_225_600.5, metric)),
        (".ckpt", event(1_767_225_600.75, ckpt)),
        (".done", event(1_767_225_601.0, done)),
    ];
    agree("progress-event", Unknown::Ignored, &events);
}

#[test]
fn done() {
    let result =
        serde_json::value::to_raw_value(&FetchSummary { clock: Some("fixed".into()), ..summary(vec![fetched()]) })
            .unwrap();
    let done = Done {
        outputs: vec!["corpus/LEDGER.jsonl".into(), "corpus/raw/tiny/20260101".into()],
        spec_sha256: Digest::of(b"{}"),
        result,
    };
    agree("done", Unknown::Refused, &[("", done)]);
}

#[test]
fn fetch_summary() {
    let fixed = FetchSummary { clock: Some("fixed".into()), ..summary(vec![fetched()]) };
    let cached = Entry { status: Status::Cached, bytes: 0, requests: 0, ..fetched() };
    let failed = Entry {
        source_id: "far".parse().unwrap(),
        status: Status::Failed,
        raw_dir: String::new(),
        sha256: TINY.into(),
        bytes: 0,
        n_docs: 0,
        retrieved_at: String::new(),
        requests: 1,
        error: Some(EntryError {
            kind: "retry_after".into(),
            message: "source `far`: the server asks to wait 120 s".into(),
            retry_after_s: Some(120),
        }),
    };
    let message = "read the ledger; restore the line, or the file from a backup: line 3 of the ledger is not a row";
    let uncommitted = FetchSummary {
        ok: false,
        error: Some(EntryError { kind: "commit".into(), message: message.into(), retry_after_s: None }),
        ..summary(vec![fetched()])
    };
    let examples = [("", fixed), (".failed", summary(vec![cached, failed])), (".uncommitted", uncommitted)];
    agree("fetch-summary", Unknown::Ignored, &examples);
}

/// The worked example of the fetch seed, section 3.
pub(crate) fn row() -> Row {
    Row {
        source_id: "tiny".parse().unwrap(),
        url: "http://127.0.0.1:8765/tiny.jsonl".into(),
        license_spdx: "CC-BY-4.0".into(),
        retrieved_at: JANUARY.parse().unwrap(),
        sha256: TINY.parse().unwrap(),
        n_docs: 2,
        allowed_uses: vec![Use::Train, Use::Eval],
        pii_policy: PiiPolicy::Scrub,
        filters_applied: vec![],
        kept: 2,
        dropped: 0,
        notes: String::new(),
        revoked: None,
    }
}

pub(crate) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn summary(entries: Vec<Entry>) -> FetchSummary {
    let ok = entries.iter().all(|entry| entry.status.is_ok());
    FetchSummary { stage: "fetch".into(), ok, entries, error: None, clock: None }
}

/// The worked example of the fetch seed, section 3: one cut, two requests.
pub(crate) fn fetched() -> Entry {
    Entry {
        source_id: "tiny".parse().unwrap(),
        status: Status::Fetched,
        raw_dir: "corpus/raw/tiny/20260101".into(),
        sha256: TINY.into(),
        bytes: 54,
        n_docs: 2,
        retrieved_at: JANUARY.into(),
        requests: 2,
        error: None,
    }
}
