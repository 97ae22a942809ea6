//! From a document to a config, or to everything that is wrong with it.

use std::collections::BTreeMap;

use super::check::{Row, Walk};
use super::document::{Document, Syntax, Table, Value};
use super::locations::{of_source, tables};
use super::policy::{PolicyEntry, PolicyFile, PolicyReading};
use super::problem::Problem;
use super::rules::Place;
use super::source::{Format, Use};
use super::{Config, build, keys, policy, unbuilt, warnings};

/// All that a document says, right and wrong.
#[derive(Debug)]
pub struct Reading {
    /// The config, when every key keeps its rules. It may be run only when `problems` is empty, too, and when the
    /// licence policy permits the `claims`.
    pub config: Option<Config>,
    /// `base` of a `spec.json`: the folder that relative urls start from, absolute.
    pub base: Option<String>,
    /// All that is wrong, by line.
    pub problems: Vec<Problem>,
    /// All that is doubtful, by line.
    pub warnings: Vec<Problem>,
    /// What is claimed to be permitted under which licence, for the policy to judge.
    pub claims: Vec<LicenseClaim>,
    /// The entries of `[licenses]`, for the policy to judge.
    pub policy: Vec<PolicyEntry>,
    /// The file that holds more of them.
    pub policy_file: Option<PolicyFile>,
}

/// What one source or crawl claims to be permitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LicenseClaim {
    /// The 1-based line of the licence.
    pub line: Option<usize>,
    /// The path of its key: `sources[0].license_spdx`.
    pub key: String,
    /// The SPDX expression as written.
    pub license_spdx: String,
    /// The uses claimed; empty when they could not be read.
    pub allowed_uses: Vec<Use>,
}

/// Checks every key of a document, and what keys say together.
#[must_use]
pub fn validate(document: &Document) -> Reading {
    let mut walk = Walk::default();
    let row = walk.row(&document.root, &keys::CORPUS, "");
    let policy = licenses(document);
    let mut problems = walk.problems;
    problems.extend(policy.problems);
    let (sources, crawls) = (rows(&row, "sources"), rows(&row, "crawls"));
    problems.extend(nothing_listed(document));
    problems.extend(repeated_ids(sources.iter().chain(&crawls)));
    problems.extend(misplaced_keys(document));
    problems.extend(base_problems(document, policy.file.as_ref()));
    let config = if problems.is_empty() { build::config(row.clone(), &policy.entries) } else { None };
    problems.extend(unbuilt(document));
    let mut warnings = warnings::of(document);
    // The sort is stable: on one line, problems stay in the order found.
    problems.sort_by_key(|problem| problem.line);
    warnings.sort_by_key(|warning| warning.line);
    Reading {
        config,
        base: row.get("base"),
        problems,
        warnings,
        claims: sources.iter().chain(&crawls).filter_map(claim).collect(),
        policy: policy.entries,
        policy_file: policy.file,
    }
}

fn rows(row: &Row, key: &str) -> Vec<Row> {
    row.get(key).unwrap_or_default()
}

fn licenses(document: &Document) -> PolicyReading {
    match document.root.get("licenses").map(|entry| &entry.node.value) {
        Some(Value::Table(table)) => policy::read(table, "licenses"),
        _ => PolicyReading::default(),
    }
}

fn claim(row: &Row) -> Option<LicenseClaim> {
    let license_spdx = row.get("license_spdx")?;
    let (line, key) = (row.written("license_spdx"), row.key("license_spdx"));
    Some(LicenseClaim { line, key, license_spdx, allowed_uses: row.get("allowed_uses").unwrap_or_default() })
}

/// A config that lists nothing would fetch nothing without a word.
fn nothing_listed(document: &Document) -> Option<Problem> {
    let is_listed = |key: &str| match document.root.get(key).map(|entry| &entry.node.value) {
        Some(Value::List(items)) => !items.is_empty(),
        // Of a wrong type, which is a problem of its own.
        Some(_) => true,
        None => false,
    };
    let expected = "expected at least one `[[sources]]` or `[[crawls]]`";
    (!is_listed("sources") && !is_listed("crawls")).then(|| Problem::missing(document.root.line, "sources", expected))
}

/// Sources and crawls share their folders' names.
fn repeated_ids<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Problem> {
    let mut seen: BTreeMap<String, &Row> = BTreeMap::new();
    let mut problems = Vec::new();
    for row in rows {
        let Some(id) = row.get::<String>("id") else { continue };
        let line = row.written("id").unwrap_or(row.line);
        match seen.get(&id) {
            Some(first) => {
                let first_line = first.written("id").unwrap_or(first.line);
                let expected = format!("expected an id of its own; `{}` on line {first_line} has it", first.path);
                problems.push(Problem::text(Some(line), &row.key("id"), &id, expected));
            }
            None => {
                seen.insert(id, row);
            }
        }
    }
    problems
}

/// Keys that mean nothing for the source's format: what was meant by them would silently not happen.
fn misplaced_keys(document: &Document) -> Vec<Problem> {
    tables(document, "sources").flat_map(|(at, _, table)| misplaced(table, &format!("sources[{at}]"))).collect()
}

fn misplaced(table: &Table, path: &str) -> Vec<Problem> {
    let format = match table.get("format").map(|entry| &entry.node.value) {
        Some(Value::Text(word)) => Format::from_word(word),
        Some(_) => None,
        None => Some(Format::Jsonl),
    };
    let Some(format) = format else { return Vec::new() };
    let fields = [("text_field", "named fields"), ("meta_fields", "named fields")];
    let fields = fields.into_iter().filter(|_| !format.has_fields());
    let lines = [("max_line_bytes", "lines")].into_iter().filter(|_| !format.has_lines());
    let pages = [("page_bytes", "pages")].into_iter().filter(|_| !format.has_pages());
    let written = fields.chain(lines).chain(pages).filter_map(|(key, what)| Some((table.get(key)?, what)));
    written
        .map(|(entry, what)| {
            let expected = format!("no such key for format `{format}`, which has no {what}");
            Problem::of(&entry.node, &format!("{path}.{}", entry.key), expected)
        })
        .collect()
}

/// `base` belongs to `spec.json`, which must have it as soon as something is relative to it.
fn base_problems(document: &Document, file: Option<&PolicyFile>) -> Vec<Problem> {
    match (document.syntax, document.root.get("base")) {
        (Syntax::Toml, Some(entry)) => {
            let expected = "no such key in a TOML config; paths are relative to its own folder";
            vec![Problem::of(&entry.node, "base", expected)]
        }
        (Syntax::Json, None) => relative_paths(document, file),
        _ => Vec::new(),
    }
}

fn relative_paths(document: &Document, file: Option<&PolicyFile>) -> Vec<Problem> {
    let expected = "expected a URL or an absolute path, because there is no `base` for it to be relative to";
    let locations = tables(document, "sources").flat_map(|(at, _, table)| of_source(table, &format!("sources[{at}]")));
    let urls = locations.filter(|located| Place::of(located.text) == Place::RelativePath);
    let urls = urls.map(|located| Problem::of(located.node, &located.key, expected));
    let file = file.filter(|file| !std::path::Path::new(&file.path).is_absolute());
    urls.chain(file.map(|file| Problem::text(file.line, &file.key, &file.path, expected))).collect()
}
