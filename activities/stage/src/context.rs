//! What every stage is handed.

use corpora_contracts::layout::Layout;
use tokio_util::sync::CancellationToken;

use crate::{Clock, Progress};

/// What every stage is handed: where it writes, what time it is, when to stop, and where to report.
#[derive(Debug, Clone)]
pub struct Context {
    /// The artifacts directory.
    pub layout: Layout,
    /// The clock of `fetched_at`, `retrieved_at` and dated names; never of waits and timeouts.
    pub clock: Clock,
    /// Cancelled by SIGTERM or SIGINT.
    pub cancel: CancellationToken,
    /// The progress of this attempt.
    pub progress: Progress,
}
