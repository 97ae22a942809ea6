//! A recorded answer of a server: its status, its fields, and its body as it was before it was sent.
//!
//! What a crawler recorded may have been undone already while the fields still tell of it, so a coding that the body
//! does not have is passed over.

use std::borrow::Cow;
use std::io::{self, Read};

use corpora_web::rights::Signals;
use flate2::bufread::GzDecoder;
use flate2::read::{DeflateDecoder, ZlibDecoder};

use super::fields::Fields;
use super::left_out::LeftOut;

/// The longest head of an answer, in bytes.
pub(super) const HEAD_BYTES: u64 = 64 << 10;

/// The largest window of a zstd body, as a power of two: 8 MiB (RFC 9659).
const WINDOW_LOG_MAX: u32 = 23;

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Where the body starts.
    pub(super) body_at: usize,
    fields: Fields,
}

impl Answer {
    /// Reads the head at the start of a block; none where there is no answer of HTTP, or its head is longer than what is
    /// here.
    pub(super) fn read(block: &[u8], is_whole: bool) -> Option<Self> {
        if !block.starts_with(b"HTTP/") {
            return None;
        }
        let (head, body_at) = match head_end(block) {
            Some(ends) => ends,
            None if is_whole => (block.len(), block.len()),
            None => return None,
        };
        let head = String::from_utf8_lossy(&block[..head]);
        let mut lines = head.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let status = lines.next()?.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let mut fields = Fields::default();
        // What is neither a field nor more of one is passed over.
        lines.for_each(|line| _ = fields.take(line));
        Some(Self { status, body_at, fields })
    }

    /// The first field of this name, which is written in lower case; none where it is empty.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).find(|value| !value.is_empty())
    }

    /// All fields of this name, which is written in lower case.
    pub(super) fn fields(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.all(name)
    }

    /// What the fields say of the page's use; what is addressed to one robot by name is not meant for a reader of archives.
    pub(super) fn rights(&self) -> Signals {
        let mut rights = Signals::default();
        self.fields.iter().for_each(|(name, value)| rights.read_header(name, value, ""));
        rights
    }

    /// The body before it was cut into chunks (RFC 9112 section 7.1) and coded (RFC 9110 section 8.4), and whether it is
    /// all there.
    pub(super) fn body<'b>(&self, sent: &'b [u8], limit: u64) -> Result<(Cow<'b, [u8]>, bool), LeftOut> {
        let is_chunked = self.tokens("transfer-encoding").any(|coding| coding == "chunked");
        let (mut body, mut is_whole) = match unchunked(sent).filter(|_| is_chunked) {
            Some((body, is_whole)) => (Cow::Owned(body), is_whole),
            None => (Cow::Borrowed(sent), true),
        };
        let codings: Vec<String> = self.tokens("content-encoding").collect();
        for coding in codings.iter().rev().filter(|coding| !matches!(coding.as_str(), "" | "identity" | "none")) {
            let decoded = decoded(coding, &body, limit)?;
            match decoded {
                Some((decoded, ended)) => (body, is_whole) = (Cow::Owned(decoded), is_whole && ended),
                None if is_markup(&body) => {}
                None => return Err(LeftOut::ContentEncoding),
            }
        }
        if body.len() as u64 > limit { Err(LeftOut::PageBytes) } else { Ok((body, is_whole)) }
    }

    fn tokens(&self, name: &str) -> impl Iterator<Item = String> {
        self.fields(name).flat_map(|value| value.split(',')).map(|token| token.trim().to_ascii_lowercase())
    }
}

/// Whether bytes start as a page does: with a tag, behind white space and a byte order mark.
pub(super) fn is_markup(body: &[u8]) -> bool {
    let start = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    matches!(start, [b'<', b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z', ..])
}

/// Where a head ends, and where what follows it starts.
fn head_end(block: &[u8]) -> Option<(usize, usize)> {
    let mut line = 0;
    for at in memchr::memchr_iter(b'\n', block) {
        if block[line..at].trim_ascii().is_empty() && line > 0 {
            return Some((line - 1, at + 1));
        }
        line = at + 1;
    }
    None
}

/// A body without the borders of its chunks, and whether the last one is there; none where it has no first one.
fn unchunked(sent: &[u8]) -> Option<(Vec<u8>, bool)> {
    let (mut body, mut rest, mut is_first) = (Vec::new(), sent, true);
    loop {
        let size = memchr::memchr(b'\n', &rest[..rest.len().min(1024)]).and_then(|end| {
            let digits = rest[..end].split(|byte| *byte == b';').next()?.trim_ascii();
            let is_size = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
            let size = usize::from_str_radix(str::from_utf8(digits).ok()?, 16).ok().filter(|_| is_size)?;
            Some((size, end + 1))
        });
        let Some((size, start)) = size else { return (!is_first).then_some((body, false)) };
        is_first = false;
        rest = &rest[start..];
        if size == 0 {
            return Some((body, true));
        }
        let chunk = &rest[..size.min(rest.len())];
        body.extend_from_slice(chunk);
        if chunk.len() < size {
            return Some((body, false));
        }
        rest = &rest[size..];
        rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
}

/// What a coding makes of a body, and whether it ends there; none where the body is not coded so.
fn decoded(coding: &str, body: &[u8], limit: u64) -> Result<Option<(Vec<u8>, bool)>, LeftOut> {
    match coding {
        "gzip" | "x-gzip" => gunzipped(body, limit),
        "deflate" => {
            // RFC 9110 section 8.4.1.2 means the zlib format; some servers send none.
            match bounded(ZlibDecoder::new(body), limit)? {
                Some(decoded) => Ok(Some(decoded)),
                None => bounded(DeflateDecoder::new(body), limit),
            }
        }
        "zstd" => {
            let Ok(mut decoder) = zstd::stream::read::Decoder::with_buffer(body) else { return Ok(None) };
            match decoder.window_log_max(WINDOW_LOG_MAX) {
                Ok(()) => bounded(decoder, limit),
                Err(_) => Ok(None),
            }
        }
        "br" => bounded(brotli_decompressor::Decompressor::new(body, 4096), limit),
        _ => Ok(None),
    }
}

/// Every gzip member; what follows the last one and is none is passed over, as browsers do.
fn gunzipped(body: &[u8], limit: u64) -> Result<Option<(Vec<u8>, bool)>, LeftOut> {
    let mut rest = body;
    let mut all = Vec::new();
    loop {
        let mut decoder = GzDecoder::new(rest);
        let Some((decoded, ended)) = bounded(&mut decoder, limit)? else { return Ok(None) };
        all.extend_from_slice(&decoded);
        if all.len() as u64 > limit {
            return Err(LeftOut::PageBytes);
        }
        rest = decoder.into_inner();
        if !ended || !rest.starts_with(&[0x1f, 0x8b]) {
            return Ok(Some((all, ended)));
        }
    }
}

/// Reads to the end; how far it got when the end is missing, none when what is there means nothing.
fn bounded(decoder: impl Read, limit: u64) -> Result<Option<(Vec<u8>, bool)>, LeftOut> {
    let mut decoded = Vec::new();
    let read = decoder.take(limit.saturating_add(1)).read_to_end(&mut decoded);
    if decoded.len() as u64 > limit {
        return Err(LeftOut::PageBytes);
    }
    match read {
        Ok(_) => Ok(Some((decoded, true))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !decoded.is_empty() => Ok(Some((decoded, false))),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests;
