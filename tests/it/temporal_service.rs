//! A service that goes away: builds wait for it and go on.

use std::thread::sleep;
use std::time::Duration;

use corpora_tests::harness::{documents, wait_until};
use corpora_tests::servers::Answer;
use corpora_tests::services::{Scene, object, steps};

#[test]
fn a_service_that_restarts_loses_nothing() {
    let Some(mut scene) = Scene::start() else { return };
    let gate = scene.two_sources(Answer::object(documents("b", 3)));
    let waiting = scene.begin_small().arg("--wait").start();
    gate.wait_for(1);
    scene.wait_for_receipt("a");
    scene.temporal.go_away();
    scene.temporal.come_back();
    gate.open();
    let report = object(&waiting.wait().exits(0));
    assert!(steps(&report).iter().all(|(_, status, _)| status == "done"), "{report}");
    assert_eq!(scene.made(), scene.undisturbed(&scene.lab.work.config_file()));
}

#[test]
fn a_step_that_ends_while_the_service_is_away_is_not_done_twice() {
    let Some(mut scene) = Scene::start() else { return };
    let gate = scene.two_sources(Answer::object(documents("b", 3)));
    let waiting = scene.begin_small().arg("--wait").start();
    gate.wait_for(1);
    scene.wait_for_receipt("a");
    scene.temporal.go_away();
    gate.open();
    scene.wait_for_receipt("b");
    wait_until(|| scene.children().is_empty());
    // Longer than the heartbeat timeout: when the service is back, the attempt counts as lost.
    sleep(Duration::from_secs(3));
    scene.temporal.come_back();
    let report = object(&waiting.wait().exits(0));
    assert!(steps(&report).iter().all(|(_, status, _)| status == "done"), "{report}");
    assert_eq!(scene.lab.server.requests("/b.jsonl").len(), 1, "its DONE.json says so");
    assert_eq!(scene.made(), scene.undisturbed(&scene.lab.work.config_file()));
}
