//! `corpora-worker` against a real Temporal server: the same build as on one machine, and what becomes of failures.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use corpora_contracts::config::{parse_toml, validate};
use corpora_tests::harness::{
    ConfigToml, Lab, NEW_YEAR, Outcome, Run, Tree, documents, program, skipped, worker_program,
};
use corpora_tests::servers::{Answer, Gate};
use corpora_tests::services::{Temporal, Worker};
use serde_json::Value;

/// The workflow of the lab's own config.
const SMALL: &str = "corpus-build-small-v1";

/// A server, a worker that works for it, and the lab whose artifacts it fills.
struct Scene {
    temporal: Temporal,
    worker: Worker,
    lab: Lab,
}

impl Scene {
    /// A worker whose steps run this program; none where there is no Temporal server to be had.
    fn start(program: &Path) -> Option<Self> {
        let lab = Lab::new();
        let Some(temporal) = Temporal::start() else {
            skipped("a test against Temporal", "`.venv/bin/temporal` is not there; scripts/test installs it");
            return None;
        };
        let worker = temporal.client(&lab.work.home(), ["run", "--jobs", "4", "--program"]).arg(program);
        let worker = Worker::start(worker.env("CORPORA_CLOCK", NEW_YEAR).env("HF_TOKEN", "of the worker"));
        Some(Self { temporal, worker, lab })
    }

    /// `corpora-worker start` for a config, with short waits.
    fn begin(&self, config: &Path) -> Run {
        let run = self.temporal.client(&self.lab.work.home(), ["start", "--config"]).arg(config);
        let run = run.arg("--artifacts").arg(self.lab.work.artifacts());
        run.args(["--retry-interval", "0.05", "--heartbeat-timeout", "2"])
    }

    /// The same for the lab's config.
    fn begin_small(&self) -> Run {
        self.begin(&self.lab.work.config_file())
    }

    /// Source `a`, which is there, and `b`, whose answer waits at a gate.
    fn two_sources(&self, b: Answer) -> Gate {
        let gate = Gate::closed();
        self.lab.server.serve("/a.jsonl", Answer::object(documents("a", 3)));
        self.lab.server.serve("/b.jsonl", b.held_at(&gate));
        self.lab.work.configure([self.lab.source("a", &documents("a", 3)), self.lab.source("b", &documents("b", 3))]);
        gate
    }

    /// Waits until the raw directory of a source stands.
    fn wait_for_receipt(&self, id: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.lab.work.versions(id).iter().all(|version| version.contains("tmp")) {
            assert!(Instant::now() < deadline, "`{id}` was not fetched:\n{}", self.worker.stderr());
            sleep(Duration::from_millis(10));
        }
    }
}

fn quickstart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/quickstart/corpus.toml")
}

/// The object on the last line of stdout.
#[track_caller]
fn object(outcome: &Outcome) -> Value {
    let line = outcome.stdout.lines().last().unwrap_or_default();
    let object: Value = serde_json::from_str(line).unwrap_or_default();
    assert!(object.is_object(), "no object: {}\n{}", outcome.stdout, outcome.stderr);
    // Keys come back in another order, but a blank more would be seen.
    assert_eq!(line.len(), object.to_string().len(), "compact: {line}");
    object
}

/// Each step of a report with what became of it and how many attempts that took.
fn steps(report: &Value) -> Vec<(String, String, u64)> {
    let steps = report["steps"].as_array().unwrap().iter();
    let told = |step: &Value, key: &str| step[key].as_str().unwrap().to_owned();
    steps.map(|step| (told(step, "step"), told(step, "status"), step["attempts"].as_u64().unwrap())).collect()
}

/// The report of steps that all ended like this.
fn all(ids: &[&str], status: &str, attempts: u64) -> Vec<(String, String, u64)> {
    ids.iter().map(|id| ((*id).to_owned(), status.to_owned(), attempts)).collect()
}

/// The attributes of a history's events of one type.
fn events<'a>(history: &'a [Value], event: &str, attributes: &str) -> Vec<&'a Value> {
    let of_type = history.iter().filter(|entry| entry["eventType"] == format!("EVENT_TYPE_{event}"));
    of_type.map(|entry| &entry[attributes]).collect()
}

#[test]
fn a_build_is_the_same_as_on_one_machine_and_costs_nothing_twice() {
    let Some(mut scene) = Scene::start(program()) else { return };
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

    let local = Lab::new();
    let _ = local.program(["build", "--config"]).arg(&config).run().exits(0);
    let corpus = |lab: &Lab| {
        let mut tree = Tree::of(&lab.work.path("corpus"));
        // Nobody's output, a convenience outside the promise, and records that hold when a file was written.
        let is_apart = |path: &str| path.ends_with("metadata.sqlite") || path.ends_with("_STAGE.json");
        tree.files.retain(|path, _| !path.starts_with("locks/") && !is_apart(path));
        tree
    };
    let made = corpus(&scene.lab);
    assert!(!made.under("datasets/quickstart/v1/").is_empty(), "{made:?}");
    assert_eq!(made, corpus(&local));
    assert_eq!((&report["dataset_dir"], &report["n_docs"]), (&"corpus/datasets/quickstart/v1".into(), &132.into()));

    let again = object(&scene.begin(&config).arg("--wait").run().exits(0));
    assert_ne!(again["run_id"], report["run_id"]);
    for step in &planned {
        let done = format!("activities/{id}/{}/{step}/DONE.json", again["run_id"].as_str().unwrap());
        let done: Value = serde_json::from_slice(&scene.lab.work.read(&done).expect("the step is done")).unwrap();
        let entries = done["result"]["entries"].as_array().unwrap();
        assert!(!entries.is_empty() && entries.iter().all(|entry| entry["status"] == "cached"), "{step}: {done}");
    }
    assert_eq!(corpus(&scene.lab), made);

    scene.worker.stop();
}

#[test]
fn a_source_that_is_not_there_fails_the_build_once_and_what_is_done_is_kept() {
    let Some(scene) = Scene::start(program()) else { return };
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
fn a_failure_that_may_pass_is_retried_with_the_childs_message_kept() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("environment");
    let flaky = folder.path().join("flaky");
    let script = format!(
        "#!/bin/sh\nenv >> '{}'\nif [ \"$CORPORA_ATTEMPT\" -lt 3 ]; then echo \"not at $CORPORA_ATTEMPT\" >&2; exit 75; fi\n\
         exec '{}' \"$@\"\n",
        seen.display(),
        program().display()
    );
    std::fs::write(&flaky, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&flaky, mode).unwrap();
    let Some(scene) = Scene::start(&flaky) else { return };
    scene.lab.server.serve("/tiny.jsonl", Answer::object(corpora_tests::harness::TINY));
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

    let environment = std::fs::read_to_string(&seen).unwrap();
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
fn a_cancelled_build_keeps_what_is_done() {
    let Some(scene) = Scene::start(program()) else { return };
    let gate = scene.two_sources(Answer::object(documents("b", 3)));
    let waiting = scene.begin_small().arg("--wait").start();
    gate.wait_for(1);
    scene.wait_for_receipt("a");
    scene.temporal.cancel(SMALL);
    let ended = waiting.wait().exits(130);
    let report = object(&ended);
    let expected =
        [all(&["fetch-a"], "done", 1), all(&["fetch-b"], "cancelled", 1), all(&["commit"], "done", 1)].concat();
    assert_eq!((steps(&report), &report["ok"]), (expected, &Value::Bool(false)));
    assert_eq!(scene.lab.work.ledger_ids(), ["a"]);
    gate.open();
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
