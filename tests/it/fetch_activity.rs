//! Fetch as a subprocess activity (the protocol of spec, progress and DONE).

use std::fs;
use std::path::{Path, PathBuf};

use corpora_contracts::ids::Digest;
use corpora_contracts::progress::{Event, Kind};
use corpora_contracts::summary::Status;
use corpora_tests::harness::{ConfigToml, Lab, Run, Signal, SourceToml, TINY, Tree, documents};
use corpora_tests::servers::{Answer, Gate};
use serde_json::{Value, json};

/// The child as a worker starts it.
fn child(lab: &Lab, folder: &Path) -> Run {
    let run = lab.program(["run", "--stage", "fetch", "--spec"]).arg(folder.join("spec.json"));
    let run = run.arg("--progress").arg(folder.join("progress.jsonl")).unless_given("--base-delay", "0.01");
    run.env("CORPORA_IDEMPOTENCY_KEY", "w/r/fetch-1").env("CORPORA_ATTEMPT", "3")
}

/// A lab with an activity over source `tiny`.
fn activity() -> (Lab, PathBuf) {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let folder = lab.work.activity("w/r/fetch-1", lab.tiny());
    (lab, folder)
}

/// The whole lines of a progress file that are events.
fn events(folder: &Path) -> Vec<Event> {
    let text = fs::read_to_string(folder.join("progress.jsonl")).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn done(folder: &Path) -> Option<Value> {
    let bytes = fs::read(folder.join("DONE.json")).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}

fn dones(folder: &Path) -> usize {
    events(folder).into_iter().filter(|event| matches!(event.kind, Kind::Done { .. })).count()
}

#[test]
fn success_is_a_done_file_a_done_event_and_a_result() {
    let (lab, folder) = activity();
    let run = child(&lab, &folder).run().exits(0);
    assert_eq!(run.entry("tiny").status, Status::Fetched);

    let done = done(&folder).expect("DONE.json is the last act");
    let spec = fs::read(folder.join("spec.json")).unwrap();
    assert_eq!(done["spec_sha256"], Digest::of(&spec).to_string());
    assert_eq!(done["result"], serde_json::from_str::<Value>(run.stdout.lines().last().unwrap()).unwrap());
    let outputs: Vec<&str> = done["outputs"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(outputs.contains(&"corpus/raw/tiny/20260101"), "{outputs:?}");
    assert!(outputs.iter().all(|path| lab.work.path(path).exists() && !path.starts_with('/')), "{outputs:?}");

    let events = events(&folder);
    assert!(matches!(events.last().unwrap().kind, Kind::Done { .. }), "{events:?}");
    assert!(events.iter().all(|event| event.attempt == 3 && event.ts > 1.7e9), "{events:?}");
    assert!(events.iter().any(|event| matches!(&event.kind, Kind::Step { stage, .. } if stage == "fetch")));
    let text = fs::read_to_string(folder.join("progress.jsonl")).unwrap();
    assert_eq!(text.lines().count(), events.len(), "every line is an event");
}

#[test]
fn a_finished_activity_repeats_its_result_without_a_request() {
    let (lab, folder) = activity();
    let first = child(&lab, &folder).run().exits(0);
    lab.server.forget();
    let before = apart_from_progress(&lab);
    let again = child(&lab, &folder).run().exits(0);
    assert_eq!(again.stdout, first.stdout, "the result is the first one, not `cached`");
    assert!(lab.server.log().is_empty());
    assert_eq!(dones(&folder), 2, "the done event is there for a reader that starts now");
    assert_eq!(apart_from_progress(&lab), before, "nothing else is written");
}

/// What stands in the artifacts directory beside the progress file, which grows with every attempt.
fn apart_from_progress(lab: &Lab) -> Tree {
    let mut tree = lab.work.tree();
    tree.files.retain(|path, _| !path.ends_with("/progress.jsonl"));
    tree
}

#[test]
fn a_done_file_without_its_outputs_or_of_another_spec_is_removed_first() {
    let (lab, folder) = activity();
    let _ = child(&lab, &folder).run().exits(0);
    fs::remove_dir_all(lab.work.path("corpus/raw/tiny")).unwrap();
    lab.server.serve("/tiny.jsonl", Answer::status(503));
    let _ = child(&lab, &folder).args(["--attempts", "1"]).run().exits(75);
    assert_eq!(done(&folder), None, "its outputs are gone, and this attempt failed");

    let (lab, folder) = activity();
    let other = json!({ "outputs": [], "spec_sha256": Digest::of(b"another spec"), "result": { "stage": "fetch" } });
    fs::write(folder.join("DONE.json"), other.to_string()).unwrap();
    let run = child(&lab, &folder).run().exits(0);
    assert_eq!(run.entry("tiny").status, Status::Fetched);
    assert_ne!(done(&folder).unwrap(), other);

    let (lab, folder) = activity();
    fs::write(folder.join("DONE.json"), "{\"outputs\":[").unwrap();
    let _ = child(&lab, &folder).run().exits(0);
    assert_eq!(done(&folder).unwrap()["result"]["ok"], true);
}

#[test]
fn a_failed_activity_has_no_done_file_and_a_result_all_the_same() {
    for (answer, code) in [(Answer::status(404), 65), (Answer::status(503), 75), (Answer::object("swapped"), 65)] {
        let (lab, folder) = activity();
        lab.server.serve("/tiny.jsonl", answer);
        let run = child(&lab, &folder).args(["--attempts", "1"]).run().exits(code);
        assert!(!run.summary().ok);
        assert_eq!((done(&folder), dones(&folder)), (None, 0));
    }
}

#[test]
fn a_long_retry_after_reaches_the_orchestrator() {
    let (lab, folder) = activity();
    lab.server.serve("/tiny.jsonl", Answer::status(429).header("Retry-After", "900"));
    let _ = child(&lab, &folder).run().exits(75);
    let waits: Vec<(String, f64)> = events(&folder)
        .into_iter()
        .filter_map(|event| match event.kind {
            Kind::Metric { name, value, source } if name == "retry_after_s" => Some((source, value)),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [("tiny".to_owned(), 900.0)]);
}

#[test]
fn a_torn_line_of_a_killed_attempt_is_ended_not_cut() {
    let (lab, folder) = activity();
    let left = "{\"ts\":1.0,\"attempt\":1,\"kind\":\"step\",\"sta";
    fs::write(folder.join("progress.jsonl"), left).unwrap();
    let _ = child(&lab, &folder).run().exits(0);
    let text = fs::read_to_string(folder.join("progress.jsonl")).unwrap();
    assert!(text.starts_with(&format!("{left}\n")), "a reader may stand behind it: {text}");
    let rest: Vec<&str> = text.lines().skip(1).collect();
    assert!(!rest.is_empty() && rest.iter().all(|line| serde_json::from_str::<Event>(line).is_ok()), "{rest:?}");
}

#[test]
fn a_spec_that_does_not_validate_writes_nothing() {
    let good = |lab: &Lab| {
        let mut spec: serde_json::Map<String, Value> = ConfigToml::from(lab.tiny()).to_json();
        spec.insert("base".to_owned(), json!(lab.work.config_folder()));
        Value::Object(spec)
    };
    let cases: [(&str, &dyn Fn(Value) -> String); 6] = [
        ("empty", &|_| String::new()),
        ("torn", &|spec| spec.to_string()[..40].to_owned()),
        ("no object", &|_| "[]".to_owned()),
        ("an unknown key", &|mut spec| {
            spec["colour"] = json!("red");
            spec.to_string()
        }),
        ("a bad digest", &|mut spec| {
            spec["sources"][0]["sha256"] = json!("e9");
            spec.to_string()
        }),
        ("a relative base", &|mut spec| {
            spec["base"] = json!("config");
            spec.to_string()
        }),
    ];
    for (name, make) in cases {
        let lab = Lab::new();
        let folder = lab.work.plant("activities/w/r/bad/spec.json", make(good(&lab))).parent().unwrap().to_owned();
        let run = child(&lab, &folder).run().exits(65);
        assert_eq!(run.stdout, "", "{name}");
        assert!(run.stderr.contains("spec.json"), "{name}: {}", run.stderr);
        assert_eq!(lab.work.tree().paths(), ["activities/w/r/bad/spec.json"], "{name}");
        assert!(lab.server.log().is_empty());
    }
}

#[test]
fn relative_urls_need_a_base_and_absolute_ones_do_not() {
    let lab = Lab::new();
    lab.work.place("tiny.jsonl", TINY);
    let folder = lab.work.activity("w/r/relative", SourceToml::new("tiny", "tiny.jsonl", TINY));
    let _ = child(&lab, &folder).run().exits(0);
    assert_eq!(lab.work.rows()[0].url, "tiny.jsonl");

    for (url, code) in [(lab.server.url("/tiny.jsonl"), 0), ("tiny.jsonl".to_owned(), 65)] {
        lab.server.serve("/tiny.jsonl", Answer::object(TINY));
        let spec = Value::Object(ConfigToml::from(SourceToml::new("other", &url, TINY)).to_json());
        let folder = lab.work.plant(&format!("activities/w/r/{code}/spec.json"), spec.to_string());
        let _ = child(&lab, folder.parent().unwrap()).run().exits(code);
    }
}

#[test]
fn a_cancelled_activity_has_no_done_file_and_goes_on_later() {
    let (lab, folder) = activity();
    let gate = Gate::closed();
    lab.server.script("/tiny.jsonl", [Answer::object(TINY).held_at(&gate), Answer::object(TINY)]);
    let run = child(&lab, &folder).start();
    gate.wait_for(1);
    run.signal(Signal::Terminate);
    let run = run.wait().exits(130);
    assert_eq!(run.entry("tiny").status, Status::Cancelled);
    assert_eq!(done(&folder), None);
    gate.open();
    let _ = child(&lab, &folder).run().exits(0);
    assert_eq!((dones(&folder), lab.work.ledger_ids()), (1, vec!["tiny".to_owned()]));
}

#[test]
fn a_new_activity_over_finished_sources_is_cached() {
    let (lab, folder) = activity();
    let _ = child(&lab, &folder).run().exits(0);
    let other = lab.work.activity("w/r2/fetch-1", lab.tiny());
    let run = child(&lab, &other).run().exits(0);
    assert_eq!((run.entry("tiny").status, lab.server.log().len()), (Status::Cached, 1));
    assert!(done(&other).is_some());
}

#[test]
fn the_trace_of_the_orchestrator_stands_in_the_log() {
    let (lab, folder) = activity();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let run = child(&lab, &folder).args(["-v", "--log-format", "json"]);
    let run = run.env("TRACEPARENT", format!("00-{trace}-00f067aa0ba902b7-01")).run().exits(0);
    assert!(run.stderr.contains(trace), "{}", run.stderr);
    for line in run.stderr.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "every line of a JSON log is JSON: {line}");
    }
}

#[test]
fn flags_of_the_stage_hold_for_an_activity_too() {
    let lab = Lab::new();
    let other = documents("other", 3);
    lab.server.serve("/other.jsonl", Answer::object(&other));
    let folder = lab.work.activity("w/r/flags", [lab.tiny(), lab.source("other", &other)]);
    let run = child(&lab, &folder).args(["--source", "other", "--part-docs", "2", "--no-commit"]).run().exits(0);
    assert_eq!(run.statuses(), [("other".to_owned(), Status::Fetched)]);
    assert_eq!((lab.work.raw_parts("other", "20260101").len(), lab.work.ledger()), (2, String::new()));
}

#[test]
fn a_done_file_that_leads_out_of_the_artifacts_is_removed_first() {
    for output in ["absolute", "../config/outside", "activities/../../config/outside"] {
        let (lab, folder) = activity();
        let outside = lab.work.place("outside", "").display().to_string();
        let outputs = [if output == "absolute" { outside.as_str() } else { output }];
        let spec = fs::read(folder.join("spec.json")).unwrap();
        let result = json!({ "stage": "fetch", "ok": true, "entries": [] });
        let foreign = json!({ "outputs": outputs, "spec_sha256": Digest::of(&spec), "result": result });
        fs::write(folder.join("DONE.json"), foreign.to_string()).unwrap();
        let run = child(&lab, &folder).run().exits(0);
        assert_eq!((run.entry("tiny").status, lab.server.log().len()), (Status::Fetched, 1), "{output}");
        assert_ne!(done(&folder).unwrap(), foreign, "{output}");
    }
}

#[test]
fn attempts_are_counted_from_one() {
    for (value, attempt) in [("0", 1), ("-1", 1), ("", 1), ("two", 1), ("1.5", 1), ("2", 2), ("4294967295", u32::MAX)] {
        let (lab, folder) = activity();
        let _ = child(&lab, &folder).env("CORPORA_ATTEMPT", value).run().exits(0);
        let events = events(&folder);
        assert!(!events.is_empty() && events.iter().all(|event| event.attempt == attempt), "{value:?}: {events:?}");
    }
}

#[test]
fn a_retry_after_of_any_length_is_an_exact_number() {
    let most = (1_u64 << 53) - 1;
    for value in ["9007199254740993", "18446744073709551616", &"9".repeat(400)] {
        let (lab, folder) = activity();
        lab.server.serve("/tiny.jsonl", Answer::status(503).header("Retry-After", value));
        let run = child(&lab, &folder).run().exits(75);
        let error = run.error("tiny");
        assert_eq!((error.kind.as_str(), error.retry_after_s), ("retry_after", Some(most)), "{value}");
        assert_eq!(lab.server.log().len(), 1, "{value}: it is not waited for");
        let told = events(&folder).into_iter().find_map(|event| match event.kind {
            Kind::Metric { name, value, .. } if name == "retry_after_s" => Some(value),
            _ => None,
        });
        assert_eq!(told, Some(9_007_199_254_740_991.0), "{value}");
    }
}

#[test]
fn a_progress_file_that_cannot_be_opened_is_told_in_the_result() {
    let (lab, folder) = activity();
    let run = lab.program(["run", "--stage", "fetch", "--spec"]).arg(folder.join("spec.json"));
    let run = run.arg("--progress").arg(folder.join("absent/progress.jsonl")).run().exits(75);
    let result: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&result["stage"], &result["ok"], &result["entries"]), (&json!("fetch"), &json!(false), &json!([])));
    assert_eq!(result["error"]["kind"], "setup");
    assert!(result["error"]["message"].as_str().unwrap().contains("absent/progress.jsonl"), "{result}");
    assert!(run.stderr.contains("absent/progress.jsonl"), "{}", run.stderr);
    assert_eq!(done(&folder), None);
    assert!(lab.server.log().is_empty());
}
