//! Which encoding the bytes of a page are in.
//!
//! In this order: a byte order mark; the charset that the `Content-Type` header declares; the one that the page declares;
//! UTF-8 if the bytes are valid UTF-8; what chardetng makes of them. A declared encoding in which the bytes are malformed
//! is no evidence: then the next one is asked, and the declared one counts only where nothing better is found.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// A page declares its encoding within so many bytes. Browsers look at 1024; many pages are late.
const DECLARED_WITHIN: usize = 8 << 10;

/// The detector looks at so many bytes: more cost more than they tell.
const DETECTED_WITHIN: usize = 256 << 10;

/// A page's source, and how its encoding was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'b> {
    /// The source; malformed sequences are U+FFFD. Without byte order mark.
    pub text: Cow<'b, str>,
    /// The encoding's name (WHATWG Encoding Standard), such as `UTF-8`, `windows-1252`, `GBK`.
    pub charset: &'static str,
    /// What the choice rests on.
    pub evidence: Evidence,
    /// Whether the bytes are malformed in this encoding.
    pub is_malformed: bool,
    /// Bytes behind the most that were to be read.
    pub bytes_cut: u64,
}

/// What the choice of an encoding rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// A byte order mark.
    ByteOrderMark,
    /// The `Content-Type` header.
    Header,
    /// The page itself: `<meta charset>`, `<meta http-equiv>`, an XML declaration.
    Page,
    /// The bytes are valid in UTF-8.
    Valid,
    /// The frequency of byte sequences.
    Detected,
}

/// Decodes at most `page_bytes` bytes of a page. Every sequence of bytes has a source.
#[must_use]
pub fn decode<'b>(bytes: &'b [u8], content_type: Option<&str>, page_bytes: usize) -> Decoded<'b> {
    let kept = &bytes[..page_bytes.min(bytes.len())];
    let is_cut = kept.len() < bytes.len();
    let (encoding, evidence, body) = choose(kept, content_type, is_cut);
    let (text, malformed) = encoding.decode_without_bom_handling(body);
    // A character that the limit halves is no fault of the page.
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(mut text) => {
            if is_cut && text.ends_with('\u{fffd}') {
                text.pop();
            }
            Cow::Owned(text)
        }
    };
    let bytes_cut = (bytes.len() - kept.len()) as u64;
    Decoded { text, charset: encoding.name(), evidence, is_malformed: malformed, bytes_cut }
}

fn choose<'b>(bytes: &'b [u8], content_type: Option<&str>, is_cut: bool) -> (&'static Encoding, Evidence, &'b [u8]) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return (encoding, Evidence::ByteOrderMark, &bytes[length..]);
    }
    if let Some(encoding) = wide_without_mark(bytes) {
        return (encoding, Evidence::Detected, bytes);
    }
    let header = content_type.and_then(charset_of_header).map(|encoding| (encoding, Evidence::Header));
    let page = charset_of_page(bytes).map(|encoding| (encoding, Evidence::Page));
    let declared = [header, page];
    for (encoding, evidence) in declared.into_iter().flatten() {
        if is_well_formed(encoding, bytes, is_cut) {
            return (encoding, evidence, bytes);
        }
    }
    if is_well_formed(UTF_8, bytes, is_cut) {
        return (UTF_8, Evidence::Valid, bytes);
    }
    // UTF-8 declared and a byte or two broken is still UTF-8.
    for (encoding, evidence) in declared.into_iter().flatten() {
        if encoding != UTF_8 || is_nearly_utf8(bytes) {
            return (encoding, evidence, bytes);
        }
    }
    if is_nearly_utf8(bytes) {
        return (UTF_8, Evidence::Valid, bytes);
    }
    (detect(bytes), Evidence::Detected, bytes)
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let sample = &bytes[..bytes.len().min(DETECTED_WITHIN)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    detector.guess(None, Utf8Detection::Deny)
}

fn is_well_formed(encoding: &'static Encoding, bytes: &[u8], is_cut: bool) -> bool {
    if encoding == UTF_8 {
        return match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) => is_cut && error.error_len().is_none(),
        };
    }
    is_cut || encoding.is_single_byte() || encoding.decode_without_bom_handling_and_without_replacement(bytes).is_some()
}

/// Whether the bytes beyond ASCII are UTF-8 but for one in fifty.
fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    bad * 50 <= good
}

/// UTF-16 without a byte order mark shows in its first tag.
fn wide_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, second, 0, ..] if *second != 0 => Some(UTF_16LE),
        [0, b'<', 0, second, ..] if *second != 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// The charset of a `Content-Type` header (RFC 9110 section 8.3.1).
fn charset_of_header(content_type: &str) -> Option<&'static Encoding> {
    let label = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })?;
    Encoding::for_label(label.as_bytes())
}

/// The charset that the page declares, as WHATWG HTML section 13.2.3.2 looks for it.
fn charset_of_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = &bytes[..bytes.len().min(DECLARED_WITHIN)];
    let found = xml_declaration(start).or_else(|| metas(start).find_map(declared_by))?;
    match found {
        // Who can read a declaration in ASCII does not read UTF-16.
        wide if wide == UTF_16LE || wide == UTF_16BE => Some(UTF_8),
        user if user == X_USER_DEFINED => Some(WINDOWS_1252),
        found => Some(found),
    }
}

fn xml_declaration(start: &[u8]) -> Option<&'static Encoding> {
    let declaration = start.strip_prefix(b"<?xml")?;
    let end = declaration.iter().position(|&byte| byte == b'>')?;
    label_behind(&declaration[..end], b"encoding")
}

fn declared_by(meta: &[u8]) -> Option<&'static Encoding> {
    label_behind(meta, b"charset")
}

/// The tags `<meta …>`, without what is in comments.
fn metas(start: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = start;
    std::iter::from_fn(move || {
        loop {
            let at = rest.iter().position(|&byte| byte == b'<')?;
            rest = &rest[at..];
            if rest.starts_with(b"<!--") {
                let end = rest.windows(3).skip(2).position(|window| window == b"-->")?;
                rest = &rest[end + 2..];
                continue;
            }
            let end = rest.iter().position(|&byte| byte == b'>').unwrap_or(rest.len());
            let (tag, behind) = rest.split_at(end);
            rest = behind;
            if tag.get(1..5).is_some_and(|name| name.eq_ignore_ascii_case(b"meta")) {
                return Some(tag);
            }
        }
    })
}

/// The encoding named behind `key`, `=` and perhaps a quote.
fn label_behind(tag: &[u8], key: &[u8]) -> Option<&'static Encoding> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = lower[from..].windows(key.len()).position(|window| window == key) {
        from += found + key.len();
        let Some(value) = lower[from..].trim_ascii_start().strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b';' | b'/' | b'>');
        let end = value.iter().position(ends).unwrap_or(value.len());
        if let Some(encoding) = Encoding::for_label(&value[..end]) {
            return Some(encoding);
        }
    }
    None
}
