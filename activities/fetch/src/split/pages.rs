//! Pages become raw documents: a source that is one page (`html`), the answers of a web archive (`warc`), and the texts
//! that somebody made of pages (`wet`).
//!
//! A page is kept as its source, decoded to UTF-8, so that it can be extracted again without its bytes. Pages are read one
//! at a time into a buffer that `page_bytes` bounds. A record that is no page is never an error: it is counted.

use std::borrow::Cow;

use corpora_text::page::decode;
use corpora_web::rights::Signals;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use corpora_contracts::config::Split;
use corpora_contracts::ids::Digest;

use super::documents::Documents;
use super::error::{Problem, SplitError};
use super::http::{self, Answer, is_markup};
use super::left_out::LeftOut;
use super::records::{Head, Records};
use super::stream::Stream;

/// What codings may add to a page before it is known to be too large, in bytes.
const SLACK: u64 = 64 << 10;

/// A buffer that one large page made longer is given back.
const BUFFER_KEPT: usize = 1 << 20;

const HTML: &str = "text/html";
const PLAIN: &str = "text/plain";

/// A page as it is kept.
#[derive(Debug)]
pub(super) struct RawPage<'p> {
    pub(super) url: &'p str,
    pub(super) text: &'p str,
    /// The media type without parameters.
    pub(super) content_type: &'p str,
    pub(super) meta: PageMeta<'p>,
}

/// What is known of a page beside its source; the keys stand in this order.
#[derive(Debug, Serialize)]
pub(super) struct PageMeta<'p> {
    /// The encoding that its bytes were read in.
    charset: &'p str,
    /// The digest of the body, before its charset was decoded.
    sha256: Digest,
    /// The status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// What the answer says of the page's use.
    #[serde(skip_serializing_if = "Signals::is_silent")]
    rights: Signals,
    /// Why the page is not whole: what the archive says, or `body` where the answer breaks off.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warc_date: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warc_record_id: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warc_refers_to: Option<&'p str>,
}

/// Splits a source that is one page, whose address is the url as configured.
pub(super) fn html(
    stream: &mut Stream<'_>,
    settings: &Split,
    url: &str,
    documents: &mut Documents<'_>,
) -> Result<(), SplitError> {
    let limit = page_bytes(settings);
    let mut body = Vec::new();
    stream.read(limit.saturating_add(1), &mut body)?;
    if body.len() as u64 > limit {
        // What is too large may be damaged as well, which says more.
        stream.skip(u64::MAX)?;
        return documents.reject(1, Problem::PageTooLong { limit });
    }
    let page = decode(&body, None, usize::MAX);
    let meta = PageMeta { charset: page.charset, ..PageMeta::of(&body) };
    documents.page(&RawPage { url, text: &page.text, content_type: HTML, meta })
}

/// Splits a web archive: each answer 200 with an HTML page, and each HTML resource, is a document.
pub(super) fn warc(
    records: &mut Records<'_>,
    settings: &Split,
    documents: &mut Documents<'_>,
) -> Result<(), SplitError> {
    each(records, settings, documents, |head| matches!(head.kind.as_str(), "response" | "resource"), page_of)
}

/// Splits a web archive of texts: each conversion to plain text is a document.
pub(super) fn wet(
    records: &mut Records<'_>,
    settings: &Split,
    documents: &mut Documents<'_>,
) -> Result<(), SplitError> {
    each(records, settings, documents, |head| head.kind == "conversion", text_of)
}

/// What a record holds: the body, its media type, the `Content-Type` that was sent, and the status.
struct Payload<'b> {
    body: Cow<'b, [u8]>,
    content_type: &'static str,
    sent_type: Option<String>,
    status: Option<u16>,
    rights: Signals,
    is_whole: bool,
}

/// Finds the payload of a record, whose block it reads into the buffer as far as it has to.
type Find = for<'b> fn(&Head, &mut Records<'_>, u64, &'b mut Vec<u8>) -> Result<Found<'b>, SplitError>;

type Found<'b> = Result<Payload<'b>, LeftOut>;

fn each(
    records: &mut Records<'_>,
    settings: &Split,
    documents: &mut Documents<'_>,
    is_meant: impl Fn(&Head) -> bool,
    find: Find,
) -> Result<(), SplitError> {
    let limit = page_bytes(settings);
    let mut buffer = Vec::new();
    while let Some(head) = records.next(documents.n_docs())? {
        if !is_meant(&head) {
            documents.leave_out(LeftOut::kind(&head.kind).reason());
            continue;
        }
        buffer.clear();
        buffer.shrink_to(BUFFER_KEPT);
        let Some(url) = target(&head) else {
            documents.leave_out(LeftOut::NoUrl.reason());
            continue;
        };
        match find(&head, records, limit, &mut buffer)? {
            Ok(payload) => documents.page(&raw_page(&head, url, &payload, &decode_body(&payload)))?,
            Err(reason) => documents.leave_out(reason.reason()),
        }
    }
    Ok(())
}

