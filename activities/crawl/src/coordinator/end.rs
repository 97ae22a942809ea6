//! How a crawl ends, and what is said of it.

use std::collections::BTreeMap;
use std::time::Duration;

use corpora_ports::frontier::{HostId, Queued, State, Tally, UrlRecord};
use corpora_web::frontier::Moment;
use corpora_web::url::CanonicalUrl;

use super::hosts::Access;
use super::{Coordinator, CoordinatorError, reason, start};

/// Redirects from a seed that are followed to see how it ended.
const MOST_REDIRECTS: usize = 20;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nothing was left to ask.
    Idle,
    /// The bound of this key was reached.
    Bound(&'static str),
    /// It was asked to stop; the state goes on with the next run.
    Cancelled,
}

/// What came of a crawl, over all its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why this run ended.
    pub end: End,
    /// Pages that are stored.
    pub stored: u64,
    /// Pages asked for; each URL counts once.
    pub pages: u64,
    /// Requests, robots.txt, sitemaps and further attempts included.
    pub requests: u64,
    /// Unpacked bytes of bodies.
    pub bytes: u64,
    /// Running time.
    pub duration: Duration,
    /// What is not stored, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Hosts that could not be had, with the reason.
    pub unreachable: Vec<(String, String)>,
    /// URLs that a later run may get.
    pub retryable: u64,
    /// Whether every seed ended in a failure that stays.
    pub seeds_failed: bool,
}

impl Coordinator {
    /// Ends the run: what was not reached gets its reason, and the state says that the run is over. After a cancel nothing
    /// of that happens, since the next run goes on.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    pub fn finish(mut self, end: End, now: Moment) -> Result<Ended, CoordinatorError> {
        let end = match (end, self.exhausted) {
            (End::Idle, Some(key)) => End::Bound(key),
            (End::Idle, None) if self.pages_used_up => End::Bound(reason::MAX_PAGES),
            (end, _) => end,
        };
        if end != End::Cancelled {
            self.settle_the_rest(end)?;
            self.store.put_note(start::ENDED, "yes")?;
        }
        self.commit(now)?;
        self.tell(end)
    }

    fn settle_the_rest(&mut self, end: End) -> Result<(), CoordinatorError> {
        for host in self.hosts.iter() {
            let which = Queued::OfHost(host.record.id);
            match &host.access {
                Access::Aside(why) if host.is_lost => self.store.settle_queued(which, State::Left, why)?,
                Access::Aside(why) => self.store.settle_queued(which, State::Failed, why)?,
                _ if host.is_too_slow => self.store.settle_queued(which, State::Left, reason::CRAWL_DELAY)?,
                _ => 0,
            };
        }
        if let End::Bound(key) = end {
            self.store.settle_queued(Queued::All, State::Left, key)?;
        }
        Ok(())
    }

    fn tell(&mut self, end: End) -> Result<Ended, CoordinatorError> {
        let tallies = self.store.tally()?;
        let aside = |host: &super::hosts::Host| match &host.access {
            Access::Aside(why) => Some((host.record.name.clone(), why.clone())),
            _ => None,
        };
        let stored = tallies.values().map(|tally| tally.stored).sum();
        Ok(Ended {
            end,
            stored,
            pages: self.spent.pages,
            requests: self.requests,
            bytes: self.spent.bytes,
            duration: self.spent.duration,
            reasons: reasons(&tallies),
            unreachable: self.hosts.iter().filter_map(aside).collect(),
            retryable: tallies.values().flat_map(|tally| tally.failed.values()).sum(),
            seeds_failed: stored == 0 && self.seeds_failed()?,
        })
    }

    fn seeds_failed(&mut self) -> Result<bool, CoordinatorError> {
        for seed in self.settings.crawl.seed_urls.clone() {
            let Ok(key) = CanonicalUrl::parse(&seed) else { continue };
            let Some(mut url) = self.store.find(key.as_str())? else { return Ok(false) };
            for _hop in 0..MOST_REDIRECTS {
                let Some(next) = self.redirect_of(&url)? else { break };
                url = next;
            }
            let failed = url.state == State::Left && reason::is_failure(&url.reason);
            if !failed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn redirect_of(&mut self, url: &UrlRecord) -> Result<Option<UrlRecord>, CoordinatorError> {
        let links = self.store.links(url.id)?;
        let redirect = links.into_iter().find(|link| link.is_redirect);
        Ok(redirect.map_or(Ok(None), |link| self.store.get(link.to))?)
    }
}

/// What is not stored, by reason, over all hosts.
#[must_use]
pub(crate) fn reasons(tallies: &BTreeMap<HostId, Tally>) -> BTreeMap<String, u64> {
    let mut reasons = BTreeMap::new();
    for (reason, count) in tallies.values().flat_map(|tally| tally.left.iter().chain(&tally.failed)) {
        *reasons.entry(reason.clone()).or_default() += count;
    }
    reasons
}
