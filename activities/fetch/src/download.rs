//! One location's download: attempts, each a request and whatever its answer asks for, until the bytes are whole.
//!
//! The exchanges themselves are [`crate::exchange`]'s.

use std::time::Duration;

use corpora_contracts::ids::Digest;
use corpora_stage::chain;

use crate::exchange::{Findings, Session, Tally, Target, Wire};
use crate::failure::DownloadError;
use crate::http::HttpError;
use crate::part::Part;

/// Complete bytes, sealed in their part.
#[derive(Debug)]
pub struct Downloaded {
    /// The part that holds them.
    pub part: Part,
    /// Their digest.
    pub sha256: Digest,
    /// What was learnt on the way.
    pub findings: Findings,
}

/// Downloads from one location at a time.
#[derive(Debug)]
pub struct Downloader<'a> {
    /// What a request goes through.
    pub wire: Wire<'a>,
    /// Attempts per location.
    pub attempts: u32,
    /// The wait after the first failed attempt.
    pub base_delay: Duration,
}

impl Downloader<'_> {
    /// Downloads the target's bytes, continuing what is in its part.
    ///
    /// # Errors
    /// [`DownloadError`] of the last attempt; the part keeps what arrived. `tally` counts either way.
    pub async fn download(&self, target: &Target<'_>, tally: &mut Tally) -> Result<Downloaded, DownloadError> {
        let mut part = Part::open(target.part.clone())?;
        let mut session = Session::new(self.wire, target, &mut part, tally);
        for attempt in 1.. {
            let Err(error) = session.attempt().await else { break };
            let wait = error.wait(attempt, self.base_delay).filter(|_| attempt < self.attempts);
            let Some(wait) = wait else { return Err(error.handed_on()) };
            tracing::info!(attempt, wait_s = wait.as_secs_f64(), "will try again: {}", chain(&error));
            self.pause(wait).await?;
        }
        let findings = session.findings;
        let Some(sha256) = part.seal(self.wire.cancel).await? else { return Err(HttpError::Cancelled.into()) };
        Ok(Downloaded { part, sha256, findings })
    }

    async fn pause(&self, wait: Duration) -> Result<(), DownloadError> {
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            () = self.wire.cancel.cancelled() => Err(HttpError::Cancelled.into()),
        }
    }
}
