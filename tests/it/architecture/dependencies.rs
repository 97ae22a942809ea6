//! Who may know whom.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

use super::{assert_none, tree};

/// Each crate and those of ours that it may know. ARCHITECTURE.md says the same for people.
pub(super) const MAY_KNOW: &[(&str, &[&str])] = &[
    ("corpora-contracts", &[]),
    ("corpora-web", &["corpora-contracts"]),
    ("corpora-license", &["corpora-contracts"]),
    ("corpora-text", &["corpora-contracts"]),
    ("corpora-stage", &["corpora-contracts"]),
    ("corpora-plan", &["corpora-contracts"]),
    ("corpora-ports", &["corpora-contracts"]),
    ("corpora-local", &["corpora-contracts", "corpora-ports"]),
    ("corpora-http", &[]),
    (
        "corpora-crawl",
        &["corpora-contracts", "corpora-http", "corpora-ports", "corpora-stage", "corpora-text", "corpora-web"],
    ),
    (
        "corpora-fetch",
        &[
            "corpora-contracts",
            "corpora-crawl",
            "corpora-http",
            "corpora-license",
            "corpora-local",
            "corpora-ports",
            "corpora-stage",
            "corpora-text",
            "corpora-web",
        ],
    ),
    ("corpora-extract", &["corpora-contracts", "corpora-stage", "corpora-text"]),
    ("corpora-store", &["corpora-contracts", "corpora-stage"]),
    ("corpora-verify-ledger", &["corpora-contracts", "corpora-license", "corpora-stage"]),
    (
        "corpora",
        &[
            "corpora-contracts",
            "corpora-crawl",
            "corpora-extract",
            "corpora-fetch",
            "corpora-license",
            "corpora-local",
            "corpora-plan",
            "corpora-ports",
            "corpora-stage",
            "corpora-store",
            "corpora-verify-ledger",
            "corpora-web",
        ],
    ),
    ("corpora-temporal", &["corpora-contracts", "corpora-plan"]),
    ("corpora-tests", &["corpora-contracts", "corpora-plan"]),
];

/// Crates of values alone, down to the last dependency.
const PURE: &[&str] = &["corpora-contracts", "corpora-license", "corpora-plan", "corpora-text", "corpora-web"];

/// What a pure crate never reaches: runtimes, sockets, processes, databases, terminals.
const IO: &[&str] =
    &["clap", "hyper", "indicatif", "mio", "reqwest", "rusqlite", "rustix", "rustls", "socket2", "tempfile", "tokio"];

/// How the crates of the orchestrator's SDK are named.
const ORCHESTRATOR: &str = "temporalio-";

/// What only binaries and tests may name: its errors tell a caller nothing to act on.
const BINARIES_ONLY: (&str, &[&str]) = ("anyhow", &["corpora", "corpora-tests"]);

/// The crate that no other one may know, not even for its tests.
const TESTS: &str = "corpora-tests";

/// A crate boundary exists only to enforce a rule.
const FEWER_THAN: usize = 20;

/// Dependencies of which two versions are built, each with its reason. One that is no longer needed is a problem too.
const TWICE: &[(&str, &str)] = &[
    ("base64", "tonic 0.14 and pbjson still ask for 0.22; reqwest and pem for 0.23"),
    ("foldhash", "comes with hashbrown"),
    ("getrandom", "ring 0.17 still asks for 0.2, ahash 0.8 for 0.3; tempfile, rand and uuid for 0.4"),
    ("hashbrown", "whatlang 0.18 and petgraph still ask for 0.15; parquet and indexmap for 0.17"),
    ("itertools", "temporalio-sdk-core and pbjson-build still ask for 0.14; prost for 0.15"),
    ("logos", "protox asks for 0.15 itself and for 0.16 by way of prost-reflect; build time only"),
    ("logos-codegen", "comes with logos"),
    ("logos-derive", "comes with logos"),
    ("num-bigint", "fraction, which jsonschema counts with, still asks for 0.4; parquet for 0.5"),
    ("prettyplease", "tonic-build still asks for 0.2; prost-build for 0.3; build time only"),
    ("syn", "part of the derive macros has moved to 3, part not; build time only"),
    ("thiserror", "rust-netrc 0.1 still asks for 1"),
    ("thiserror-impl", "comes with thiserror"),
    ("unicode-width", "miette, which protox reports with, still asks for 0.1; tables and bars for 0.2"),
];

