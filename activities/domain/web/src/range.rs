//! The resume decision: what an answer means for the bytes that are already on disk.
//!
//! A download that goes on with other bytes than it began with is a corrupt file that only the digest finds, hours
//! later. So bytes are appended only when the answer says that they follow, and nothing in it says that the file is
//! another one (fetch seed, section 2.2; RFC 9110 sections 13.1.5, 14 and 15.3.7). Bodies are never decoded: a
//! `Content-Encoding` is a label that must stay the same.

use corpora_contracts::outcome::Disposition;

use crate::content_range::{ContentRange, ContentRangeError};
use crate::validator::Validator;

/// A download in progress: the file and what was kept beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// Bytes on disk.
    pub bytes: u64,
    /// The size of the whole file in bytes, where an answer told it.
    pub total: Option<u64>,
    /// Which version of the file the bytes are of, where an answer told it.
    pub validator: Option<Validator>,
    /// The `Content-Encoding` that the bytes came with.
    pub coding: Option<String>,
}

/// What the request asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The first byte of `Range: bytes=<offset>-`; 0 is a request without `Range`.
    pub offset: u64,
}

/// An answer, as far as the decision needs it. A header that is not there is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// `Content-Range`, raw.
    pub content_range: Option<String>,
    /// `Content-Length`, raw.
    pub content_length: Option<String>,
    /// `ETag`, raw.
    pub etag: Option<String>,
    /// `Last-Modified`, raw.
    pub last_modified: Option<String>,
    /// `Content-Encoding`, raw.
    pub content_encoding: Option<String>,
    /// `Content-Type`, raw.
    pub content_type: Option<String>,
    /// `Retry-After`, raw.
    pub retry_after: Option<String>,
    /// `Location`, raw.
    pub location: Option<String>,
}

/// The headers of a request that asks for the rest of a part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestHeaders {
    /// `Range`.
    pub range: Option<String>,
    /// `If-Range`: the rest only if the file is still that version, else all of it.
    pub if_range: Option<String>,
}

/// What to do with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The body goes on where the part ends: append it.
    Append {
        /// The size of the whole file in bytes, where the answer or an earlier one told it.
        total: Option<u64>,
        /// The size of the part once this body is whole; below `total` when the server sent less than the rest, which
        /// is then asked for.
        end: u64,
    },
    /// The body is the file from its start: truncate the part and write it from 0.
    Restart {
        /// The size of the whole file in bytes, where the answer told it.
        total: Option<u64>,
    },
    /// The part is the whole file already: verify it.
    Whole,
    /// The part is not of this file: drop it and ask again at once without `Range`, in the same attempt.
    FromZero {
        /// What does not fit.
        reason: Mismatch,
    },
    /// The server cannot say, or refuses, which bytes it sends: ask again at once without `Range`, in the same attempt.
    /// The part stays until that answer, which is never this one again.
    WithoutRange {
        /// What was wrong.
        reason: Unusable,
    },
    /// Ask there instead.
    Redirect {
        /// `Location`, raw.
        location: String,
    },
    /// A later attempt may succeed.
    Retry {
        /// The status code: 429 or 5xx.
        status: u16,
        /// `Retry-After`, raw.
        retry_after: Option<String>,
    },
    /// The same request gets the same answer next time.
    Fail {
        /// What was wrong.
        reason: Refusal,
    },
}

/// Why a part is not of the file that the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A 206 starts elsewhere.
    #[error("the server's range starts at byte `{start}`, not at `{expected}`")]
    Start {
        /// Bytes on disk.
        expected: u64,
        /// Where the range starts.
        start: u64,
    },
    /// The answer names another size, or reaches beyond the one that is known.
    #[error("the server's file does not have `{known}` bytes")]
    Total {
        /// What an earlier answer told.
        known: u64,
    },
    /// The answer names another `ETag` or `Last-Modified`.
    #[error("the file changed on the server")]
    Validator,
    /// The answer has another `Content-Encoding`.
    #[error("the file's `Content-Encoding` changed")]
    Coding,
    /// A 416: the server's file has no byte where the part ends, and is not that long either.
    #[error("the server has nothing after `{bytes}` bytes, and these are not the whole file")]
    TooLong {
        /// Bytes on disk.
        bytes: u64,
    },
}

