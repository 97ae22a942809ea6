//! The counters of a crawl.

use corpora_crawl::coordinator::Standing;
use corpora_crawl::metrics_file::MetricsFile;
use corpora_ports::metrics::{Counters, Metrics as _};

/// Counts what a crawl comes to in this run.
#[derive(Debug)]
pub(super) struct Gauge {
    counters: Counters,
    file: MetricsFile,
    known: Standing,
}

impl Gauge {
    /// A gauge of a crawl that stands so.
    pub(super) fn new(counters: Counters, file: MetricsFile, known: Standing) -> Self {
        Self { counters, file, known }
    }

    /// Counts what has come on top.
    pub(super) fn note(&mut self, standing: Standing) {
        self.counters.add("crawl.pages.asked", standing.pages.saturating_sub(self.known.pages));
        self.counters.add("crawl.pages.stored", standing.stored.saturating_sub(self.known.stored));
        self.counters.add("crawl.bytes", standing.bytes.saturating_sub(self.known.bytes));
        self.known = standing;
        self.file.refresh();
    }

    /// Writes the file once more, at the end.
    pub(super) fn write(&mut self) {
        self.file.write();
    }
}
