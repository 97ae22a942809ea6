//! One child at a time for each activity of a host: an attempt first ends what an earlier one left running.
//!
//! A worker that dies takes its child with it, but not what the child had started; and a worker that only counts as lost
//! still has its child. So `running.json` in the activity's folder is locked (`flock`) by the child and by all that it
//! starts: they inherit the open file, and the system frees the lock with the last of them. The file says which process
//! group that is. Another host sees no processes and, on most file systems, no lock: there the atomic publication of
//! the stages decides.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, ftruncate};
use rustix::io::{Errno, FdFlags, fcntl_setfd, pwrite, read};
use rustix::process::{Pid, Signal, getpid, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

/// The locked file, in the folder of the activity.
const FILE: &str = "running.json";

/// How often is looked whether the earlier processes are gone.
const POLL: Duration = Duration::from_millis(20);

/// How long the system may take to end what was sent SIGKILL: a disk may hold it.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// Why an attempt cannot start. All of it may pass.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    /// The file cannot be used.
    #[error("{verb} `{}`", path.display())]
    File {
        /// What was to be done with it.
        verb: &'static str,
        /// Where it is.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// This attempt counts as lost, and the next one is at work.
    #[error("start attempt {ours}: attempt {theirs} of the same activity runs already")]
    Superseded {
        /// This attempt.
        ours: u32,
        /// The one that runs.
        theirs: u32,
    },
    /// They cannot be ended from here.
    #[error("start beside an earlier attempt, of which something still runs and holds `{}`; end it by hand", path.display())]
    Held {
        /// The locked file.
        path: PathBuf,
    },
}

/// An attempt's turn: nothing of an earlier one runs on this host. It is handed to the child, which keeps it.
#[derive(Debug)]
pub(crate) struct Turn {
    file: File,
    /// What is known of the group before it exists: the beginning of its record.
    beginning: String,
}

impl Turn {
    /// Waits until no earlier attempt is left: SIGTERM first, and SIGKILL after the grace.
    ///
    /// # Errors
    /// [`TurnError`].
    pub(crate) async fn take(folder: &Path, attempt: u32, grace: Duration) -> Result<Self, TurnError> {
        let path = folder.join(FILE);
        let on = |verb, source| TurnError::File { verb, path: path.clone(), source };
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|source| on("open", source))?;
        let here = Place::here();
        let (mut asked, mut since) = (false, Instant::now());
        loop {
            let free = is_free(&file).map_err(|source| on("lock", source))?;
            let earlier = Earlier::read(&file);
            let elsewhere = earlier.as_ref().is_some_and(|group| !group.place.is_on_the_host_of(&here));
            if elsewhere || (free && !earlier.as_ref().is_some_and(|group| group.leads(&here))) {
                return Ok(Self { file, beginning: here.beginning(attempt) });
            }
            if let Some(group) = earlier.filter(|group| group.place == here) {
                if group.attempt > attempt {
                    return Err(TurnError::Superseded { ours: attempt, theirs: group.attempt });
                }
                if !asked {
                    tracing::warn!(group = group.leader, "an earlier attempt still runs: asking it to stop");
                    group.signal(Signal::TERM);
                    (asked, since) = (true, Instant::now());
                } else if since.elapsed() >= grace {
                    group.signal(Signal::KILL);
                }
            }
            if since.elapsed() >= grace + AFTER_KILL {
                return Err(TurnError::Held { path });
            }
            sleep(POLL).await;
        }
    }

    /// Called by the child before it becomes the program, so that there is no moment at which it runs and nobody knows:
    /// notes who it is, and keeps the file, and with it the lock, beyond that. It makes system calls that are
    /// async-signal-safe, and allocates nothing. Nothing is synced: after a crash of the machine nothing of it runs.
    ///
    /// # Errors
    /// When the disk is full.
    pub(crate) fn keep(&self) -> io::Result<()> {
        let mut stat = [0; 1024];
        let proc = rustix::fs::open(c"/proc/self/stat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let length = read(&proc, &mut stat)?;
        let (start_time, _) =
            std::str::from_utf8(&stat[..length]).ok().and_then(start_time_and_state).unwrap_or_default();
        let mut record = [0; 512];
        let mut rest = record.as_mut_slice();
        write!(rest, "{}\"leader\":{},\"start_time\":{start_time}}}", self.beginning, getpid())?;
        let left = rest.len();
        let length = record.len() - left;
        ftruncate(&self.file, 0)?;
        pwrite(&self.file, &record[..length], 0)?;
        Ok(fcntl_setfd(&self.file, FdFlags::empty())?)
    }
}

/// The processes of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Earlier {
    attempt: u32,
    /// The id of the child, which is that of its group.
    leader: i32,
    /// When the child was started, in clock ticks since the boot: ids are used again, these two together are not.
    start_time: u64,
    #[serde(flatten)]
    place: Place,
}

