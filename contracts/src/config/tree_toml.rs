//! TOML into a [`Document`].

use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use super::document::{Document, Entry, Lines, Malformed, Node, Syntax, Table, Value, without_mark};

/// Reads TOML.
///
/// # Errors
/// [`Malformed`] with the line of the first thing that is not TOML; a key written twice is such a thing.
pub fn parse_toml(text: &str) -> Result<Document, Malformed> {
    let text = without_mark(text);
    let lines = Lines::new(text);
    let reader = Reader { text, lines: &lines };
    let root = DeTable::parse(text).map_err(|error| malformed(&error, &lines))?;
    Ok(Document { syntax: Syntax::Toml, root: reader.table(root.get_ref(), 1) })
}

/// The parser's own Display quotes the line, which may hold a secret; its message does not.
fn malformed(error: &toml::de::Error, lines: &Lines<'_>) -> Malformed {
    let message = error.message().trim_end();
    match error.span() {
        Some(span) => {
            let (line, column) = (lines.line(span.start), lines.column(span.start));
            Malformed { line: Some(line), message: format!("{message} at column {column}") }
        }
        None => Malformed { line: None, message: message.to_owned() },
    }
}

struct Reader<'a> {
    text: &'a str,
    lines: &'a Lines<'a>,
}

impl Reader<'_> {
    fn table(&self, table: &DeTable<'_>, line: usize) -> Table {
        let mut entries: Vec<_> = table.iter().collect();
        // The parser sorts by key; people read in the order written.
        entries.sort_by_key(|(key, _)| key.span().start);
        Table { line, entries: entries.into_iter().map(|(key, value)| self.entry(key, value)).collect() }
    }

    fn entry(&self, key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Entry {
        // A key and its value start on one line in TOML; a table that dotted keys imply has no place but its key's.
        let line = self.lines.line(key.span().start);
        Entry { key: key.get_ref().to_string(), node: self.node(value, line) }
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, line: usize) -> Node {
        let written = || self.text.get(value.span()).unwrap_or_default().to_owned();
        let converted = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(integer) => Value::Integer { written: written(), value: whole(integer) },
            DeValue::Float(float) => {
                Value::Float { written: written(), value: float.as_str().parse().unwrap_or(f64::NAN) }
            }
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(time) => Value::Datetime(time.to_string()),
            DeValue::Array(items) => {
                Value::List(items.iter().map(|item| self.node(item, self.lines.line(item.span().start))).collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table, line)),
        };
        Node { line, value: converted }
    }
}

fn whole(integer: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(integer.as_str(), integer.radix()).ok()
}
