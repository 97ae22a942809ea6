//! One HTTP request at a time: identity encoding, no redirects of its own, every wait bounded.

use std::time::Duration;

use bytes::Bytes;
use corpora_contracts::outcome::Disposition;
use corpora_http::client::{self, ClientError};
pub use corpora_http::fault::TransportFault;
use corpora_http::trust::Protocols;
use corpora_stage::fault;
use corpora_web::redact;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_RANGE, RANGE};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::credentials::Credential;

/// What a request failed of before a whole answer was here.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No byte came for the timeout.
    #[error("read `{url}`: no byte for {} s (--timeout)", timeout.as_secs_f64())]
    Silence {
        /// The request, without its secrets.
        url: String,
        /// The bound.
        timeout: Duration,
    },
    /// The connection or the message failed.
    #[error("read `{url}`: {fault}")]
    Transport {
        /// The request, without its secrets.
        url: String,
        /// What kind of failure it is.
        fault: TransportFault,
        /// The client's error.
        source: reqwest::Error,
    },
    /// We were asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl HttpError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Transport { fault: TransportFault::Certificate | TransportFault::Malformed, .. } => Disposition::Fail,
            Self::Silence { .. } | Self::Transport { .. } => Disposition::Retry,
            Self::Cancelled => Disposition::Cancelled,
        }
    }

    /// The stable name of the kind of error.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Silence { .. } => "timeout",
            Self::Transport { fault, .. } => fault.kind(),
            Self::Cancelled => "cancelled",
        }
    }
}

/// An HTTP client whose every wait is bounded and can be cancelled.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    timeout: Duration,
    cancel: CancellationToken,
}

/// One request.
#[derive(Debug)]
pub struct Ask<'a> {
    /// What is asked for.
    pub url: &'a Url,
    /// The value of `Range`.
    pub range: Option<String>,
    /// The value of `If-Range`.
    pub if_range: Option<String>,
    /// The credential, when it may go to this origin.
    pub credential: Option<&'a Credential>,
}

impl Client {
    /// A client of [`client::builder`] that speaks HTTP/1.1 and asks for bytes as they are.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn new(timeout: Duration, cancel: CancellationToken) -> Result<Self, ClientError> {
        let builder = client::builder(Protocols::Http1)?
            .user_agent(concat!("corpora/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]));
        Ok(Self { inner: client::build(builder)?, timeout, cancel })
    }

    /// Sends one request and waits for the head of its answer.
    ///
    /// # Errors
    /// [`HttpError`].
    pub async fn get(&self, ask: &Ask<'_>) -> Result<reqwest::Response, HttpError> {
        let mut request = self.inner.get(ask.url.clone());
        if let Some(range) = &ask.range {
            request = request.header(RANGE, range);
        }
        if let Some(validator) = &ask.if_range {
            request = request.header(IF_RANGE, validator);
        }
        request = match ask.credential {
            Some(Credential::Bearer(token)) => request.bearer_auth(token),
            Some(Credential::Basic { login, password }) => request.basic_auth(login, Some(password)),
            None => request,
        };
        self.bounded(ask.url, request.send()).await
    }

    /// The next chunk of a body; none at its end.
    ///
    /// # Errors
    /// [`HttpError`].
    pub async fn chunk(&self, url: &Url, response: &mut reqwest::Response) -> Result<Option<Bytes>, HttpError> {
        self.bounded(url, response.chunk()).await
    }

    async fn bounded<T>(
        &self,
        url: &Url,
        work: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, HttpError> {
        let timeout = if fault::pitfall(9) { Duration::MAX } else { self.timeout };
        tokio::select! {
            () = self.cancel.cancelled() => Err(HttpError::Cancelled),
            result = tokio::time::timeout(timeout, work) => match result {
                Ok(Ok(value)) => Ok(value),
                Ok(Err(error)) => Err(transport(url, error)),
                Err(_elapsed) => Err(HttpError::Silence { url: redact::hop(url), timeout }),
            },
        }
    }
}

fn transport(url: &Url, error: reqwest::Error) -> HttpError {
    let fault = TransportFault::of(&error);
    HttpError::Transport { url: redact::hop(url), fault, source: error.without_url() }
}
