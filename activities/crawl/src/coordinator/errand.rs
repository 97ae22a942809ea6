//! What is asked of a host before its pages: robots.txt, what is reserved, sitemaps.
//!
//! Each is a request as any other: at the host's pace, with the crawl's attempts, and its answer is durable. A redirect is
//! asked for by an errand of its own, at the pace of the host that it leads to; its result belongs to the host that was
//! asked first (RFC 9309 section 2.3.1.2).

use std::time::Duration;

use corpora_ports::frontier::{Answer as Kept, HostId};
use corpora_web::frontier::{self, Moment, Opened, Then};
use corpora_web::host::HostKey;
use corpora_web::rights::Reservations;
use corpora_web::robots::{self, MOST_REDIRECTS, Meaning, Policy, Robots};
use corpora_web::sitemap;
use corpora_web::url::{NormalUrl, normalize, resolve};

use super::candidate::Origin;
use super::hosts::Access;
use super::visit::Timing;
use super::{Coordinator, CoordinatorError, reason, turn};
use crate::role::Answer;

/// Bytes of a tdmrep.json that are read.
const MOST_RESERVATIONS: usize = 1 << 20;

/// Sitemaps of one host that are asked for, those of indexes included.
const MOST_SITEMAPS: usize = 1000;

/// About robots.txt, in the state.
pub(super) const ROBOTS: &str = "robots";
/// About tdmrep.json, in the state.
pub(super) const RESERVATIONS: &str = "reservations";
/// About a sitemap, in the state; its address follows.
pub(super) const SITEMAP: &str = "sitemap ";

/// An answer that has rules, an answer that says that there are none, and no answer.
pub(super) const RULES: &str = "rules";
pub(super) const NONE: &str = "none";
pub(super) const NO_ANSWER: &str = "unreachable";
/// A sitemap that is still to be asked for.
pub(super) const PENDING: &str = "pending";

/// What an errand is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The rules of a host.
    Robots,
    /// What a host reserves.
    Reservations,
    /// Addresses that a host hands out.
    Sitemap,
}

/// One request about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errand {
    /// What it is for.
    pub kind: Kind,
    /// Where it is asked.
    pub url: NormalUrl,
    /// Bytes of the answer to read.
    pub most: usize,
    /// The host that the answer is about, which a redirect leaves.
    host: HostId,
    /// Where it was asked first.
    first: NormalUrl,
    attempt: u32,
    redirects: usize,
    has_waited: bool,
}

impl Errand {
    fn new(kind: Kind, host: HostId, url: NormalUrl, most: usize) -> Self {
        Self { kind, first: url.clone(), url, most, host, attempt: 1, redirects: 0, has_waited: false }
    }

    fn about(&self) -> String {
        match self.kind {
            Kind::Robots => ROBOTS.to_owned(),
            Kind::Reservations => RESERVATIONS.to_owned(),
            Kind::Sitemap => format!("{SITEMAP}{}", self.first),
        }
    }
}

/// The errand for a host's robots.txt.
pub(super) fn robots(host: HostId, key: &HostKey) -> Option<Errand> {
    Some(Errand::new(Kind::Robots, host, key.robots_url().ok()?, robots::MOST_BYTES + 1))
}

/// What follows an answer.
enum Step {
    /// It says this, or nothing.
    Says(Option<Vec<u8>>),
    /// The next place is to be asked.
    Follow(NormalUrl),
    /// The same place is to be asked again, not before this moment.
    Again(Moment),
    /// There is none in this run, for this reason.
    GivenUp(Why),
}

/// Why there is no answer.
enum Why {
    /// It may come in a later run.
    Passing,
    /// The host asks for so many seconds, more than a run waits.
    TooLong(u64),
    /// It will not come next time, either.
    ForGood(String),
}

