//! Percent-encoding has one spelling (RFC 3986 sections 2.1 to 2.4, 6.2.2).
//!
//! Unreserved characters stand for themselves, all that is neither reserved nor unreserved is encoded, hexadecimal digits
//! are upper case. Reserved characters stay as they were, encoded or not: `/a%2Fb` and `/a/b` are two resources. A `%`
//! that encodes nothing is one itself.

use std::borrow::Cow;

use url::{Position, Url};

/// Gives path and query their one spelling.
pub(super) fn rewrite(url: &mut Url) {
    if let Cow::Owned(path) = one_spelling(url.path()) {
        url.set_path(&path);
    }
    if let Some(Cow::Owned(query)) = url.query().map(one_spelling) {
        url.set_query(Some(&query));
    }
    debug_assert!(matches!(one_spelling(&url[Position::BeforePath..Position::AfterQuery]), Cow::Borrowed(_)));
}

/// The one spelling of a text that is a path, a query, or both.
pub(crate) fn one_spelling(text: &str) -> Cow<'_, str> {
    let Some(first) = first_change(text.as_bytes()) else { return Cow::Borrowed(text) };
    let (kept, rest) = text.split_at(first);
    let mut spelt = String::with_capacity(text.len() + 16);
    spelt.push_str(kept);
    let mut rest = rest.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = match encoded(rest) {
            Some(value) if is_unreserved(value) => {
                spelt.push(char::from(value));
                &rest[3..]
            }
            Some(value) => {
                push_encoded(&mut spelt, value);
                &rest[3..]
            }
            None if is_kept(byte) => {
                spelt.push(char::from(byte));
                behind
            }
            None => {
                push_encoded(&mut spelt, byte);
                behind
            }
        };
    }
    Cow::Owned(spelt)
}

/// Where the first byte stands that is not kept as it is.
fn first_change(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|&byte| !is_kept(byte)) {
        at += found;
        let is_right = encoded(&bytes[at..]).is_some_and(|value| !is_unreserved(value))
            && !bytes[at + 1..at + 3].iter().any(u8::is_ascii_lowercase);
        if !is_right {
            return Some(at);
        }
        at += 3;
    }
    None
}

/// The value of a `%` and two hexadecimal digits at the start.
pub(crate) fn encoded(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = *bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// `%` and two digits.
pub(crate) fn triplet(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

fn push_encoded(text: &mut String, byte: u8) {
    text.extend(triplet(byte).map(char::from));
}

/// RFC 3986 section 2.3.
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Unreserved, or reserved (RFC 3986 section 2.2).
pub(crate) fn is_kept(byte: u8) -> bool {
    KEPT[byte as usize]
}

const KEPT: [bool; 256] = {
    const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";
    let mut kept = [false; 256];
    let mut byte = 0_u8;
    loop {
        kept[byte as usize] = is_unreserved(byte);
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    let mut at = 0;
    while at < RESERVED.len() {
        kept[RESERVED[at] as usize] = true;
        at += 1;
    }
    kept
};
