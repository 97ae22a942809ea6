//! What the roles of a crawl tell each other.

use corpora_contracts::ids::Digest;
use corpora_contracts::message::{
    CrawlJob, DiscoveryMessage, Document, Metadata, Outcome, StorageMessage, V1, WorkerResult,
};
use serde_json::json;

use crate::JANUARY;
use crate::agreement::{Unknown, agree};
use crate::fetches::object;

const HTML: &str = "<title>Naps</title><p>Mia naps.</p><a href=\"/ball\">ball</a>";
const NAPS: &str = "https://example.org/naps";

/// The keys of the seed alone.
fn document() -> Document {
    Document {
        title: "Naps".into(),
        language: "en".into(),
        text: "Mia naps.".into(),
        html: HTML.into(),
        metadata: Metadata {
            description: String::new(),
            keywords: vec!["naps".into()],
            content_type: None,
            body_sha256: None,
            charset: None,
            rights: None,
            etag: None,
            last_modified: None,
        },
    }
}

fn full() -> Document {
    let metadata = Metadata {
        content_type: Some("text/html".into()),
        body_sha256: Some(Digest::of(HTML.as_bytes())),
        charset: Some("utf-8".into()),
        rights: Some(object(&json!({"robots": ["noai"]}))),
        etag: Some("\"v1\"".into()),
        last_modified: Some("Thu, 01 Jan 2026 00:00:00 GMT".into()),
        ..document().metadata
    };
    Document { metadata, ..document() }
}

fn outcome() -> Outcome {
    Outcome {
        status_code: Some(200),
        retry_after_s: None,
        error: None,
        bytes: Some(HTML.len() as u64),
        took_ms: Some(213),
        rights: Some(object(&json!({"robots": ["noai"]}))),
    }
}

#[test]
fn crawl_job() {
    let seed = CrawlJob {
        v: None,
        job_id: "j-0".into(),
        crawl_id: "c-1".into(),
        url: "https://example.org/".into(),
        depth: 0,
        discovered_from: None,
        discovered_at: JANUARY.parse().unwrap(),
    };
    let job = CrawlJob {
        v: Some(V1),
        job_id: "j-1".into(),
        url: NAPS.into(),
        depth: 1,
        discovered_from: Some("https://example.org/".into()),
        ..seed.clone()
    };
    agree("crawl-job", Unknown::Ignored, &[("", job), (".seed", seed)]);
}

#[test]
fn worker_result() {
    let redirect = WorkerResult {
        v: None,
        job_id: "j-2".into(),
        crawl_id: "c-1".into(),
        requested_url: "https://example.org/old".into(),
        final_url: NAPS.into(),
        status_code: Some(301),
        redirect_chain: vec!["https://example.org/old".into(), NAPS.into()],
        content_type: None,
        depth: 1,
        document: None,
        links: vec![],
        fetched_at: JANUARY.parse().unwrap(),
        processing_time_ms: 13,
        outcome: None,
    };
    let page = WorkerResult {
        v: Some(V1),
        job_id: "j-1".into(),
        requested_url: NAPS.into(),
        status_code: Some(200),
        redirect_chain: vec![NAPS.into()],
        content_type: Some("text/html".into()),
        document: Some(full()),
        links: vec!["https://example.org/ball".into()],
        processing_time_ms: 213,
        outcome: Some(outcome()),
        ..redirect.clone()
    };
    agree("worker-result", Unknown::Ignored, &[("", page), (".redirect", redirect)]);
}

#[test]
fn storage_message() {
    let seed = StorageMessage {
        v: None,
        crawl_id: "c-1".into(),
        url: NAPS.into(),
        status_code: 200,
        depth: 1,
        document: document(),
        fetched_at: JANUARY.parse().unwrap(),
        processing_time_ms: 213,
    };
    let ours = StorageMessage { v: Some(V1), document: full(), ..seed.clone() };
    agree("storage-message", Unknown::Ignored, &[("", ours), (".seed", seed)]);
}

#[test]
fn discovery_message() {
    let page = DiscoveryMessage {
        v: Some(V1),
        job_id: "j-1".into(),
        crawl_id: "c-1".into(),
        requested_url: NAPS.into(),
        final_url: NAPS.into(),
        parent_depth: 1,
        links: vec!["https://example.org/ball".into()],
        outcome: Some(outcome()),
    };
    let busy = "https://example.org/busy";
    let failed = DiscoveryMessage {
        v: None,
        job_id: "j-3".into(),
        requested_url: busy.into(),
        final_url: busy.into(),
        links: vec![],
        outcome: Some(Outcome {
            status_code: Some(503),
            retry_after_s: Some(120),
            error: Some("http_status".into()),
            bytes: None,
            took_ms: None,
            rights: None,
        }),
        ..page.clone()
    };
    agree("discovery-message", Unknown::Ignored, &[("", page), (".failed", failed)]);
}