impl Earlier {
    fn read(file: &File) -> Option<Self> {
        let mut bytes = [0; 1024];
        let length = file.read_at(&mut bytes, 0).ok()?;
        serde_json::from_slice(&bytes[..length]).ok()
    }

    /// Whether the child itself still runs here.
    fn leads(&self, here: &Place) -> bool {
        let is_it = |(start, state): (u64, char)| start == self.start_time && !matches!(state, 'Z' | 'X');
        self.place == *here && of_process(self.leader).is_some_and(is_it)
    }

    /// Sends a signal to all of the group. An id that belongs to a later process was free before, so that the group has
    /// ended; as long as one of the group lives, the system gives its id to nobody else.
    fn signal(&self, signal: Signal) {
        let is_anothers = of_process(self.leader).is_some_and(|(start, _)| start != self.start_time);
        if let Some(leader) = Pid::from_raw(self.leader).filter(|_| !is_anothers) {
            let _ = kill_process_group(leader, signal);
        }
    }
}

/// Where ids of processes mean something: in one namespace of one boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    boot_id: String,
    pid_namespace: String,
}

impl Place {
    fn here() -> Self {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self { boot_id: boot_id.trim().to_owned(), pid_namespace: namespace.to_string_lossy().into_owned() }
    }

    /// The beginning of the record of a group that is started here.
    fn beginning(&self, attempt: u32) -> String {
        let Self { boot_id, pid_namespace } = self;
        format!("{{\"attempt\":{attempt},\"boot_id\":{boot_id:?},\"pid_namespace\":{pid_namespace:?},")
    }

    /// Containers of one host share its locks, if not its ids. A system that does not tell counts as another host.
    fn is_on_the_host_of(&self, other: &Self) -> bool {
        !self.boot_id.is_empty() && self.boot_id == other.boot_id
    }
}

/// Takes the lock if nobody holds it. Where the file system has no locks, everything is free.
fn is_free(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the file system does without locks, or its server does (NFS without a lock service).
fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(Errno::NOLCK.raw_os_error())
}

