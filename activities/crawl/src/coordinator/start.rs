//! How a crawl begins, or goes on where a run before it stopped.

use std::time::Duration;

use corpora_contracts::config::Use;
use corpora_ports::frontier::{FrontierStore, FrontierStoreError, HostId, State};
use corpora_web::frontier::{Budget, Frontier, Manners, Moment, Spent};
use corpora_web::retry_after::LONGEST_WAIT;
use corpora_web::rights::Purpose;
use corpora_web::robots::{LONGEST_AGE, product_token};
use corpora_web::scope::Scope;
use corpora_web::url::normalize;

use super::candidate::Origin;
use super::errand::{NO_ANSWER, PENDING, RESERVATIONS, ROBOTS, SITEMAP};
use super::hosts::{Access, ELSEWHERE, Hosts};
use super::recent::Recent;
use super::{Coordinator, CoordinatorError, Settings, WINDOW, job, reason, turn};

/// What decides about the pages: a state of another key is another crawl's.
const KEY: &str = "key";
/// The crawl's id in messages.
pub(crate) const CRAWL_ID: &str = "crawl_id";
/// How the last run ended, if it did.
pub(super) const ENDED: &str = "ended";
/// Pages, bytes, milliseconds, requests and stored pages so far.
pub(super) const SPENT: &str = "spent";

/// The form of the state. A state of another form is not read.
const FORM: &str = "1";

/// The crawl's id in messages, as a state has it; none of a state that is empty.
///
/// # Errors
/// When the state cannot be read.
pub fn crawl_id(store: &mut impl FrontierStore) -> Result<Option<String>, FrontierStoreError> {
    store.note(CRAWL_ID)
}

impl Coordinator {
    /// A coordinator over this state: a new crawl where the state is empty or of another crawl, else the one that it holds.
    /// What was under way is queued again; after a run that came to its end, what could not be had is, too.
    ///
    /// # Errors
    /// When the state cannot be read or written, or the config has no scope.
    pub fn open(store: Box<dyn FrontierStore>, settings: Settings, now: Moment) -> Result<Self, CoordinatorError> {
        let crawl = &settings.crawl;
        let manners = Manners {
            delay: crawl.delay.duration(),
            per_host: crawl.per_host,
            concurrency: crawl.concurrency,
            window: WINDOW,
        };
        let budget = Budget {
            max_pages: crawl.max_pages,
            max_bytes: crawl.max_bytes,
            max_duration: crawl.max_duration.duration(),
        };
        let purpose =
            Purpose { trains: crawl.allowed_uses.contains(&Use::Train), respects_rights: crawl.respect_rights };
        let mut coordinator = Self {
            store,
            frontier: Frontier::new(manners),
            budget,
            purpose,
            scope: Scope::of(crawl)?,
            hosts: Hosts::default(),
            agent: product_token(&crawl.user_agent).to_owned(),
            crawl_id: String::new(),
            ready: std::collections::HashMap::new(),
            under_way: std::collections::HashMap::new(),
            recent: Recent::default(),
            spent: Spent::default(),
            requests: 0,
            stored: 0,
            earlier: Duration::ZERO,
            began: now,
            exhausted: None,
            only_seeds: false,
            pages_used_up: false,
            settings,
        };
        coordinator.take_over(now)?;
        coordinator.load_hosts(now)?;
        coordinator.plant_seeds(now)?;
        coordinator.commit(now)?;
        Ok(coordinator)
    }

    /// A coordinator that asks for robots.txt and for seeds, and for no other page: what it finds is judged and left.
    ///
    /// # Errors
    /// As [`Coordinator::open`].
    pub fn open_to_look(
        store: Box<dyn FrontierStore>,
        settings: Settings,
        now: Moment,
    ) -> Result<Self, CoordinatorError> {
        let coordinator = Self::open(store, settings, now)?;
        Ok(Self { only_seeds: true, ..coordinator })
    }

    /// Makes the state this crawl's.
    fn take_over(&mut self, now: Moment) -> Result<(), CoordinatorError> {
        let key = format!("{FORM} {}", self.settings.crawl.key);
        let known = self.store.note(KEY)?;
        if known.as_ref() != Some(&key) {
            self.store.clear()?;
            self.store.put_note(KEY, &key)?;
            let id = job::uuid(&["crawl", &key, &now.as_millis().to_string()]);
            self.store.put_note(CRAWL_ID, &id)?;
        }
        self.crawl_id = self.store.note(CRAWL_ID)?.unwrap_or_default();
        self.load_spent()?;
        self.store.reopen(State::InFlight)?;
        if self.store.note(ENDED)?.is_some_and(|ended| !ended.is_empty()) {
            self.store.put_note(ENDED, "")?;
            self.store.reopen(State::Failed)?;
            self.spent.duration = Duration::ZERO;
        }
        self.earlier = self.spent.duration;
        Ok(())
    }

    fn load_spent(&mut self) -> Result<(), CoordinatorError> {
        let note = self.store.note(SPENT)?.unwrap_or_default();
        let mut numbers = note.split(' ').map(|number| number.parse().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        self.spent = Spent { pages: next(), bytes: next(), duration: Duration::from_millis(next()) };
        self.requests = next();
        self.stored = next();
        Ok(())
    }

    fn load_hosts(&mut self, now: Moment) -> Result<(), CoordinatorError> {
        for record in self.store.hosts()? {
            let (id, rest, is_elsewhere) = (record.id, record.rest, record.name == ELSEWHERE);
            self.hosts.insert(record);
            if !is_elsewhere {
                self.frontier.add(turn(id), Moment::from_millis(rest));
            }
        }
        let ids: Vec<HostId> = self.hosts.iter().filter(|host| host.key.is_some()).map(|host| host.record.id).collect();
        for id in ids {
            self.load_host(id, now)?;
        }
        Ok(())
    }

    /// A host with what it answered, as far as that still counts.
    fn load_host(&mut self, id: HostId, now: Moment) -> Result<(), CoordinatorError> {
        let mut is_known = false;
        for answer in self.store.answers(id)? {
            let at = Moment::from_millis(answer.at);
            match answer.about.as_str() {
                _ if answer.verdict == NO_ANSWER => {}
                ROBOTS if now.since(at) < LONGEST_AGE => {
                    is_known = true;
                    self.know_robots(id, &answer.body, at);
                }
                RESERVATIONS => self.know_reservations(id, &answer.body),
                about if about.starts_with(SITEMAP) && answer.verdict == PENDING => {
                    self.ask_for_pending_sitemap(id, about)?;
                }
                _ => {}
            }
        }
        let rests_long = |host: &super::hosts::Host| Moment::from_millis(host.record.rest) > now.after(LONGEST_WAIT);
        if self.hosts.get_mut(id).is_some_and(|host| rests_long(host)) {
            self.set_aside(id, reason::RETRY_AFTER);
            return Ok(());
        }
        let Some(due) = self.store.next_due(id)? else { return Ok(()) };
        if !is_known {
            return self.queued(id, due);
        }
        if let Some(host) = self.hosts.get_mut(id) {
            host.access = Access::Asking;
        }
        self.queued(id, due)?;
        self.advance(id, now)
    }

    /// Seeds are candidates at depth 0. One that is no URL was refused with the config.
    fn plant_seeds(&mut self, now: Moment) -> Result<(), CoordinatorError> {
        for seed in self.settings.crawl.seed_urls.clone() {
            if let Ok(url) = normalize(&seed) {
                self.consider(&url, Origin::seed(), now)?;
            }
        }
        Ok(())
    }
}
