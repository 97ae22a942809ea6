//! A config as written: a tree of values that remember their lines, whatever the syntax they were written in.

use std::fmt;

/// What a document was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// TOML 1.1, by a person.
    Toml,
    /// JSON (RFC 8259), by a program: `spec.json`.
    Json,
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Toml => "TOML",
            Self::Json => "JSON",
        })
    }
}

/// A document that is well-formed; nothing is said about its keys yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What it was written in.
    pub syntax: Syntax,
    /// The top level.
    pub root: Table,
}

/// A table: entries in the order written, no key twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The 1-based line of its header or brace.
    pub line: usize,
    /// Keys and values.
    pub entries: Vec<Entry>,
}

impl Table {
    /// The entry of this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key, without quotes.
    pub key: String,
    /// The value.
    pub node: Node,
}

/// A value and the 1-based line on which it, or in TOML its key, starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// 1-based.
    pub line: usize,
    /// What is written there.
    pub value: Value,
}

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string, without quotes and escapes.
    Text(String),
    /// A whole number; none when it is beyond 127 bits.
    Integer {
        /// As it stands in the file.
        written: String,
        /// What it means.
        value: Option<i128>,
    },
    /// A number with a fraction or an exponent.
    Float {
        /// As it stands in the file.
        written: String,
        /// What it means; infinite when it is too large.
        value: f64,
    },
    /// `true` or `false`.
    Flag(bool),
    /// A TOML date or time.
    Datetime(String),
    /// JSON's `null`.
    Null,
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// Why bytes are not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    /// 1-based, where the parser knows it.
    pub line: Option<usize>,
    /// What is wrong there, without what is written there.
    pub message: String,
}

/// The text of a config file: UTF-8, whose byte order mark (which some editors write) is not part of it.
///
/// # Errors
/// [`Malformed`] names the line of the first byte that is not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, Malformed> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Malformed { line: Some(1), message: "the file is UTF-16; save it as UTF-8".to_owned() });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(without_mark(text)),
        Err(error) => {
            let (before, rest) = bytes.split_at(error.valid_up_to());
            let byte = rest.first().copied().unwrap_or_default();
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            Err(Malformed { line: Some(line), message: format!("byte `0x{byte:02x}` is not UTF-8") })
        }
    }
}

/// The text without a byte order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Where the lines of a text start, to turn byte offsets into 1-based lines and columns.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// The lines of `text`, which end at LF only.
    pub(super) fn new(text: &'a str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The 1-based line of a byte offset.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// The 1-based column of a byte offset, in characters.
    pub(super) fn column(&self, offset: usize) -> usize {
        let start = self.starts.get(self.line(offset) - 1).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        1 + before.chars().count()
    }
}
