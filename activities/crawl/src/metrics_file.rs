//! The file from which Prometheus's node exporter, or a person, reads the counters of a role.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use corpora_ports::metrics::Counters;
use corpora_stage::{chain, durable};

/// The file is written so often, at most.
const PAUSE: Duration = Duration::from_secs(5);

/// Counters, and where they are written to, if anywhere.
#[derive(Debug)]
pub struct MetricsFile {
    counters: Counters,
    path: Option<PathBuf>,
    written: Option<Instant>,
}

impl MetricsFile {
    /// A file that is not written yet; none without a path.
    #[must_use]
    pub fn new(counters: Counters, path: Option<PathBuf>) -> Self {
        Self { counters, path, written: None }
    }

    /// Writes the file when the last time is long enough ago.
    pub fn refresh(&mut self) {
        if self.written.is_none_or(|written| written.elapsed() >= PAUSE) {
            self.write();
        }
    }

    /// Writes the file, whole. One that cannot be written costs nothing but itself.
    pub fn write(&mut self) {
        let Some(path) = &self.path else { return };
        self.written = Some(Instant::now());
        if let Err(error) = durable::write_atomic(path, self.counters.to_prometheus().as_bytes(), None) {
            tracing::warn!("write the metrics: {}", chain(&error));
        }
    }
}