fn decode_body<'b>(payload: &'b Payload<'_>) -> corpora_text::page::Decoded<'b> {
    decode(&payload.body, payload.sent_type.as_deref(), usize::MAX)
}

fn raw_page<'p>(
    head: &'p Head,
    url: &'p str,
    payload: &'p Payload<'_>,
    decoded: &'p corpora_text::page::Decoded<'_>,
) -> RawPage<'p> {
    let broken_off = (!payload.is_whole).then_some("body");
    let meta = PageMeta {
        charset: decoded.charset,
        status: payload.status,
        rights: payload.rights.clone(),
        truncated: head.field("warc-truncated").or(broken_off),
        warc_date: head.field("warc-date"),
        warc_record_id: head.field("warc-record-id"),
        warc_refers_to: head.field("warc-refers-to"),
        ..PageMeta::of(&payload.body)
    };
    RawPage { url, text: &decoded.text, content_type: payload.content_type, meta }
}

/// The page of an answer or a resource.
fn page_of<'b>(
    head: &Head,
    records: &mut Records<'_>,
    limit: u64,
    buffer: &'b mut Vec<u8>,
) -> Result<Found<'b>, SplitError> {
    let is_resource = head.kind == "resource";
    if is_resource && head.field("content-type").is_some_and(|sent| html_type(sent).is_none()) {
        return Ok(Err(LeftOut::NotHtml));
    }
    let mut answer = None;
    if !is_resource {
        records.read(http::HEAD_BYTES, buffer)?;
        let Some(read) = Answer::read(buffer, records.left() == 0) else { return Ok(Err(LeftOut::NotHttp)) };
        if read.status != 200 {
            return Ok(Err(LeftOut::Status));
        }
        let sent = read.field("content-type").or_else(|| head.field("warc-identified-payload-type"));
        if sent.is_some_and(|sent| html_type(sent).is_none()) {
            return Ok(Err(LeftOut::NotHtml));
        }
        answer = Some(read);
    }
    // A page that is not coded is no longer than the limit; codings make it shorter, and chunks a little longer.
    let most = if is_resource { limit } else { limit.saturating_mul(2).saturating_add(SLACK) };
    if head.length > most {
        return Ok(Err(LeftOut::PageBytes));
    }
    records.read(u64::MAX, buffer)?;
    Ok(payload_of(head, answer.as_ref(), limit, buffer))
}

fn payload_of<'b>(head: &Head, answer: Option<&Answer>, limit: u64, block: &'b [u8]) -> Found<'b> {
    let (body, is_whole) = match answer {
        Some(answer) => answer.body(&block[answer.body_at..], limit)?,
        None => (Cow::Borrowed(block), true),
    };
    let sent = match answer {
        Some(answer) => answer.field("content-type"),
        None => head.field("content-type"),
    };
    let content_type = sent.or_else(|| head.field("warc-identified-payload-type")).and_then(html_type);
    let content_type = content_type.or_else(|| is_markup(&body).then_some(HTML)).ok_or(LeftOut::NotHtml)?;
    Ok(Payload {
        body,
        content_type,
        sent_type: sent.map(str::to_owned),
        status: answer.map(|answer| answer.status),
        rights: answer.map(Answer::rights).unwrap_or_default(),
        is_whole,
    })
}

/// The text of a conversion.
fn text_of<'b>(
    head: &Head,
    records: &mut Records<'_>,
    limit: u64,
    buffer: &'b mut Vec<u8>,
) -> Result<Found<'b>, SplitError> {
    let sent = head.field("content-type");
    if sent.is_some_and(|sent| essence(sent) != PLAIN) {
        return Ok(Err(LeftOut::NotText));
    }
    if head.length > limit {
        return Ok(Err(LeftOut::PageBytes));
    }
    records.read(u64::MAX, buffer)?;
    let (body, sent_type) = (Cow::Borrowed(buffer.as_slice()), sent.map(str::to_owned));
    Ok(Ok(Payload { body, content_type: PLAIN, sent_type, status: None, rights: Signals::default(), is_whole: true }))
}

impl PageMeta<'_> {
    fn of(body: &[u8]) -> Self {
        Self {
            charset: "",
            sha256: Digest::from_bytes(Sha256::digest(body).into()),
            status: None,
            rights: Signals::default(),
            truncated: None,
            warc_date: None,
            warc_record_id: None,
            warc_refers_to: None,
        }
    }
}

/// The address of a record; drafts of the standard had it in angle brackets, and some tools write them still.
fn target(head: &Head) -> Option<&str> {
    let url = head.field("warc-target-uri")?;
    Some(url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(url)).filter(|url| !url.is_empty())
}

/// The media type of a page, if it is one of HTML.
fn html_type(sent: &str) -> Option<&'static str> {
    const XHTML: &str = "application/xhtml+xml";
    [HTML, XHTML].into_iter().find(|known| *known == essence(sent))
}

/// A media type without its parameters, in lower case.
fn essence(sent: &str) -> String {
    sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Formats with pages always have the limit.
fn page_bytes(settings: &Split) -> u64 {
    settings.page_bytes.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
