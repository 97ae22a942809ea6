//! Every state that a crash can leave, and what the next run makes of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::Verified;
use corpora_contracts::summary::StageStatus;
use corpora_license::Policy;

use crate::lab::{Lab, tree};

type Tree = BTreeMap<String, Vec<u8>>;

/// A dataset that is published, and the one that store made after the ledger changed.
struct World {
    lab: Lab,
    /// As published.
    old: Tree,
    /// As store made it.
    fresh: Tree,
    /// `_VERIFIED.json` of the new one.
    verified: Vec<u8>,
}

impl World {
    /// Nothing stands in the folder of the datasets.
    fn new() -> Self {
        let lab = Lab::published();
        let old = tree(&lab.published_dir());
        lab.append_rows(&[Row { notes: "corrected".into(), ..lab.last_row("b") }]);
        lab.stage();
        let fresh = tree(&lab.staged_dir());
        let verified = Verified {
            manifest_sha256: Digest::of(&fresh["_MANIFEST.json"]),
            rows_sha256: Digest::of(&fresh["ledger.jsonl"]),
            policy_sha256: Policy::default().digest(),
        };
        let verified = (serde_json::to_string(&verified).unwrap() + "\n").into_bytes();
        let world = Self { lab, old, fresh, verified };
        fs::remove_dir_all(world.folder()).unwrap();
        fs::create_dir_all(world.folder()).unwrap();
        world
    }

    fn folder(&self) -> PathBuf {
        self.lab.layout.datasets(&self.lab.config.dataset)
    }

    fn new_verified(&self) -> Tree {
        let mut new = self.fresh.clone();
        new.insert("_VERIFIED.json".into(), self.verified.clone());
        new
    }

