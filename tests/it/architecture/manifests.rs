//! Dependencies stand once, in the root's manifest, each with its reason.

use std::fs;

use super::{assert_none, tree};

/// Each line that says something, with its number and the table that it stands in.
fn entries(text: &str) -> Vec<(usize, &str, &str)> {
    let mut table = "";
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            table = line;
        } else if !line.is_empty() && !line.starts_with('#') {
            entries.push((index + 1, table, line));
        }
    }
    entries
}

/// Lines of the root's dependency table without a reason; our own crates have theirs in their manifests.
fn without_reason(text: &str) -> Vec<String> {
    let entries = entries(text).into_iter().filter(|(_, table, _)| *table == "[workspace.dependencies]");
    let silent = entries.filter(|(_, _, line)| {
        let (entry, reason) = line.split_once(" # ").unwrap_or((line, ""));
        !entry.contains("path = ") && (!entry.contains(" = ") || reason.trim().is_empty())
    });
    silent.map(|(number, _, line)| format!("Cargo.toml:{number}: no reason on the line: {line}")).collect()
}

/// Dependencies of a member that are versioned there.
fn own_versions(file: &str, text: &str) -> Vec<String> {
    let is_dependency = |table: &str| table.trim_end_matches(']').contains("dependencies");
    let inherits = |table: &str, line: &str| {
        let (_, value) = line.split_once('.').map_or((line, line), |(name, _)| (name, &line[name.len() + 1..]));
        let one_line = value == "workspace = true" || line.contains("= { workspace = true");
        table.trim_end_matches(']').ends_with("dependencies") && one_line
    };
    let entries = entries(text).into_iter().filter(|(_, table, _)| is_dependency(table));
    let own = entries.filter(|(_, table, line)| !inherits(table, line));
    own.map(|(number, _, line)| format!("{file}:{number}: not `workspace = true`: {line}")).collect()
}

#[test]
fn every_dependency_has_a_reason() -> anyhow::Result<()> {
    let text = fs::read_to_string(tree::root().join("Cargo.toml"))?;
    assert!(text.contains("\n[workspace.dependencies]\n"), "the table is where this test looks");
    assert_none(&without_reason(&text));
    Ok(())
}

#[test]
fn members_take_their_versions_from_the_root() -> anyhow::Result<()> {
    let root = tree::root();
    let manifests = tree::texts(&root, "Cargo.toml")?;
    let members = manifests.iter().filter(|(_, text)| !is_workspace(text));
    assert_none(&members.flat_map(|(path, text)| own_versions(&tree::shown(path), text)).collect::<Vec<_>>());
    Ok(())
}

/// The root's manifest, and those of projects that are no members: the fuzz targets, which another toolchain builds, and
/// benchmarks, whose candidates are no dependencies of ours.
fn is_workspace(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[workspace]")
}

#[test]
fn a_silent_or_versioned_line_is_found() {
    let root = "[workspace.dependencies]\nours = { path = \"ours\" }\nurl = \"2\" # WHATWG URLs\nbytes = \"1\"\nclap = \"4\" #  \n[profile.dev]\nx = 1";
    assert_eq!(
        without_reason(root),
        ["Cargo.toml:4: no reason on the line: bytes = \"1\"", "Cargo.toml:5: no reason on the line: clap = \"4\" #"]
    );
    let member = "[package]\nname = \"x\"\n[dependencies]\nurl.workspace = true\nserde = { workspace = true, features = [] }\nbytes = \"1\"\n[dev-dependencies.clap]\nversion = \"4\"\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"";
    assert_eq!(
        own_versions("m", member),
        [
            "m:6: not `workspace = true`: bytes = \"1\"",
            "m:8: not `workspace = true`: version = \"4\"",
            "m:10: not `workspace = true`: libc = \"0.2\"",
        ]
    );
}
