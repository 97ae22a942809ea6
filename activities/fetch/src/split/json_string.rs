//! JSON strings in one spelling: the shortest escapes, everything else as UTF-8, as `serde_json` writes them.
//!
//! A text goes from its source line to its raw line without being decoded in between: what needs no other spelling is
//! copied as it is. The input of every function but [`escape`] is part of JSON that a parser has accepted.

use memchr::{memchr, memchr2, memmem};

use super::error::SplitError;

/// Where bytes of a raw document go.
pub(super) trait Put {
    /// Adds `bytes`.
    fn put(&mut self, bytes: &[u8]) -> Result<(), SplitError>;
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), SplitError> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes UTF-8 `text` as the inside of a JSON string.
pub(super) fn escape(text: &[u8], out: &mut impl Put) -> Result<(), SplitError> {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| NEEDS_ESCAPE[usize::from(byte)]) {
        out.put(&rest[..at])?;
        put_ascii(rest[at], out)?;
        rest = &rest[at + 1..];
    }
    out.put(rest)
}

/// Writes the inside of a JSON string again, in the one spelling.
pub(super) fn respell(inside: &str, out: &mut impl Put) -> Result<(), SplitError> {
    let bytes = inside.as_bytes();
    // Everything from `kept` to `at` is spelt right and not written yet.
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = memchr(b'\\', &bytes[at..]) {
        at += found;
        match bytes.get(at + 1) {
            Some(b'/') => {
                out.put(&bytes[kept..at])?;
                kept = at + 1;
                at += 2;
            }
            Some(b'u') => {
                out.put(&bytes[kept..at])?;
                // `lone_surrogate` has found none, so there always is a character.
                let (character, length) = unicode_escape(&bytes[at..]).unwrap_or((char::REPLACEMENT_CHARACTER, 2));
                put_char(character, out)?;
                at += length;
                kept = at;
            }
            _ => at = bytes.len().min(at + 2),
        }
    }
    out.put(&bytes[kept..])
}

/// Writes a JSON value again without white space, its strings in the one spelling, its numbers as they are.
pub(super) fn compact(value: &str, out: &mut impl Put) -> Result<(), SplitError> {
    let bytes = value.as_bytes();
    let (mut kept, mut at) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let end = string_end(bytes, at);
                out.put(&bytes[kept..at])?;
                respell(&value[at..end], out)?;
                kept = end;
                at = end + 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.put(&bytes[kept..at - 1])?;
                kept = at;
            }
            _ => {}
        }
    }
    out.put(&bytes[kept.min(bytes.len())..])
}

/// How many arrays and objects of a JSON value are at most open at once.
pub(super) fn depth(value: &str) -> usize {
    let bytes = value.as_bytes();
    let (mut open, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at) + 1,
            b'[' | b'{' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Where in some JSON an escape stands for half of a surrogate pair (RFC 8259 section 8.2), if one does.
///
/// Parsers look at this in strings that they decode, and we decode none.
pub(super) fn lone_surrogate(json: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    memmem::find(bytes, b"\\u")?;
    let mut at = 0;
    // A backslash stands in strings only.
    while let Some(found) = memchr(b'\\', &bytes[at..]) {
        at += found;
        if bytes.get(at + 1) == Some(&b'u') {
            let Some((_, length)) = unicode_escape(&bytes[at..]) else { return Some(at) };
            at += length;
        } else {
            at = bytes.len().min(at + 2);
        }
    }
    None
}

/// The character that `\uXXXX`, or a pair of them, at the start of `escape` stands for, and their length.
fn unicode_escape(escape: &[u8]) -> Option<(char, usize)> {
    let first = code_unit(escape)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = code_unit(escape.get(6..)?)?;
    let pair = (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second);
    let scalar = pair.then(|| 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?;
    Some((char::from_u32(scalar)?, 12))
}

/// The UTF-16 code unit that `\uXXXX` at the start of `escape` stands for.
fn code_unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

/// Where the string that starts at `at`, behind its quote, has its closing quote.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

fn put_char(character: char, out: &mut impl Put) -> Result<(), SplitError> {
    match u8::try_from(character) {
        Ok(byte) if NEEDS_ESCAPE[usize::from(byte)] => put_ascii(byte, out),
        _ => out.put(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Writes a character that needs an escape.
fn put_ascii(byte: u8, out: &mut impl Put) -> Result<(), SplitError> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            return out.put(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.put(&[b'\\', short])
}

/// RFC 8259 section 7: the quotation mark, the reverse solidus and the control characters.
static NEEDS_ESCAPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

#[cfg(test)]
mod tests;
