//! Counting what happens, whoever reads it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// Jobs that a worker took up.
pub const JOBS_STARTED: &str = "worker.jobs.started";
/// Jobs that came to a result: a page, a redirect, a refusal, an answer that there is no page.
pub const JOBS_SUCCEEDED: &str = "worker.jobs.succeeded";
/// Jobs that failed: no answer, a broken one, or one that the server failed to give.
pub const JOBS_FAILED: &str = "worker.jobs.failed";

/// Takes counts. It never fails: what is counted is worth more than the count.
pub trait Metrics: Send + Sync + std::fmt::Debug {
    /// Adds to a counter, whose name has parts apart by dots.
    fn add(&self, counter: &'static str, count: u64);
}

/// The in-memory twin: counters of this process.
#[derive(Debug, Clone, Default)]
pub struct Counters(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Counters {
    /// A counter's value; 0 for one that was never added to.
    #[must_use]
    pub fn value(&self, counter: &str) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(counter).copied().unwrap_or(0)
    }

    /// All counters in the text format of Prometheus, such as `corpora_worker_jobs_started_total 7`.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        for (counter, value) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            let name = format!("corpora_{}_total", counter.replace(['.', '-'], "_"));
            // Writing to a string never fails.
            let _ = writeln!(text, "# TYPE {name} counter\n{name} {value}");
        }
        text
    }
}

impl Metrics for Counters {
    fn add(&self, counter: &'static str, count: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(counter).or_insert(0) += count;
    }
}

/// What every implementation passes; `value` reads a counter where it is kept.
#[doc(hidden)]
pub fn conforms(metrics: &dyn Metrics, value: &dyn Fn(&str) -> u64) {
    let before = (value(JOBS_STARTED), value(JOBS_FAILED));
    metrics.add(JOBS_STARTED, 1);
    metrics.add(JOBS_STARTED, 2);
    metrics.add(JOBS_FAILED, 0);
    assert_eq!((value(JOBS_STARTED), value(JOBS_FAILED)), (before.0 + 3, before.1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twin_conforms_and_is_read_by_prometheus() {
        let counters = Counters::default();
        conforms(&counters, &|counter| counters.value(counter));
        counters.clone().add(JOBS_SUCCEEDED, 7);
        let text = counters.to_prometheus();
        assert!(
            text.contains("# TYPE corpora_worker_jobs_started_total counter\ncorpora_worker_jobs_started_total 3\n")
        );
        assert!(text.contains("corpora_worker_jobs_succeeded_total 7\n"), "{text}");
    }
}
