//! The coordinator: it alone decides what is asked for.
//!
//! It owns the frontier, the answers about hosts and the set of what was seen, and checks every candidate before it becomes
//! a job. It fetches nothing and waits for nothing itself: [`Coordinator::hand_out`] says what is to be asked now,
//! [`Coordinator::on_visit`] and [`Coordinator::on_answer`] take what came of it, and nothing of that is durable before
//! [`Coordinator::commit`]. What was handed out is committed before it is asked for, so that a kill at any moment costs a
//! second request for what was under way and for nothing else.

mod candidate;
mod depth;
mod end;
mod errand;
mod hosts;
mod job;
mod look;
pub mod reason;
mod recent;
mod share;
mod start;
mod status;
#[cfg(test)]
mod tests;
mod visit;

use std::collections::HashMap;
use std::time::Duration;

use corpora_contracts::config::Crawl;
use corpora_contracts::message::CrawlJob;
use corpora_contracts::outcome::Disposition;
use corpora_ports::frontier::{FrontierStore, FrontierStoreError, Queued, State, UrlId, UrlRecord};
use corpora_web::frontier::{self, Budget, Frontier, Moment, Next, Retries, Spent, What};
use corpora_web::rights::Purpose;
use corpora_web::scope::{Scope, ScopeError};

pub use end::{End, Ended};
pub use errand::{Errand, Kind};
use hosts::Hosts;
pub use look::{HostLook, Look};
use recent::Recent;
#[cfg(test)]
pub(crate) use start::CRAWL_ID;
pub use start::crawl_id;
pub use status::{CrawlStatus, HostStatus, status};
pub use visit::Timing;
pub(crate) use visit::rights_note;

/// Jobs of one batch, at most: what a queue takes at once.
pub const BATCH: usize = 10;

/// URLs of one host that are held in memory.
const WINDOW: usize = 32;

/// What a crawl is run with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The crawl.
    pub crawl: Crawl,
    /// Attempts for every page, robots.txt and sitemap, and the waits between them.
    pub retries: Retries,
}

/// Why the coordinator cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] FrontierStoreError),
    /// The config has no scope.
    #[error(transparent)]
    Scope(#[from] ScopeError),
}

impl CoordinatorError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Store(error) => error.disposition,
            Self::Scope(_) => Disposition::Fail,
        }
    }

    /// Whether the disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_disk_full)
    }
}

/// What is to be asked now, and when to look again.
#[derive(Debug, Default)]
pub struct Due {
    /// Pages; at most [`BATCH`].
    pub jobs: Vec<CrawlJob>,
    /// robots.txt and the like.
    pub errands: Vec<Errand>,
    /// What is next.
    pub then: Rest,
}

/// When to look again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rest {
    /// At once: there is more.
    #[default]
    More,
    /// At this moment, or when something comes back.
    Until(Moment),
    /// When something comes back.
    OnAnswer,
    /// Never: nothing is left to ask, and nothing is under way.
    Over,
}

/// How far a crawl is, over all its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Pages asked for.
    pub pages: u64,
    /// Pages stored.
    pub stored: u64,
    /// Unpacked bytes of bodies.
    pub bytes: u64,
    /// Requests, robots.txt and sitemaps included.
    pub requests: u64,
    /// Requests under way.
    pub in_flight: u64,
}

/// A page that is under way.
#[derive(Debug)]
struct UnderWay {
    url: UrlId,
}

/// The coordinator of one crawl.
pub struct Coordinator {
    store: Box<dyn FrontierStore>,
    frontier: Frontier<Errand>,
    settings: Settings,
    budget: Budget,
    purpose: Purpose,
    scope: Scope,
    hosts: Hosts,
    /// The product token that robots.txt is read for.
    agent: String,
    crawl_id: String,
    /// URLs that the frontier holds.
    ready: HashMap<UrlId, UrlRecord>,
    under_way: HashMap<String, UnderWay>,
    recent: Recent,
    spent: Spent,
    requests: u64,
    stored: u64,
    /// The running time of earlier runs of this crawl.
    earlier: Duration,
    began: Moment,
    /// The bound that ended the crawl.
    exhausted: Option<&'static str>,
    /// Whether seeds alone are asked for, to see what they lead to.
    only_seeds: bool,
    /// Whether pages that were never asked for are left out from now on.
    pages_used_up: bool,
}