    fn put(&self, name: &str, tree: &Tree) {
        for (path, bytes) in tree {
            let path = self.folder().join(name).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    fn journal(&self) {
        fs::write(self.folder().join(".v1.swap.json"), &self.verified).unwrap();
    }

    fn names(&self) -> Vec<String> {
        corpora_stage::durable::names_in(&self.folder()).unwrap()
    }
}

/// What stands, how it was put there, and the status of the next run, after which the new one is published alone.
type State = (&'static str, fn(&World), StageStatus);

#[rustfmt::skip]
const STATES: &[State] = &[
    ("nothing began", |w| { w.put("v1", &w.old); w.put("v1.staged", &w.fresh); }, StageStatus::Done),
    ("the journal is half written", |w| { w.put("v1", &w.old); w.put("v1.staged", &w.fresh); write(w, "..v1.swap.json~7.tmp"); }, StageStatus::Done),
    ("the journal stands", |w| { w.put("v1", &w.old); w.put("v1.staged", &w.fresh); w.journal(); }, StageStatus::Done),
    ("the mark is half written", |w| { w.put("v1", &w.old); w.put("v1.staged", &w.fresh); write(w, "v1.staged/._VERIFIED.json~7.tmp"); w.journal(); }, StageStatus::Done),
    ("the mark stands", |w| { w.put("v1", &w.old); w.put("v1.staged", &w.new_verified()); w.journal(); }, StageStatus::Done),
    ("the folders are exchanged", |w| { w.put("v1", &w.new_verified()); w.put("v1.staged", &w.old); w.journal(); }, StageStatus::Cached),
    ("the folders are exchanged, and the journal is gone", |w| { w.put("v1", &w.new_verified()); w.put("v1.staged", &w.old); }, StageStatus::Cached),
    ("the old one is taken out of sight", |w| { w.put("v1", &w.new_verified()); w.put(".v1~7.tmp", &w.old); w.journal(); }, StageStatus::Cached),
    ("the old one is half removed", |w| { w.put("v1", &w.new_verified()); w.put(".v1~7.tmp", &half(&w.old)); w.journal(); }, StageStatus::Cached),
    ("the journal is left", |w| { w.put("v1", &w.new_verified()); w.journal(); }, StageStatus::Cached),
    ("store was faster than the next run", |w| { w.put("v1", &w.new_verified()); w.put("v1.staged", &w.fresh); w.put(".v1~7.tmp", &half(&w.old)); w.journal(); }, StageStatus::Done),
    ("the first one, before it has its name", |w| { w.put("v1.staged", &w.new_verified()); w.journal(); }, StageStatus::Done),
    ("the first one, without a journal", |w| w.put("v1.staged", &w.new_verified()), StageStatus::Done),
    ("without exchange: the name is free", |w| { w.put(".v1~7.tmp", &w.old); w.put("v1.staged", &w.new_verified()); w.journal(); }, StageStatus::Done),
    ("without exchange: the name is taken again", |w| { w.put(".v1~7.tmp", &w.old); w.put("v1", &w.new_verified()); w.journal(); }, StageStatus::Cached),
    ("something else was taken out", |w| { w.put(".v1~7.tmp", &w.fresh); w.put("v1.staged", &w.fresh); }, StageStatus::Done),
];

#[test]
fn every_state_of_a_swap_ends_with_the_new_one_published_alone() {
    for (state, make, status) in STATES {
        let world = World::new();
        make(&world);
        world.lab.expect(*status);
        assert_eq!(world.names(), ["v1"], "{state}");
        assert!(tree(&world.lab.published_dir()) == world.new_verified(), "{state}");
        world.lab.expect(StageStatus::Cached);
    }
}

#[test]
fn an_interrupted_swap_of_what_is_refused_now_is_undone() {
    for (state, old) in [("the mark stands", "v1"), ("without exchange: the name is free", ".v1~7.tmp")] {
        let world = World::new();
        world.put(old, &world.old);
        world.put("v1.staged", &world.new_verified());
        world.journal();
        world.lab.append_rows(&[Row { revoked: Some(true), ..world.lab.last_row("a") }]);
        let entry = world.lab.expect(StageStatus::Failed);
        assert_eq!(entry.error.unwrap().kind, "refused", "{state}");
        assert_eq!(world.names(), ["v1", "v1.staged"], "{state}");
        assert!(tree(&world.lab.published_dir()) == world.old, "{state}");
        assert!(tree(&world.lab.staged_dir()) == world.fresh, "{state}: it counts as accepted no more");
    }
}

#[test]
fn what_was_taken_out_never_comes_back() {
    let world = World::new();
    world.put("v1", &world.new_verified());
    world.put("v1.staged", &world.old);
    world.journal();
    // The ledger now says what it said when the old one was accepted: it would be accepted again.
    let ledger = corpora_stage::ledger::read(&world.lab.layout).unwrap();
    fs::remove_file(world.lab.layout.ledger()).unwrap();
    world.lab.append_rows(&ledger.rows()[..2]);
    let entry = world.lab.expect(StageStatus::Failed);
    assert_eq!(entry.error.unwrap().kind, "stale");
    assert_eq!(world.names(), ["v1"]);
    assert!(tree(&world.lab.published_dir()) == world.new_verified());
}

#[test]
fn nothing_without_a_mark_of_its_own_is_put_back() {
    let world = World::new();
    let mut foreign = world.fresh.clone();
    foreign.insert("_VERIFIED.json".into(), world.old["_VERIFIED.json"].clone());
    world.put(".v1~7.tmp", &foreign);
    let entry = world.lab.expect(StageStatus::Failed);
    assert_eq!(entry.error.unwrap().kind, "not_staged");
    assert_eq!(world.names(), [""; 0]);
}

#[test]
fn other_versions_are_left_alone() {
    let world = World::new();
    world.put("v1.staged", &world.fresh);
    let others = [".v1.2~7.tmp", ".v1.staged.tmp", ".v2.swap.json", ".v2~7.tmp", "v1.2", "v1.2.staged"];
    others.iter().for_each(|name| world.put(name, &half(&world.old)));
    world.lab.expect(StageStatus::Done);
    let mut expected: Vec<&str> = others.into_iter().chain(["v1"]).collect();
    expected.sort_unstable();
    assert_eq!(world.names(), expected);
}

/// A tree whose removal has begun.
fn half(tree: &Tree) -> Tree {
    tree.clone().into_iter().filter(|(name, _)| !name.starts_with('_')).collect()
}

fn write(world: &World, name: &str) {
    fs::write(world.folder().join(name), "half").unwrap();
}

/// Kills at every point, in processes of their own.
#[cfg(feature = "faults")]
mod killed {
    use std::path::Path;
    use std::process::Command;

    use corpora_contracts::layout::Layout;
    use corpora_stage::fault::VERIFY_POINTS;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::lab::{CONFIG, config, run};

    const ROOT: &str = "VERIFY_LEDGER_TEST_ROOT";

    #[test]
    #[ignore = "runs only as a child of the test of kill points"]
    fn child() {
        let root = std::env::var_os(ROOT).unwrap();
        let outcome = run(&config(CONFIG), &Layout::new(root), CancellationToken::new());
        panic!("it was not killed: {:?}", outcome.summary);
    }

    fn run_and_die(root: &Path, point: &str) {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "crashes::killed::child"]);
        let output = child.env(ROOT, root).env("CORPORA_FAILPOINT", point).output().unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(9), "{point}: {}", String::from_utf8_lossy(&output.stdout));
    }

    #[test]
    fn a_run_killed_at_any_point_is_finished_by_the_next_one() {
        for point in VERIFY_POINTS {
            for has_old in [false, true] {
                let world = World::new();
                world.put("v1.staged", &world.fresh);
                if has_old {
                    world.put("v1", &world.old);
                }
                run_and_die(world.lab.root.path(), point);
                let published = tree(&world.lab.published_dir());
                let swapped = point == "swap.after";
                let expected = match (swapped, has_old) {
                    (true, _) => world.new_verified(),
                    (false, true) => world.old.clone(),
                    (false, false) => Tree::new(),
                };
                assert!(published == expected, "{point}, old: {has_old}");
                world.lab.expect(if swapped { StageStatus::Cached } else { StageStatus::Done });
                assert_eq!(world.names(), ["v1"], "{point}, old: {has_old}");
                assert!(tree(&world.lab.published_dir()) == world.new_verified(), "{point}, old: {has_old}");
            }
        }
    }
}
