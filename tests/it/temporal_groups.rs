//! On one host, an attempt never runs beside what an earlier one left.

use std::path::Path;

use corpora_tests::harness::{TINY, documents, wait_until};
use corpora_tests::servers::Answer;
use corpora_tests::services::{SMALL, Scene, all, object, script, steps};

fn is_alive(id: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn what_a_dead_workers_child_had_started_is_ended_first() {
    let folder = tempfile::tempdir().unwrap();
    // The first attempt of fetch starts a process that does not obey, then kills its own worker.
    let orphan = "case \"$*\" in fetch*--source*) ;; *) exec \"$corpora\" \"$@\" ;; esac\n\
        if [ \"$CORPORA_ATTEMPT\" = 1 ]; then\n\
        sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' &\n\
        echo $! > \"$here/left\"; kill -9 $PPID; sleep 60\n\
        fi\n\
        if grep -q '^State:.[^ZX]' \"/proc/$(cat \"$here/left\")/status\"; then : > \"$here/beside\"; fi\n\
        exec \"$corpora\" \"$@\"";
    let program = script(folder.path(), orphan);
    let Some(mut scene) = Scene::running(&program, ["--cancel-grace", "0.5"]) else { return };
    scene.lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    scene.lab.work.configure(scene.lab.tiny());
    let waiting = scene.begin_small().arg("--wait").start();
    scene.worker.wait();
    let left = std::fs::read_to_string(folder.path().join("left")).unwrap();
    assert!(is_alive(left.trim()), "it has outlived its worker");
    scene.replace_worker();
    let report = object(&waiting.wait().exits(0));
    assert_eq!(steps(&report)[0], all(&["fetch-tiny"], "done", 2)[0]);
    assert!(!is_alive(left.trim()) && !folder.path().join("beside").exists());
    assert_eq!(scene.children(), [0; 0]);
}

#[test]
fn a_worker_that_only_counts_as_lost_does_not_work_beside_its_successor() {
    let Some(scene) = Scene::start() else { return };
    let gate = scene.two_sources(Answer::object(documents("b", 3)));
    let waiting = scene.begin_small().arg("--wait").start();
    scene.wait_for_receipt("a");
    gate.wait_for(1);
    // The child that waits for `b`.
    wait_until(|| scene.children().len() == 1);
    let first = scene.children();
    scene.worker.freeze();
    // Its child is alive and well, but the service hears nothing of it any more.
    let _second = scene.another_worker();
    gate.wait_for(2);
    assert!(!is_alive(&first[0].to_string()));
    assert_eq!(scene.children().len(), 1);
    scene.worker.thaw();
    wait_until(|| scene.worker.stderr().contains("end=\"ExitCode130\""));
    gate.open();
    let report = object(&waiting.wait().exits(0));
    // The frozen worker may have been given an attempt that it never began.
    let (step, status, attempts) = steps(&report)[1].clone();
    assert!((step.as_str(), status.as_str()) == ("fetch-b", "done") && attempts > 1, "{report}");
    let record = format!("activities/{SMALL}/{}/fetch-b/running.json", report["run_id"].as_str().unwrap());
    let record = String::from_utf8(scene.lab.work.read(&record).unwrap()).unwrap();
    assert!(record.contains(&format!("\"attempt\":{attempts},")), "{record}");
}