/// Where the programs run; other systems have dependencies of their own.
const LINUX: &str = "--filter-platform=x86_64-unknown-linux-gnu";
const LINUX_TARGET: &str = "--target=x86_64-unknown-linux-gnu";

/// The packages of ours and all that they could reach.
fn metadata() -> cargo_metadata::Result<Metadata> {
    let options = ["--locked", LINUX].map(str::to_owned);
    MetadataCommand::new().manifest_path(tree::root().join("Cargo.toml")).other_options(options).exec()
}

/// `from → to` for each dependency among ours, of the kinds that `wanted` takes.
fn ours(metadata: &Metadata, wanted: impl Fn(DependencyKind) -> bool) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata.workspace_packages();
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let known = |package: &&cargo_metadata::Package| {
        let dependencies = package.dependencies.iter().filter(|dependency| wanted(dependency.kind));
        let ours = dependencies.map(|dependency| dependency.name.clone()).filter(|name| names.contains(name.as_str()));
        (package.name.to_string(), ours.collect())
    };
    packages.iter().map(known).collect()
}

/// What the table does not allow.
fn violations(known: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, ours) in known {
        let Some((_, allowed)) = MAY_KNOW.iter().find(|(row, _)| row == name) else {
            problems.push(format!("`{name}` has no row in the table of who may know whom"));
            continue;
        };
        let foreign = ours.iter().filter(|other| !allowed.contains(&other.as_str()));
        problems.extend(foreign.map(|other| format!("`{name}` may not know `{other}`")));
    }
    let gone = MAY_KNOW.iter().filter(|(row, _)| !known.contains_key(*row));
    problems.extend(gone.map(|(row, _)| format!("the table has a row for `{row}`, which is no crate")));
    problems
}

#[test]
fn every_crate_knows_only_what_it_may() -> anyhow::Result<()> {
    let metadata = metadata()?;
    let known = ours(&metadata, |kind| kind != DependencyKind::Development);
    assert_none(&violations(&known));
    assert!(known.len() < FEWER_THAN, "{} crates; a module would do", known.len());
    Ok(())
}

#[test]
fn nothing_knows_the_tests() -> anyhow::Result<()> {
    let known = ours(&metadata()?, |_| true);
    let who: Vec<&String> = known.iter().filter(|(_, ours)| ours.contains(TESTS)).map(|(name, _)| name).collect();
    assert!(who.is_empty(), "{who:?} know {TESTS}");
    Ok(())
}

#[test]
fn pure_crates_reach_no_io() -> anyhow::Result<()> {
    let metadata = metadata()?;
    for name in PURE {
        let reached = reached(&metadata, name)?;
        assert!(reached.len() > 1, "`{name}` reaches its own dependencies, so the walk works");
        let io: Vec<&&str> = IO.iter().filter(|io| reached.contains(**io)).collect();
        assert!(io.is_empty(), "`{name}` reaches {io:?}");
    }
    assert!(reached(&metadata, "corpora-fetch")?.contains("tokio"), "the walk finds what is there");
    Ok(())
}

#[test]
fn the_program_links_no_orchestrator() -> anyhow::Result<()> {
    let metadata = metadata()?;
    let links = |name: &str| anyhow::Ok(reached(&metadata, name)?.iter().any(|other| other.starts_with(ORCHESTRATOR)));
    assert!(links("corpora-temporal")?, "the walk finds what is there");
    assert!(!links("corpora")?, "the SDK belongs to the worker, which starts the program by its name");
    Ok(())
}

