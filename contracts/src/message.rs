//! The messages between the roles of a crawl, field by field as the crawl's seed names them ("Queue contracts").
//!
//! ```text
//! coordinator ── CrawlJob ──► worker ── StorageMessage ───► storage worker
//!      ▲                        └────── DiscoveryMessage ──┐
//!      └───────────────────────────────────────────────────┘
//! ```
//!
//! A [`WorkerResult`] never leaves its worker: a publisher derives the other two of it. Every queue delivers at least
//! once, so a reader takes a message that it has seen before: a job by `job_id`, a page by `crawl_id` and canonical url.
//!
//! Readers ignore keys that they do not know, since a later release may say more; they refuse a missing key, a value of
//! another type, and a larger `v`, which would mean that the known keys mean something else.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::time::Timestamp;

/// Asks a worker for one page. On the crawl queue; it says nothing of robots.txt, of what was visited, of retries or of
/// storage, which are the coordinator's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlJob {
    /// The form of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<V1>,
    /// Of this request: a second attempt is a job of its own.
    pub job_id: String,
    /// Of the crawl that it belongs to.
    pub crawl_id: String,
    /// The normalised URL to ask for.
    pub url: String,
    /// Links from a seed to here, on the shortest path that is known.
    pub depth: u32,
    /// The page that names it; none for a seed and for a URL of a sitemap.
    #[serde(deserialize_with = "required")]
    pub discovered_from: Option<String>,
    /// When it was discovered.
    pub discovered_at: Timestamp,
}

/// What one request came to; inside the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerResult {
    /// The form of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<V1>,
    /// The job's.
    pub job_id: String,
    /// The job's.
    pub crawl_id: String,
    /// The job's URL.
    pub requested_url: String,
    /// The URL that answered; of a redirect that is not followed its target, resolved.
    pub final_url: String,
    /// The last answer's status; none when there was no answer.
    #[serde(deserialize_with = "required")]
    pub status_code: Option<u16>,
    /// Every URL from the requested to the final one, in order.
    pub redirect_chain: Vec<String>,
    /// The media type without parameters; none when it is not known.
    #[serde(deserialize_with = "required")]
    pub content_type: Option<String>,
    /// The job's.
    pub depth: u32,
    /// The page; none for a redirect that is not followed, a failure, and a page that may not be kept.
    #[serde(deserialize_with = "required")]
    pub document: Option<Document>,
    /// The links of the page, absolute, each once, in order.
    pub links: Vec<String>,
    /// When the answer was here.
    pub fetched_at: Timestamp,
    /// From the job to the result, in milliseconds.
    pub processing_time_ms: u64,
    /// What the coordinator is told beside the links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// A page to be kept. On the storage queue, and a line of the objects that the storage worker writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageMessage {
    /// The form of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<V1>,
    /// The crawl that the page belongs to.
    pub crawl_id: String,
    /// The canonical URL of the page that answered, never one that redirected to it. With `crawl_id` the page's identity.
    pub url: String,
    /// The answer's status.
    pub status_code: u16,
    /// Links from a seed to here, as far as the job knew; the coordinator may learn of a shorter path.
    pub depth: u32,
    /// The page.
    pub document: Document,
    /// When the answer was here.
    pub fetched_at: Timestamp,
    /// From the job to the result, in milliseconds.
    pub processing_time_ms: u64,
}

/// What the coordinator learns of a job. On the discovery queue, for every job, one that failed included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveryMessage {
    /// The form of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<V1>,
    /// The job's.
    pub job_id: String,
    /// The job's.
    pub crawl_id: String,
    /// The job's URL.
    pub requested_url: String,
    /// The URL that answered, or the resolved target of a redirect: a candidate at `parent_depth`.
    pub final_url: String,
    /// The job's depth; links are candidates at the next.
    pub parent_depth: u32,
    /// The links of the page, absolute; none of a failure.
    pub links: Vec<String>,
    /// How the request ended, so that the coordinator counts, retries, slows a host down and knows the end. The seed's
    /// messages have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// How a request ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The last answer's status; none when there was no answer.
    #[serde(deserialize_with = "required")]
    pub status_code: Option<u16>,
    /// The seconds that the server asks to wait (RFC 9110 section 10.2.3).
    #[serde(deserialize_with = "required")]
    pub retry_after_s: Option<u64>,
    /// The stable name of what went wrong, or of why the page is not kept; none when it is kept, and for a redirect.
    #[serde(deserialize_with = "required")]
    pub error: Option<String>,
    /// Unpacked bytes of the body that were read, for the crawl's budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// From the job to the result, in milliseconds: the coordinator counts the host's pause from the start of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The signals about the page's use that the page and its headers state, for whoever knows what its host states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<Map<String, Value>>,
}

