//! One child from its start to its end: signs of life, and the way it is stopped.

use std::io;
use std::pin::pin;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::child::Running;
use super::verdict::Ended;

/// The longest time between two signs of life: a cancel comes back with one.
const MOST_BETWEEN_BEATS: Duration = Duration::from_secs(5);

/// How a child is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    /// Between two signs of life.
    pub(crate) beat: Duration,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Duration,
}

impl Patience {
    /// A sign of life at least every third of the heartbeat timeout.
    pub(crate) fn new(heartbeat_timeout: Option<Duration>, grace: Duration) -> Self {
        let third = heartbeat_timeout.map_or(MOST_BETWEEN_BEATS, |timeout| timeout / 3);
        // The runtime's clock ticks in milliseconds, and no interval may be empty.
        Self { beat: third.clamp(Duration::from_millis(1), MOST_BETWEEN_BEATS), grace }
    }
}

/// How a child ended, and whether it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// How.
    pub(crate) ended: Ended,
    /// Whether it was asked to stop.
    pub(crate) asked: bool,
}

/// Waits for what comes before a child and calls `beat` meanwhile; none when `cancelled` comes first.
pub(crate) async fn heard<T, Beat: Future<Output = ()>>(
    work: impl Future<Output = T>,
    patience: Patience,
    cancelled: impl Future<Output = ()>,
    mut beat: impl FnMut() -> Beat,
) -> Option<T> {
    let (mut work, mut cancelled) = (pin!(work), pin!(cancelled));
    let mut ticks = interval(patience.beat);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // What has come is taken before anything else is asked.
            biased;
            done = &mut work => return Some(done),
            () = &mut cancelled => return None,
            _ = ticks.tick() => beat().await,
        }
    }
}