/// Why an answer to a `Range` cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A 206 without `Content-Range`.
    #[error("a 206 without `Content-Range`")]
    NoContentRange,
    /// A 206 whose `Content-Range` says nothing.
    #[error("a 206 whose bytes are not known")]
    ContentRange(#[source] ContentRangeError),
    /// A 206 with `bytes */T`, which belongs to a 416.
    #[error("a 206 whose `Content-Range` names no bytes")]
    Unsatisfied,
    /// Several ranges in one body, although one was asked for.
    #[error("a 206 of several ranges (`multipart/byteranges`)")]
    Multipart,
    /// `Content-Length` and `Content-Range` contradict each other.
    #[error("a 206 whose `Content-Length` is `{length}` for a range of `{range}` bytes")]
    Length {
        /// `Content-Length`.
        length: u64,
        /// The bytes that `Content-Range` names.
        range: u64,
    },
    /// A 403, which some servers give to every `Range`.
    #[error("status 403 to a range")]
    Forbidden,
}

/// Why an answer ends the download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A 4xx but 429, or a 3xx that is no redirect.
    #[error("status {0}{hint}", hint = hint(*.0))]
    Status(u16),
    /// A redirect without `Location`.
    #[error("status {0} without `Location`")]
    NoLocation(u16),
    /// A status that answers no GET.
    #[error("status {0}, which is no answer to a GET")]
    UnexpectedStatus(u16),
    /// A 206 although no `Range` was sent, with other bytes than those from 0 on.
    #[error("a part that starts at byte `{start}`, which was not asked for")]
    UnaskedStart {
        /// Where the range starts.
        start: u64,
    },
    /// A 206 although no `Range` was sent, and which bytes it holds is not said.
    #[error("a part of the file, which was not asked for")]
    UnaskedRange(#[source] Unusable),
}

impl Refusal {
    /// All of them will be the same next time.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        Disposition::Fail
    }
}

/// What a person can do about a status.
fn hint(status: u16) -> &'static str {
    match status {
        401 | 403 => "; a credential may be missing, or a signed URL has expired",
        404 | 410 => "; look at the url: the file is not there",
        _ => "",
    }
}

/// The request that continues a part; of an empty part or none, a plain one.
#[must_use]
pub fn request(part: Option<&Part>) -> RequestHeaders {
    let Some(part) = part.filter(|part| part.bytes > 0) else { return RequestHeaders::default() };
    RequestHeaders {
        range: Some(format!("bytes={}-", part.bytes)),
        if_range: part.validator.as_ref().map(|validator| validator.as_if_range().to_owned()),
    }
}

/// What an answer means for what is on disk.
///
/// Only an answer to a request with `Range` is [`Decision::FromZero`], [`Decision::WithoutRange`] or
/// [`Decision::Whole`], so a caller that asks again at once does so once.
#[must_use]
pub fn decide(part: Option<&Part>, asked: Asked, answer: &Answer) -> Decision {
    let nothing = Part::default();
    let part = part.unwrap_or(&nothing);
    let ranged = asked.offset > 0;
    match answer.status {
        200 | 203 => Decision::Restart { total: length(answer) },
        206 if ranged => continued(part, asked, answer),
        206 => unasked(part, answer),
        301 | 302 | 303 | 307 | 308 => redirect(answer),
        403 if ranged => Decision::WithoutRange { reason: Unusable::Forbidden },
        416 if ranged => unsatisfied(part, answer),
        status @ (429 | 500..=599) => Decision::Retry { status, retry_after: answer.retry_after.clone() },
        status @ 300..=499 => Decision::Fail { reason: Refusal::Status(status) },
        status => Decision::Fail { reason: Refusal::UnexpectedStatus(status) },
    }
}

/// A 206 to a `Range`: every sign that the part is of another file counts.
fn continued(part: &Part, asked: Asked, answer: &Answer) -> Decision {
    let range = match range_of(answer) {
        Ok(range) => range,
        Err(reason) => return Decision::WithoutRange { reason },
    };
    match mismatch(part, asked, answer, &range) {
        Some(reason) => Decision::FromZero { reason },
        None => Decision::Append { total: range.total.or(part.total), end: range.end },
    }
}

