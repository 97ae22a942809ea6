//! A candidate is checked before it is anything: valid, in the crawl's domains, not excluded, not too deep, not seen.
//!
//! robots.txt is asked for when a host's first candidate has passed, and decides when a URL is about to be handed out
//! (`job.rs`), so that it is the answer of the day that counts.

use corpora_ports::frontier::{HostId, NewUrl, State, UrlId};
use corpora_web::frontier::Moment;
use corpora_web::host::HostKey;
use corpora_web::url::{CanonicalUrl, NormalUrl, canonicalize};

use super::hosts::{Access, ELSEWHERE};
use super::{Coordinator, CoordinatorError, errand, reason, turn};

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) parent: Option<UrlId>,
    pub(super) depth: u32,
    pub(super) is_seed: bool,
}

impl Origin {
    pub(super) fn seed() -> Self {
        Self { parent: None, depth: 0, is_seed: true }
    }

    pub(super) fn sitemap() -> Self {
        Self { parent: None, depth: 0, is_seed: false }
    }

    pub(super) fn page(parent: UrlId, depth: u32) -> Self {
        Self { parent: Some(parent), depth, is_seed: false }
    }
}

impl Coordinator {
    /// Checks a candidate and remembers it, whatever comes of it. Seen before, it may have become less deep.
    pub(super) fn consider(&mut self, url: &NormalUrl, origin: Origin, now: Moment) -> Result<UrlId, CoordinatorError> {
        let key = canonicalize(url);
        if let Some(known) = self.store.find(key.as_str())? {
            let id = known.id;
            self.lessen_depth(known, origin.depth)?;
            return Ok(id);
        }
        let refusal = self.refusal(url, &key, origin);
        let host = self.host_of(url, refusal == Some(reason::ALLOWED_DOMAINS))?;
        let id = self.store.add(&NewUrl {
            key: key.as_str(),
            address: url.as_str(),
            host,
            depth: origin.depth,
            state: if refusal.is_some() { State::Left } else { State::Queued },
            reason: refusal.unwrap_or_default(),
            parent: origin.parent,
            found: now.as_millis(),
        })?;
        if refusal.is_none() {
            self.queued(host, 0)?;
        }
        Ok(id)
    }

    /// Why a candidate is not queued: the key of the config that keeps it out.
    fn refusal(&self, url: &NormalUrl, key: &CanonicalUrl, origin: Origin) -> Option<&'static str> {
        if let Err(out_of_scope) = self.scope.check(url, key, origin.is_seed) {
            return Some(out_of_scope.as_str());
        }
        if origin.depth > self.settings.crawl.max_depth {
            return Some(reason::MAX_DEPTH);
        }
        self.pages_used_up.then_some(reason::MAX_PAGES)
    }

    /// The number of a URL's host; all hosts that are not the crawl's share one.
    fn host_of(&mut self, url: &NormalUrl, is_elsewhere: bool) -> Result<HostId, CoordinatorError> {
        if is_elsewhere {
            return Ok(self.hosts.named(self.store.as_mut(), ELSEWHERE)?.0);
        }
        self.host(&HostKey::of(url))
    }

    /// The number of a host that may be asked.
    pub(super) fn host(&mut self, key: &HostKey) -> Result<HostId, CoordinatorError> {
        let (id, is_new) = self.hosts.named(self.store.as_mut(), key.as_str())?;
        if is_new {
            self.frontier.add(turn(id), Moment::START);
        }
        Ok(id)
    }

    /// A URL of this host waits: its turn comes, once robots.txt is known.
    pub(super) fn queued(&mut self, id: HostId, due: u64) -> Result<(), CoordinatorError> {
        self.frontier.found(turn(id), Moment::from_millis(due));
        if let Some(host) = self.hosts.get_mut(id).filter(|host| host.access == Access::Unknown) {
            host.access = Access::Asking;
            if let Some(robots) = host.key.as_ref().and_then(|key| errand::robots(id, key)) {
                self.frontier.errand(turn(id), robots);
            }
        }
        Ok(())
    }
}
