//! `[licenses]`: what the corpus's owner permits beyond the default policy. Which strings are licences is judged later.

use std::collections::BTreeMap;

use super::check::{Checked, Typed, Walk};
use super::document::{Document, Entry, Node, Table, Value};
use super::keys::{Kind, POLICY_USES};
use super::problem::{Problem, join};
use super::rules::Rule;
use super::source::Use;

/// Which uses each licence permits beyond the documented default: SPDX id (or `id WITH exception`) to uses.
pub type LicensePolicy = BTreeMap<String, Vec<Use>>;

/// One entry of the policy and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyEntry {
    /// 1-based.
    pub line: Option<usize>,
    /// The path of the key: `licenses."CC-BY-NC-4.0"`.
    pub key: String,
    /// The SPDX id, or `id WITH exception`, as written.
    pub license: String,
    /// What it permits; empty forbids every use.
    pub allowed_uses: Vec<Use>,
}

/// `file` of `[licenses]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// 1-based.
    pub line: Option<usize>,
    /// The path of the key: `licenses.file`.
    pub key: String,
    /// As written, relative to the config's folder.
    pub path: String,
}

/// What was read from a policy.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PolicyReading {
    /// The entries, in the order written.
    pub entries: Vec<PolicyEntry>,
    /// The file that holds more of them.
    pub file: Option<PolicyFile>,
    /// All that is wrong, by line.
    pub problems: Vec<Problem>,
}

/// Reads a policy file: the table of `[licenses]` at the top level, or under that header; it names no further file.
#[must_use]
pub fn validate_policy(document: &Document) -> PolicyReading {
    let (table, path) = match document.root.entries.as_slice() {
        [Entry { key, node: Node { value: Value::Table(table), .. } }] if key == "licenses" => (table, "licenses"),
        _ => (&document.root, ""),
    };
    let mut reading = read(table, path);
    if let Some(file) = reading.file.take() {
        let expected = "no such key in a policy file; only the config names one";
        reading.problems.push(Problem::text(file.line, &file.key, &file.path, expected));
    }
    reading
}

/// Reads the table of `[licenses]`.
pub(super) fn read(table: &Table, path: &str) -> PolicyReading {
    let mut walk = Walk::default();
    let (mut entries, mut file) = (Vec::new(), None);
    for Entry { key, node } in &table.entries {
        let (line, path) = (Some(node.line), join(path, key));
        if key == "file" {
            let checked = walk.value(node, &Kind::Text(Rule::Path), &path).and_then(String::typed);
            file = checked.map(|written| PolicyFile { line, key: path, path: written });
        } else if let Some(allowed_uses) = uses(&mut walk, key, node, &path) {
            entries.push(PolicyEntry { line, key: path, license: key.clone(), allowed_uses });
        }
    }
    PolicyReading { entries, file, problems: walk.problems }
}

fn uses(walk: &mut Walk, key: &str, node: &Node, path: &str) -> Option<Vec<Use>> {
    if let Value::Table(table) = &node.value {
        // `CC-BY-4.0 = […]` without quotes is the key `0` in the table `CC-BY-4` to TOML.
        let id = format!("{key}.{}", dotted(table));
        let expected =
            format!("expected a list of uses; an id with a dot is written in quotes, `\"{id}\" = [\"eval\"]`");
        walk.problems.push(Problem::of(node, path, expected));
        return None;
    }
    let checked: Checked = walk.value(node, &POLICY_USES, path)?;
    Vec::typed(checked)
}

/// The rest of a dotted key.
fn dotted(table: &Table) -> String {
    match table.entries.first() {
        Some(Entry { key, node: Node { value: Value::Table(inner), .. } }) => format!("{key}.{}", dotted(inner)),
        Some(Entry { key, .. }) => key.clone(),
        None => "0".to_owned(),
    }
}
