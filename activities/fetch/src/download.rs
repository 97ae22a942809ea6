//! One location's download: attempts, each a request and whatever its answer asks for, until the bytes are whole.
//!
//! The exchanges themselves are [`crate::exchange`]'s.

use std::path::PathBuf;
use std::time::Duration;

use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::Disposition;
use corpora_stage::chain;
use corpora_stage::durable::FileError;
use corpora_stage::fault;
use corpora_web::range::Refusal;
use corpora_web::redirect::RedirectError;
use corpora_web::retry_after::{self, Wait};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::credentials::Credential;
use crate::exchange::{Findings, Session};
use crate::http::{Client, HttpError};
use crate::part::Part;

/// Why a location did not give its bytes.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// No whole answer came.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The server says no, or says what no client can use.
    #[error("read `{url}`: {reason}")]
    Refused {
        /// The request, without its secrets.
        url: String,
        /// What is wrong with the answer.
        reason: Refusal,
    },
    /// The server cannot answer now: 5xx or 429.
    #[error("read `{url}`: status {status}")]
    Unavailable {
        /// The request, without its secrets.
        url: String,
        /// The status.
        status: u16,
        /// The seconds that the server asks to wait.
        retry_after: Option<u64>,
    },
    /// The server asks to wait longer than is waited here.
    #[error("read `{url}`: status {status}, and the server asks to wait {seconds} s, which is left to a later run")]
    RetryLater {
        /// The request, without its secrets.
        url: String,
        /// The status.
        status: u16,
        /// The seconds that the server asks to wait.
        seconds: u64,
    },
    /// The body ended before the size that the server had told.
    #[error("read `{url}`: the body was cut after {received} of {total} bytes; the part is kept")]
    Cut {
        /// The request, without its secrets.
        url: String,
        /// Bytes on disk.
        received: u64,
        /// The whole object's size.
        total: u64,
    },
    /// The server's ranges contradict each other, also after the part was dropped once.
    #[error("read `{url}`: ranges that contradict each other; the server may be changing the object")]
    Contradictory {
        /// The request, without its secrets.
        url: String,
    },
    /// A redirect that is not followed.
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    /// Our own disk.
    #[error(transparent)]
    File(#[from] FileError),
}

impl DownloadError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Http(error) => error.disposition(),
            Self::Refused { .. } if fault::pitfall(5) => Disposition::Retry,
            Self::Refused { .. } | Self::Redirect(_) => Disposition::Fail,
            Self::Unavailable { .. } | Self::RetryLater { .. } => Disposition::Retry,
            Self::Cut { .. } | Self::Contradictory { .. } => Disposition::Retry,
            Self::File(error) => error.disposition(),
        }
    }

    /// The stable name of the kind of error.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Http(error) => error.kind(),
            Self::Refused { reason: Refusal::Status(_), .. } => "http_status",
            Self::Refused { .. } | Self::Contradictory { .. } => "malformed_response",
            Self::Unavailable { .. } => "http_status",
            Self::RetryLater { .. } => "retry_after",
            Self::Cut { .. } => "cut",
            Self::Redirect(_) => "redirect",
            Self::File(error) if error.is_disk_full() => "disk_full",
            Self::File(_) => "io",
        }
    }

    /// The seconds that the server asks to wait, when that is left to a later run.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::RetryLater { seconds, .. } => Some(*seconds),
            _ => None,
        }
    }

    /// The same error, marked when its wait is longer than this run waits.
    fn handed_on(self) -> Self {
        match self {
            Self::Unavailable { url, status, retry_after: Some(seconds) }
                if matches!(retry_after::wait(Duration::ZERO, Some(seconds)), Wait::TooLong(_)) =>
            {
                Self::RetryLater { url, status, seconds }
            }
            other => other,
        }
    }

    /// How long to wait before the next attempt; none when another attempt in this run cannot help.
    fn wait(&self, attempt: u32, base: Duration) -> Option<Duration> {
        if self.disposition() != Disposition::Retry || matches!(self, Self::File(_) | Self::RetryLater { .. }) {
            return None;
        }
        let asked = match self {
            Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        };
        match retry_after::wait(retry_after::backoff(attempt, base), asked) {
            Wait::For(wait) => Some(wait),
            Wait::TooLong(_) => None,
        }
    }
}

/// What a run counts of a source, also when it fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// HTTP requests, redirect hops included.
    pub requests: u64,
    /// Body bytes received.
    pub bytes: u64,
}

/// Where and how to download.
#[derive(Debug)]
pub struct Target<'a> {
    /// The configured url or mirror, as written.
    pub configured: &'a str,
    /// The same, parsed.
    pub url: Url,
    /// The pinned digest.
    pub sha256: Digest,
    /// The credential for the origin of `url`.
    pub credential: Option<Credential>,
    /// Where the bytes go while they arrive.
    pub part: PathBuf,
}

/// Complete bytes, sealed in their part.
#[derive(Debug)]
pub struct Downloaded {
    /// The part that holds them.
    pub part: Part,
    /// Their digest.
    pub sha256: Digest,
    /// What was learnt on the way.
    pub findings: Findings,
}

/// Downloads from one location at a time.
pub struct Downloader<'a> {
    /// The HTTP client.
    pub client: &'a Client,
    /// Attempts per location.
    pub attempts: u32,
    /// The wait after the first failed attempt.
    pub base_delay: Duration,
    /// Stops waits and reads.
    pub cancel: &'a CancellationToken,
    /// Told the bytes on disk and, when known, the total.
    pub watch: &'a (dyn Fn(u64, Option<u64>) + Send + Sync),
}

impl std::fmt::Debug for Downloader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Downloader").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Downloader<'_> {
    /// Downloads the target's bytes, continuing what is in its part.
    ///
    /// # Errors
    /// [`DownloadError`] of the last attempt; the part keeps what arrived. `tally` counts either way.
    pub async fn download(&self, target: &Target<'_>, tally: &mut Tally) -> Result<Downloaded, DownloadError> {
        let mut part = Part::open(target.part.clone())?;
        let mut session = Session::new(self, target, &mut part, tally);
        for attempt in 1.. {
            let Err(error) = session.attempt().await else { break };
            let wait = error.wait(attempt, self.base_delay).filter(|_| attempt < self.attempts);
            let Some(wait) = wait else { return Err(error.handed_on()) };
            tracing::info!(attempt, wait_s = wait.as_secs_f64(), "will try again: {}", chain(&error));
            self.pause(wait).await?;
        }
        let findings = session.findings;
        let Some(sha256) = part.seal(self.cancel).await? else { return Err(HttpError::Cancelled.into()) };
        Ok(Downloaded { part, sha256, findings })
    }

    async fn pause(&self, wait: Duration) -> Result<(), DownloadError> {
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            () = self.cancel.cancelled() => Err(HttpError::Cancelled.into()),
        }
    }
}
