//! The places of bytes that a document names, each with its own line: what several rules and warnings look at.

use super::document::{Document, Node, Table, Value};
use super::rules::Rule;

/// One string of a document.
pub(super) struct Located<'a> {
    /// The path of its key.
    pub(super) key: String,
    /// What is written.
    pub(super) text: &'a str,
    /// Where.
    pub(super) node: &'a Node,
}

/// The tables of a list of tables, with their places in it.
pub(super) fn tables<'a>(document: &'a Document, key: &str) -> impl Iterator<Item = (usize, &'a Node, &'a Table)> {
    let items = match document.root.get(key).map(|entry| &entry.node.value) {
        Some(Value::List(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().enumerate().filter_map(|(at, node)| match &node.value {
        Value::Table(table) => Some((at, node, table)),
        _ => None,
    })
}

/// The strings of a key that keep the rule: one, or the elements of a list.
pub(super) fn strings<'a>(table: &'a Table, path: &str, key: &str, rule: Rule) -> Vec<Located<'a>> {
    let Some(entry) = table.get(key) else { return Vec::new() };
    let key = format!("{path}.{key}");
    let found = match &entry.node.value {
        Value::Text(text) => vec![Located { key, text, node: &entry.node }],
        Value::List(items) => items.iter().enumerate().filter_map(|(at, node)| element(&key, at, node)).collect(),
        _ => Vec::new(),
    };
    found.into_iter().filter(|located| rule.fault(located.text).is_none()).collect()
}

fn element<'a>(key: &str, at: usize, node: &'a Node) -> Option<Located<'a>> {
    match &node.value {
        Value::Text(text) => Some(Located { key: format!("{key}[{at}]"), text, node }),
        _ => None,
    }
}

/// `url` and `mirrors` of a source.
pub(super) fn of_source<'a>(table: &'a Table, path: &str) -> Vec<Located<'a>> {
    let mut found = strings(table, path, "url", Rule::Location);
    found.extend(strings(table, path, "mirrors", Rule::Location));
    found
}
