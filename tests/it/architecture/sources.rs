//! The shape of source files.

use std::path::Path;

use super::{assert_none, tree};

/// The hard end; about 120 lines are typical.
const MOST_LINES: usize = 500;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "misc", "util", "utils"];

/// An exception that outlives its cause unseen, unlike `#[expect(…, reason = "…")]`.
const ALLOW: [&str; 2] = [concat!("#[", "allow("), concat!("#![", "allow(")];

/// What is wrong with a source file.
fn problems(file: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let long = (lines > MOST_LINES).then(|| format!("{file}: {lines} lines, more than {MOST_LINES}"));
    let numbered = text.lines().enumerate();
    let allows = numbered.filter(|(_, line)| ALLOW.iter().any(|allow| line.contains(allow)));
    let allows = allows.map(|(index, _)| format!("{file}:{}: `expect` with a reason, not `allow`", index + 1));
    long.into_iter().chain(allows).collect()
}

/// Whether a file, folder or crate has one of the empty names, alone or as one of its words.
fn is_empty_name(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    stem.split(['-', '_', '.']).any(|word| EMPTY_NAMES.contains(&word))
}

#[test]
fn sources_are_short_and_have_no_silent_exceptions() -> anyhow::Result<()> {
    let sources = tree::texts(&tree::root(), ".rs")?;
    assert!(sources.len() > 20, "only {} sources found", sources.len());
    assert_none(&sources.iter().flat_map(|(path, text)| problems(&tree::shown(path), text)).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn names_say_what_is_inside() -> anyhow::Result<()> {
    let named = tree::walk(&tree::root())?.into_iter().filter(|path| is_empty_name(path));
    assert_none(&named.map(|path| format!("{}: a name that says nothing", tree::shown(&path))).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_long_file_an_allow_and_an_empty_name_are_found() {
    let long = "\n".repeat(MOST_LINES + 1);
    assert_eq!(problems("a.rs", &long), ["a.rs: 501 lines, more than 500"]);
    let allow = format!("fn a() {{}}\n{}dead_code)]\n", ALLOW[0]);
    assert_eq!(problems("a.rs", &allow), ["a.rs:2: `expect` with a reason, not `allow`"]);
    assert_eq!(problems("a.rs", &"\n".repeat(MOST_LINES)), [""; 0]);
    for name in ["activities/utils", "a/helpers.rs", "corpora-common", "tests/test_util.rs"] {
        assert!(is_empty_name(Path::new(name)), "{name}");
    }
    assert!(!is_empty_name(Path::new("activities/domain/utilities.rs")));
}