impl std::fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coordinator")
            .field("crawl_id", &self.crawl_id)
            .field("spent", &self.spent)
            .finish_non_exhaustive()
    }
}

impl Coordinator {
    /// The crawl's id in messages.
    #[must_use]
    pub fn crawl_id(&self) -> &str {
        &self.crawl_id
    }

    /// How far the crawl is.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let (requests, in_flight) = (self.requests, self.frontier.in_flight());
        Standing { pages: self.spent.pages, stored: self.stored, bytes: self.spent.bytes, requests, in_flight }
    }

    /// What may be asked now. The caller commits before it asks.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    pub fn hand_out(&mut self, now: Moment) -> Result<Due, CoordinatorError> {
        let mut due = Due::default();
        self.spent.duration = self.earlier + now.since(self.began);
        loop {
            if self.is_exhausted()? {
                due.then = if self.frontier.in_flight() == 0 { Rest::Over } else { Rest::OnAnswer };
                return Ok(due);
            }
            match self.frontier.next(now) {
                Next::Ask(_, What::Errand(errand)) => {
                    self.requests += 1;
                    due.errands.push(errand);
                }
                Next::Ask(host, What::Page(url)) => due.jobs.extend(self.job(host, url, now)?),
                Next::Read(host, room) => self.read(host, room, now)?,
                Next::Wait(until) => due.then = Rest::Until(until),
                Next::Busy => due.then = Rest::OnAnswer,
                Next::Idle => due.then = Rest::Over,
            }
            if due.then != Rest::More || due.jobs.len() == BATCH {
                return Ok(due);
            }
        }
    }

    /// Makes durable what was told and handed out.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn commit(&mut self, now: Moment) -> Result<(), CoordinatorError> {
        self.spent.duration = self.earlier + now.since(self.began);
        self.note_spent()?;
        Ok(self.store.commit()?)
    }

    /// Whether a bound is reached. Pages that were asked for already may be asked for again when their number is.
    fn is_exhausted(&mut self) -> Result<bool, CoordinatorError> {
        if self.exhausted.is_none() {
            match self.budget.exhausted_by(&self.spent) {
                Some("max_pages") => self.use_up_pages()?,
                other => self.exhausted = other,
            }
        }
        Ok(self.exhausted.is_some())
    }

    fn use_up_pages(&mut self) -> Result<(), CoordinatorError> {
        if self.pages_used_up {
            // The other bounds still hold for the retries.
            let others = Budget { max_pages: u64::MAX, ..self.budget };
            self.exhausted = others.exhausted_by(&self.spent);
            return Ok(());
        }
        self.pages_used_up = true;
        self.store.settle_queued(Queued::NeverAsked, State::Left, reason::MAX_PAGES)?;
        self.ready.retain(|_, url| url.asked);
        let ready = &self.ready;
        self.frontier.retain(|url| ready.contains_key(&UrlId(url.0)));
        Ok(())
    }

    fn note_spent(&mut self) -> Result<(), CoordinatorError> {
        let (pages, bytes) = (self.spent.pages, self.spent.bytes);
        let value = format!("{pages} {bytes} {} {} {}", self.spent.duration.as_millis(), self.requests, self.stored);
        Ok(self.store.put_note(start::SPENT, &value)?)
    }
}

/// A host's number, as the frontier writes it.
fn turn(id: corpora_ports::frontier::HostId) -> frontier::HostId {
    frontier::HostId(id.0)
}
