//! Tests that this machine cannot run.

use std::io::Write as _;

/// Says, past the capture of the test runner, that a test did not run.
///
/// # Panics
/// With `CI=true` in the environment: there, nothing may be left out.
pub fn skipped(what: &str, why: &str) {
    let line = format!("SKIPPED {what}: {why}\n");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{line}");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
