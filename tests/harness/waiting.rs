//! Waiting for what another process does.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often is looked.
const POLL: Duration = Duration::from_millis(3);

/// Waits until something has happened.
///
/// # Panics
/// When it has not within ten seconds.
#[track_caller]
pub fn wait_until(mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !happened() {
        assert!(Instant::now() < deadline, "it never happened");
        sleep(POLL);
    }
}