#[test]
fn libraries_return_errors_to_act_on() -> anyhow::Result<()> {
    let metadata = metadata()?;
    let (banned, allowed) = BINARIES_ONLY;
    let names_it =
        |package: &&&cargo_metadata::Package| package.dependencies.iter().any(|dependency| dependency.name == banned);
    let packages = metadata.workspace_packages();
    let who = packages.iter().filter(names_it).map(|package| package.name.as_str());
    assert_eq!(who.filter(|name| !allowed.contains(name)).collect::<Vec<_>>(), [""; 0], "name {banned}");
    Ok(())
}

#[test]
fn every_dependency_is_built_once() -> anyhow::Result<()> {
    let twice: BTreeMap<String, BTreeSet<String>> =
        built()?.into_iter().filter(|(_, versions)| versions.len() > 1).collect();
    let listed = |name: &str| TWICE.iter().any(|(row, _)| *row == name);
    let new = twice.iter().filter(|(name, _)| !listed(name));
    let mut problems: Vec<String> = new.map(|(name, all)| format!("`{name}` is built as {all:?}")).collect();
    let gone = TWICE.iter().filter(|(name, _)| !twice.contains_key(*name));
    problems.extend(gone.map(|(name, _)| format!("`{name}` is built once; remove it from the list")));
    assert_none(&problems);
    Ok(())
}

/// What is built for Linux, tests included, with its versions. `cargo metadata` also names what is only possible.
fn built() -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let options = ["tree", "--locked", "--workspace", "--prefix=none", "--format={p}", LINUX_TARGET];
    let output = Command::new(env!("CARGO")).current_dir(tree::root()).args(options).output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        if let [name, version, ..] = line.split(' ').collect::<Vec<_>>()[..] {
            versions.entry(name.to_owned()).or_default().insert(version.to_owned());
        }
    }
    anyhow::ensure!(versions.contains_key("serde"), "the tree is not read as it is written");
    Ok(versions)
}

/// The names of all that a crate's normal and build dependencies reach.
fn reached<'a>(metadata: &'a Metadata, name: &str) -> anyhow::Result<BTreeSet<&'a str>> {
    let resolve = metadata.resolve.as_ref().ok_or_else(|| anyhow::anyhow!("cargo resolved nothing"))?;
    let packages = metadata.workspace_packages();
    let start = packages.iter().find(|package| package.name.as_str() == name);
    let start = start.ok_or_else(|| anyhow::anyhow!("there is no crate `{name}`"))?;
    let mut todo = vec![&start.id];
    let mut seen: BTreeSet<&PackageId> = BTreeSet::new();
    while let Some(id) = todo.pop() {
        let node = resolve.nodes.iter().find(|node| node.id == *id).filter(|_| seen.insert(id));
        let dependencies = node.map_or(&[][..], |node| &node.deps).iter();
        let built = |kinds: &[cargo_metadata::DepKindInfo]| kinds.iter().any(|k| k.kind != DependencyKind::Development);
        todo.extend(dependencies.filter(|dependency| built(&dependency.dep_kinds)).map(|dependency| &dependency.pkg));
    }
    Ok(seen.into_iter().map(|id| metadata[id].name.as_str()).collect())
}

#[test]
fn a_forbidden_dependency_is_found() {
    let mut known: BTreeMap<String, BTreeSet<String>> = MAY_KNOW
        .iter()
        .map(|(name, allowed)| ((*name).to_owned(), allowed.iter().map(|other| (*other).to_owned()).collect()))
        .collect();
    assert_eq!(violations(&known), [""; 0]);
    known.insert("corpora-contracts".to_owned(), BTreeSet::from(["corpora-web".to_owned()]));
    known.insert("corpora-new".to_owned(), BTreeSet::new());
    known.remove("corpora-plan");
    assert_eq!(
        violations(&known),
        [
            "`corpora-contracts` may not know `corpora-web`",
            "`corpora-new` has no row in the table of who may know whom",
            "the table has a row for `corpora-plan`, which is no crate",
        ]
    );
}
