//! Which bytes and headers answer a request: the proper way (RFC 9110 sections 13.1.5 and 14), and the wrong ones.

use super::answer::{Answer, Ranges};
use super::request::Request;

/// What goes on the wire, but for its framing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Reply {
    /// The reply that this answer makes to this request.
    pub(super) fn to(request: &Request, answer: &Answer) -> Self {
        let mut reply = match request.range_start() {
            Some(start) if answer.status == 200 && same_object(request, answer) => ranged(start, answer),
            _ => Self::plain(answer.status, &answer.body),
        };
        reply.headers.extend(answer.etag.iter().map(|etag| ("ETag".to_owned(), etag.clone())));
        reply.headers.extend(answer.last_modified.iter().map(|date| ("Last-Modified".to_owned(), date.clone())));
        reply.headers.extend(answer.headers.iter().cloned());
        reply
    }

    fn plain(status: u16, body: &[u8]) -> Self {
        Self { status, headers: Vec::new(), body: body.to_vec() }
    }

    fn with_range(mut self, content_range: Option<&str>) -> Self {
        self.headers.extend(content_range.map(|value| ("Content-Range".to_owned(), value.to_owned())));
        self
    }
}

/// Whether `If-Range` lets a range through: a strong match of the tag, or the very date (RFC 9110 section 13.1.5).
fn same_object(request: &Request, answer: &Answer) -> bool {
    let Some(asked) = request.header("if-range") else { return true };
    let strong_tag = answer.etag.as_deref().is_some_and(|etag| etag == asked && !etag.starts_with("W/"));
    !answer.heeds_if_range || strong_tag || answer.last_modified.as_deref() == Some(asked)
}

fn ranged(start: u64, answer: &Answer) -> Reply {
    let total = answer.body.len() as u64;
    let from = |first: u64| &answer.body[usize::try_from(first.min(total)).unwrap()..];
    let partial = |first: u64, total_said: &str| {
        let range = format!("bytes {first}-{}/{total_said}", total.saturating_sub(1));
        Reply::plain(206, from(first)).with_range(Some(&range))
    };
    match &answer.ranges {
        Ranges::Ignore => Reply::plain(200, &answer.body),
        Ranges::Refuse(status) => Reply::plain(*status, b"no ranges here\n"),
        Ranges::Unsatisfiable(range) => Reply::plain(416, b"").with_range(range.as_deref()),
        Ranges::Honour if start >= total => Reply::plain(416, b"").with_range(Some(&format!("bytes */{total}"))),
        Ranges::Honour => partial(start, &total.to_string()),
        Ranges::StartEarlier(bytes) => partial(start.saturating_sub(*bytes), &total.to_string()),
        Ranges::ClaimTotal(claimed) => partial(start, claimed),
        Ranges::ClaimRange(range) => Reply::plain(206, from(start)).with_range(range.as_deref()),
    }
}
