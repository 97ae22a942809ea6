//! The start tags of a source, as browsers' tokenizers find them (WHATWG HTML section 13.2.5).

use std::borrow::Cow;

use memchr::memmem::Finder;
use memchr::{memchr, memmem};

use super::{Syntax, entity};

/// A start tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'s> {
    /// As written.
    pub(super) name: &'s str,
    pub(super) attributes: Attributes<'s>,
}

/// What stands between a tag's name and its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attributes<'s>(&'s str);

/// The start tags of a source, in order.
#[derive(Debug)]
pub(super) struct Tags<'s> {
    source: &'s str,
    syntax: Syntax,
    at: usize,
}

/// Elements in which there are no tags but their own end: their content is text (sections 13.2.5.2 to 13.2.5.4).
const TEXT_ONLY: &[&str] = &["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"];

impl<'s> Tags<'s> {
    pub(super) fn of(source: &'s str, syntax: Syntax) -> Self {
        Self { source, syntax, at: 0 }
    }

    /// Steps behind `what`, or to the end.
    fn skip_to(&mut self, what: &Finder<'_>) {
        let found = what.find(&self.source.as_bytes()[self.at..]);
        self.at = found.map_or(self.source.len(), |found| self.at + found + what.needle().len());
    }

    fn skip_markup(&mut self) {
        let rest = &self.source[self.at..];
        if let Some(behind) = rest.strip_prefix("<!--") {
            // `<!-->` and `<!--->` are comments, too.
            let is_empty = behind.starts_with('>') || behind.starts_with("->");
            self.at += if is_empty { 4 } else { "<!--".len() };
            match is_empty {
                true => self.skip_to(&Finder::new(">")),
                false => self.skip_comment(),
            }
        } else {
            self.skip_to(&Finder::new(">"));
        }
    }

    /// A comment ends with `-->` or `--!>`.
    fn skip_comment(&mut self) {
        let bytes = self.source.as_bytes();
        while let Some(found) = memmem::find(&bytes[self.at..], b"--") {
            self.at += found + 2;
            let behind = &bytes[self.at..];
            let length = [b">".as_slice(), b"!>"].iter().find(|end| behind.starts_with(end)).map(|end| end.len());
            if let Some(length) = length {
                self.at += length;
                return;
            }
            self.at -= 1; // `--->` ends it as well.
        }
        self.at = bytes.len();
    }

    /// The tag at this `<`, and where it ends; none where the source ends first: half a tag is none.
    fn tag(&mut self, name_at: usize) -> Option<Tag<'s>> {
        let bytes = self.source.as_bytes();
        let name_length = bytes[name_at..].iter().position(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'));
        let Some(name_end) = name_length.map(|length| name_at + length) else {
            self.at = bytes.len();
            return None;
        };
        let mut inside = Attributes(&self.source[name_end..]);
        while inside.next_pair().is_some() {}
        let end = bytes.len() - inside.0.len();
        let is_whole = inside.0.starts_with('>');
        self.at = if is_whole { end + 1 } else { bytes.len() };
        // With its `>`, at which the last value ends.
        let attributes = Attributes(&self.source[name_end..self.at]);
        is_whole.then_some(Tag { name: &self.source[name_at..name_end], attributes })
    }

    /// Steps behind the text of an element that has nothing else, to its end tag.
    fn skip_text_of(&mut self, name: &str) {
        let bytes = self.source.as_bytes();
        while let Some(found) = memmem::find(&bytes[self.at..], b"</") {
            self.at += found;
            let behind = &bytes[self.at + 2..];
            let is_name = behind.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
            let ends = behind.get(name.len()).is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'));
            if is_name && ends {
                return;
            }
            self.at += 2;
        }
        self.at = bytes.len();
    }
}

impl<'s> Iterator for Tags<'s> {
    type Item = Tag<'s>;

    fn next(&mut self) -> Option<Tag<'s>> {
        let bytes = self.source.as_bytes();
        loop {
            self.at += memchr(b'<', bytes.get(self.at..)?)?;
            match bytes.get(self.at + 1) {
                Some(b'!' | b'?') => self.skip_markup(),
                Some(b'/') if bytes.get(self.at + 2).is_some_and(u8::is_ascii_alphabetic) => {
                    self.tag(self.at + 2);
                }
                Some(b'/') => self.skip_to(&Finder::new(">")),
                Some(byte) if byte.is_ascii_alphabetic() => {
                    let tag = self.tag(self.at + 1)?;
                    if self.syntax == Syntax::Xhtml && self.source[..self.at].ends_with("/>") {
                        return Some(tag);
                    }
                    if let Some(name) = TEXT_ONLY.iter().find(|name| tag.name.eq_ignore_ascii_case(name)) {
                        self.skip_text_of(name);
                    } else if tag.name.eq_ignore_ascii_case("plaintext") {
                        self.at = bytes.len();
                    }
                    return Some(tag);
                }
                _ => self.at += 1,
            }
        }
    }
}

impl<'s> Attributes<'s> {
    /// The value of an attribute, without character references; of two alike the first counts.
    pub(super) fn value(mut self, name: &str) -> Option<Cow<'s, str>> {
        std::iter::from_fn(|| self.next_pair())
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| entity::decoded(value))
    }

    /// The values of attributes.
    pub(super) fn values<const N: usize>(self, names: [&str; N]) -> [Option<Cow<'s, str>>; N] {
        let mut values = [const { None }; N];
        let mut rest = self;
        while let Some((found, value)) = rest.next_pair() {
            let slot = names.iter().position(|name| found.eq_ignore_ascii_case(name));
            if let Some(slot) =
                slot.and_then(|slot| values.get_mut(slot)).filter(|slot: &&mut Option<_>| slot.is_none())
            {
                *slot = Some(entity::decoded(value));
            }
        }
        values
    }

    /// The next attribute as written (sections 13.2.5.32 to 13.2.5.40); none at the tag's end, where the rest starts with `>`, or
    /// at the end of the source.
    fn next_pair(&mut self) -> Option<(&'s str, &'s str)> {
        let bytes = self.0.as_bytes();
        let start = bytes.iter().position(|&byte| !is_space(byte) && byte != b'/').unwrap_or(bytes.len());
        if bytes.get(start).is_none_or(|&byte| byte == b'>') {
            self.0 = &self.0[start..];
            return None;
        }
        // A `=` at the start is the name's first character.
        let name = bytes[start + 1..].iter().position(|&byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'='));
        let name_end = name.map_or(bytes.len(), |length| start + 1 + length);
        let behind = skip_space(bytes, name_end);
        let value = if bytes.get(behind) == Some(&b'=') { value(bytes, skip_space(bytes, behind + 1)) } else { None };
        let pair_name = &self.0[start..name_end];
        let (value, rest) = match value {
            Some((from, to, rest)) => (&self.0[from..to], rest),
            None if bytes.get(behind) == Some(&b'=') => ("", bytes.len()),
            None => ("", name_end),
        };
        self.0 = &self.0[rest..];
        Some((pair_name, value))
    }
}

/// Where a value starts and ends, and where to go on; none where the source ends in it.
fn value(bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    match *bytes.get(at)? {
        quote @ (b'"' | b'\'') => {
            let end = at + 1 + memchr(quote, &bytes[at + 1..])?;
            Some((at + 1, end, end + 1))
        }
        _ => {
            let length = bytes[at..].iter().position(|&byte| is_space(byte) || byte == b'>')?;
            Some((at, at + length, at + length))
        }
    }
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|&&byte| is_space(byte)).count()
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}
