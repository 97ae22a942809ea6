//! Records the histories: a real server, this very code, and a stage that does as its source is called.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use temporalio_client::{
    Client, ClientOptions, Connection, ConnectionOptions, Url, WorkflowCancelOptions, WorkflowDescribeOptions,
    WorkflowExecutionDescription, WorkflowFetchHistoryOptions, WorkflowGetResultOptions, WorkflowHandle,
    WorkflowQueryOptions, WorkflowSignalOptions, WorkflowStartOptions,
};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio::time::sleep;

use super::{in_runtime, path};
use crate::activities::Activities;
use crate::cli::Format;
use crate::find;
use crate::message::{BuildInput, Pace, PlanInput, Spec};
use crate::spec;
use crate::workflow::CorpusBuild;

/// The identity of all that is recorded.
pub(super) const WORKER: &str = "worker";

const QUEUE: &str = "corpora";

/// What a source is called decides what becomes of it.
const STAGE: &str = r#"#!/bin/sh
case "$*" in
    --version) echo "stage 1" ;;
    fetch*--source\ retried*) [ "$CORPORA_ATTEMPT" -gt 2 ] || { echo "failed to fetch source: 503" >&2; exit 75; } ;;
    fetch*--source\ missing*) echo "failed to fetch source: 404" >&2
        echo '{"stage":"fetch","ok":false,"entries":[{"source_id":"missing","status":"failed"}]}'; exit 65 ;;
    fetch*--source\ slow*) trap 'exit 130' TERM; while :; do sleep 0.05; done ;;
esac
echo '{"stage":"any","ok":true,"entries":[]}'
"#;

/// One build, and how it is recorded.
struct Recording<'a> {
    shape: &'a str,
    sources: &'a [&'a str],
    keep_going: bool,
    pace: Pace,
}

