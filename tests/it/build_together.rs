//! Two builds at once over one artifacts directory.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use corpora_tests::harness::{ConfigToml, Lab, Outcome, PUBLISHED, Tree, documents, skipped, wait_until};
use corpora_tests::servers::{Answer, Gate};

/// A lab whose downloads wait at the gate.
fn lab(gate: &Gate) -> Lab {
    let lab = Lab::new().with_proxy();
    lab.work.configure(ConfigToml::shelved(lab.shelf()));
    lab.server.serve("/many.jsonl", Answer::object(documents("many", 60)).held_at(gate));
    lab
}

fn made(lab: &Lab) -> Tree {
    let mut tree = lab.work.tree();
    tree.files.retain(|path, _| !path.ends_with("/metadata.sqlite") && !path.ends_with("/_STAGE.json"));
    tree
}

/// What one build alone makes.
fn alone() -> Tree {
    let gate = Gate::opening_at(1);
    let lab = lab(&gate);
    let _ = lab.build().run().exits(0);
    made(&lab)
}

#[track_caller]
fn assert_one_right_result(lab: &Lab) {
    let (mut made, mut alone) = (made(lab), alone());
    // Each run appends its rows in config order; which run appends first is open.
    made.files.remove("corpus/LEDGER.jsonl");
    alone.files.remove("corpus/LEDGER.jsonl");
    assert_eq!(made, alone);
    let mut ids = lab.work.ledger_ids();
    ids.sort();
    assert_eq!(ids, ["many", "notes", "tiny"], "each row once");
    let _ = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run().exits(0);
    lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn two_builds_share_the_work_and_both_end_well() {
    let gate = Gate::closed();
    let lab = lab(&gate);
    let first = lab.build().start();
    gate.wait_for(1);
    let second = lab.build().start();
    second.wait_until_stderr_says("many.lock");
    gate.open();
    let runs: [Outcome; 2] = [first.wait().exits(0), second.wait().exits(0)];
    for run in &runs {
        assert_eq!(run.build_summary().n_docs, 66, "{}", run.stdout);
    }
    assert_eq!(lab.server.requests("/many.jsonl").len(), 1, "what one downloads, the other does not");
    assert_one_right_result(&lab);
}

#[test]
fn a_build_that_does_not_wait_for_locks_leaves_them_to_the_other() {
    let gate = Gate::closed();
    let lab = lab(&gate);
    let first = lab.build().start();
    gate.wait_for(1);
    for id in ["tiny", "notes"] {
        wait_until(|| lab.work.versions(id) == ["20260101"]);
    }
    let second = lab.build().args(["--lock-timeout", "0"]).run().exits(75);
    assert!(second.stderr.contains("many.lock"), "{}", second.stderr);
    assert_eq!(second.build_summary().dataset_dir, "");
    gate.open();
    let _ = first.wait().exits(0);
    assert_one_right_result(&lab);
}

#[test]
fn builds_that_start_in_step_end_with_one_result() {
    for stage in ["fetch", "extract", "store"] {
        let gate = Gate::opening_at(1);
        let lab = lab(&gate);
        let _ = lab.build().args(["--until", stage]).run().exits(0);
        let running = [lab.build().start(), lab.build().start(), lab.build().start()];
        for run in running {
            let run = run.wait().exits(0);
            assert!(run.took < Duration::from_secs(30), "{:?}", run.took);
        }
        assert_one_right_result(&lab);
    }
}

/// Whether the file system below a folder can exchange two names in one step.
#[expect(unsafe_code, reason = "renameat2 takes two C strings that outlive the call")]
fn can_exchange(folder: &Path) -> bool {
    let names = ["one", "two"].map(|name| folder.join(name));
    names.iter().for_each(|name| fs::create_dir(name).unwrap());
    let [one, two] = names.map(|name| CString::new(name.into_os_string().into_encoded_bytes()).unwrap());
    let (cwd, exchange) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
    unsafe { libc::renameat2(cwd, one.as_ptr(), cwd, two.as_ptr(), exchange) == 0 }
}

#[test]
fn a_reader_finds_the_old_or_the_new_dataset_at_every_moment() {
    let gate = Gate::opening_at(1);
    let lab = lab(&gate);
    if !can_exchange(lab.work.root()) {
        skipped("the swap under a reader's eyes", "this file system cannot exchange two names");
        return;
    }
    let _ = lab.build().run().exits(0);
    let read = || fs::read(lab.work.path(&format!("{PUBLISHED}/_MANIFEST.json"))).expect("a manifest is there");
    let mut seen = BTreeSet::from([read()]);
    let [tiny, many, notes] = lab.shelf();
    for licence in ["MIT", "CC-BY-4.0"] {
        lab.work.configure(ConfigToml::shelved([
            tiny.clone(),
            many.clone(),
            notes.clone().with("license_spdx", licence),
        ]));
        let mut running = lab.build().start();
        while running.runs() {
            seen.insert(read());
        }
        let _ = running.wait().exits(0);
        seen.insert(read());
    }
    assert_eq!(seen.len(), 3, "each dataset whole, and nothing else");
}
