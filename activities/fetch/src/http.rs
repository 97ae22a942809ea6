//! One HTTP request at a time: identity encoding, no redirects of its own, every wait bounded.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use corpora_contracts::outcome::Disposition;
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
    /// The client cannot be built: no usable TLS roots, or a proxy variable that is no URL.
    #[error("set up the HTTP client; look at the proxy and CA variables")]
    Client {
        /// The client's error.
        source: reqwest::Error,
    },
    /// We were asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// The kinds of failed connection or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TransportFault {
    /// The name was not resolved.
    #[error("the host's name cannot be resolved")]
    Dns,
    /// Refused, unreachable, or cut during the TLS handshake.
    #[error("no connection")]
    Connect,
    /// The server's certificate is not valid for us.
    #[error("bad certificate; add the issuer's CA to SSL_CERT_FILE if it is yours")]
    Certificate,
    /// The connection ended in mid-message.
    #[error("the connection was cut")]
    Cut,
    /// What came is not HTTP.
    #[error("malformed response")]
    Malformed,
}

impl HttpError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Transport { fault: TransportFault::Certificate | TransportFault::Malformed, .. } => Disposition::Fail,
            Self::Client { .. } => Disposition::Fail,
            Self::Silence { .. } | Self::Transport { .. } => Disposition::Retry,
            Self::Cancelled => Disposition::Cancelled,
        }
    }

    /// The stable name of the kind of error.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Silence { .. } => "timeout",
            Self::Transport { fault: TransportFault::Dns, .. } => "dns",
            Self::Transport { fault: TransportFault::Connect, .. } => "connect",
            Self::Transport { fault: TransportFault::Certificate, .. } => "certificate",
            Self::Transport { fault: TransportFault::Cut, .. } => "cut",
            Self::Transport { fault: TransportFault::Malformed, .. } => "malformed_response",
            Self::Client { .. } => "client",
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
    /// A client that takes proxies from the usual variables and CA roots from the system or `SSL_CERT_FILE`.
    ///
    /// # Errors
    /// [`HttpError::Client`].
    pub fn new(timeout: Duration, cancel: CancellationToken) -> Result<Self, HttpError> {
        // The first caller of the process installs the provider; a second one finds it there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("corpora/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]));
        let inner = builder.build().map_err(|source| HttpError::Client { source })?;
        Ok(Self { inner, timeout, cancel })
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
    let fault = classify(&error);
    HttpError::Transport { url: redact::hop(url), fault, source: error.without_url() }
}

/// Tells the kinds apart by the errors that the client wraps; in doubt a cut, which is tried again.
fn classify(error: &reqwest::Error) -> TransportFault {
    let mut cause = error.source();
    while let Some(current) = cause {
        if let Some(tls) = find_tls(current) {
            return tls_fault(tls);
        }
        if is_malformed(current) {
            return TransportFault::Malformed;
        }
        cause = current.source();
    }
    match error {
        _ if error.is_dns() => TransportFault::Dns,
        _ if error.is_connect() => TransportFault::Connect,
        _ => TransportFault::Cut,
    }
}

/// Whether this link says that what came is not HTTP: a head that cannot be parsed, or chunk framing that is none. A
/// body that only ends early is another kind of error.
fn is_malformed(link: &(dyn std::error::Error + 'static)) -> bool {
    let is_parse = link.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
    let kind = link.downcast_ref::<io::Error>().map(io::Error::kind);
    is_parse || matches!(kind, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData))
}

/// The TLS error in this link of the chain; the connector wraps it in one [`io::Error`] or more.
fn find_tls<'a>(link: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    if let Some(tls) = link.downcast_ref() {
        return Some(tls);
    }
    find_tls(link.downcast_ref::<io::Error>()?.get_ref()?)
}

fn tls_fault(error: &rustls::Error) -> TransportFault {
    match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => TransportFault::Certificate,
        _ => TransportFault::Connect,
    }
}
