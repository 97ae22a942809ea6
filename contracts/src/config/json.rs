//! JSON into a [`Document`].
//!
//! serde_json has no spans, but it hands out raw values that point into the text: their offset gives the line.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::document::{Document, Entry, Lines, Malformed, Node, Syntax, Table, Value, decode};

/// A config nests four levels; more than this is refused, so that reading cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

/// Reads JSON whose top level is an object.
///
/// # Errors
/// [`Malformed`] with the line of the first thing that is not strict JSON; a key written twice, a top level that is no
/// object and deep nesting are such things.
pub fn parse_json(bytes: &[u8]) -> Result<Document, Malformed> {
    let text = decode(bytes)?;
    let lines = Lines::new(text);
    let reader = Reader { text, lines: &lines };
    let root: &RawValue = reader.read(text)?;
    match reader.node(root, 0)?.value {
        Value::Table(root) => Ok(Document { syntax: Syntax::Json, root }),
        _ => Err(Malformed { line: Some(reader.line(root)), message: "the top level is not an object".to_owned() }),
    }
}

struct Reader<'a> {
    text: &'a str,
    lines: &'a Lines<'a>,
}

impl<'a> Reader<'a> {
    fn node(&self, raw: &'a RawValue, depth: usize) -> Result<Node, Malformed> {
        let line = self.line(raw);
        if depth > MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(Malformed { line: Some(line), message });
        }
        let written = raw.get();
        let value = match written.as_bytes().first() {
            Some(b'{') => Value::Table(self.table(raw, depth)?),
            Some(b'[') => {
                let items: Vec<&RawValue> = self.read(written)?;
                Value::List(items.into_iter().map(|item| self.node(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Value::Text(self.read(written)?),
            Some(b't' | b'f') => Value::Flag(self.read(written)?),
            Some(b'n') => Value::Null,
            _ => number(written),
        };
        Ok(Node { line, value })
    }

    fn table(&self, raw: &'a RawValue, depth: usize) -> Result<Table, Malformed> {
        let members: Members<'a> = self.read(raw.get())?;
        let entry = |(key, value)| Ok(Entry { key, node: self.node(value, depth + 1)? });
        Ok(Table { line: self.line(raw), entries: members.0.into_iter().map(entry).collect::<Result<_, _>>()? })
    }

    /// Reads a piece of the text; the parser counts lines and columns from the start of the piece.
    fn read<T: Deserialize<'a>>(&self, piece: &'a str) -> Result<T, Malformed> {
        serde_json::from_str(piece).map_err(|error| {
            let start = self.offset(piece);
            let (line, mut column) = (self.lines.line(start) + error.line().saturating_sub(1), error.column());
            if error.line() == 1 {
                column += self.lines.column(start) - 1;
            }
            let message = error.to_string();
            let what = message.split(" at line ").next().unwrap_or_default();
            Malformed { line: Some(line), message: format!("{what} at column {column}") }
        })
    }

    fn line(&self, raw: &RawValue) -> usize {
        self.lines.line(self.offset(raw.get()))
    }

    /// Where a piece of the text starts.
    fn offset(&self, piece: &str) -> usize {
        (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }
}

fn number(written: &str) -> Value {
    let written = written.to_owned();
    if written.contains(['.', 'e', 'E']) {
        let value = written.parse().unwrap_or(f64::NAN);
        return Value::Float { written, value };
    }
    let value = written.parse().ok();
    Value::Integer { written, value }
}

/// An object's members in the order written, no key twice.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members: Vec<(String, &'de RawValue)> = Vec::new();
        let mut seen = HashSet::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("key `{}` is written twice", key.escape_debug())));
            }
            members.push((key, value));
        }
        Ok(Members(members))
    }
}
