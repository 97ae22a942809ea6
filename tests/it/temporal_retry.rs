//! What ends an attempt, and whether another one follows: asked of a real Temporal server.

use corpora_tests::harness::{ConfigToml, Signal, TINY, documents, signal_process, wait_until};
use corpora_tests::servers::{Answer, Gate};
use corpora_tests::services::{SMALL, Scene, all, events, object, script, steps};
use serde_json::Value;

/// Fetch gives up at the first answer that may pass, so that the service makes the attempts; other stages are as ever.
const ONE_ATTEMPT: &str = r#"if [ "$1" = fetch ]; then set -- "$@" --attempts 1; fi; exec "$corpora" "$@""#;

/// The last failure that the service remembers of the only activity that took several attempts.
fn last_failure(scene: &Scene) -> (u64, String, String) {
    let history = scene.temporal.history(SMALL);
    let started = events(&history, "ACTIVITY_TASK_STARTED", "activityTaskStartedEventAttributes");
    let again: Vec<_> = started.into_iter().filter(|event| event["attempt"].as_u64() > Some(1)).collect();
    assert_eq!(again.len(), 1, "one activity of several attempts: {history:?}");
    let event = again[0];
    let told = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let failure = &event["lastFailure"];
    (event["attempt"].as_u64().unwrap(), told(&failure["applicationFailureInfo"]["type"]), told(&failure["message"]))
}

#[test]
fn a_busy_server_is_asked_again_by_the_retry_policy() {
    let folder = tempfile::tempdir().unwrap();
    let Some(scene) = Scene::running(&script(folder.path(), ONE_ATTEMPT), []) else { return };
    let busy = Answer::status(503);
    scene.lab.server.script("/tiny.jsonl", [busy.clone(), busy, Answer::object(TINY)]);
    scene.lab.work.configure(scene.lab.tiny());
    let report = object(&scene.build().exits(0));
    let after = all(&["commit", "extract-tiny", "store", "verify-ledger"], "done", 1);
    assert_eq!(steps(&report), [all(&["fetch-tiny"], "done", 3), after].concat());
    assert_eq!(scene.lab.server.requests("/tiny.jsonl").len(), 3);
    let (attempt, kind, message) = last_failure(&scene);
    assert_eq!((attempt, kind.as_str()), (3, "ExitCode75"));
    assert!(message.contains("tiny") && message.contains("503"), "the child's own words: {message}");
}

#[test]
fn a_server_that_asks_for_time_gets_it() {
    let Some(scene) = Scene::start() else { return };
    scene.lab.server.serve("/tiny.jsonl", Answer::status(429).header("Retry-After", "3600"));
    scene.lab.work.configure(scene.lab.tiny());
    let _ = scene.begin_small().run().exits(0);
    let mut interval: Option<f64> = None;
    wait_until(|| {
        let pending = scene.temporal.pending(SMALL);
        let waiting = pending.iter().find(|activity| activity["attempt"].as_u64() == Some(2));
        interval =
            waiting.and_then(|activity| activity["currentRetryInterval"].as_str()?.trim_end_matches('s').parse().ok());
        interval.is_some()
    });
    assert_eq!(interval.map(f64::floor), Some(3600.0), "not the policy's 0.05 s");
    assert_eq!(scene.lab.server.requests("/tiny.jsonl").len(), 1, "the child does not wait for an hour itself");
    scene.temporal.cancel(SMALL);
}

/// The words that `temporal workflow show` has for people about the latest run.
fn shown(scene: &Scene) -> String {
    scene.temporal.say(&["workflow", "show", "--workflow-id", SMALL])
}

#[test]
fn wrong_input_is_tried_once_and_its_message_can_be_read() {
    let Some(scene) = Scene::start() else { return };
    let good = scene.lab.serve("good", &documents("good", 3));
    let lost = scene.lab.source("lost", b"was here");
    let swapped = scene.lab.serve("swapped", b"other bytes").with("sha256", "0".repeat(64));
    // A failure stops the others, so it waits until they are done.
    let gate = Gate::closed();
    scene.lab.server.serve("/lost.jsonl", Answer::status(404).held_at(&gate));
    for (bad, id, says) in [(lost, "lost", "404"), (swapped, "swapped", &*"0".repeat(64))] {
        scene.lab.work.configure([good.clone(), bad]);
        let waiting = scene.begin_small().arg("--wait").start();
        scene.wait_for_receipt("good");
        gate.open();
        let report = object(&waiting.wait().exits(65));
        let step = format!("fetch-{id}");
        let expected = [all(&["fetch-good"], "done", 1), all(&[&step], "failed", 1), all(&["commit"], "done", 1)];
        assert_eq!(steps(&report), expected.concat());
        assert_eq!(report["steps"][1]["error"]["kind"], "ExitCode65");
        assert_eq!(scene.lab.server.requests(&format!("/{id}.jsonl")).len(), 1);
        assert_eq!(scene.lab.work.ledger_ids(), ["good"], "the rows of what was finished");
        let shown = shown(&scene);
        assert!(shown.contains(id) && shown.contains(says), "{shown}");
    }

    let (asked, rows) = (scene.lab.server.log().len(), scene.lab.work.ledger());
    let refused = scene.lab.serve("refused", &documents("refused", 3)).with("license_spdx", "CC-BY-NC-4.0");
    scene.lab.work.configure([good, refused.with("allowed_uses", vec!["train"])]);
    let report = object(&scene.build().exits(65));
    assert!(steps(&report).iter().all(|(_, status, attempts)| status != "done" && *attempts <= 1), "{report}");
    let shown = shown(&scene);
    assert!(shown.contains("CC-BY-NC-4.0"), "{shown}");
    assert_eq!((scene.lab.server.log().len(), scene.lab.work.ledger()), (asked, rows), "nothing was asked or written");
}

