//! Documents name what exists.

use std::fs;

use anyhow::Context as _;

use super::dependencies::MAY_KNOW;
use super::{assert_none, tree};

/// The documents at the root that people start with.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// What looks like a path of the repository and is none.
const ELSEWHERE: &[(&str, &str)] = &[
    ("corpus/", "under the artifacts directory, written by a run"),
    ("artifacts", "the artifacts directory"),
    ("./artifacts", "the artifacts directory"),
    ("target/", "built by cargo"),
    ("D/", "the folder of one subprocess activity"),
    ("raw/", "under `corpus/`, or an object key"),
    ("/", "absolute, or the path of a URL"),
    ("~", "in the reader's home"),
    ("text/", "a media type"),
    ("application/", "a media type"),
    ("multipart/", "a media type"),
];

/// The text of a document at the root.
pub(super) fn read(name: &str) -> anyhow::Result<String> {
    fs::read_to_string(tree::root().join(name)).with_context(|| format!("failed to read `{name}`"))
}

/// Lines outside of fenced blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// The spans of a line between single backticks.
pub(super) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The targets of a line's links that are not on the web or in the same document.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.map(|target| target.split('#').next().unwrap_or_default());
    files.filter(|target| !target.is_empty() && !target.contains(':'))
}

/// The path that a code span names, if it names one of the repository: it has a `/` and nothing that no path of ours
/// has, such as the `<` of a placeholder or the `*` of a pattern.
fn repository_path(span: &str) -> Option<&str> {
    let (path, line) = span.split_once(':').unwrap_or((span, ""));
    let is_path = |char: char| char.is_ascii_alphanumeric() || "._-/".contains(char);
    let here = path.contains('/') && path.chars().all(is_path) && line.bytes().all(|byte| byte.is_ascii_digit());
    (here && !ELSEWHERE.iter().any(|(prefix, _)| path.starts_with(prefix))).then_some(path)
}

/// What a document names and `exists` does not know.
fn missing(document: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in prose(text) {
        let paths = code_spans(line).filter_map(repository_path).chain(link_targets(line));
        let gone = paths.filter(|path| !exists(path));
        problems.extend(gone.map(|path| format!("{document}:{number}: `{path}` does not exist")));
    }
    problems
}

/// The cells of the table whose first column has this heading, without its heading.
pub(super) fn table(text: &str, heading: &str) -> Option<Vec<Vec<String>>> {
    let cells = |line: &str| {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let is_row = |line: &&str| line.trim_start().starts_with('|');
    let has_heading = |line: &&str| is_row(line) && cells(line)[0].eq_ignore_ascii_case(heading);
    let mut lines = text.lines().skip_while(|line| !has_heading(line));
    lines.next()?;
    Some(lines.take_while(is_row).skip(1).map(cells).collect())
}

/// Where the document differs from the table that is enforced: row by row when it has a table `Crate | May know`, else
/// it has to name every crate.
fn disagreements(text: &str) -> Vec<String> {
    let Some(rows) = table(text, "crate").filter(|rows| rows.iter().all(|row| row.len() > 1)) else {
        let unnamed = MAY_KNOW.iter().filter(|(name, _)| !text.contains(&format!("`{name}`")));
        return unnamed.map(|(name, _)| format!("ARCHITECTURE.md does not name `{name}`")).collect();
    };
    let mut problems = Vec::new();
    for (name, allowed) in MAY_KNOW {
        let Some(row) = rows.iter().find(|row| code_spans(&row[0]).any(|span| span == *name)) else {
            problems.push(format!("ARCHITECTURE.md has no row for `{name}`"));
            continue;
        };
        let mut written: Vec<&str> = code_spans(&row[1]).collect();
        written.sort_unstable();
        if written != *allowed {
            problems.push(format!("ARCHITECTURE.md lets `{name}` know {written:?}, the test {allowed:?}"));
        }
    }
    problems
}

#[test]
fn documents_name_paths_that_exist() -> anyhow::Result<()> {
    let root = tree::root();
    let mut problems = Vec::new();
    for document in DOCUMENTS {
        problems.extend(missing(document, &read(document)?, |path| root.join(path).exists()));
    }
    assert_none(&problems);
    Ok(())
}

#[test]
fn the_architecture_page_says_what_is_enforced() -> anyhow::Result<()> {
    assert_none(&disagreements(&read("ARCHITECTURE.md")?));
    Ok(())
}

#[test]
fn missing_paths_are_found_and_others_passed_over() {
    let text = "See `contracts/src/lib.rs`, `contracts/gone.rs:7` and `corpus/raw/x`.\n\
                ```\n`fenced/gone.rs`\n```\n\
                `activities/<key>/`, `text/html`, `https://h/x`, `a b/c`, `src/*.rs`, `/etc/hosts`, `LEDGER.jsonl`\n\
                [here](docs/gone.md#part), [web](https://h/x), [part](#part), [there](contracts/)\n";
    let exists = |path: &str| ["contracts/src/lib.rs", "contracts/"].contains(&path);
    let expected = ["D.md:1: `contracts/gone.rs` does not exist", "D.md:6: `docs/gone.md` does not exist"];
    assert_eq!(missing("D.md", text, exists), expected);
}

#[test]
fn a_page_that_differs_is_found() {
    let spans = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let row = |(name, allowed): &(&str, &[&str])| format!("| `{name}` | {} |\n", spans(allowed));
    let rows: String = MAY_KNOW.iter().map(row).collect();
    let page = format!("# Page\n\n| Crate | May know |\n|---|---|\n{rows}\nMore.\n");
    assert_eq!(disagreements(&page), [""; 0]);

    let more = page.replace("| `corpora-contracts` |  |", "| `corpora-contracts` | `corpora-web` |");
    let expected = "ARCHITECTURE.md lets `corpora-contracts` know [\"corpora-web\"], the test []";
    assert_eq!(disagreements(&more), [expected]);
    let less = page.replace("| `corpora-plan` | `corpora-contracts` |\n", "");
    assert_eq!(disagreements(&less), ["ARCHITECTURE.md has no row for `corpora-plan`"]);
    assert_eq!(disagreements("").len(), MAY_KNOW.len());
}
