//! A worker, which a test may stop, kill or freeze.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::temporal::PATIENCE;
use crate::harness::{Run, Running, Signal};

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

    /// Asks it to stop, and tells how long that took.
    ///
    /// # Panics
    /// When it does not.
    pub fn stop(&mut self) -> Duration {
        let asked = Instant::now();
        self.running.signal(Signal::Terminate);
        while self.running.runs() {
            assert!(asked.elapsed() < PATIENCE, "the worker did not stop:\n{}", self.stderr());
            sleep(Duration::from_millis(10));
        }
        asked.elapsed()
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        self.running.signal(Signal::Kill);
        self.wait();
    }

    /// Lets it do nothing at all, as on a machine that hangs.
    pub fn freeze(&self) {
        self.running.signal(Signal::Freeze);
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.running.signal(Signal::Thaw);
    }

    /// Waits for its end.
    pub fn wait(&mut self) {
        while self.running.runs() {
            sleep(Duration::from_millis(1));
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
            self.kill();
        }
    }
}
