//! Killed at every point where something becomes durable, the next run ends as if nothing had been.

use std::env;
use std::path::Path;
use std::process::Command;

use corpora_contracts::summary::StageStatus;
use corpora_stage::fault::STORE_POINTS;

use crate::world::{Source, World, many, snapshot};

/// Where the child process finds its artifacts.
const ARTIFACTS: &str = "STORE_TEST_ARTIFACTS";

const STORE: &str = "shard_rows = 4\nval_permille = 200";

fn sources() -> [Source; 2] {
    [many("a", 10), many("b", 3)]
}

/// The child process, which is killed on its way; without artifacts there is nothing to do.
#[test]
fn one_run() {
    let Ok(artifacts) = env::var(ARTIFACTS) else { return };
    World::standing_at(Path::new(&artifacts), &sources(), STORE).store(2, StageStatus::Done);
}

/// Runs the stage in a process of its own, and says whether it was killed at the point.
fn dies_at(world: &World, point: &str) -> bool {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "crash::one_run"]).env(ARTIFACTS, world.layout.root()).env("CORPORA_FAILPOINT", point);
    let status = child.output().unwrap().status;
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(9)
}

#[test]
fn killed_at_every_point_the_next_run_ends_as_if_nothing_had_been() {
    let undisturbed = World::new(&sources(), STORE);
    undisturbed.store(2, StageStatus::Done);
    let staged = snapshot(&undisturbed.staged());
    let datasets = |world: &World| world.layout.datasets(&world.config.dataset);
    for replaces in [false, true] {
        let mut killed = 0;
        for point in STORE_POINTS {
            for nth in 1.. {
                let mut world = World::new(&sources(), STORE);
                if replaces {
                    world.reconfigure(&sources(), "");
                    world.store(2, StageStatus::Done);
                    world.reconfigure(&sources(), STORE);
                }
                let before = snapshot(&world.staged());
                if !dies_at(&world, &format!("{point}:{nth}")) {
                    assert!(nth > 1, "{point} is on the way");
                    break;
                }
                killed += 1;
                let now = snapshot(&world.staged());
                assert!([&before, &staged].contains(&&now), "{point}:{nth}: never a half");
                let record_stands = point == "store-record.after";
                world.store(1, if record_stands { StageStatus::Cached } else { StageStatus::Done });
                assert_eq!(snapshot(&world.staged()), staged, "{point}:{nth}");
                let names = corpora_stage::durable::names_in(&datasets(&world)).unwrap();
                assert_eq!(names, ["v1.staged"], "{point}:{nth}");
                let record = world.layout.stage("store", &world.config.dataset, &world.config.version);
                assert_eq!(corpora_stage::durable::names_in(&record).unwrap(), ["_STAGE.json"], "{point}:{nth}");
                world.store(2, StageStatus::Cached);
            }
        }
        assert!(killed >= STORE_POINTS.len() + 3, "every shard is a point: {killed}");
    }
}
