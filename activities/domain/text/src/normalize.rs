//! Text in one form, so that equal texts are equal bytes.
//!
//! What the contract asks for, and what it leaves open, decided here:
//!
//! - **Line ends are LF.** Line ends are the newline functions of the Unicode Standard, section 5.8: CR LF, CR, LF, NEL
//!   (U+0085), VT, FF, LS (U+2028) and PS (U+2029). One that was dropped instead would join two words.
//! - **No control characters but LF and TAB**: the other C0 and C1 controls and DEL are dropped, and so is U+FEFF.
//!   Format characters (joiners, direction marks) belong to the spelling of many languages and stay.
//! - **NFC** (Unicode Standard Annex 15).
//! - **No trailing blanks**: no character of the property `White_Space` stands at the end of a line; indentation stays.
//! - **At most one blank line in a row**, and none at the start or the end of the text, where it separates nothing: a
//!   text neither starts nor ends with LF.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// The form of normalisation, to be raised with every change of what [`normalize`] returns for any text.
pub const VERSION: u32 = 1;

/// Normalises a text. Normalising twice changes nothing, and a text that is normalised is not copied.
#[must_use]
pub fn normalize(text: &str) -> Cow<'_, str> {
    let plain = then(Cow::Borrowed(text), plain);
    let composed = then(plain, |text| ComposingNormalizerBorrowed::new_nfc().normalize(text));
    then(composed, tidy)
}

/// Goes on from a text, keeping the one that is there where the step changes nothing.
fn then<'t>(text: Cow<'t, str>, step: impl Fn(&str) -> Cow<'_, str>) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => step(text),
        Cow::Owned(text) => match step(&text) {
            Cow::Owned(changed) => Cow::Owned(changed),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    }
}

/// Line ends become LF; other controls and U+FEFF go.
fn plain(text: &str) -> Cow<'_, str> {
    let Some(first) = first_special(text) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = first;
    loop {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut characters = rest.chars();
        match characters.next() {
            Some('\r') if characters.as_str().starts_with('\n') => {}
            Some('\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}') => out.push('\n'),
            Some(other) if !is_dropped(other) => out.push(other),
            Some(_) => {}
            None => return Cow::Owned(out),
        }
        rest = characters.as_str();
        at = first_special(rest).unwrap_or(rest.len());
    }
}

/// Where the first character is that [`plain`] may change.
fn first_special(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let starts_special = |(at, &byte): (usize, &u8)| match SPECIAL[usize::from(byte)] {
        Special::Never => false,
        Special::Always => true,
        Special::Perhaps => match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
            (0xc2, Some(second), _) => *second < 0xa0,
            (0xe2, Some(0x80), Some(third)) => matches!(third, 0xa8 | 0xa9),
            (0xef, Some(0xbb), Some(third)) => *third == 0xbf,
            _ => false,
        },
    };
    bytes.iter().enumerate().find(|&byte| starts_special(byte)).map(|(at, _)| at)
}

fn is_dropped(character: char) -> bool {
    character == '\u{feff}' || (character.is_control() && !matches!(character, '\n' | '\t'))
}

/// Whether a byte of UTF-8 starts a character that [`plain`] may change.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    Never,
    Always,
    /// The next bytes tell: of a C1 control, of U+2028 and U+2029, of U+FEFF.
    Perhaps,
}

static SPECIAL: [Special; 256] = {
    let mut table = [Special::Never; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = Special::Always;
        byte += 1;
    }
    table[b'\t' as usize] = Special::Never;
    table[b'\n' as usize] = Special::Never;
    table[0x7f] = Special::Always;
    table[0xc2] = Special::Perhaps;
    table[0xe2] = Special::Perhaps;
    table[0xef] = Special::Perhaps;
    table
};

/// Blanks at line ends go, and blank lines that separate nothing.
fn tidy(text: &str) -> Cow<'_, str> {
    if is_tidy(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut was_blank = false;
    for line in text.split('\n').map(str::trim_end) {
        if !line.is_empty() {
            let lines = match (out.is_empty(), was_blank) {
                (true, _) => "",
                (false, false) => "\n",
                (false, true) => "\n\n",
            };
            out.push_str(lines);
            out.push_str(line);
        }
        was_blank = line.is_empty();
    }
    Cow::Owned(out)
}

fn is_tidy(text: &str) -> bool {
    // A blank line separates when there is a line before it that is not blank, and one behind.
    let mut may_be_blank = false;
    let mut was_blank = false;
    for line in text.split('\n') {
        was_blank = line.is_empty();
        if (was_blank && !may_be_blank) || line.ends_with(char::is_whitespace) {
            return text.is_empty();
        }
        may_be_blank = !was_blank;
    }
    !was_blank
}

#[cfg(test)]
mod tests;