/// A server of its own.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(port: u16) -> Server {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/temporal");
    let mut command = Command::new(program);
    command.args(["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--log-level", "never", "--port"]);
    command.arg(port.to_string());
    for name in ["CorpusDataset", "CorpusVersion", "CorpusStage"] {
        command.args(["--search-attribute", &format!("{name}=Keyword")]);
    }
    Server(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

async fn connect(port: u16) -> Client {
    let url: Url = format!("http://127.0.0.1:{port}").parse().unwrap();
    loop {
        let connection = Connection::connect(ConnectionOptions::new(url.clone()).identity(WORKER).build()).await;
        if let Ok(connection) = connection {
            let client = Client::new(connection, ClientOptions::new("default").build()).unwrap();
            if crate::labels::are_known(&client).await {
                return client;
            }
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// A folder with the same name wherever it is recorded: it stands in what the workflow was started with.
fn artifacts() -> PathBuf {
    std::env::temp_dir().join("corpora-histories")
}

impl Recording<'_> {
    fn id(&self) -> String {
        format!("corpus-build-{}-v1", self.shape)
    }

    fn input(&self) -> BuildInput {
        let source = |id: &&str| {
            serde_json::json!({"id": id, "url": format!("https://example.org/{id}"), "sha256": "0".repeat(64),
                "license_spdx": "MIT"})
        };
        let sources: Vec<_> = self.sources.iter().map(source).collect();
        let document = serde_json::json!({"dataset": self.shape, "version": "v1", "sources": sources});
        let digest = spec::read_spec(&serde_json::to_vec(&document).unwrap()).unwrap().digest().unwrap();
        BuildInput {
            plan: PlanInput { artifacts: artifacts(), spec: Spec::Document(document), digest, until: None },
            keep_going: self.keep_going,
            traceparent: None,
            pace: Pace { retry_interval_s: Some(0.05), heartbeat_s: Some(5.0), ..self.pace },
            searchable: true,
            carried: None,
        }
    }

    async fn start(&self, client: &Client) -> WorkflowHandle<Client, CorpusBuild> {
        let options = WorkflowStartOptions::new(QUEUE, self.id()).build();
        let started = client.start_workflow(CorpusBuild::run, self.input(), options).await.unwrap();
        find::run(client, &self.id(), started.run_id().unwrap())
    }
}

async fn ended(build: &WorkflowHandle<Client, CorpusBuild>) {
    let _ = build.get_result(WorkflowGetResultOptions::default()).await;
}

async fn running(build: &WorkflowHandle<Client, CorpusBuild>, step: &str) {
    loop {
        let told = build.query(CorpusBuild::status, (), WorkflowQueryOptions::default()).await;
        let described: WorkflowExecutionDescription = build.describe(WorkflowDescribeOptions::default()).await.unwrap();
        let pending = &described.raw().pending_activities;
        let is_started = |id: &str| {
            pending.iter().any(|activity| activity.activity_id == id && activity.last_started_time.is_some())
        };
        if told.is_ok_and(|told| told.report.steps.iter().any(|known| known.step == step)) && is_started(step) {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn keep(build: &WorkflowHandle<Client, CorpusBuild>, shape: &str) {
    let json = build.fetch_history(WorkflowFetchHistoryOptions::default()).to_json().await.unwrap();
    std::fs::create_dir_all(path(shape).parent().unwrap()).unwrap();
    std::fs::write(path(shape), json).unwrap();
}

async fn record(client: &Client) {
    let pace = Pace::default();
    let simple = |shape, sources, keep_going| Recording { shape, sources, keep_going, pace };
    for recording in [
        simple("success", &["a"], false),
        simple("retry", &["a", "retried"], false),
        simple("failure", &["a", "missing"], false),
        simple("keep-going", &["a", "missing", "b"], true),
    ] {
        let build = recording.start(client).await;
        ended(&build).await;
        keep(&build, recording.shape).await;
    }

    let build = simple("cancel", &["a", "slow"], false).start(client).await;
    running(&build, "fetch-slow").await;
    build.cancel(WorkflowCancelOptions::builder().reason("enough").build()).await.unwrap();
    ended(&build).await;
    keep(&build, "cancel").await;

    let sources: Vec<String> = (0..12).map(|index| format!("s{index}")).collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let pace = Pace { parallel: Some(4), ..pace };
    let build = Recording { shape: "fan-out", sources: &sources, keep_going: false, pace }.start(client).await;
    build.signal(CorpusBuild::pause, (), WorkflowSignalOptions::default()).await.unwrap();
    sleep(Duration::from_millis(500)).await;
    build.signal(CorpusBuild::resume, (), WorkflowSignalOptions::default()).await.unwrap();
    ended(&build).await;
    keep(&build, "fan-out").await;

    let pace = Pace { continue_after: Some(3), ..Pace::default() };
    let recording = Recording { shape: "continued", sources: &["a", "b"], keep_going: false, pace };
    let first = recording.start(client).await;
    ended(&first).await;
    keep(&first, "continued-1").await;
    let last = client.get_workflow_handle::<CorpusBuild>(recording.id());
    keep(&last, "continued-2").await;
}

#[test]
#[ignore = "records tests/histories anew; needs the `temporal` program that scripts/test installs"]
fn record_histories() {
    let _ = std::fs::remove_dir_all(artifacts());
    std::fs::create_dir_all(artifacts()).unwrap();
    let stage = artifacts().join("stage");
    std::fs::write(&stage, STAGE).unwrap();
    std::fs::set_permissions(&stage, std::fs::Permissions::from_mode(0o755)).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let _server = serve(port);
    in_runtime(async {
        let client = connect(port).await;
        let activities = Activities::new(stage, Format::Text, Duration::from_secs(1)).unwrap();
        let options = WorkerOptions::new(QUEUE).register_workflow::<CorpusBuild>().unwrap();
        let options =
            options.register_activities(activities).max_heartbeat_throttle_interval(Duration::from_millis(200));
        let runtime = Runtime::from_current_tokio(Default::default()).unwrap();
        let mut worker = Worker::new(&runtime, client.clone(), options.build()).unwrap();
        let stop = worker.shutdown_handle();
        let recorded = async {
            record(&client).await;
            stop();
        };
        let (worked, ()) = tokio::join!(worker.run(), recorded);
        worked.unwrap();
    });
    std::fs::remove_dir_all(artifacts()).unwrap();
}
