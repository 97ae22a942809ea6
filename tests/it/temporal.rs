//! `corpora-worker` against a real Temporal server: the same build as on one machine, and what becomes of failures.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use corpora_contracts::config::{parse_toml, validate};
use corpora_tests::harness::{ConfigToml, Lab, Run, worker_program};
use corpora_tests::servers::Answer;
use corpora_tests::services::{SMALL, Scene, all, events, object, steps};
use serde_json::Value;

fn quickstart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/quickstart/corpus.toml")
}

#[test]
fn a_build_is_the_same_as_on_one_machine_and_costs_nothing_twice() {
    let Some(mut scene) = Scene::start() else { return };
    let config = quickstart();
    let first = scene.begin(&config).arg("--wait").run().exits(0);
    let report = object(&first);
    assert_eq!((&report["ok"], &report["code"]), (&Value::Bool(true), &0.into()), "{report}");
    let read = validate(&parse_toml(&std::fs::read_to_string(&config).unwrap()).unwrap()).config.unwrap();
    let plan = corpora_plan::steps(&read);
    let planned: Vec<&str> = plan.steps().map(|step| step.id.as_str()).collect();
    assert_eq!(steps(&report), all(&planned, "done", 1));

    let id = "corpus-build-quickstart-v1";
    assert_eq!(report["workflow_id"], id);
    let history = scene.temporal.history(id);
    let scheduled = events(&history, "ACTIVITY_TASK_SCHEDULED", "activityTaskScheduledEventAttributes");
    let ids: Vec<&str> = scheduled.iter().map(|event| event["activityId"].as_str().unwrap()).collect();
    assert_eq!(ids, [&["plan"], &planned[..]].concat());
    let folder = format!("activities/{id}/{}/{}", report["run_id"].as_str().unwrap(), planned[0]);
    for file in ["spec.json", "progress.jsonl", "DONE.json"] {
        assert!(scene.lab.work.path(&folder).join(file).is_file(), "{file}");
    }

    let made = scene.made();
    assert!(!made.under("datasets/quickstart/v1/").is_empty(), "{made:?}");
    assert_eq!(made, scene.undisturbed(&config));
    assert_eq!((&report["dataset_dir"], &report["n_docs"]), (&"corpus/datasets/quickstart/v1".into(), &132.into()));

    let again = object(&scene.begin(&config).arg("--wait").run().exits(0));
    assert_ne!(again["run_id"], report["run_id"]);
    for step in &planned {
        let done = format!("activities/{id}/{}/{step}/DONE.json", again["run_id"].as_str().unwrap());
        let done: Value = serde_json::from_slice(&scene.lab.work.read(&done).expect("the step is done")).unwrap();
        let entries = done["result"]["entries"].as_array().unwrap();
        assert!(!entries.is_empty() && entries.iter().all(|entry| entry["status"] == "cached"), "{step}: {done}");
    }
    assert_eq!(scene.made(), made);

    let _ = scene.worker.stop();
}

#[test]
fn a_source_that_is_not_there_fails_the_build_once_and_what_is_done_is_kept() {
    let Some(scene) = Scene::start() else { return };
    let gate = scene.two_sources(Answer::status(404));
    let started = object(&scene.begin_small().run().exits(0));
    assert_eq!((&started["workflow_id"], &started["status"]), (&SMALL.into(), &"started".into()));
    gate.wait_for(1);

    let joined = object(&scene.begin_small().run().exits(0));
    assert_eq!((&joined["run_id"], &joined["status"]), (&started["run_id"], &"joined".into()));
    let other = scene.lab.work.place("other.toml", ConfigToml::new([scene.lab.tiny()]).to_toml());
    let refused = scene.begin(&other).run().exits(65);
    let digests = refused.stderr.split_whitespace().filter(|word| word.trim_matches([':', ';']).len() == 64);
    assert_eq!(digests.count(), 2, "{}", refused.stderr);

    scene.wait_for_receipt("a");
    let waiting = scene.begin_small().arg("--wait").start();
    waiting.wait_until_stderr_says("joined");
    gate.open();
    let ended = waiting.wait().exits(65);
    let report = object(&ended);
    let expected = [all(&["fetch-a"], "done", 1), all(&["fetch-b"], "failed", 1), all(&["commit"], "done", 1)].concat();
    assert_eq!(steps(&report), expected);
    assert_eq!(report["steps"][1]["error"]["kind"], "ExitCode65");
    assert!(ended.stderr.contains("404"), "the child's own message: {}", ended.stderr);
    assert_eq!(scene.lab.work.ledger_ids(), ["a"]);
    assert_eq!(scene.lab.server.requests("/b.jsonl").len(), 1);

    let history = scene.temporal.history(SMALL);
    let failed = events(&history, "WORKFLOW_EXECUTION_FAILED", "workflowExecutionFailedEventAttributes");
    let message = failed[0]["failure"]["message"].as_str().unwrap();
    assert!(message.contains("404"), "{message}");
}

#[test]
fn a_service_that_cannot_be_reached_is_told_within_ten_seconds() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let lab = Lab::new();
    for address in [silent.local_addr().unwrap(), closed] {
        let run = Run::of(worker_program(), &lab.work.home(), ["start", "--wait", "--config"]).arg(quickstart());
        let ended = run.env("TEMPORAL_ADDRESS", address.to_string()).run().exits(75);
        assert!(ended.took < Duration::from_secs(10), "{:?}", ended.took);
        assert!(ended.stderr.contains(&address.to_string()), "{}", ended.stderr);
    }
    let wrong = lab.work.place("wrong.toml", "dataset = 7\n");
    let run = Run::of(worker_program(), &lab.work.home(), ["start", "--config"]).arg(wrong);
    let ended = run.run().exits(65);
    assert!(ended.stderr.contains("wrong.toml:1: `dataset`"), "{}", ended.stderr);
}
