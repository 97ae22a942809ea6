//! Waiting for what another process does.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often is looked.
const POLL: Duration = Duration::from_millis(3);

/// The longest that anything may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until something has happened.
///
/// # Panics
/// When it has not within a minute and a half.
#[track_caller]
pub fn wait_until(mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < deadline, "it did not happen within {PATIENCE:?}");
        sleep(POLL);
    }
}
