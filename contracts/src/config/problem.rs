//! One thing that is wrong, or doubtful, in a config.

use std::fmt;

use serde::Serialize;

use super::document::{Node, Value};
use super::redact::redact;

/// A value longer than this is cut in messages, in characters.
const SHOWN: usize = 120;

/// One thing that is wrong, or doubtful, at one place of a config.
///
/// Displayed as `` `sources[0].sha256` is `zz`: expected 64 lowercase hex digits ``; [`Problem::at`] puts file and line
/// before it. Values are shown without control characters, credentials and signatures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// 1-based, where there is one.
    pub line: Option<usize>,
    /// The path of the key, `sources[0].sha256`.
    pub key: String,
    /// What is written there; none when the key is missing.
    pub value: Option<String>,
    /// What would be right, or why this is not: a clause that stands alone after a colon.
    pub expected: String,
}

impl Problem {
    /// A value that is not what it should be.
    pub(super) fn of(node: &Node, key: &str, expected: impl Into<String>) -> Self {
        Self::new(node.line, key, Some(shown(&node.value)), expected)
    }

    /// A value that may be a secret.
    pub(super) fn secret(node: &Node, key: &str, expected: impl Into<String>) -> Self {
        Self::new(node.line, key, Some("***".to_owned()), expected)
    }

    /// A string that is not what it should be, for rules that are judged outside this module.
    #[must_use]
    pub fn text(line: Option<usize>, key: &str, text: &str, expected: impl Into<String>) -> Self {
        let (value, expected) = (Some(shown_text(text)), expected.into());
        Self { line, key: key.to_owned(), value, expected }
    }

    /// A key that must be there and is not; the line is that of its table.
    pub(super) fn missing(line: usize, key: &str, expected: impl Into<String>) -> Self {
        Self::new(line, key, None, expected)
    }

    fn new(line: usize, key: &str, value: Option<String>, expected: impl Into<String>) -> Self {
        Self { line: Some(line), key: key.to_owned(), value, expected: expected.into() }
    }

    /// The message behind the name of its file: `` corpus.toml:7: `sources[0].sha256` is … ``.
    #[must_use]
    pub fn at(&self, file: &str) -> String {
        match self.line {
            Some(line) => format!("{file}:{line}: {self}"),
            None => format!("{file}: {self}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "`{}` is `{value}`: {}", self.key, self.expected),
            None => write!(f, "`{}` is missing: {}", self.key, self.expected),
        }
    }
}

/// A value for a message. Lists and tables are never spelled out: any of their parts may be a secret.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => shown_text(text),
        Value::Integer { written, .. } | Value::Float { written, .. } | Value::Datetime(written) => shorten(written),
        Value::Flag(flag) => flag.to_string(),
        Value::Null => "null".to_owned(),
        Value::List(items) if items.is_empty() => "[]".to_owned(),
        Value::List(_) => "[…]".to_owned(),
        Value::Table(_) => "{…}".to_owned(),
    }
}

/// A text for a message: without credentials, on one line, not too long.
fn shown_text(text: &str) -> String {
    shorten(&redact(text))
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    // Quotes need no escape between backticks.
    short = short.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

/// A key in a path, quoted where TOML would quote it.
pub(super) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let key = if bare { key.to_owned() } else { format!("\"{}\"", shorten(key)) };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Alternatives in a sentence: `` `a`, `b` or `c` ``.
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// What was probably meant, as the end of a sentence; empty when nothing is close.
pub(super) fn did_you_mean(written: &str, known: &[&str]) -> String {
    // 0.8 is the bound that clap uses for its own suggestions, too.
    let close = known.iter().map(|word| (strsim::jaro_winkler(written, word), word)).filter(|(score, _)| *score > 0.8);
    match close.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((_, word)) => format!("; did you mean `{word}`?"),
        None => String::new(),
    }
}
