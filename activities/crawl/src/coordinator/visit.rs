//! What came of a job: whether its page is kept, what it leads to, whether it is asked for again, how its host rests.

use corpora_contracts::message::{DiscoveryMessage, Outcome, StorageMessage};
use corpora_ports::frontier::{HostId, Link, State, UrlId, UrlRecord};
use corpora_web::frontier::{Answer, Moment, Then};
use corpora_web::rights::Signals;
use corpora_web::url::{NormalUrl, canonicalize, normalize};
use serde_json::Value;

use super::candidate::Origin;
use super::hosts::Access;
use super::{Coordinator, CoordinatorError, reason, turn};
use crate::role::Visit;

/// Pages in a row of one host that got no answer in all their attempts, before the host is set aside for this run.
const MOST_SILENT: u32 = 5;

/// When a request was made, and when it was over.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Its start.
    pub began: Moment,
    /// Its end.
    pub ended: Moment,
}

/// What an outcome means.
enum Meaning {
    /// A page, whether it is kept or not.
    Page,
    /// A redirect that was not followed.
    Redirect,
    /// No page, for a reason that stays.
    Nothing(String),
    /// No page now.
    Passing(String, Answer),
}

impl Coordinator {
    /// Takes what came of a job. The page that comes back is to be kept before this is committed.
    ///
    /// A job that is not under way (a second delivery) changes nothing.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    pub fn on_visit(&mut self, visit: Visit, timing: Timing) -> Result<Option<StorageMessage>, CoordinatorError> {
        let Visit { storage, discovery, took: _ } = visit;
        let Some(under_way) = self.under_way.remove(&discovery.job_id) else { return Ok(None) };
        let Some(url) = self.store.get(under_way.url)? else { return Ok(None) };
        let outcome = discovery.outcome.clone().unwrap_or_default();
        self.spent.bytes += outcome.bytes.unwrap_or(0);
        self.frontier.began(turn(url.host), timing.began);
        let host = url.host;
        let (kept, rest) = match meaning(&outcome) {
            Meaning::Passing(why, answer) => (None, self.try_again(url, why, answer, timing.ended)?),
            Meaning::Nothing(why) => {
                let from = url.id;
                self.leave(url, why)?;
                self.follow(from, &discovery.links, timing.ended)?;
                (None, None)
            }
            Meaning::Redirect => {
                self.redirect(url, &discovery.final_url, timing.ended)?;
                (None, None)
            }
            Meaning::Page => (self.page(url, storage, &discovery, timing.ended)?, None),
        };
        if rest.is_none() {
            self.answered(host);
        }
        self.rest(host, rest.flatten())?;
        Ok(kept)
    }

    /// Settles a page: kept under the address that answered, if nothing says otherwise.
    fn page(
        &mut self,
        url: UrlRecord,
        storage: Option<StorageMessage>,
        discovery: &DiscoveryMessage,
        now: Moment,
    ) -> Result<Option<StorageMessage>, CoordinatorError> {
        let Ok(address) = normalize(&discovery.final_url) else {
            self.leave(url, "address".to_owned())?;
            return Ok(None);
        };
        let Some(mut page) = self.answering(url, &address, now)? else { return Ok(None) };
        let id = page.id;
        let own = signals_of(discovery);
        let all = self.with_what_its_host_states(&address, page.host, own.clone());
        if let Some(refusal) = all.decide(self.purpose).refusal {
            self.leave(page, refusal.as_str().to_owned())?;
            self.follow(id, &discovery.links, now)?;
            return Ok(None);
        }
        (page.state, page.reason) = (State::Stored, String::new());
        self.store.put(&page)?;
        self.stored += 1;
        self.follow(id, &discovery.links, now)?;
        let rights = if all == own { None } else { serde_json::to_value(&all).ok() };
        match (storage, rights) {
            (Some(mut storage), rights) => {
                storage.url.clone_from(&page.key);
                storage.depth = page.depth;
                if let Some(Value::Object(rights)) = rights {
                    storage.document.metadata.rights = Some(rights);
                }
                Ok(Some(storage))
            }
            // The page went its own way to the storage; what is to stand in it is kept for whoever collects.
            (None, Some(rights)) => {
                self.store.put_note(&rights_note(&page.key), &rights.to_string())?;
                Ok(None)
            }
            (None, None) => Ok(None),
        }
    }

    /// The record of the address that answered. A worker may have followed redirects: what it came to is a candidate as any
    /// other, and is let go when the checks refuse it or somebody else has it.
    fn answering(
        &mut self,
        url: UrlRecord,
        address: &NormalUrl,
        now: Moment,
    ) -> Result<Option<UrlRecord>, CoordinatorError> {
        if canonicalize(address).as_str() == url.key {
            return Ok(Some(url));
        }
        let id = self.consider(address, Origin::page(url.id, url.depth), now)?;
        self.store.put_links(url.id, &[Link { to: id, is_redirect: true }])?;
        self.leave(url, reason::REDIRECT.to_owned())?;
        let target = self.store.get(id)?;
        let Some(mut target) = target.filter(|target| target.state == State::Queued) else { return Ok(None) };
        if self.ready.remove(&id).is_some() {
            let ready = &self.ready;
            self.frontier.retain(|url| ready.contains_key(&UrlId(url.0)));
        }
        if self.policy_refuses(target.host, address) {
            self.leave(target, reason::ROBOTS.to_owned())?;
            return Ok(None);
        }
        target.asked = true;
        Ok(Some(target))
    }

    /// A redirect is a candidate at the depth of what redirects. One that has the same canonical form is asked for once
    /// more under its new spelling, and then no more.
    fn redirect(&mut self, mut url: UrlRecord, target: &str, now: Moment) -> Result<(), CoordinatorError> {
        let Ok(target) = normalize(target) else { return self.leave(url, "address".to_owned()) };
        if canonicalize(&target).as_str() != url.key {
            let id = self.consider(&target, Origin::page(url.id, url.depth), now)?;
            self.store.put_links(url.id, &[Link { to: id, is_redirect: true }])?;
            return self.leave(url, reason::REDIRECT.to_owned());
        }
        // The first spelling redirected to another one; if that one redirects, too, it is to one that was asked already.
        if target.as_str() == url.address || url.reason == reason::REDIRECT {
            return self.leave(url, reason::REDIRECT_LOOP.to_owned());
        }
        target.as_str().clone_into(&mut url.address);
        reason::REDIRECT.clone_into(&mut url.reason);
        (url.state, url.attempts, url.due) = (State::Queued, 0, 0);
        self.store.put(&url)?;
        self.queued(url.host, 0)
    }

    /// Settles a URL that has no page.
    fn leave(&mut self, mut url: UrlRecord, why: String) -> Result<(), CoordinatorError> {
        (url.state, url.reason) = (State::Left, why);
        Ok(self.store.put(&url)?)
    }

    /// Another attempt, or none; how long the host rests. The outer None of the answer means that the host has answered.
    fn try_again(
        &mut self,
        mut url: UrlRecord,
        why: String,
        answer: Answer,
        now: Moment,
    ) -> Result<Option<Option<Moment>>, CoordinatorError> {
        let id = url.host;
        let then = self.settings.retries.then(url.attempts, answer, now);
        let rest = match then {
            Then::RestThenAgain(until) | Then::GivenUp(Some(until)) => Some(until),
            _ => None,
        };
        match then {
            Then::Again(due) | Then::RestThenAgain(due) => {
                (url.state, url.due) = (State::Queued, due.as_millis());
                self.store.put(&url)?;
                self.queued(id, url.due)?;
            }
            Then::Settled | Then::GivenUp(_) => {
                let is_answer = why.starts_with("http_");
                let of_host = reason::is_of_the_host(&why);
                (url.state, url.reason) = (State::Failed, why);
                self.store.put(&url)?;
                if !is_answer {
                    self.fell_silent(id, of_host);
                }
            }
            Then::TooLong(seconds) => {
                (url.state, url.reason) = (State::Failed, reason::RETRY_AFTER.to_owned());
                self.store.put(&url)?;
                self.set_aside(id, reason::RETRY_AFTER);
                tracing::warn!(host = self.name(id), seconds, "the host asks for more patience than a run has");
                self.keep_rest(id, now.after(std::time::Duration::from_secs(seconds)))?;
            }
        }
        Ok(Some(rest).filter(|_| !matches!(answer, Answer::Final)))
    }

    /// A page of this host got no answer in all its attempts.
    fn fell_silent(&mut self, id: HostId, of_host: bool) {
        let Some(host) = self.hosts.get_mut(id) else { return };
        host.silent += 1;
        if of_host || host.silent >= MOST_SILENT {
            tracing::warn!(host = host.record.name, "the host does not answer; it is left alone in this run");
            self.set_aside(id, reason::UNREACHABLE);
        }
    }

    fn answered(&mut self, id: HostId) {
        if let Some(host) = self.hosts.get_mut(id) {
            host.silent = 0;
        }
    }

    /// Makes no further request of a host in this run.
    pub(super) fn set_aside(&mut self, id: HostId, why: &str) {
        if let Some(host) = self.hosts.get_mut(id) {
            host.access = Access::Aside(why.to_owned());
            self.frontier.abandon(turn(id));
        }
    }

    /// The request to a host is over, and the host rests.
    pub(super) fn rest(&mut self, id: HostId, until: Option<Moment>) -> Result<(), CoordinatorError> {
        self.frontier.ended(turn(id), until);
        until.map_or(Ok(()), |until| self.keep_rest(id, until))
    }

    /// Remembers a rest over a restart.
    pub(super) fn keep_rest(&mut self, id: HostId, until: Moment) -> Result<(), CoordinatorError> {
        if let Some(host) = self.hosts.get_mut(id) {
            host.record.rest = host.record.rest.max(until.as_millis());
            self.store.put_host(&host.record)?;
        }
        Ok(())
    }

    pub(super) fn name(&mut self, id: HostId) -> String {
        self.hosts.get_mut(id).map(|host| host.record.name.clone()).unwrap_or_default()
    }

    /// Follows the links of a page: each is a candidate one deeper than the page. The ways are kept.
    fn follow(&mut self, from: UrlId, links: &[String], now: Moment) -> Result<(), CoordinatorError> {
        if links.is_empty() {
            return Ok(());
        }
        let Some(page) = self.store.get(from)? else { return Ok(()) };
        let depth = page.depth.saturating_add(1);
        let mut ways = Vec::with_capacity(links.len());
        for link in links {
            let known = match self.recent.get(link) {
                Some(known) if known.is_none_or(|(_, known)| known <= depth) => known,
                _ => {
                    let url = normalize(link).ok();
                    let id = url.map(|url| self.consider(&url, Origin::page(from, depth), now)).transpose()?;
                    let known = id.map(|id| (id, depth));
                    self.recent.put(link, known);
                    known
                }
            };
            ways.extend(known.map(|(to, _)| Link { to, is_redirect: false }));
        }
        Ok(self.store.put_links(from, &ways)?)
    }

    fn policy_refuses(&mut self, host: HostId, address: &NormalUrl) -> bool {
        let policy = self.hosts.get_mut(host).and_then(|host| host.policy.as_ref());
        // A host whose robots.txt is not known gives nothing.
        policy.is_none_or(|policy| !policy.allows(address.path_and_query()))
    }

    /// Adds to what a page states of its use what its host states.
    fn with_what_its_host_states(&mut self, address: &NormalUrl, host: HostId, mut signals: Signals) -> Signals {
        let Some(host) = self.hosts.get_mut(host) else { return signals };
        let path = address.path_and_query();
        let stated = host.policy.as_ref().map(|policy| policy.stated(path)).unwrap_or_default();
        signals.add_stated(&stated);
        if let Some(reservation) = host.reservations.as_ref().and_then(|reservations| reservations.of(path)) {
            signals.add_reservation(reservation);
        }
        signals
    }
}

