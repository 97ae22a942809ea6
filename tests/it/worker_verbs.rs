//! `corpora-worker status`, `pause`, `resume` and `cancel` against a real Temporal server.

use std::time::Duration;

use corpora_contracts::workflow::{Answer, StepStatus, WorkflowAnswer, WorkflowState, WorkflowStatus};
use corpora_tests::harness::{Outcome, Run, Signal, TINY, documents, wait_until};
use corpora_tests::servers::Answer as Served;
use corpora_tests::services::{SMALL, Scene, object, script};

/// One of the verbs for the lab's build.
fn verb(scene: &Scene, verb: &str) -> Run {
    scene.temporal.client(&scene.lab.work.home(), [verb, SMALL])
}

#[track_caller]
fn answer(outcome: &Outcome) -> WorkflowAnswer {
    serde_json::from_value(object(outcome)).unwrap()
}

#[track_caller]
fn status(scene: &Scene) -> WorkflowStatus {
    let told = verb(scene, "status").run().exits(0);
    serde_json::from_value(object(&told)).unwrap()
}

/// Each step with what became of it.
fn told(status: &WorkflowStatus) -> Vec<(&str, StepStatus)> {
    status.steps.iter().map(|step| (step.step.as_str(), step.status)).collect()
}

#[test]
fn a_paused_build_holds_before_its_next_step_and_answers() {
    let Some(scene) = Scene::start() else { return };
    let gate = scene.two_sources(Served::object(documents("b", 3)));
    let started = answer(&scene.begin_small().run().exits(0));
    assert_eq!(started.status, Answer::Started);
    gate.wait_for(1);
    scene.wait_for_receipt("a");

    let paused = answer(&verb(&scene, "pause").run().exits(0));
    assert_eq!((paused.status, &paused.run_id), (Answer::Pausing, &started.run_id));
    let held = status(&scene);
    assert_eq!(
        (held.state, held.paused, held.stage.as_str(), held.code),
        (WorkflowState::Running, true, "fetch", None)
    );
    assert_eq!((held.counts.total, held.counts.running), (7, 1));
    gate.open();
    wait_until(|| status(&scene).counts.done == 2);
    let held = status(&scene);
    let expected = [("fetch-a", StepStatus::Done), ("fetch-b", StepStatus::Done), ("commit", StepStatus::Waiting)];
    assert_eq!((told(&held), held.counts.running), (expected.to_vec(), 0), "what ran has ended, and no step follows");
    assert_eq!(held.sources.iter().map(|source| source.source.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(scene.lab.work.rows().is_empty(), "the commit is held");

    let resumed = answer(&verb(&scene, "resume").run().exits(0));
    assert_eq!(resumed.status, Answer::Resuming);
    let ended = scene.build().exits(0);
    assert_eq!(object(&ended)["ok"], true);
    let done = status(&scene);
    let summary = (done.state, done.code, done.paused, done.counts.done, done.stage.as_str());
    assert_eq!(summary.1, Some(0));
    assert_eq!((summary.0, summary.2, summary.4), (WorkflowState::Completed, false, "verify-ledger"));
    assert!(done.ended_at.is_some_and(|ended| ended >= done.started_at) && summary.3 == 7, "{done:?}");

    let people = verb(&scene, "status").args(["--output", "text"]).run().exits(0);
    assert!(people.stdout.starts_with("small v1: completed with 0, at verify-ledger\n"), "{}", people.stdout);
    for too_late in ["pause", "resume", "cancel"] {
        let refused = verb(&scene, too_late).run().exits(65);
        assert!(refused.stderr.contains("it has ended") && refused.stdout.is_empty(), "{}", refused.stderr);
    }
    let unknown = scene.temporal.client(&scene.lab.work.home(), ["status", "corpus-build-other-v1"]).run().exits(65);
    assert!(unknown.stderr.contains("`corpus-build-other-v1` in namespace `default`"), "{}", unknown.stderr);
}

#[test]
fn attempts_and_their_reasons_are_told_while_they_last() {
    let folder = tempfile::tempdir().unwrap();
    let flaky = script(folder.path(), "echo 'failed to fetch source: 503' >&2; exit 75");
    let Some(scene) = Scene::running(&flaky, ["--jobs", "1"]) else { return };
    scene.lab.work.configure(scene.lab.serve("tiny", TINY));
    let waiting = scene.begin_small().args(["--retry-cap", "0.2", "--wait"]).start();
    waiting.wait_until_stderr_says("started");
    wait_until(|| status(&scene).steps.first().is_some_and(|step| step.attempts > 2));
    let retried = status(&scene);
    let step = &retried.steps[0];
    assert_eq!((step.step.as_str(), step.status), ("fetch-tiny", StepStatus::Running));
    let error = step.error.as_ref().unwrap();
    assert_eq!((error.kind.as_str(), error.message.as_str()), ("ExitCode75", "failed to fetch source: 503"));

    let cancelled = answer(&verb(&scene, "cancel").run().exits(0));
    assert_eq!(cancelled.status, Answer::Cancelling);
    // The commit runs whatever happens, and this program never succeeds: it has its time, so a person ends it.
    wait_until(|| told(&status(&scene)).contains(&("fetch-tiny", StepStatus::Cancelled)));
    let _ = scene.temporal.say(&["workflow", "terminate", "--workflow-id", SMALL]);
    let ended = waiting.wait().exits(130);
    assert_eq!(object(&ended)["code"], 130);
    let left = status(&scene);
    assert_eq!((left.state, left.code, left.steps.len()), (WorkflowState::Terminated, Some(130), 0));
}

#[test]
fn without_a_worker_a_build_is_told_of_and_paused_all_the_same() {
    let Some(mut scene) = Scene::start() else { return };
    let gate = scene.two_sources(Served::object(documents("b", 3)));
    let _ = scene.begin_small().run().exits(0);
    gate.wait_for(1);
    wait_until(|| status(&scene).counts.done == 1);
    scene.worker.kill();

    let told_without = verb(&scene, "status").run().exits(0);
    assert!(told_without.took < Duration::from_secs(10), "{:?}", told_without.took);
    assert!(told_without.stderr.contains("no worker answers"), "{}", told_without.stderr);
    let without: WorkflowStatus = serde_json::from_value(object(&told_without)).unwrap();
    assert_eq!((without.answered, without.stage.as_str(), without.state), (false, "fetch", WorkflowState::Running));
    assert_eq!(told(&without), [("fetch-b", StepStatus::Running)], "what the service knows of");
    let _ = verb(&scene, "pause").run().exits(0);

    gate.open();
    scene.replace_worker();
    wait_until(|| status(&scene).counts.done == 2);
    assert!(status(&scene).paused);
    let _ = verb(&scene, "resume").run().exits(0);
    let _ = scene.build().exits(0);
}

#[test]
fn whoever_waits_may_leave_and_the_build_goes_on() {
    let Some(scene) = Scene::start() else { return };
    let gate = scene.two_sources(Served::object(documents("b", 3)));
    for signal in [Signal::Interrupt, Signal::Terminate] {
        let waiting = scene.begin_small().arg("--wait").start();
        waiting.wait_until_stderr_says("run_id");
        gate.wait_for(1);
        waiting.signal(signal);
        let left = waiting.wait().exits(130);
        assert!(left.stderr.contains("goes on"), "{}", left.stderr);
        assert_eq!(object(&left)["code"], 130);
        assert_eq!(status(&scene).state, WorkflowState::Running);
    }
    gate.open();
    let _ = scene.build().exits(0);
}