impl Coordinator {
    /// Takes an answer about a host.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    pub fn on_answer(&mut self, mut errand: Errand, answer: Answer, timing: Timing) -> Result<(), CoordinatorError> {
        let asked = self.host(&errand.url.host())?;
        self.frontier.began(turn(asked), timing.began);
        let now = timing.ended;
        let step = self.step(&errand, answer, now);
        let rest = if let Step::Again(until) = step { Some(until) } else { None };
        self.rest(asked, rest)?;
        match step {
            Step::Says(body) => self.accept(&errand, body, now),
            Step::GivenUp(why) => self.give_up(&errand, why, now),
            Step::Again(_) => {
                errand.attempt += 1;
                errand.has_waited = true;
                self.frontier.errand(turn(asked), errand);
                Ok(())
            }
            Step::Follow(url) => {
                let next = self.host(&url.host())?;
                self.frontier.errand(turn(next), Errand { url, redirects: errand.redirects + 1, attempt: 1, ..errand });
                Ok(())
            }
        }
    }

    fn step(&self, errand: &Errand, answer: Answer, now: Moment) -> Step {
        let retries = self.settings.retries;
        let Some(status) = answer.status.filter(|_| answer.error.is_none()) else {
            return match answer.error {
                Some(error) if reason::is_for_good(&error) => Step::GivenUp(Why::ForGood(error)),
                _ => match retries.then(errand.attempt, frontier::Answer::Failed, now) {
                    Then::Again(until) => Step::Again(until),
                    _ => Step::GivenUp(Why::Passing),
                },
            };
        };
        match robots::meaning(status, errand.redirects, errand.has_waited) {
            Meaning::Rules => Step::Says(Some(answer.body)),
            Meaning::NoRules => Step::Says(None),
            Meaning::Redirect => self.redirected(errand, answer.location.as_deref()),
            Meaning::Wait | Meaning::Unreachable => {
                let is_over = status == 429 && errand.has_waited;
                let kind = match status {
                    429 | 503 => frontier::Answer::Patience(answer.retry_after_s),
                    _ => frontier::Answer::Failed,
                };
                match retries.then(errand.attempt, kind, now) {
                    Then::TooLong(seconds) => Step::GivenUp(Why::TooLong(seconds)),
                    Then::Again(until) | Then::RestThenAgain(until) if !is_over => Step::Again(until),
                    _ => Step::GivenUp(Why::Passing),
                }
            }
        }
    }

    /// Where a redirect leads. robots.txt is followed anywhere; what else a host has, within the crawl's domains.
    fn redirected(&self, errand: &Errand, location: Option<&str>) -> Step {
        let target = location.and_then(|location| resolve(errand.url.as_url(), location).ok());
        let may = |url: &NormalUrl| errand.kind == Kind::Robots || self.scope.has_domain_of(url);
        match target.filter(|url| may(url) && errand.redirects < MOST_REDIRECTS) {
            Some(url) => Step::Follow(url),
            None => Step::Says(None),
        }
    }

    fn accept(&mut self, errand: &Errand, body: Option<Vec<u8>>, now: Moment) -> Result<(), CoordinatorError> {
        let verdict = if body.is_some() { RULES } else { NONE };
        let body = body.unwrap_or_default();
        match errand.kind {
            Kind::Robots => self.know_robots(errand.host, &body, now),
            Kind::Reservations => self.know_reservations(errand.host, &body),
            Kind::Sitemap => return self.accept_sitemap(errand, &body, now),
        }
        self.keep(errand, verdict, body, now)?;
        self.advance(errand.host, now)
    }

    fn give_up(&mut self, errand: &Errand, why: Why, now: Moment) -> Result<(), CoordinatorError> {
        self.keep(errand, NO_ANSWER, Vec::new(), now)?;
        match errand.kind {
            Kind::Robots => {
                let name = self.name(errand.host);
                match why {
                    Why::Passing => {
                        tracing::warn!(host = name, "robots.txt cannot be had; the host is left alone in this run");
                        self.set_aside(errand.host, reason::ROBOTS_UNREACHABLE);
                    }
                    Why::TooLong(seconds) => {
                        tracing::warn!(host = name, seconds, "the host asks for more patience than a run has");
                        self.set_aside(errand.host, reason::RETRY_AFTER);
                        self.keep_rest(errand.host, now.after(Duration::from_secs(seconds)))?;
                    }
                    Why::ForGood(error) => {
                        tracing::warn!(host = name, error, "robots.txt cannot be had, so the host is left alone");
                        self.set_aside(errand.host, &error);
                        self.hosts.get_mut(errand.host).into_iter().for_each(|host| host.is_lost = true);
                    }
                }
                Ok(())
            }
            Kind::Reservations => {
                self.know_reservations(errand.host, &[]);
                self.advance(errand.host, now)
            }
            Kind::Sitemap => {
                tracing::warn!(url = errand.first.as_str(), "the sitemap cannot be had");
                Ok(())
            }
        }
    }

    fn keep(&mut self, errand: &Errand, verdict: &str, body: Vec<u8>, now: Moment) -> Result<(), CoordinatorError> {
        let kept = Kept { about: errand.about(), at: now.as_millis(), verdict: verdict.to_owned(), body };
        Ok(self.store.put_answer(errand.host, &kept)?)
    }

    pub(super) fn know_robots(&mut self, id: HostId, body: &[u8], at: Moment) {
        let robots = Robots::parse(body);
        let agent = self.agent.clone();
        let Some(host) = self.hosts.get_mut(id) else { return };
        if robots.bytes_cut() > 0 {
            tracing::warn!(
                host = host.record.name,
                most = robots::MOST_BYTES,
                "robots.txt is too long; its end is not read"
            );
        }
        host.sitemaps = robots.sitemaps().to_vec();
        let policy = robots.policy(&agent);
        self.frontier.heed(turn(id), crawl_delay(&policy));
        host.policy = Some(policy);
        host.robots_at = at.as_millis();
    }

    pub(super) fn know_reservations(&mut self, id: HostId, body: &[u8]) {
        if let Some(host) = self.hosts.get_mut(id) {
            host.reservations = Some(Reservations::parse(body));
        }
    }

    /// Asks for what is still missing before a host's pages, or opens it.
    pub(super) fn advance(&mut self, id: HostId, now: Moment) -> Result<(), CoordinatorError> {
        let respects_rights = self.settings.crawl.respect_rights;
        let Some(host) = self.hosts.get_mut(id) else { return Ok(()) };
        let (Some(policy), Some(key)) = (&host.policy, &host.key) else { return Ok(()) };
        if respects_rights && host.reservations.is_none() {
            let url = key.tdmrep_url().ok().filter(|url| policy.allows(url.path_and_query()));
            if let Some(url) = url {
                let errand = Errand::new(Kind::Reservations, id, url, MOST_RESERVATIONS);
                self.frontier.errand(turn(id), errand);
                return Ok(());
            }
            host.reservations = Some(Reservations::default());
        }
        if host.access == Access::Asking {
            host.access = Access::Open;
            self.open_pages(id);
        }
        self.ask_for_sitemaps(id, now)
    }

    fn open_pages(&mut self, id: HostId) {
        let Some(host) = self.hosts.get_mut(id) else { return };
        let wanted = host.policy.as_ref().and_then(crawl_delay);
        if let Opened::TooSlow(wanted) = self.frontier.open(turn(id), wanted, host.record.asked) {
            host.is_too_slow = true;
            tracing::warn!(
                host = host.record.name,
                crawl_delay_s = wanted.as_secs_f64(),
                cap_s = frontier::LONGEST_CRAWL_DELAY.as_secs(),
                "Crawl-delay is above the cap: the host gets one request for a page and no second"
            );
        }
    }

    /// The sitemaps that robots.txt names, unless they have been asked for.
    fn ask_for_sitemaps(&mut self, id: HostId, now: Moment) -> Result<(), CoordinatorError> {
        let Some(host) = self.hosts.get_mut(id).filter(|_| self.settings.crawl.sitemaps) else { return Ok(()) };
        let base = host.key.as_ref().and_then(|key| key.robots_url().ok());
        let named = std::mem::take(&mut host.sitemaps);
        let Some(base) = base else { return Ok(()) };
        self.ask_for_these_sitemaps(id, &base, &named, now)
    }

    fn ask_for_these_sitemaps(
        &mut self,
        id: HostId,
        base: &NormalUrl,
        named: &[String],
        now: Moment,
    ) -> Result<(), CoordinatorError> {
        let known = self.store.answers(id)?;
        let mut known: Vec<String> = known.into_iter().map(|answer| answer.about).collect();
        known.retain(|about| about.starts_with(SITEMAP));
        for url in named.iter().filter_map(|named| resolve(base.as_url(), named).ok()) {
            let errand = Errand::new(Kind::Sitemap, id, url, sitemap::MOST_BYTES);
            let about = errand.about();
            if known.contains(&about) || known.len() >= MOST_SITEMAPS || !self.may_ask_for(&errand.url) {
                continue;
            }
            known.push(about);
            self.keep(&errand, PENDING, Vec::new(), now)?;
            let host = self.host(&errand.url.host())?;
            self.frontier.errand(turn(host), errand);
        }
        Ok(())
    }

    /// A sitemap that was pending when the last run ended.
    pub(super) fn ask_for_pending_sitemap(&mut self, id: HostId, about: &str) -> Result<(), CoordinatorError> {
        let url = about.strip_prefix(SITEMAP).and_then(|url| normalize(url).ok());
        let Some(url) = url else { return Ok(()) };
        let host = self.host(&url.host())?;
        self.frontier.errand(turn(host), Errand::new(Kind::Sitemap, id, url, sitemap::MOST_BYTES));
        Ok(())
    }

    /// Whether a sitemap is within the crawl's domains, and its host's robots.txt, as far as it is known, allows it.
    fn may_ask_for(&mut self, url: &NormalUrl) -> bool {
        if !self.scope.has_domain_of(url) {
            return false;
        }
        let host = self.hosts.named_already(url.host().as_str());
        let policy = host.and_then(|host| host.policy.as_ref());
        policy.is_none_or(|policy| policy.allows(url.path_and_query()))
    }

    /// The addresses of a sitemap are candidates at depth 0, under all checks; those of an index are sitemaps.
    fn accept_sitemap(&mut self, errand: &Errand, body: &[u8], now: Moment) -> Result<(), CoordinatorError> {
        let found = sitemap::parse(body);
        if found.is_cut {
            tracing::warn!(url = errand.first.as_str(), "the sitemap is too long; its end is not read");
        }
        for page in &found.pages {
            if let Ok(url) = resolve(errand.url.as_url(), page) {
                self.consider(&url, Origin::sitemap(), now)?;
            }
        }
        self.keep(errand, RULES, Vec::new(), now)?;
        self.ask_for_these_sitemaps(errand.host, &errand.url, &found.sitemaps, now)
    }
}

/// The pace that a host asks for. More seconds than a duration holds are beyond the cap, whatever they are.
fn crawl_delay(policy: &Policy) -> Option<Duration> {
    policy.crawl_delay().map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
