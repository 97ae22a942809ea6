//! What the end of a crawl means: a result, or a reason why there is none.

use corpora_contracts::ids::Name;
use corpora_contracts::receipt::{CrawlEnd, CrawlReport};
use corpora_crawl::coordinator::{End, Ended};
use corpora_crawl::runs::{Ending, Run};
use corpora_stage::Clock;

use crate::error::SourceError;

/// Says what was not stored, by reason, and whom nobody could ask: once, on stderr.
pub(super) fn tell(id: &Name, ended: &Ended) {
    if ended.end == End::Cancelled {
        return;
    }
    if let End::Bound(key) = ended.end {
        tracing::warn!(source = %id, "crawl `{id}` ended at `{key}`; its digest is of the pages it has");
    }
    for (reason, count) in &ended.reasons {
        tracing::warn!(source = %id, reason = %reason, count, "crawl `{id}`: {count} not stored: {reason}");
    }
    for (host, reason) in &ended.unreachable {
        tracing::warn!(source = %id, host = %host, "crawl `{id}`: `{host}` could not be had: {reason}");
    }
}

/// Whether the crawl is over with a result. A run whose every seed failed for good is removed, so that the next one asks
/// anew; one that may still get something is kept.
pub(super) fn judge(ended: &Ended, run: &Run, clock: Clock) -> Result<Ending, SourceError> {
    let hosts = || ended.unreachable.iter().map(|(host, reason)| format!("`{host}` ({reason})")).collect::<Vec<_>>();
    let end = match ended.end {
        End::Cancelled => return Err(SourceError::Cancelled),
        End::Idle => CrawlEnd::Complete,
        End::Bound("max_bytes") => CrawlEnd::MaxBytes,
        End::Bound("max_duration") => CrawlEnd::MaxDuration,
        End::Bound(_) => CrawlEnd::MaxPages,
    };
    if ended.stored == 0 && ended.seeds_failed {
        run.remove()?;
        return Err(SourceError::SeedsFailed { reasons: list(ended) });
    }
    if ended.stored == 0 && ended.retryable > 0 {
        return Err(SourceError::NothingYet { hosts: hosts().join(", "), retryable: ended.retryable });
    }
    let report = CrawlReport {
        ended: end,
        asked: ended.pages,
        not_stored: ended.reasons.clone(),
        unreachable: ended.unreachable.iter().map(|(host, _)| host.clone()).collect(),
    };
    Ok(Ending { at: clock.now(), report, raw: None })
}

fn list(ended: &Ended) -> String {
    ended.reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect::<Vec<_>>().join(", ")
}
