//! What is valid and planned, but not built yet: refused by its name. A release that builds it deletes it here.

use super::document::{Document, Table, Value};
use super::locations::tables;
use super::problem::{Problem, one_of};
use super::source::Format;

/// The formats that `fetch` can split into documents.
const BUILT: &[&str] = &[
    Format::Jsonl.as_str(),
    Format::Text.as_str(),
    Format::Html.as_str(),
    Format::Warc.as_str(),
    Format::Wet.as_str(),
];

/// Formats and places of a dataset that this release cannot run.
#[must_use]
pub fn unbuilt(document: &Document) -> Vec<Problem> {
    let formats = tables(document, "sources").filter_map(|(at, _, table)| format(at, table));
    formats.chain(store(document)).collect()
}

/// `[store]` in anything but the artifacts directory and SQLite.
fn store(document: &Document) -> Vec<Problem> {
    let Some(Value::Table(table)) = document.root.get("store").map(|entry| &entry.node.value) else {
        return Vec::new();
    };
    let refused = |key: &str, built: &str, is_planned: fn(&str) -> bool| {
        let node = &table.get(key)?.node;
        let Value::Text(text) = &node.value else { return None };
        let expected = || format!("{key} `{text}` is not built yet; built is `{built}`");
        is_planned(text).then(|| Problem::of(node, &format!("store.{key}"), expected()))
    };
    let target = refused("target", "artifacts", |text| text.starts_with("s3://"));
    let metadata = refused("metadata", "sqlite", |text| text == "postgres");
    target.into_iter().chain(metadata).collect()
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

fn built() -> String {
    one_of(BUILT).replace(" or ", " and ")
}