/// Where the coordinator notes the rights of a page that it did not hand to the storage itself.
pub(crate) fn rights_note(url: &str) -> String {
    format!("rights {url}")
}

/// What a page and its headers state.
fn signals_of(discovery: &DiscoveryMessage) -> Signals {
    let rights = discovery.outcome.as_ref().and_then(|outcome| outcome.rights.clone());
    rights.and_then(|rights| serde_json::from_value(Value::Object(rights)).ok()).unwrap_or_default()
}

/// What an outcome means. 429 and 5xx may pass, other statuses that are no page stay (the contract's exit codes).
fn meaning(outcome: &Outcome) -> Meaning {
    let status = outcome.status_code.unwrap_or(200);
    match outcome.error.as_deref() {
        Some(error) if reason::is_passing(error) => Meaning::Passing(error.to_owned(), Answer::Failed),
        _ if status == 429 || status == 503 || (status >= 500 && outcome.retry_after_s.is_some()) => {
            Meaning::Passing(reason::of_status(status), Answer::Patience(outcome.retry_after_s))
        }
        _ if status >= 500 => Meaning::Passing(reason::of_status(status), Answer::Failed),
        Some(error) => Meaning::Nothing(error.to_owned()),
        None if (300..400).contains(&status) && status != 304 => Meaning::Redirect,
        None if (200..300).contains(&status) => Meaning::Page,
        None => Meaning::Nothing(reason::of_status(status)),
    }
}
