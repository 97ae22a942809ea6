//! What is valid and planned, but not built yet: refused by its name. A release that builds it deletes it here.

use super::document::{Document, Node, Table, Value};
use super::locations::tables;
use super::problem::{Problem, one_of};
use super::source::Format;

/// The formats that `fetch` can split into documents.
const BUILT: &[&str] = &[Format::Jsonl.as_str(), Format::Text.as_str()];

/// Formats and crawls that this release cannot run.
#[must_use]
pub fn unbuilt(document: &Document) -> Vec<Problem> {
    let formats = tables(document, "sources").filter_map(|(at, _, table)| format(at, table));
    let crawls = tables(document, "crawls").map(|(at, node, table)| crawl(at, node, table));
    formats.chain(crawls).collect()
}

fn format(at: usize, table: &Table) -> Option<Problem> {
    let node = &table.get("format")?.node;
    let Value::Text(text) = &node.value else { return None };
    if !Format::WORDS.contains(&text.as_str()) || BUILT.contains(&text.as_str()) {
        return None;
    }
    let expected = format!("format `{text}` is not built yet; built are {}", built());
    Some(Problem::of(node, &format!("sources[{at}].format"), expected))
}

fn crawl(at: usize, node: &Node, table: &Table) -> Problem {
    let expected = format!("crawls are not built yet; built are `[[sources]]` of format {}", built());
    match table.get("id") {
        Some(id) => Problem::of(&id.node, &format!("crawls[{at}].id"), expected),
        None => Problem::of(node, &format!("crawls[{at}]"), expected),
    }
}

fn built() -> String {
    one_of(BUILT).replace(" or ", " and ")
}
