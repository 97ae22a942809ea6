//! A step reads nothing but what the plan names, and writes nothing else: each runs in a root that holds only that.

use std::fs;
use std::path::Path;

use corpora_contracts::config::{parse_toml, validate};
use corpora_plan::{Stage, Step};
use corpora_tests::harness::{ConfigToml, Footprints, Lab, PUBLISHED, Workspace, documents};

/// The files under `from` that a list of the plan names, at the same paths under `to`.
fn copy_named(names: &[String], from: &Path, to: &Path) {
    for name in names {
        let path = name.strip_suffix("/**").unwrap_or(name);
        copy(&from.join(path), &to.join(path));
    }
}

/// A file or a folder with all that is in it, times included, so that a record of them stays true.
fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        for entry in fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.is_file() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
        let modified = fs::metadata(from).unwrap().modified().unwrap();
        fs::File::options().write(true).open(to).unwrap().set_modified(modified).unwrap();
    }
}

fn is_named(path: &str, names: &[String]) -> bool {
    names.iter().any(|name| match name.strip_suffix("/**") {
        Some(folder) => path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        None => path == name,
    })
}

/// Runs a step in a root of its own that holds only what it reads and what it wrote before; what it wrote is brought
/// back into the common root, as an orchestrator with remote artifacts would.
fn run_alone(lab: &Lab, step: &Step) {
    let root = Workspace::new();
    let alone = root.artifacts();
    let common = lab.work.artifacts();
    copy_named(&[&step.reads[..], &step.writes[..]].concat(), common, alone);
    let before = Footprints::of(alone);
    let run = lab.program(["run", "--stage"]).args(step.arguments()).arg("--config").arg(lab.work.config_file());
    let run = if step.stage == Stage::Fetch { run.args(["--part-docs", "20"]) } else { run };
    let _ = run.env("CORPORA_ARTIFACTS", alone).run().exits(0);
    let changed = before.changes(&Footprints::of(alone));
    let stray: Vec<&String> = changed.iter().filter(|path| !is_named(path, &step.writes)).collect();
    assert!(stray.is_empty(), "{} wrote {stray:?}, and its plan says {:?}", step.id, step.writes);
    for name in &step.writes {
        let path = common.join(name.strip_suffix("/**").unwrap_or(name));
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
    copy_named(&step.writes, alone, common);
}

/// Runs every step of the plan of the lab's config, each alone.
fn build_in_roots_of_their_own(lab: &Lab) {
    let toml = fs::read_to_string(lab.work.config_file()).unwrap();
    let plan = corpora_plan::steps(&validate(&parse_toml(&toml).unwrap()).config.unwrap());
    assert_eq!(plan.steps().count(), 3 + 1 + 3 + 2);
    plan.steps().for_each(|step| run_alone(lab, step));
}

#[test]
fn every_step_reads_and_writes_only_what_its_plan_names() {
    let lab = Lab::new();
    let [tiny, many, notes] = lab.shelf();
    lab.work.configure(ConfigToml::shelved([tiny.clone(), many.clone(), notes.clone()]));
    build_in_roots_of_their_own(&lab);
    assert_eq!(lab.work.manifest().map(|manifest| manifest.n_docs), Some(66));
    let _ = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run().exits(0);
    assert_eq!(lab.dry_run([])["up_to_date"], true);

    let asked = lab.server.log().len();
    build_in_roots_of_their_own(&lab);
    assert_eq!(lab.server.log().len(), asked, "a second walk asks nothing");

    // New bytes of one source and new terms of another: a replacing build.
    let newer = documents("newer", 30);
    let sources = [tiny.with("license_spdx", "CC0-1.0"), lab.serve("many", &newer), notes];
    lab.work.configure(ConfigToml::shelved(sources));
    build_in_roots_of_their_own(&lab);
    assert_eq!(lab.work.manifest().map(|manifest| manifest.n_docs), Some(36));
    let _ = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run().exits(0);
    assert_eq!(lab.dry_run([])["up_to_date"], true);
}
