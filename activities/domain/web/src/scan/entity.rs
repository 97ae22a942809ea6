//! Character references in an attribute's value (WHATWG HTML section 13.2.5.72).

use std::borrow::Cow;

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// The longest name of a reference, with its `;`, in bytes.
const LONGEST_NAME: usize = 32;

/// A value without references.
pub(super) fn decoded(value: &str) -> Cow<'_, str> {
    let Some(first) = value.find('&') else { return Cow::Borrowed(value) };
    let mut text = String::with_capacity(value.len());
    let (before, mut rest) = value.split_at(first);
    text.push_str(before);
    while let Some(behind) = rest.strip_prefix('&') {
        let length = match behind.strip_prefix('#') {
            Some(number) => push_numeric(&mut text, number).map(|length| length + 1),
            None => push_named(&mut text, behind),
        };
        if length.is_none() {
            text.push('&');
        }
        rest = &behind[length.unwrap_or(0)..];
        let next = rest.find('&').unwrap_or(rest.len());
        text.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(text)
}

/// `38;` or `x26;`: its length.
fn push_numeric(text: &mut String, number: &str) -> Option<usize> {
    let (digits, radix, prefix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 1),
        None => (number, 10, 0),
    };
    let length = digits.find(|character: char| !character.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let code = digits[..length]
        .chars()
        .filter_map(|digit| digit.to_digit(radix))
        .fold(0_u32, |code, digit| code.saturating_mul(radix).saturating_add(digit));
    text.push(meant(code));
    Some(prefix + length + usize::from(digits[length..].starts_with(';')))
}

/// What a number stands for: those of windows-1252 are read as meant, and those of no character are U+FFFD.
fn meant(code: u32) -> char {
    let replaced = code.checked_sub(0x80).and_then(|at| C1_REPLACEMENTS.get(at as usize).copied().flatten());
    replaced
        .or_else(|| char::from_u32(code))
        .filter(|&character| character != '\0')
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The longest name at the start: its length. Without `;` it is none before `=` or a letter or digit, so that `?a=1&copy=2`
/// stays as it is.
fn push_named(text: &mut String, behind: &str) -> Option<usize> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric();
    let word = behind.bytes().take(LONGEST_NAME).take_while(is_name).count();
    let longest = word + usize::from(behind[word..].starts_with(';'));
    let known = |length: &usize| NAMED_ENTITIES.get(&behind[..*length]).is_some_and(|&(first, _)| first != 0);
    let length = (1..=longest).rev().find(known)?;
    let next = behind.as_bytes().get(length);
    if !behind[..length].ends_with(';') && next.is_some_and(|&byte| byte == b'=' || byte.is_ascii_alphanumeric()) {
        return None;
    }
    let (first, second) = *NAMED_ENTITIES.get(&behind[..length])?;
    text.extend([first, second].into_iter().filter(|&code| code != 0).filter_map(char::from_u32));
    Some(length)
}
