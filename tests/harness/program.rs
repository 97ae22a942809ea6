//! The binary under test: built once, run with an environment that holds nothing by accident.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use escargot::CargoBuild;

use super::outcome::Outcome;
use super::waiting::wait_until;

/// The longest that any run of the suite may take; a hanging program is a failure, never a hanging suite.
const PATIENCE: Duration = Duration::from_secs(180);

/// How often a run that was started is looked at.
const POLL: Duration = Duration::from_millis(3);

/// The program `corpora` with its fault points, built on first use in the profile of the tests.
///
/// # Panics
/// When it does not build.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build("corpora"))
}

/// The program `corpora-worker`, built likewise.
///
/// # Panics
/// When it does not build.
pub fn worker_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build("corpora-worker"))
}

/// Builds a program as part of the whole workspace: for its package alone, cargo would choose the features of the
/// dependencies anew and compile most of them once more.
fn build(name: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let cargo = CargoBuild::new().manifest_path(workspace).arg("--workspace").bin(name);
    let cargo = cargo.features("corpora/faults").current_release();
    // What `cargo test` says about this package would reach the build scripts of others: ring takes it for a change,
    // and is compiled anew with all that stands on it.
    let of_this_package = std::env::vars().map(|(name, _)| name).filter(|name| {
        ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|prefix| name.starts_with(prefix)) || name == "OUT_DIR"
    });
    let cargo = of_this_package.fold(cargo, |cargo, name| cargo.env_remove(name));
    cargo.run().expect("the program builds").path().to_owned()
}

/// One run of the program, before it starts.
#[derive(Debug)]
pub struct Run {
    command: Command,
    unless_given: Vec<(&'static str, &'static str)>,
    scratch: tempfile::TempDir,
}

impl Run {
    /// The program with these arguments, and an environment of `PATH`, `HOME` and `TMPDIR` alone.
    #[must_use]
    pub fn new(home: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        Self::of(program(), home, args)
    }

    /// Another program, run likewise.
    #[must_use]
    pub fn of(program: &Path, home: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        command.env_clear().env("HOME", home).env("TMPDIR", scratch.path());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.current_dir(home).stdin(Stdio::null()).args(args);
        Self { command, unless_given: Vec::new(), scratch }
    }

    /// A flag and its value, which hold unless the arguments have that flag.
    #[must_use]
    pub fn unless_given(mut self, flag: &'static str, value: &'static str) -> Self {
        self.unless_given.push((flag, value));
        self
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    /// One more environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// One environment variable less.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Gives it a file to read from stdin.
    #[must_use]
    pub fn stdin(mut self, file: &Path) -> Self {
        self.command.stdin(File::open(file).unwrap());
        self
    }

    /// Starts it and does not wait.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(mut self) -> Running {
        for (flag, value) in std::mem::take(&mut self.unless_given) {
            if !self.command.get_args().any(|arg| arg == flag) {
                self.command.args([flag, value]);
            }
        }
        let (stdout, stderr) = (self.scratch.path().join("stdout"), self.scratch.path().join("stderr"));
        self.command.stdout(File::create(stdout).unwrap()).stderr(File::create(stderr).unwrap());
        let started = Instant::now();
        let child = self.command.spawn().expect("the program starts");
        let args = self.command.get_args().map(OsStr::to_owned).collect();
        Running { child, started, scratch: self.scratch, args }
    }

    /// Runs it to its end.
    #[must_use]
    pub fn run(self) -> Outcome {
        self.start().wait()
    }
}

/// The signals that a test sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// What an orchestrator sends to cancel.
    Terminate,
    /// What a person sends with Ctrl-C.
    Interrupt,
    /// What nobody can catch.
    Kill,
    /// What nobody can catch either: it stands still.
    Freeze,
    /// It goes on.
    Thaw,
}

/// Sends a process a signal; one that has ended does not mind.
#[expect(unsafe_code, reason = "kill takes two numbers")]
pub fn signal_process(id: u32, signal: Signal) {
    let number = match signal {
        Signal::Terminate => libc::SIGTERM,
        Signal::Interrupt => libc::SIGINT,
        Signal::Kill => libc::SIGKILL,
        Signal::Freeze => libc::SIGSTOP,
        Signal::Thaw => libc::SIGCONT,
    };
    let id = i32::try_from(id).unwrap();
    unsafe { libc::kill(id, number) };
}

/// A run that has started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    started: Instant,
    scratch: tempfile::TempDir,
    args: Vec<OsString>,
}

impl Running {
    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal; it is not yet waited for, so its id is its own.
    pub fn signal(&self, signal: Signal) {
        signal_process(self.child.id(), signal);
    }

    /// What it wrote to stderr so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.read("stderr")
    }

    /// Waits until stderr contains `text`.
    ///
    /// # Panics
    /// When it does not within a minute and a half.
    pub fn wait_until_stderr_says(&self, text: &str) {
        wait_until(|| self.stderr().contains(text));
    }

    /// Whether it still runs.
    #[must_use]
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it takes longer than three minutes; it is killed then.
    #[must_use]
    pub fn wait(mut self) -> Outcome {
        let mut peak_memory = 0;
        let status = loop {
            peak_memory = self.peak_memory().unwrap_or(peak_memory);
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.started.elapsed() > PATIENCE {
                let _ = self.child.kill();
                let _ = self.child.wait();
                panic!("{:?} did not end within {PATIENCE:?}:\n{}", self.args, self.stderr());
            }
            sleep(POLL);
        };
        let took = self.started.elapsed();
        Outcome::new(status, self.read("stdout"), self.read("stderr"), took, peak_memory)
    }

    /// The most memory it has held so far, in bytes; none once it has ended.
    fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kibibytes * 1024)
    }

    fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.scratch.path().join(name)).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// What a failed test leaves behind would go on beside the tests after it.
impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