/// Waits for a child's end and calls `beat` meanwhile. When `cancelled` comes, the child's group gets SIGTERM, and
/// SIGKILL when the grace is over. What the child left running is killed at its end.
///
/// # Errors
/// When the system cannot tell how the child ended.
pub(crate) async fn watch<Beat: Future<Output = ()>>(
    running: &mut Running,
    patience: Patience,
    cancelled: impl Future<Output = ()>,
    mut beat: impl FnMut() -> Beat,
) -> io::Result<End> {
    let mut cancelled = pin!(cancelled);
    let mut ticks = interval(patience.beat);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut asked, mut kill_at) = (false, None);
    let status = loop {
        tokio::select! {
            status = running.child.wait() => break status,
            () = &mut cancelled, if !asked => {
                running.group.signal(Signal::TERM);
                (asked, kill_at) = (true, Some(Instant::now() + patience.grace));
            }
            () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                running.group.signal(Signal::KILL);
                kill_at = None;
            }
            _ = ticks.tick() => beat().await,
        }
    };
    running.group.end();
    Ok(End { ended: status?.into(), asked })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use tokio::runtime::Handle;

    use super::super::child::{Launcher, Order, code_of_failed_start};
    use super::*;

    const PATIENCE: Patience = Patience { beat: Duration::from_millis(20), grace: Duration::from_millis(300) };

    fn shell(script: &str) -> Order {
        let arguments = ["-c", script].map(OsString::from).to_vec();
        Order { program: PathBuf::from("/bin/sh"), arguments, environment: crate::environment::inherited().collect() }
    }

    async fn launch(script: &str) -> Running {
        Launcher::start(Handle::current()).unwrap().launch(&shell(script), None).await.unwrap()
    }

    /// A child, and the launcher whose thread has to outlive it.
    async fn start(script: &str) -> (Launcher, Running) {
        let launcher = Launcher::start(Handle::current()).unwrap();
        let running = launcher.launch(&shell(script), None).await.unwrap();
        (launcher, running)
    }

    async fn line(running: &mut Running) -> String {
        String::from_utf8(running.stdout.take().unwrap().finish().await).unwrap().trim().to_owned()
    }

    fn is_alive(id: &str) -> bool {
        std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    }

    async fn gone(id: &str) {
        while is_alive(id) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[test]
    fn signs_of_life_come_within_a_third_of_the_timeout() {
        let beat = |timeout| Patience::new(timeout, Duration::ZERO).beat;
        assert_eq!(beat(Some(Duration::from_secs(3))), Duration::from_secs(1));
        assert_eq!(beat(Some(Duration::from_secs(30))), MOST_BETWEEN_BEATS);
        assert_eq!(beat(Some(Duration::ZERO)), Duration::from_millis(1));
        assert_eq!(beat(None), MOST_BETWEEN_BEATS);
    }

    #[tokio::test]
    async fn what_comes_before_a_child_is_heard_too_and_ends_with_a_cancel() {
        let mut beats = 0;
        let mut beat = || {
            beats += 1;
            std::future::ready(())
        };
        let wait = tokio::time::sleep(PATIENCE.beat * 5);
        assert_eq!(heard(wait, PATIENCE, std::future::pending(), &mut beat).await, Some(()));
        let cancelled = tokio::time::sleep(PATIENCE.beat);
        assert_eq!(heard(std::future::pending::<()>(), PATIENCE, cancelled, &mut beat).await, None);
        assert!(beats > 3, "{beats}");
    }

    #[tokio::test]
    async fn a_child_is_heard_until_it_ends() {
        let (_launcher, mut running) = start("echo first; echo last; echo why >&2; sleep 0.2; exit 65").await;
        let mut beats = 0;
        let end = watch(&mut running, PATIENCE, std::future::pending(), || {
            beats += 1;
            std::future::ready(())
        })
        .await
        .unwrap();
        assert_eq!(end, End { ended: Ended::Code(65), asked: false });
        assert!(beats > 2, "{beats}");
        assert_eq!(line(&mut running).await, "first\nlast");
        assert_eq!(running.stderr.take().unwrap().finish().await, b"why\n");
    }

    /// A child that has set its trap, asked to stop; how it ended, after how long, and how often it was heard.
    async fn asked_to_stop(trap: &str) -> (End, Duration, usize) {
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let script = format!("trap {trap} TERM; : > '{}'; while :; do sleep 0.01; done", ready.display());
        let (_launcher, mut running) = start(&script).await;
        let cancelled = async {
            while !ready.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let (start, mut beats) = (Instant::now(), 0);
        let end = watch(&mut running, PATIENCE, cancelled, || {
            beats += 1;
            std::future::ready(())
        })
        .await
        .unwrap();
        (end, start.elapsed(), beats)
    }

    #[tokio::test]
    async fn a_child_that_obeys_ends_as_it_says() {
        let (end, ..) = asked_to_stop("'exit 130'").await;
        assert_eq!(end, End { ended: Ended::Code(130), asked: true });
    }

    #[tokio::test]
    async fn a_child_that_does_not_obey_is_killed_after_the_grace_and_heard_meanwhile() {
        let (end, took, beats) = asked_to_stop("''").await;
        assert_eq!(end, End { ended: Ended::Signal(9), asked: true });
        assert!(took >= PATIENCE.grace && beats > 2, "{took:?}, {beats}");
    }

    #[tokio::test]
    async fn what_a_child_leaves_running_ends_with_it() {
        let (_launcher, mut running) = start("sleep 100 & echo $!").await;
        watch(&mut running, PATIENCE, std::future::pending(), || std::future::ready(())).await.unwrap();
        gone(&line(&mut running).await).await;
    }

    #[tokio::test]
    async fn a_child_that_is_given_up_is_killed() {
        let (_launcher, mut running) = start("exec sleep 100").await;
        let stdout = running.stdout.take().unwrap();
        let id = running.child.id().unwrap().to_string();
        assert!(is_alive(&id));
        drop(running);
        // Its end of the pipe is closed with it.
        assert!(stdout.finish().await.is_empty());
        gone(&id).await;
    }

    #[tokio::test]
    async fn a_child_ends_with_the_thread_that_started_it() {
        // The launcher is gone when `launch` returns, as it is when the worker dies.
        let mut running = launch("exec sleep 100").await;
        let end = watch(&mut running, PATIENCE, std::future::pending(), || std::future::ready(())).await.unwrap();
        assert_eq!(end, End { ended: Ended::Signal(9), asked: false });
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_has_the_code_of_a_shell() {
        let launcher = Launcher::start(Handle::current()).unwrap();
        for (program, code) in [("no-such-program", 127), ("/", 126)] {
            let error = launcher.launch(&Order { program: program.into(), ..shell("") }, None).await.unwrap_err();
            assert_eq!(code_of_failed_start(&error), code, "{error}");
        }
    }
}
