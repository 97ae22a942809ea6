//! Children in groups of their own, which end when the worker does.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group, set_parent_process_death_signal};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::capture::{Capture, Copied};
use super::turn::Turn;
use crate::environment::Variable;
use crate::failure::MOST_SAID;

/// The longest result that is read, in bytes; fetch has about 250 for a source, and a step 100 sources at most.
const STDOUT: usize = 1024 * 1024;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    /// A name to be found on the `PATH`, or a path.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// All that its environment holds.
    pub(crate) environment: Vec<Variable>,
}

/// Starts children from one thread that lives as long as the worker.
///
/// The system tells a child of its parent's death when the *thread* that started it ends, and the runtime's threads
/// come and go.
#[derive(Debug)]
pub(crate) struct Launcher {
    orders: mpsc::Sender<(Command, oneshot::Sender<io::Result<Child>>)>,
}

impl Launcher {
    /// Starts the thread; it ends, and every child with it, when the launcher is dropped.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(crate) fn start(runtime: Handle) -> io::Result<Self> {
        let (orders, received) = mpsc::channel::<(Command, oneshot::Sender<_>)>();
        let work = move || {
            let _entered = runtime.enter();
            for (mut command, reply) in received {
                // Nobody waits for the child of an attempt that was given up meanwhile: it is killed by its drop.
                let _ = reply.send(command.spawn());
            }
        };
        std::thread::Builder::new().name("launcher".to_owned()).spawn(work)?;
        Ok(Self { orders })
    }

    /// Starts a child, which keeps its turn as long as it and its own children run.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub(crate) async fn launch(&self, order: &Order, turn: Option<Turn>) -> io::Result<Running> {
        let gone = || io::Error::other("the launcher has ended");
        let (reply, started) = oneshot::channel();
        self.orders.send((command(order, turn), reply)).map_err(|_| gone())?;
        Running::new(started.await.map_err(|_| gone())??)
    }
}

/// A child that runs; when it is dropped, its whole group is killed.
#[derive(Debug)]
pub(crate) struct Running {
    /// The child itself, to wait for.
    pub(crate) child: Child,
    /// Its processes.
    pub(crate) group: Group,
    /// The end of its stdout.
    pub(crate) stdout: Option<Capture>,
    /// The end of its stderr.
    pub(crate) stderr: Option<Capture>,
}

impl Running {
    fn new(mut child: Child) -> io::Result<Self> {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.ok_or_else(|| io::Error::other("the child ended before its id was known"))?;
        let stdout = child.stdout.take().map(|stream| Capture::start(stream, STDOUT, Copied::No));
        let stderr = child.stderr.take().map(|stream| Capture::start(stream, MOST_SAID, Copied::ToStderr));
        Ok(Self { child, group: Group { id: Some(id) }, stdout, stderr })
    }
}

/// The processes of a child.
#[derive(Debug)]
pub(crate) struct Group {
    id: Option<Pid>,
}

impl Group {
    /// Sends a signal to all of them; those that have ended already do not mind.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            let _ = kill_process_group(id, signal);
        }
    }

    /// Kills what is left of them. To be called when the child has just ended: later its id may be another's.
    pub(crate) fn end(&mut self) {
        self.signal(Signal::KILL);
        self.id = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

fn command(order: &Order, turn: Option<Turn>) -> Command {
    let mut command = Command::new(&order.program);
    command.args(&order.arguments).env_clear().envs(order.environment.iter().cloned());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    end_with_the_worker(&mut command, turn);
    command
}

/// Lets the system kill the child when the worker dies, even by SIGKILL: the next attempt would meet an orphan
/// otherwise. SIGKILL, because a child that is slow to obey would be one as well; stages are safe against it. And hands
/// the turn to the child.
#[expect(
    unsafe_code,
    reason = "between fork and exec the closure makes system calls that are async-signal-safe, and allocates nothing"
)]
fn end_with_the_worker(command: &mut Command, turn: Option<Turn>) {
    let worker = getpid();
    let tie = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        turn.as_ref().map_or(Ok(()), Turn::keep)?;
        // The worker may have died before that: then nobody will send the signal any more.
        if getppid() == Some(worker) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    unsafe {
        command.pre_exec(tie);
    }
}

/// The exit code by which a shell tells that a program could not be started (POSIX, section 2.8.2).
pub(crate) fn code_of_failed_start(error: &io::Error) -> i32 {
    if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
}

/// The order to run `program` for an activity whose folder is `folder`.
pub(crate) fn order(
    program: &Path,
    step: &[String],
    folder: &Path,
    artifacts: &Path,
    environment: Vec<Variable>,
) -> Order {
    let mut arguments: Vec<OsString> = step.iter().map(OsString::from).collect();
    let files = [("--spec", folder.join("spec.json")), ("--progress", folder.join("progress.jsonl"))];
    for (flag, path) in files.into_iter().chain([("--artifacts", artifacts.to_owned())]) {
        arguments.extend([OsString::from(flag), path.into_os_string()]);
    }
    Order { program: program.to_owned(), arguments, environment }
}
