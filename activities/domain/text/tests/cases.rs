//! The pages of public reports that lie beside the repository, when they do: `../shared/cases/html`.
//!
//! They are not ours to ship; what each is about is asked of pages of our own in `src/page/tests`.

use std::path::Path;

use corpora_text::page::{Format, Hints, Options, extract};
use serde_json::{Map, Value};

#[expect(clippy::disallowed_methods, reason = "a test reads its cases from where they lie")]
fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested is said")]
fn pages_of_reports_are_read_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases/html");
    let Some(snippets) = read(&folder.join("snippets.json")) else {
        eprintln!("SKIPPED pages of reports: ../shared/cases/html is not there");
        return;
    };
    let cases: Map<String, Value> = serde_json::from_slice(&snippets).expect("an object in snippets.json");
    assert!(!cases.is_empty());
    let problems: Vec<String> =
        cases.iter().flat_map(|(name, case)| problems(&folder.join(name), name, case)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is wrong with how one page is read.
fn problems(folder: &Path, name: &str, case: &Value) -> Vec<String> {
    let Some(source) = read(&folder.join("input.html")) else { return vec![format!("{name} has no page")] };
    let text = |format| extract(&source, &Hints::default(), &Options { format, ..Options::default() }).text;
    let (plain, markdown) = (text(Format::Text), text(Format::Markdown));
    let lacking = strings(case, "with_").filter(|words| !plain.contains(words));
    let left = strings(case, "without").filter(|words| plain.contains(words) || markdown.contains(words));
    let expected = read(&folder.join("expected.md")).unwrap_or_default();
    let expected = String::from_utf8_lossy(&expected);
    let displaced = out_of_order(&markdown, &expected);
    let lacking = lacking.map(|words| format!("{name} lacks {words:?}"));
    let left = left.map(|words| format!("{name} has {words:?}"));
    lacking.chain(left).chain(displaced.map(|line| format!("{name} has not in its place: {line}"))).collect()
}

fn strings<'v>(case: &'v Value, key: &str) -> impl Iterator<Item = &'v str> {
    case[key].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The first line of what is expected that does not follow the ones before it. A line in parentheses tells of many.
fn out_of_order<'e>(text: &str, expected: &'e str) -> Option<&'e str> {
    let mut rest = text;
    for line in expected.lines().filter(|line| !line.trim().is_empty() && !is_in_parentheses(line)) {
        match rest.find(line) {
            Some(at) => rest = &rest[at + line.len()..],
            None => return Some(line),
        }
    }
    None
}

fn is_in_parentheses(line: &str) -> bool {
    line.starts_with('(') && line.ends_with(')')
}
