//! `corpora-worker` and its surroundings: the connection to the service, metrics, logs, and how it can be found.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use corpora_tests::harness::{Lab, Run, TINY, wait_until, worker_program};
use corpora_tests::servers::Authority;
use corpora_tests::services::{Front, SMALL, Scene, Worker, object};
use serde_json::Value;

#[test]
fn what_is_wrong_with_a_connection_is_named_within_ten_seconds() {
    let Some(scene) = Scene::start() else { return };
    scene.lab.work.configure(scene.lab.serve("tiny", TINY));
    let home = scene.lab.work.home();
    let pem = scene.lab.work.place("client.pem", "no certificate");
    let cases = [
        (
            "TEMPORAL_NAMESPACE",
            "nowhere".into(),
            "find namespace `nowhere` on the Temporal service at http://127.0.0.1:",
        ),
        ("TEMPORAL_CONFIG_FILE", home.join("gone.toml"), "gone.toml`, the file that TEMPORAL_CONFIG_FILE names"),
        ("TEMPORAL_TLS_CLIENT_CERT_PATH", pem, "client certificate and client key must be provided together"),
        ("TEMPORAL_PROFILE", "gone".into(), "Profile 'gone' not found"),
    ];
    for (variable, value, told) in cases {
        let start = scene.begin_small().env(variable, &value);
        let status = scene.temporal.client(&home, ["status", SMALL]).env(variable, &value);
        let worker = scene.temporal.client(&home, ["run", "--program", "true"]).env(variable, &value);
        for run in [start, status, worker] {
            let refused = run.run().exits(65);
            assert!(refused.took < Duration::from_secs(10), "{variable}: {:?}", refused.took);
            assert!(refused.stderr.contains(told), "{variable}: {}", refused.stderr);
            assert!(refused.stdout.is_empty(), "{}", refused.stdout);
        }
    }
}

#[test]
fn nobody_there_is_told_by_every_verb_within_ten_seconds() {
    let lab = Lab::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for arguments in
        [["status", SMALL], ["pause", SMALL], ["resume", SMALL], ["cancel", SMALL], ["run", "--program=true"]]
    {
        let run = Run::of(worker_program(), &lab.work.home(), arguments).env("TEMPORAL_ADDRESS", &closed);
        let ended = run.run().exits(75);
        assert!(ended.took < Duration::from_secs(10), "{arguments:?}: {:?}", ended.took);
        assert!(ended.stderr.contains(&closed) && ended.stdout.is_empty(), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn a_profile_with_tls_reaches_the_service() {
    let Some(scene) = Scene::start() else { return };
    scene.lab.work.configure(scene.lab.serve("tiny", TINY));
    let authority = Authority::create("the service's own");
    let front = Front::start(&authority.identity(), scene.temporal.port());
    let profile = format!(
        "[profile.secure]\naddress = \"{}\"\nnamespace = \"default\"\n[profile.secure.tls]\nserver_ca_cert_path = \"{}\"\n",
        front.address(),
        authority.file().display()
    );
    let file = scene.lab.work.place("temporal.toml", profile);
    let home = scene.lab.work.home();
    let secure = |run: Run| {
        let run = run.without_env("TEMPORAL_ADDRESS").env("TEMPORAL_CONFIG_FILE", &file);
        run.env("TEMPORAL_PROFILE", "secure")
    };
    let report = object(&secure(scene.begin_small().arg("--wait")).run().exits(0));
    assert_eq!(report["ok"], true);
    let told = object(&secure(scene.temporal.client(&home, ["status", SMALL])).run().exits(0));
    assert_eq!(told["state"], "completed");

    let stranger = Authority::create("a stranger");
    let untrusted = secure(scene.temporal.client(&home, ["status", SMALL]));
    let refused = untrusted.env("TEMPORAL_TLS_SERVER_CA_CERT_PATH", stranger.file()).run();
    assert!(refused.stderr.contains(&front.address()), "{}", refused.stderr);
    assert!(refused.took < Duration::from_secs(10), "{:?}", refused.took);
    let _ = refused.exits(75);
}

#[test]
fn metrics_are_served_and_logs_name_workflow_run_and_activity() {
    let Some(mut scene) = Scene::start() else { return };
    scene.worker.stop();
    scene.lab.work.configure(scene.lab.serve("tiny", TINY));
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let flags = ["run", "--log-format", "json", "--jobs", "1", "--metrics-address", &address, "--program"];
    let worker = scene.temporal.client(&scene.lab.work.home(), flags).arg(corpora_tests::harness::program());
    scene.worker = Worker::start(worker);
    let report = object(&scene.build().exits(0));

    let mut told = String::new();
    wait_until(|| {
        told = metrics(port);
        told.contains("temporal_activity_execution_latency_seconds_count")
    });
    for series in ["temporal_worker_task_slots_available", "activity_type=\"verify-ledger\"", "task_queue=\"corpora\""]
    {
        assert!(told.contains(series), "{series}: {told}");
    }

    let taken = scene.temporal.client(&scene.lab.work.home(), flags).arg("true").run().exits(75);
    assert!(taken.stderr.contains(&address), "{}", taken.stderr);

    scene.worker.stop();
    let log = scene.worker.stderr();
    let lines =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("no JSON: {line}")));
    let lines: Vec<Value> = lines.collect();
    assert!(
        lines.iter().any(|line| line["message"] == "storing: never stored"),
        "the children log in JSON, too: {log}"
    );
    let of_activities: Vec<&Value> =
        lines.iter().filter(|line| line["message"] == "starting" || line["message"] == "ended").collect();
    assert_eq!(of_activities.len(), 2 * 5, "{log}");
    for line in of_activities {
        let span = &line["span"];
        assert_eq!((&span["workflow_id"], &span["run_id"]), (&SMALL.into(), &report["run_id"]), "{line}");
        assert!(span["activity_id"].is_string() && span["attempt"] == 1, "{line}");
    }
}

fn metrics(port: u16) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).unwrap();
    told
}

#[test]
fn a_build_is_found_by_its_search_attributes_where_the_service_has_them() {
    let Some(scene) = Scene::start() else { return };
    for name in ["CorpusDataset", "CorpusVersion", "CorpusStage"] {
        let _ = scene.temporal.say(&["operator", "search-attribute", "create", "--name", name, "--type", "Keyword"]);
    }
    scene.lab.work.configure(scene.lab.serve("tiny", TINY));
    // The service takes a moment to know what it has just been told.
    wait_until(|| {
        let _ = scene.build().exits(0);
        let described = scene.temporal.ask(&["workflow", "describe", "--workflow-id", SMALL]);
        described["workflowExecutionInfo"]["searchAttributes"]["indexedFields"]["CorpusStage"].is_object()
    });
    let query = "CorpusDataset = 'small' AND CorpusVersion = 'v1' AND CorpusStage = 'verify-ledger'";
    wait_until(|| {
        let found = scene.temporal.ask(&["workflow", "list", "--query", query]);
        found.as_array().is_some_and(|found| !found.is_empty())
    });
    let described = scene.temporal.ask(&["workflow", "describe", "--workflow-id", SMALL]);
    let memo = &described["workflowExecutionInfo"]["memo"]["fields"];
    for key in ["dataset", "version", "config_digest", "artifacts", "stage"] {
        assert!(memo[key].is_string(), "{key}: {memo}");
    }
}