/// A page as it was received.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Empty when the page states none, or when pages are not read at crawl time.
    pub title: String,
    /// The language that the page declares; empty when it declares none.
    pub language: String,
    /// The main text; empty when it is left to extract, which makes it of `html`.
    pub text: String,
    /// The source of the page, decoded.
    pub html: String,
    /// What else is known.
    pub metadata: Metadata,
}

/// What is known of a page beside its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// Empty when the page states none.
    pub description: String,
    /// As the page states them.
    pub keywords: Vec<String>,
    /// The media type without parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The digest of the body after content decoding, before the charset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_sha256: Option<crate::ids::Digest>,
    /// The encoding that the body was decoded from, by its WHATWG name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// The signals about the page's use, as stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<Map<String, Value>>,
    /// The answer's entity tag as sent (RFC 9110 section 8.8.3), for a conditional request by a later crawl.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The answer's Last-Modified as sent (RFC 9110 section 8.8.2), for the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// The form of a message: `"v":1`. A message without it is of the same form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct V1;

impl Serialize for V1 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(1)
    }
}

impl<'de> Deserialize<'de> for V1 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            1 => Ok(Self),
            other => Err(serde::de::Error::custom(format_args!("version {other} of a message; this release reads 1"))),
        }
    }
}

/// Reads one message.
///
/// # Errors
/// When the bytes are no JSON object of the message's keys and types, or of a larger `v`.
pub fn read<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, serde_json::Error> {
    // Serde alone would take an array of the values, too.
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if is_object { serde_json::from_slice(bytes) } else { Err(serde::de::Error::custom("a message is a JSON object")) }
}

/// A key that may be null and may not be missing.
fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = r#"{"job_id":"j","crawl_id":"c","url":"https://example.org/","depth":0,"discovered_from":null,"discovered_at":"2026-01-01T00:00:00Z"}"#;

    fn with(key: &str, value: Value) -> Result<CrawlJob, serde_json::Error> {
        let mut job: Map<String, Value> = serde_json::from_str(JOB).unwrap();
        job.insert(key.to_owned(), value);
        read(&serde_json::to_vec(&job).unwrap())
    }

    #[test]
    fn a_larger_version_is_refused_and_the_known_one_is_not() {
        assert_eq!(read::<CrawlJob>(JOB.as_bytes()).unwrap().v, None);
        assert_eq!(with("v", 1.into()).unwrap().v, Some(V1));
        for bad in [2.into(), 0.into(), "1".into(), 1.5.into(), (-1).into(), Value::Bool(true)] {
            assert!(with("v", bad.clone()).is_err(), "{bad}");
        }
        assert!(with("v", 2.into()).unwrap_err().to_string().contains("version 2"));
    }

    #[test]
    fn unknown_keys_are_ignored_and_what_is_no_object_is_refused() {
        assert_eq!(with("priority", 7.into()).unwrap(), read(JOB.as_bytes()).unwrap());
        let array = r#"["j","c","https://example.org/",0,null,"2026-01-01T00:00:00Z"]"#;
        for bad in [array, "", "null", "\"job\"", "{}", &JOB[..JOB.len() - 1]] {
            assert!(read::<CrawlJob>(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_message_of_the_seed_without_our_keys_is_read() {
        let discovery = r#"{"job_id":"j","crawl_id":"c","requested_url":"https://foo.com","final_url":"https://bar.com","parent_depth":2,"links":["/a"]}"#;
        let read: DiscoveryMessage = read(discovery.as_bytes()).unwrap();
        assert_eq!((read.parent_depth, read.outcome), (2, None));
    }
}
