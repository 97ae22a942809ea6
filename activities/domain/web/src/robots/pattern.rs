//! Patterns of paths (RFC 9309 section 2.2.3): `*` is any sequence of octets, `$` at the end is the end.
//!
//! A path that ends with `$` itself is one of the pattern with `$` at its end too: somebody forgot that it is special.
//!
//! A pattern is the pieces between its `*`. The leftmost place of each piece behind the last is always as good as a later
//! one, so one pass over the path decides, however many `*` there are.

use std::borrow::Cow;

use memchr::memmem;

use crate::url::encoding;

/// A pattern of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// What the path starts with.
    start: Box<[u8]>,
    /// What follows, anywhere and in this order.
    pieces: Box<[Box<[u8]>]>,
    /// Whether the path ends where the last piece does.
    is_anchored: bool,
    octets: usize,
}

impl Pattern {
    pub(crate) fn new(text: &[u8]) -> Self {
        let (body, is_anchored) = text.strip_suffix(b"$").map_or((text, false), |body| (body, true));
        let mut pieces =
            body.split(|&byte| byte == b'*').map(|piece| comparable(piece).into_owned().into_boxed_slice());
        let start = pieces.next().unwrap_or_default();
        let rest: Vec<Box<[u8]>> = pieces.collect();
        let last = rest.len().saturating_sub(1);
        let says_something = |(index, piece): &(usize, Box<[u8]>)| *index == last || !piece.is_empty();
        let pieces = rest.into_iter().enumerate().filter(says_something).map(|(_, piece)| piece).collect();
        // Octets of the pattern as they would be sent.
        let octets = text.iter().map(|byte| if byte.is_ascii() { 1 } else { 3 }).sum();
        Self { start, pieces, is_anchored, octets }
    }

    /// By how much it says more than another pattern (RFC 9309 section 2.2.2).
    pub(crate) fn octets(&self) -> usize {
        self.octets
    }

    /// Whether a path in its [`comparable`] form is one of the pattern's.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let Some(mut rest) = path.strip_prefix(&*self.start) else { return false };
        let Some((last, between)) = self.pieces.split_last() else {
            return !self.is_anchored || matches!(rest, b"" | b"$");
        };
        for piece in between {
            let Some(at) = memmem::find(rest, piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        if self.is_anchored { rest.ends_with(last) } else { memmem::find(rest, last).is_some() }
    }
}

/// Octets in the one spelling in which they are compared (RFC 9309 section 2.2.2): unreserved ones as they are, others
/// beyond the reserved ones encoded. `%24` and `%2A` are the characters `$` and `*` (section 2.2.3).
pub(super) fn comparable(octets: &[u8]) -> Cow<'_, [u8]> {
    if octets.iter().all(|&byte| byte != b'%' && encoding::is_kept(byte)) {
        return Cow::Borrowed(octets);
    }
    let mut spelt = Vec::with_capacity(octets.len() + 16);
    let mut rest = octets;
    while let Some((&byte, behind)) = rest.split_first() {
        let encoded = encoding::encoded(rest);
        let value = encoded.unwrap_or(byte);
        let stands_for_itself = match encoded {
            Some(value) => encoding::is_unreserved(value) || matches!(value, b'$' | b'*'),
            None => encoding::is_kept(byte),
        };
        match stands_for_itself {
            true => spelt.push(value),
            false => spelt.extend_from_slice(&encoding::triplet(value)),
        }
        rest = if encoded.is_some() { &rest[3..] } else { behind };
    }
    Cow::Owned(spelt)
}

/// The folder, and nothing in it, that a pattern of its `index.htm` or `index.html` also means to Google.
pub(super) fn folder_of_index(pattern: &[u8]) -> Option<Vec<u8>> {
    let slash = pattern.iter().rposition(|&byte| byte == b'/')?;
    pattern[slash..].starts_with(b"/index.htm").then(|| [&pattern[..=slash], b"$"].concat())
}