fn mismatch(part: &Part, asked: Asked, answer: &Answer, range: &BodyRange) -> Option<Mismatch> {
    // An offset that is not where the part ends is no place to append at, whatever was sent.
    if range.start != asked.offset || range.start != part.bytes {
        return Some(Mismatch::Start { expected: part.bytes, start: range.start });
    }
    if let Some(known) = part.total.filter(|&known| range.end > known || range.total.is_some_and(|told| told != known))
    {
        return Some(Mismatch::Total { known });
    }
    if part.validator.as_ref().is_some_and(|validator| validator.contradicts(answer)) {
        return Some(Mismatch::Validator);
    }
    // Without `Content-Encoding` a 206 is of the plain file, as servers have it that compress whole answers only.
    (!same_coding(part.coding.as_deref(), answer.content_encoding.as_deref())).then_some(Mismatch::Coding)
}

/// A 206 without having asked for one: as good as a 200 when it starts at 0, else none of it can be used.
fn unasked(part: &Part, answer: &Answer) -> Decision {
    match range_of(answer) {
        Err(reason) => Decision::Fail { reason: Refusal::UnaskedRange(reason) },
        Ok(range) if range.start > 0 => Decision::Fail { reason: Refusal::UnaskedStart { start: range.start } },
        Ok(range) if part.bytes == 0 => Decision::Append { total: range.total, end: range.end },
        Ok(range) => Decision::Restart { total: range.total },
    }
}

fn redirect(answer: &Answer) -> Decision {
    match answer.location.as_deref().map(str::trim).filter(|location| !location.is_empty()) {
        Some(location) => Decision::Redirect { location: location.to_owned() },
        None => Decision::Fail { reason: Refusal::NoLocation(answer.status) },
    }
}

/// A 416: nothing comes after the part, so it is whole or not of this file.
fn unsatisfied(part: &Part, answer: &Answer) -> Decision {
    let told = match answer.content_range.as_deref().map(str::parse) {
        Some(Ok(ContentRange::Unsatisfied { total })) => Some(total),
        _ => None,
    };
    match (part.total, told) {
        (Some(known), Some(told)) if known != told => Decision::FromZero { reason: Mismatch::Total { known } },
        (known, told) if told.or(known) == Some(part.bytes) => Decision::Whole,
        _ => Decision::FromZero { reason: Mismatch::TooLong { bytes: part.bytes } },
    }
}

/// The bytes that a 206 holds.
struct BodyRange {
    start: u64,
    /// The position behind the last byte.
    end: u64,
    total: Option<u64>,
}

fn range_of(answer: &Answer) -> Result<BodyRange, Unusable> {
    if answer.content_type.as_deref().is_some_and(is_multipart) {
        return Err(Unusable::Multipart);
    }
    let value = answer.content_range.as_deref().ok_or(Unusable::NoContentRange)?;
    let ContentRange::Satisfied { first, last, total } = value.parse().map_err(Unusable::ContentRange)? else {
        return Err(Unusable::Unsatisfied);
    };
    let end = last.checked_add(1).ok_or(Unusable::ContentRange(ContentRangeError::Overflow))?;
    match length(answer) {
        Some(length) if length != end - first => Err(Unusable::Length { length, range: end - first }),
        _ => Ok(BodyRange { start: first, end, total }),
    }
}

/// Media types are case-insensitive (RFC 9110 section 8.3.1).
fn is_multipart(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("multipart/byteranges")
}

/// `Content-Length` in bytes, where it is one number.
fn length(answer: &Answer) -> Option<u64> {
    let digits = answer.content_length.as_deref()?.trim();
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Codings are case-insensitive; `identity` is none, `x-gzip` is `gzip` (RFC 9110 section 8.4.1).
fn same_coding(a: Option<&str>, b: Option<&str>) -> bool {
    fn codings(value: Option<&str>) -> impl Iterator<Item = String> {
        let codings = value.unwrap_or_default().split(',').map(|coding| coding.trim().to_ascii_lowercase());
        let named = codings.filter(|coding| !coding.is_empty() && coding != "identity");
        named.map(|coding| coding.strip_prefix("x-").map(str::to_owned).unwrap_or(coding))
    }
    codings(a).eq(codings(b))
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod table;
