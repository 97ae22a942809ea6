//! Faults on request, for tests: kill points and the pitfalls of the fetch seed, section 5.
//!
//! Without the feature `faults` every function here is empty and no variable is read, so a release has no switch.

#[cfg(feature = "faults")]
use std::sync::atomic::{AtomicU32, Ordering};

/// Every kill point of fetch, in the order in which an undisturbed fetch over HTTP reaches them.
///
/// `.before` and `.after` surround the rename or append that makes the thing durable.
pub const POINTS: [&str; 15] = [
    "part-meta.before",
    "part-meta.after",
    "part.chunk",
    "download.before",
    "download.after",
    "raw-part.after",
    "receipt.before",
    "receipt.after",
    "raw.before",
    "raw.after",
    "download-removed.after",
    "ledger-mended.after",
    "ledger.torn",
    "ledger.after",
    "quarantine.before",
];

/// The kill points of extract, in the order in which a run that works on a source reaches them.
pub const EXTRACT_POINTS: [&str; 4] = ["extract-part.after", "extract-record.after", "extract.before", "extract.after"];

/// The kill points of store, in the order in which a run that makes a dataset reaches them.
pub const STORE_POINTS: [&str; 5] =
    ["store-shard.after", "staged.before", "staged.after", "store-record.before", "store-record.after"];

/// The kill points of verify-ledger, in the order in which a run that accepts a dataset reaches them.
pub const VERIFY_POINTS: [&str; 4] = ["verified.before", "verified.after", "swap.before", "swap.after"];

/// The kill points of a stage run as a subprocess activity.
pub const ACTIVITY_POINTS: [&str; 2] = ["done.before", "done.after"];

/// Kills this process with SIGKILL when `CORPORA_FAILPOINT` names this point (`name` or `name:<n>`, the n-th time).
#[cfg(feature = "faults")]
pub fn point(name: &str) {
    debug_assert!(is_listed(name), "kill point {name} is not listed");
    let Some((wanted, nth)) = wanted() else { return };
    if wanted == name && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == nth {
        kill_self();
    }
}

/// How often the wanted point was reached.
#[cfg(feature = "faults")]
static REACHED: AtomicU32 = AtomicU32::new(0);

/// The point where to die, and which time of reaching it.
#[cfg(feature = "faults")]
fn wanted() -> Option<(String, u32)> {
    let wanted = std::env::var("CORPORA_FAILPOINT").ok()?;
    Some(match wanted.split_once(':') {
        Some((name, nth)) => (name.to_owned(), nth.parse().unwrap_or(1)),
        None => (wanted, 1),
    })
}

/// Nothing: this build has no faults.
#[cfg(not(feature = "faults"))]
#[inline]
pub fn point(_name: &str) {}

/// Whether `CORPORA_FAILPOINT` wants to die at this point, so that the caller can leave a torn write behind first.
#[cfg(feature = "faults")]
#[must_use]
pub fn wants(name: &str) -> bool {
    wanted().is_some_and(|(wanted, nth)| wanted == name && REACHED.load(Ordering::SeqCst) + 1 == nth)
}

/// Never: this build has no faults.
#[cfg(not(feature = "faults"))]
#[inline]
#[must_use]
pub fn wants(_name: &str) -> bool {
    false
}

/// Whether `CORPORA_PITFALL` puts this pitfall of the seed back.
#[cfg(feature = "faults")]
#[must_use]
pub fn pitfall(number: u8) -> bool {
    std::env::var("CORPORA_PITFALL").is_ok_and(|wanted| wanted.parse() == Ok(number))
}

/// Never: this build has no pitfalls.
#[cfg(not(feature = "faults"))]
#[inline]
#[must_use]
pub fn pitfall(_number: u8) -> bool {
    false
}

#[cfg(feature = "faults")]
fn is_listed(name: &str) -> bool {
    [&POINTS[..], &EXTRACT_POINTS, &STORE_POINTS, &VERIFY_POINTS, &ACTIVITY_POINTS]
        .iter()
        .any(|points| points.contains(&name))
}

/// Dies as `kill -9` would: no destructor, no flush.
#[cfg(feature = "faults")]
#[expect(unsafe_code, reason = "kill(getpid(), SIGKILL) takes no pointer and never returns to broken state")]
fn kill_self() {
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}