#[test]
fn a_child_that_somebody_else_stops_is_run_again() {
    let Some(scene) = Scene::start() else { return };
    let gate = scene.two_sources(Answer::object(documents("b", 3)));
    let waiting = scene.begin_small().arg("--wait").start();
    for (nth, signal) in [(1, Signal::Terminate), (2, Signal::Kill)] {
        gate.wait_for(nth);
        scene.wait_for_receipt("a");
        let mut children = Vec::new();
        wait_until(|| {
            children = scene.children();
            children.len() == 1
        });
        signal_process(children[0], signal);
    }
    gate.wait_for(3);
    gate.open();
    let report = object(&waiting.wait().exits(0));
    assert_eq!(steps(&report)[1], all(&["fetch-b"], "done", 3)[0]);
    let (attempt, kind, _) = last_failure(&scene);
    assert_eq!((attempt, kind.as_str()), (3, "Signal9"));
    assert!(scene.worker.stderr().contains("end=\"ExitCode130\" asked=false"), "{}", scene.worker.stderr());
}

#[test]
fn every_attempt_of_every_stage_is_told_who_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let flaky = "env >> \"$here/environment\"\n\
        if [ \"$CORPORA_ATTEMPT\" -lt 3 ]; then echo \"not at $CORPORA_ATTEMPT\" >&2; exit 75; fi\n\
        exec \"$corpora\" \"$@\"";
    let Some(scene) = Scene::running(&script(folder.path(), flaky), []) else { return };
    scene.lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    scene.lab.work.configure(scene.lab.tiny());
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let ended = scene.begin_small().env("TRACEPARENT", trace).arg("--wait").run().exits(0);
    let report = object(&ended);
    let ids = ["fetch-tiny", "commit", "extract-tiny", "store", "verify-ledger"];
    assert_eq!(steps(&report), all(&ids, "done", 3));
    assert_eq!(scene.lab.work.ledger_ids(), ["tiny"]);

    let history = scene.temporal.history(SMALL);
    let started = events(&history, "ACTIVITY_TASK_STARTED", "activityTaskStartedEventAttributes");
    let failure = &started.last().unwrap()["lastFailure"];
    assert_eq!(failure["applicationFailureInfo"]["type"], "ExitCode75", "{failure}");
    assert_eq!(failure["message"], "not at 2");

    let environment = std::fs::read_to_string(folder.path().join("environment")).unwrap();
    let values = |name: &str| {
        let prefix = format!("{name}=");
        let mut values: Vec<&str> = environment.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
        values.dedup();
        values
    };
    let run = report["run_id"].as_str().unwrap();
    assert_eq!(values("CORPORA_IDEMPOTENCY_KEY"), ids.map(|id| format!("{SMALL}/{run}/{id}")));
    assert_eq!(values("CORPORA_ATTEMPT"), ["1", "2", "3"].repeat(ids.len()));
    assert_eq!(values("HF_TOKEN"), ["of the worker"]);
    assert_eq!(values("TRACEPARENT").len(), 3 * ids.len(), "a span for each attempt");
    assert!(values("TRACEPARENT").iter().all(|span| span.starts_with(&trace[..35])), "{:?}", values("TRACEPARENT"));
    assert!(!environment.contains("TEMPORAL_"), "{environment}");
}

#[test]
fn the_end_of_what_a_child_says_is_the_message_whole_characters_only() {
    let folder = tempfile::tempdir().unwrap();
    let talkative = "i=0; while [ $i -lt 400 ]; do printf 'überfällig ' >&2; i=$((i + 1)); done; echo end >&2; exit 65";
    let Some(scene) = Scene::running(&script(folder.path(), talkative), []) else { return };
    scene.lab.work.configure(ConfigToml::new([scene.lab.tiny()]));
    let _ = scene.build().exits(65);
    let history = scene.temporal.history(SMALL);
    let failed = events(&history, "ACTIVITY_TASK_FAILED", "activityTaskFailedEventAttributes");
    let message = failed[0]["failure"]["message"].as_str().unwrap();
    assert!((4000..=4096).contains(&message.len()) && message.ends_with("überfällig end"), "{message}");
    assert!(!message.contains('\u{fffd}'), "{message}");
}
