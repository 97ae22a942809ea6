//! Tags with more attributes than any page needs are shortened before the tokenizer sees them.
//!
//! For every attribute the tokenizer looks whether the tag has had one of that name, so that a tag with a million of
//! them would keep it busy for hours. Tags of common length pass untouched, and unread but for their end.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// Tags up to so many bytes pass as they are.
const COMMON: usize = 16 << 10;
/// A longer one keeps so many attributes.
const ATTRIBUTES: usize = 256;

/// The source with its long tags shortened; `cut` counts the attributes that went, or were cut at `attribute_bytes`.
pub(crate) fn shorten<'s>(source: &'s str, attribute_bytes: usize, cut: &mut u64) -> Cow<'s, str> {
    let bytes = source.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = memchr(b'<', &bytes[at..]) {
        let start = at + found;
        let rest = &bytes[start..];
        let length = match rest.get(1) {
            Some(b'!') if rest.starts_with(b"<!--") => {
                memmem::find(&rest[4..], b"-->").map_or(rest.len(), |end| end + 7)
            }
            Some(letter) if letter.is_ascii_alphabetic() => tag_length(rest),
            _ => 1,
        };
        if length > COMMON && !rest.starts_with(b"<!") {
            out.push_str(&source[kept..start]);
            push_shortened(&source[start..start + length], attribute_bytes, &mut out, cut);
            kept = start + length;
        }
        at = start + length + raw_text_length(rest, length);
    }
    if kept == 0 {
        return Cow::Borrowed(source);
    }
    out.push_str(&source[kept..]);
    Cow::Owned(out)
}

/// The bytes of a start tag with its `>`, quotes respected.
fn tag_length(tag: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = tag[at..].iter().position(|byte| matches!(byte, b'>' | b'=')) {
        at += found + 1;
        if tag[at - 1] == b'>' {
            return at;
        }
        at += tag[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if let Some(&quote @ (b'"' | b'\'')) = tag.get(at) {
            let Some(end) = memchr(quote, &tag[at + 1..]) else { return tag.len() };
            at += end + 2;
        }
    }
    tag.len()
}

/// The bytes behind a start tag in which no tag starts: scripts and styles.
fn raw_text_length(tag: &[u8], length: usize) -> usize {
    let is = |name: &[u8]| {
        tag.get(1..=name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && tag.get(name.len() + 1).is_some_and(|byte| !byte.is_ascii_alphanumeric())
    };
    let name: &[u8] = match () {
        () if is(b"script") => b"script",
        () if is(b"style") => b"style",
        () => return 0,
    };
    let body = &tag[length..];
    let mut at = 0;
    while let Some(found) = memmem::find(&body[at..], b"</") {
        at += found + 2;
        if body[at..].get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            return at - 2;
        }
    }
    body.len()
}

/// The tag with its first attributes, each of them at most `attribute_bytes` long.
fn push_shortened(tag: &str, attribute_bytes: usize, out: &mut String, cut: &mut u64) {
    let bytes = tag.as_bytes();
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    let name = bytes.iter().position(ends).unwrap_or(bytes.len());
    out.push_str(&tag[..name]);
    let mut kept = 0;
    let mut at = name;
    while at < bytes.len() && bytes[at] != b'>' {
        let length = attribute_length(&bytes[at..]);
        let attribute = &tag[at..at + length];
        if kept < ATTRIBUTES && length <= attribute_bytes {
            out.push_str(attribute);
            kept += 1;
        } else if !attribute.trim().is_empty() {
            *cut += 1;
        }
        at += length;
    }
    out.push('>');
}

/// The bytes up to the next attribute or the end of the tag: leading white space, name, value.
fn attribute_length(bytes: &[u8]) -> usize {
    let blank = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let until = |from: usize, ends: fn(u8) -> bool| bytes[from..].iter().take_while(|byte| !ends(**byte)).count();
    let mut at = blank(0);
    at += until(at, |byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'>'));
    let value = at + blank(at);
    if bytes.get(value) != Some(&b'=') {
        return at.max(1);
    }
    at = value + 1;
    at += blank(at);
    match bytes.get(at) {
        Some(&quote @ (b'"' | b'\'')) => memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |end| at + end + 2),
        _ => at + until(at, |byte| byte.is_ascii_whitespace() || byte == b'>'),
    }
}
