//! What the reading of many files shares with the run: when to stop, and how far it has come.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use corpora_contracts::progress::Kind;
use corpora_stage::Progress;
use tokio_util::sync::CancellationToken;

/// The least time between two progress events.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// When to stop, and how far the reading has come.
#[derive(Debug)]
pub(crate) struct Watch {
    cancel: CancellationToken,
    progress: Progress,
    source: String,
    total: u64,
    done: AtomicU64,
    last: Mutex<Instant>,
}

impl Watch {
    /// A watch over `total` bytes, reported as the progress of `source`.
    pub(crate) fn new(cancel: CancellationToken, progress: Progress, source: String, total: u64) -> Self {
        Self { cancel, progress, source, total, done: AtomicU64::new(0), last: Mutex::new(Instant::now()) }
    }

    /// A watch that never stops and says nothing.
    pub(crate) fn silent() -> Self {
        Self::new(CancellationToken::new(), Progress::default(), String::new(), 0)
    }

    /// For whoever looks on its own when to stop.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.cancel.clone()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Bytes that were read since.
    pub(crate) fn advance(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let Ok(mut last) = self.last.try_lock() else { return };
        if last.elapsed() >= REPORT_EVERY {
            *last = Instant::now();
            self.report(done);
        }
    }

    /// All bytes read so far.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    fn report(&self, done: u64) {
        let (stage, source, unit) = (crate::STAGE.to_owned(), self.source.clone(), "bytes".to_owned());
        self.progress.emit(Kind::Step { stage, source, done, total: Some(self.total), unit });
    }
}
