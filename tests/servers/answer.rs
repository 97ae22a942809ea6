//! What a server does with one request, as a value.

use std::sync::Arc;
use std::time::Duration;

use super::gate::Gate;

/// One answer: a proper one to start with, made worse by each method called on it.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Arc<[u8]>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) ranges: Ranges,
    pub(super) heeds_if_range: bool,
    pub(super) framing: Framing,
    pub(super) before: Before,
    pub(super) head_after: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) pace: Option<(usize, Duration)>,
    pub(super) stall: Option<(u64, Duration)>,
    pub(super) cut: Option<Cut>,
}

/// What the server does with a `Range` header (RFC 9110 section 14.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranges {
    /// Sends 206 with what was asked, or 416 with the right total when there is nothing there.
    Honour,
    /// Sends 200 with everything.
    Ignore,
    /// Sends 206 with a range that starts so many bytes before the one asked for.
    StartEarlier(u64),
    /// Sends 206 with the right bytes and this total in `Content-Range`.
    ClaimTotal(String),
    /// Sends 206 with the right bytes and this whole `Content-Range`, or none.
    ClaimRange(Option<String>),
    /// Sends 416 with this `Content-Range`, or none, whatever is asked.
    Unsatisfiable(Option<String>),
    /// Sends this status without a body whenever a range is asked for.
    Refuse(u16),
}

/// How the end of the body is told (RFC 9112 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length,
    ClaimLength(u64),
    Chunked,
    UntilClose,
}

/// What happens in place of an HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    Answer,
    HangUp,
    Garbage(Vec<u8>),
}

/// Where the connection ends before the body does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) after: u64,
    pub(super) by_reset: bool,
}

impl Answer {
    /// 200 with these bytes, ranges honoured, no validator.
    #[must_use]
    pub fn object(body: impl AsRef<[u8]>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: Arc::from(body.as_ref()),
            etag: None,
            last_modified: None,
            ranges: Ranges::Honour,
            heeds_if_range: true,
            framing: Framing::Length,
            before: Before::Answer,
            head_after: Duration::ZERO,
            gate: None,
            pace: None,
            stall: None,
            cut: None,
        }
    }

    /// Any status with a short body that says so.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let mut answer = Self::object(format!("status {status}\n"));
        answer.status = status;
        answer
    }

    /// A redirect to this `Location`.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).header("Location", location)
    }

    /// The connection ends before any byte of an answer.
    #[must_use]
    pub fn hang_up() -> Self {
        Self { before: Before::HangUp, ..Self::object("") }
    }

    /// These bytes instead of HTTP, then the connection ends.
    #[must_use]
    pub fn garbage(bytes: impl Into<Vec<u8>>) -> Self {
        Self { before: Before::Garbage(bytes.into()), ..Self::object("") }
    }

    /// A 200 with a page for people in place of the object, as login walls and rate limiters send.
    #[must_use]
    pub fn error_page() -> Self {
        Self::object("<!DOCTYPE html><html><body><h1>Please sign in</h1></body></html>\n")
            .header("Content-Type", "text/html; charset=utf-8")
    }

    /// One more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same answer with these bytes.
    #[must_use]
    pub fn with_body(mut self, body: &[u8]) -> Self {
        self.body = Arc::from(body);
        self
    }

    /// The object's entity tag, quotes and `W/` included.
    #[must_use]
    pub fn etag(mut self, etag: &str) -> Self {
        self.etag = Some(etag.to_owned());
        self
    }

    /// The object's modification date, as an HTTP-date.
    #[must_use]
    pub fn last_modified(mut self, date: &str) -> Self {
        self.last_modified = Some(date.to_owned());
        self
    }

    /// What becomes of `Range`.
    #[must_use]
    pub fn ranges(mut self, ranges: Ranges) -> Self {
        self.ranges = ranges;
        self
    }

    /// A range is served although `If-Range` names another object.
    #[must_use]
    pub fn ignoring_if_range(mut self) -> Self {
        self.heeds_if_range = false;
        self
    }

    /// The connection is closed in order after this many body bytes of this answer.
    #[must_use]
    pub fn cut_after(mut self, bytes: u64) -> Self {
        self.cut = Some(Cut { after: bytes, by_reset: false });
        self
    }

    /// The connection is reset after this many body bytes of this answer.
    #[must_use]
    pub fn reset_after(mut self, bytes: u64) -> Self {
        self.cut = Some(Cut { after: bytes, by_reset: true });
        self
    }

    /// The body is sent in chunks (RFC 9112 section 7.1), without a length.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.framing = Framing::Chunked;
        self
    }

    /// HTTP/1.0: the body ends with the connection.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self
    }

    /// `Content-Length` says this, whatever is sent; the connection ends after the body.
    #[must_use]
    pub fn claim_length(mut self, bytes: u64) -> Self {
        self.framing = Framing::ClaimLength(bytes);
        self
    }

    /// Silence before the head.
    #[must_use]
    pub fn head_after(mut self, pause: Duration) -> Self {
        self.head_after = pause;
        self
    }

    /// Silence after so many body bytes.
    #[must_use]
    pub fn stall_after(mut self, bytes: u64, pause: Duration) -> Self {
        self.stall = Some((bytes, pause));
        self
    }

    /// The body trickles: so many bytes at a time, with a pause after each.
    #[must_use]
    pub fn drip(mut self, bytes: usize, pause: Duration) -> Self {
        self.pace = Some((bytes, pause));
        self
    }

    /// The head waits at this gate.
    #[must_use]
    pub fn held_at(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }
}
