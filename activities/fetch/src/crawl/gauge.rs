//! The counters of a crawl, and the file from which Prometheus's node exporter, or a person, reads them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use corpora_crawl::coordinator::Standing;
use corpora_ports::metrics::{Counters, Metrics as _};
use corpora_stage::chain;
use corpora_stage::durable;

/// The file is written so often, at most.
const PAUSE: Duration = Duration::from_secs(5);

/// Counts what a crawl comes to in this run.
#[derive(Debug)]
pub(super) struct Gauge {
    counters: Counters,
    file: Option<PathBuf>,
    known: Standing,
    written: Option<Instant>,
}

impl Gauge {
    /// A gauge of a crawl that stands so.
    pub(super) fn new(counters: Counters, file: Option<PathBuf>, known: Standing) -> Self {
        Self { counters, file, known, written: None }
    }

    /// Counts what has come on top.
    pub(super) fn note(&mut self, standing: Standing) {
        self.counters.add("crawl.pages.asked", standing.pages.saturating_sub(self.known.pages));
        self.counters.add("crawl.pages.stored", standing.stored.saturating_sub(self.known.stored));
        self.counters.add("crawl.bytes", standing.bytes.saturating_sub(self.known.bytes));
        self.known = standing;
        if self.written.is_none_or(|written| written.elapsed() >= PAUSE) {
            self.write();
        }
    }

    /// Writes the file, whole. One that cannot be written costs nothing but itself.
    pub(super) fn write(&mut self) {
        let Some(file) = &self.file else { return };
        self.written = Some(Instant::now());
        if let Err(error) = durable::write_atomic(file, self.counters.to_prometheus().as_bytes(), None) {
            tracing::warn!("write the metrics: {}", chain(&error));
        }
    }
}
