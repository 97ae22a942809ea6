//! Killed at every kill point, run again, and compared with an undisturbed run.

use std::process::Command;

use corpora_contracts::summary::StageStatus;
use corpora_stage::fault::EXTRACT_POINTS;

use super::world::{World, names};

const WORLD: &str = "EXTRACT_TEST_WORLD";

fn world_at(root: &std::path::Path) -> World {
    World::at(root, &["tiny"])
}

/// The run that is killed: this test alone, in a process of its own.
#[tokio::test]
async fn child() {
    let Some(root) = std::env::var_os(WORLD) else { return };
    world_at(root.as_ref()).run().await;
}

#[tokio::test]
async fn a_killed_run_is_made_good_by_the_next() {
    let parts: [&[&str]; 3] = [&["A text.", "B text."], &["C text."], &[]];
    let undisturbed = World::new(&["tiny"]);
    undisturbed.fetched("tiny", &parts);
    undisturbed.expect(&[StageStatus::Done]).await;
    // Once into an empty place, and once over documents of older terms.
    for older in [false, true] {
        for point in EXTRACT_POINTS {
            let world = World::new(&["tiny"]);
            world.fetched("tiny", &parts);
            if older {
                world.row("tiny", |row| row.license_spdx = "MIT".to_owned());
                world.expect(&[StageStatus::Done]).await;
                world.row("tiny", |_| {});
            }
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "killed::child"]).env(WORLD, world.root()).env("CORPORA_FAILPOINT", point);
            let ended = child.output().unwrap().status;
            assert!(!ended.success() && ended.code().is_none(), "{point} was not reached: {ended}");
            let published = point == "extract.after";
            world.expect(&[if published { StageStatus::Cached } else { StageStatus::Done }]).await;
            assert!(world.extracted() == undisturbed.extracted(), "{point}");
            assert_eq!(names(world.folder("tiny").parent().unwrap()), ["tiny"], "{point}");
        }
    }
}
