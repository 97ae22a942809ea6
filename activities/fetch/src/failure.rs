//! Why a location did not give its bytes, and whether and when to ask it again.

use std::time::Duration;

use corpora_contracts::outcome::Disposition;
use corpora_stage::durable::FileError;
use corpora_stage::fault;
use corpora_web::range::Refusal;
use corpora_web::redirect::RedirectError;
use corpora_web::retry_after::{self, Wait};

use crate::http::HttpError;

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
    #[must_use]
    pub fn handed_on(self) -> Self {
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
    #[must_use]
    pub fn wait(&self, attempt: u32, base: Duration) -> Option<Duration> {
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
