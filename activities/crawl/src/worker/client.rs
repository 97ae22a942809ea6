//! One request at a time: every wait bounded, no redirects and no decoding by the library.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use corpora_contracts::message::StorageMessage;
use corpora_http::client::{self, ClientError};
use corpora_http::fault::TransportFault;
use corpora_http::proxies;
use corpora_http::trust::Protocols;
use corpora_web::url::NormalUrl;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};

use super::Settings;
use super::guard::{Guard, PrivateNetwork};

/// Pages first: who negotiates sends one.
const WANTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// The codings that are undone.
const CODINGS: &str = "gzip, br, zstd";

/// The most bytes of all headers of an answer over HTTP/2; over HTTP/1.1 the library has bounds of its own.
const MOST_HEADERS: u32 = 64 << 10;

/// Why an answer is not here, or not whole. The word is what the coordinator is told.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Private(#[from] PrivateNetwork),
    #[error("read the answer: {fault}")]
    Transport { fault: TransportFault, source: reqwest::Error },
    #[error("read the answer: nothing came for {} s (--timeout)", .0.as_secs_f64())]
    Silence(Duration),
    #[error("read the whole answer within {} s (page_timeout)", .0.as_secs_f64())]
    Deadline(Duration),
    #[error("keep a body of more than {most} bytes (page_bytes)")]
    TooLarge { most: usize },
    #[error("undo the content coding `{coding}`, which is unknown")]
    UnknownCoding { coding: String },
    #[error("undo the content coding `{coding}`: the body is malformed")]
    BadCoding { coding: String, source: std::io::Error },
    #[error("undo the content coding `{coding}`: the body ends too early")]
    CutCoding { coding: String },
}

impl Failed {
    /// The stable name of the failure.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Private(_) => "private_network",
            Self::Transport { fault, .. } => fault.kind(),
            Self::Silence(_) => "timeout",
            Self::Deadline(_) => "page_timeout",
            Self::TooLarge { .. } => "page_bytes",
            Self::UnknownCoding { .. } | Self::BadCoding { .. } => "content_encoding",
            Self::CutCoding { .. } => "cut",
        }
    }

    /// The bytes that were read for nothing, where that is known.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self {
            Self::TooLarge { most } => Some(*most as u64),
            _ => None,
        }
    }
}

/// Whether a word is that of a failure, and not of a page that is not kept.
pub(super) fn is_fault(word: &str) -> bool {
    const FAULTS: &[&str] = &[
        "private_network",
        "dns",
        "connect",
        "certificate",
        "cut",
        "malformed_response",
        "timeout",
        "page_timeout",
        "content_encoding",
        "address",
    ];
    FAULTS.contains(&word)
}

/// What makes a request conditional.
#[derive(Debug, Clone, Default)]
pub(super) struct Validators {
    etag: Option<String>,
    last_modified: Option<String>,
}

impl Validators {
    pub(super) fn of(page: &StorageMessage) -> Self {
        let metadata = &page.document.metadata;
        Self { etag: metadata.etag.clone(), last_modified: metadata.last_modified.clone() }
    }

    fn headers(&self) -> HeaderMap {
        let value = |text: &Option<String>| text.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
        let etag = value(&self.etag).map(|value| (IF_NONE_MATCH, value));
        // A server that knows the first ignores the second (RFC 9110 section 13.1.3).
        let date = value(&self.last_modified).map(|value| (IF_MODIFIED_SINCE, value));
        etag.into_iter().chain(date).collect()
    }
}

/// The HTTP client of a worker.
#[derive(Debug)]
pub(super) struct Client {
    inner: reqwest::Client,
    guard: Arc<Guard>,
    silence: Duration,
    page_timeout: Duration,
}

impl Client {
    pub(super) fn new(settings: &Settings) -> Result<Self, ClientError> {
        let guard = Arc::new(Guard::new(settings.allow_private_networks, proxies::hosts()));
        let headers =
            [(ACCEPT, HeaderValue::from_static(WANTED)), (ACCEPT_ENCODING, HeaderValue::from_static(CODINGS))];
        let builder = client::builder(Protocols::Http2)?
            .user_agent(&settings.user_agent)
            .default_headers(HeaderMap::from_iter(headers))
            .http2_max_header_list_size(MOST_HEADERS)
            .connect_timeout(settings.silence)
            .dns_resolver(Arc::clone(&guard));
        let inner = client::build(builder)?;
        Ok(Self { inner, guard, silence: settings.silence, page_timeout: settings.page_timeout })
    }

    /// Sends one request and waits for the head of its answer. A wait that comes to an end before there is one was for
    /// silence, whichever bound was the shorter.
    pub(super) async fn get(
        &self,
        url: &NormalUrl,
        validators: Option<Validators>,
        deadline: Instant,
    ) -> Result<reqwest::Response, Failed> {
        let request = self.inner.get(url.as_url().clone()).headers(validators.unwrap_or_default().headers());
        let work = async {
            self.guard.check(url).await?;
            request.send().await.map_err(failed)
        };
        let longest = self.silence.min(deadline.saturating_duration_since(Instant::now()));
        tokio::time::timeout(longest, work).await.map_err(|_elapsed| Failed::Silence(longest))?
    }

    /// The next piece of a body; none at its end.
    pub(super) async fn chunk(
        &self,
        response: &mut reqwest::Response,
        deadline: Instant,
    ) -> Result<Option<Bytes>, Failed> {
        let left = deadline.saturating_duration_since(Instant::now());
        match tokio::time::timeout(self.silence.min(left), response.chunk()).await {
            Ok(piece) => piece.map_err(failed),
            Err(_elapsed) if left <= self.silence => Err(Failed::Deadline(self.page_timeout)),
            Err(_elapsed) => Err(Failed::Silence(self.silence)),
        }
    }
}

fn failed(error: reqwest::Error) -> Failed {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(current) = cause {
        if let Some(private) = current.downcast_ref::<PrivateNetwork>() {
            return Failed::Private(private.clone());
        }
        cause = current.source();
    }
    let fault = TransportFault::of(&error);
    Failed::Transport { fault, source: error.without_url() }
}
