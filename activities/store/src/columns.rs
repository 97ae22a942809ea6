//! The columns of a dataset, as they are gathered in memory.

use std::sync::Arc;

use bytes::Bytes;

/// The columns of every shard, in order.
pub(crate) const COLUMNS: [&str; 10] =
    ["id", "text", "source_id", "url", "license_spdx", "lang", "title", "n_chars", "sha256", "split"];

/// Strings behind each other in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    buffer: String,
    /// Where each string ends.
    ends: Vec<usize>,
}

impl Strings {
    pub(crate) fn push(&mut self, string: &str) {
        self.buffer.push_str(string);
        self.ends.push(self.buffer.len());
    }

    /// Appends string `at` of another column.
    fn push_from(&mut self, other: &Self, at: usize) {
        self.push(&other.buffer[range(&other.ends, at)]);
    }

    fn len_of(&self, at: usize) -> usize {
        range(&self.ends, at).len()
    }

    fn freeze(self) -> FrozenStrings {
        let buffer = Arc::new(self.buffer);
        FrozenStrings { bytes: Bytes::from_owner(Shared(Arc::clone(&buffer))), buffer, ends: self.ends }
    }
}

/// Strings that are shared and no longer grow.
#[derive(Debug)]
pub(crate) struct FrozenStrings {
    buffer: Arc<String>,
    /// The same bytes, for whoever keeps parts of them.
    bytes: Bytes,
    ends: Vec<usize>,
}

impl FrozenStrings {
    /// Each string's bytes, which are shared and not copied.
    pub(crate) fn shared(&self) -> impl Iterator<Item = Bytes> + '_ {
        (0..self.ends.len()).map(|at| self.bytes.slice(range(&self.ends, at)))
    }

    /// String `at`.
    pub(crate) fn get(&self, at: usize) -> &str {
        &self.buffer[range(&self.ends, at)]
    }
}

struct Shared(Arc<String>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Where string `at` is.
fn range(ends: &[usize], at: usize) -> std::ops::Range<usize> {
    let start = if at == 0 { 0 } else { ends[at - 1] };
    start..ends[at]
}

/// Rows that are being gathered. Of a row's source the number is kept: its id and licence are the same in all its rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) id: Strings,
    pub(crate) text: Strings,
    pub(crate) url: Strings,
    pub(crate) lang: Strings,
    pub(crate) title: Strings,
    /// The index of the source among those of the plan.
    pub(crate) source: Vec<usize>,
    /// Unicode code points of the text.
    pub(crate) n_chars: Vec<i32>,
    /// The digest of the text's UTF-8.
    pub(crate) sha256: Vec<[u8; 32]>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.source.len()
    }

    /// Bytes of text.
    pub(crate) fn text_bytes(&self) -> usize {
        self.text.buffer.len()
    }

    /// Bytes of the text of row `at`.
    pub(crate) fn text_len(&self, at: usize) -> usize {
        self.text.len_of(at)
    }

    /// Appends row `at` of others.
    pub(crate) fn push_from(&mut self, other: &Self, at: usize) {
        self.id.push_from(&other.id, at);
        self.text.push_from(&other.text, at);
        self.url.push_from(&other.url, at);
        self.lang.push_from(&other.lang, at);
        self.title.push_from(&other.title, at);
        self.source.push(other.source[at]);
        self.n_chars.push(other.n_chars[at]);
        self.sha256.push(other.sha256[at]);
    }

    pub(crate) fn freeze(self) -> FrozenRows {
        FrozenRows {
            id: self.id.freeze(),
            text: self.text.freeze(),
            url: self.url.freeze(),
            lang: self.lang.freeze(),
            title: self.title.freeze(),
            source: self.source,
            n_chars: self.n_chars,
            sha256: self.sha256,
        }
    }
}

/// Rows that every writer reads.
#[derive(Debug)]
pub(crate) struct FrozenRows {
    pub(crate) id: FrozenStrings,
    pub(crate) text: FrozenStrings,
    pub(crate) url: FrozenStrings,
    pub(crate) lang: FrozenStrings,
    pub(crate) title: FrozenStrings,
    pub(crate) source: Vec<usize>,
    pub(crate) n_chars: Vec<i32>,
    pub(crate) sha256: Vec<[u8; 32]>,
}

impl FrozenRows {
    pub(crate) fn len(&self) -> usize {
        self.source.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_bounds() {
        let mut first = Strings::default();
        ["", "a", "naïve", ""].into_iter().for_each(|string| first.push(string));
        let mut second = Strings::default();
        [2, 0, 3, 1].into_iter().for_each(|at| second.push_from(&first, at));
        assert_eq!([0, 1, 2, 3].map(|at| second.len_of(at)), [6, 0, 0, 1]);
        let frozen = second.freeze();
        let expected = ["naïve", "", "", "a"];
        assert_eq!(frozen.shared().collect::<Vec<_>>(), expected);
        assert_eq!([0, 1, 2, 3].map(|at| frozen.get(at)), expected);
    }
}
