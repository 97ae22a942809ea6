//! Stopped in the middle: a cancelled build, a worker that is told to stop, and what goes on elsewhere afterwards.

use std::time::Duration;

use corpora_tests::harness::{SourceToml, documents, noise, wait_until};
use corpora_tests::servers::{Answer, Gate};
use corpora_tests::services::{SMALL, Scene, all, object, script, steps};

/// What has arrived of source `slow` when its server falls silent, and all of it.
const ARRIVED: u64 = 300_000;
const WHOLE: usize = 900_000;

/// Source `slow`: the server sends a third of it and is silent for longer than any test takes; whoever asks again gets
/// the rest.
fn slow(scene: &Scene) -> SourceToml {
    let bytes = noise(3, WHOLE);
    let answer = Answer::object(&bytes).etag("\"v1\"");
    scene.lab.server.script("/slow.jsonl", [answer.clone().stall_after(ARRIVED, Duration::from_secs(60)), answer]);
    scene.lab.source("slow", &bytes)
}

fn wait_for_the_part(scene: &Scene) {
    let part = scene.lab.work.path("corpus/downloads/slow/slow.jsonl.part");
    wait_until(|| part.metadata().is_ok_and(|part| part.len() == ARRIVED));
}

/// The ranges that were asked of `slow`: all of it, then from where the first answer ended.
#[track_caller]
fn assert_resumed(scene: &Scene) {
    assert_eq!(scene.lab.server.ranges("/slow.jsonl"), ["".to_owned(), format!("bytes={ARRIVED}-")]);
}

#[test]
fn a_cancelled_build_keeps_what_is_done_and_the_next_goes_on_from_there() {
    let Some(scene) = Scene::start() else { return };
    let a = scene.lab.serve("a", &documents("a", 3));
    scene.lab.work.configure([a, slow(&scene)]);
    let waiting = scene.begin_small().arg("--wait").start();
    scene.wait_for_receipt("a");
    wait_for_the_part(&scene);
    scene.temporal.cancel(SMALL);
    let report = object(&waiting.wait().exits(130));
    let expected = [all(&["fetch-a"], "done", 1), all(&["fetch-slow"], "cancelled", 1), all(&["commit"], "done", 1)];
    assert_eq!((steps(&report), &report["ok"]), (expected.concat(), &false.into()));
    assert_eq!(scene.lab.work.ledger_ids(), ["a"]);
    assert!(scene.worker.stderr().contains("end=\"ExitCode130\" asked=true"), "{}", scene.worker.stderr());
    assert_eq!(scene.children(), [0; 0]);
    wait_for_the_part(&scene);

    let report = object(&scene.build().exits(0));
    assert!(steps(&report).iter().all(|(_, status, attempts)| status == "done" && *attempts == 1), "{report}");
    assert_resumed(&scene);
    assert_eq!(scene.lab.work.ledger_ids(), ["a", "slow"]);
}

#[test]
fn a_child_that_does_not_obey_is_killed_after_the_grace() {
    let folder = tempfile::tempdir().unwrap();
    let deaf = "case \"$*\" in fetch*--source*) ;; *) exec \"$corpora\" \"$@\" ;; esac\n\
        trap '' TERM; : > \"$here/ready\"; while :; do sleep 0.05; done";
    let program = script(folder.path(), deaf);
    let Some(scene) = Scene::running(&program, ["--cancel-grace", "0.7"]) else { return };
    scene.lab.work.configure(scene.lab.tiny());
    let waiting = scene.begin_small().arg("--wait").start();
    wait_until(|| folder.path().join("ready").exists());
    scene.temporal.cancel(SMALL);
    let report = object(&waiting.wait().exits(130));
    assert_eq!(steps(&report), [all(&["fetch-tiny"], "cancelled", 1), all(&["commit"], "done", 1)].concat());
    assert!(scene.worker.stderr().contains("end=\"Signal9\" asked=true"), "{}", scene.worker.stderr());
    assert_eq!(scene.children(), [0; 0]);
}

#[test]
fn a_worker_that_is_told_to_stop_does_so_soon_and_its_steps_go_on_elsewhere() {
    let Some(mut scene) = Scene::start() else { return };
    scene.lab.work.configure([slow(&scene)]);
    let waiting = scene.begin_small().arg("--wait").start();
    wait_for_the_part(&scene);
    let took = scene.worker.stop();
    assert!(took < Duration::from_secs(10), "the child obeys at once, and the grace is 30 s: {took:?}");
    assert!(scene.worker.stderr().contains("end=\"ExitCode130\" asked=true"), "{}", scene.worker.stderr());
    assert_eq!(scene.children(), [0; 0]);
    scene.replace_worker();
    let report = object(&waiting.wait().exits(0));
    assert_eq!(steps(&report)[0], all(&["fetch-slow"], "done", 2)[0]);
    assert_resumed(&scene);
}

#[test]
fn two_workers_share_the_work() {
    let Some(scene) = Scene::running(corpora_tests::harness::program(), ["--jobs", "1"]) else { return };
    let second = scene.another_worker();
    // Nobody gets an answer before two ask, and each worker has room for one step.
    let gate = Gate::opening_at(2);
    let ids = ["a", "b", "c", "d"];
    let sources = ids.map(|id| {
        let bytes = documents(id, 3);
        scene.lab.server.serve(&format!("/{id}.jsonl"), Answer::object(&bytes).held_at(&gate));
        scene.lab.source(id, &bytes)
    });
    scene.lab.work.configure(sources);
    let report = object(&scene.build().exits(0));
    assert!(steps(&report).iter().all(|(_, status, attempts)| status == "done" && *attempts == 1), "{report}");
    for worker in [&scene.worker, &second] {
        assert!(worker.stderr().contains("fetch-"), "each worker has run a step: {}", worker.stderr());
    }
    assert_eq!(scene.made(), scene.undisturbed(&scene.lab.work.config_file()));
}