/// Start time and state of a process; none when there is no such process.
fn of_process(id: i32) -> Option<(u64, char)> {
    start_time_and_state(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// Fields 22 and 3 of a process's `stat` (proc_pid_stat(5)). The name before them is in parentheses and may hold anything.
fn start_time_and_state(stat: &str) -> Option<(u64, char)> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((fields.nth(18)?.parse().ok()?, state))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use tokio::runtime::Handle;

    use super::super::child::{Launcher, Order, Running};
    use super::*;

    const GRACE: Duration = Duration::from_millis(300);

    /// A child that has its turn and runs a script; the launcher has to outlive it.
    async fn start(launcher: &Launcher, folder: &Path, attempt: u32, script: &str) -> Running {
        let turn = Turn::take(folder, attempt, GRACE).await.unwrap();
        let arguments = ["-c", script].map(OsString::from).to_vec();
        let environment = crate::environment::inherited().collect();
        let order = Order { program: "/bin/sh".into(), arguments, environment };
        launcher.launch(&order, Some(turn)).await.unwrap()
    }

    async fn wait_for(path: &Path) -> String {
        loop {
            match std::fs::read_to_string(path) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => sleep(Duration::from_millis(5)).await,
            }
        }
    }

    fn is_alive(id: i32) -> bool {
        of_process(id).is_some_and(|(_, state)| state != 'Z')
    }

    #[tokio::test]
    async fn a_group_that_still_runs_is_ended_first() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher::start(Handle::current()).unwrap();
        for (trap, least) in [("exit 130", Duration::ZERO), ("", GRACE)] {
            let ready = folder.path().join("ready");
            let script = format!("trap '{trap}' TERM; echo $$ > '{}'; while :; do sleep 0.01; done", ready.display());
            let mut earlier = start(&launcher, folder.path(), 1, &script).await;
            let id: i32 = wait_for(&ready).await.parse().unwrap();
            let before = Instant::now();
            let (turn, status) = tokio::join!(Turn::take(folder.path(), 2, GRACE), earlier.child.wait());
            assert!(before.elapsed() >= least, "{trap:?}: {:?}", before.elapsed());
            assert!(!is_alive(id), "{trap:?}: {status:?}");
            drop(turn.unwrap());
            std::fs::remove_file(ready).unwrap();
        }
    }

    #[tokio::test]
    async fn what_outlived_the_child_is_ended_too() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher::start(Handle::current()).unwrap();
        let left = folder.path().join("left");
        let script = format!("sleep 100 & echo $! > '{}'; exit 0", left.display());
        let mut earlier = start(&launcher, folder.path(), 1, &script).await;
        let id: i32 = wait_for(&left).await.parse().unwrap();
        earlier.child.wait().await.unwrap();
        assert!(is_alive(id), "the worker has died and did not end it");
        let turn = Turn::take(folder.path(), 2, GRACE).await.unwrap();
        while is_alive(id) {
            sleep(Duration::from_millis(5)).await;
        }
        drop((turn, earlier));
    }

    #[tokio::test]
    async fn a_later_attempt_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher::start(Handle::current()).unwrap();
        let mut later = start(&launcher, folder.path(), 3, "exec sleep 100").await;
        let refused = Turn::take(folder.path(), 2, GRACE).await.unwrap_err();
        assert!(matches!(refused, TurnError::Superseded { ours: 2, theirs: 3 }), "{refused}");
        assert!(later.child.try_wait().unwrap().is_none());
    }

    #[tokio::test]
    async fn an_id_of_somebody_else_and_another_hosts_group_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher::start(Handle::current()).unwrap();
        let mut other = start(&launcher, folder.path(), 1, "exec sleep 100").await;
        let leader = i32::try_from(other.child.id().unwrap()).unwrap();
        let (start_time, _) = of_process(leader).unwrap();
        let noted = Earlier { attempt: 1, leader, start_time, place: Place::here() };
        assert_eq!(Earlier::read(&File::open(folder.path().join(FILE)).unwrap()), Some(noted));
        let elsewhere = Place { boot_id: "another".to_owned(), ..Place::here() };
        for (start_time, place) in [(start_time + 1, Place::here()), (start_time, elsewhere)] {
            let activity = tempfile::tempdir().unwrap();
            let record = Earlier { attempt: 1, leader, start_time, place };
            std::fs::write(activity.path().join(FILE), serde_json::to_vec(&record).unwrap()).unwrap();
            Turn::take(activity.path(), 2, GRACE).await.unwrap();
        }
        for torn in ["", "{\"attempt\":1,\"lead"] {
            let activity = tempfile::tempdir().unwrap();
            std::fs::write(activity.path().join(FILE), torn).unwrap();
            Turn::take(activity.path(), 2, GRACE).await.unwrap();
        }
        assert!(other.child.try_wait().unwrap().is_none());
    }

    #[tokio::test]
    async fn what_cannot_be_ended_is_not_run_beside() {
        let folder = tempfile::tempdir().unwrap();
        let first = Turn::take(folder.path(), 1, GRACE).await.unwrap();
        let held = Turn::take(folder.path(), 2, GRACE).await.unwrap_err();
        assert!(matches!(held, TurnError::Held { .. }), "{held}");
        drop(first);
        Turn::take(folder.path(), 2, GRACE).await.unwrap();
    }
}
