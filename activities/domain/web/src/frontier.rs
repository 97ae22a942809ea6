//! Which request of a crawl comes next, and when: politeness to a host, fairness between hosts.
//!
//! A state machine without IO. The caller says what was found ([`Frontier::found`]), what was asked for and what ended,
//! and does what [`Frontier::next`] says. Time comes in as a [`Moment`]. A host's URLs stand in the caller's store, however
//! many they are; only a window of them is held here, so that memory grows with hosts and not with URLs.
//!
//! robots.txt, sitemaps and the like are requests as pages are: the caller hands them in as errands, which a host gets
//! before its pages, and at the same pace.

mod budget;
mod host;
mod moment;
mod pattern;
mod retry;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use host::{Gate, Host};

pub use budget::{Budget, Spent};
pub use moment::Moment;
pub use pattern::pattern;
pub use retry::{Answer, Retries, Then};

/// The longest Crawl-delay that is honoured: a host that asks for more gets one page and no second.
pub const LONGEST_CRAWL_DELAY: Duration = Duration::from_secs(120);

/// A host of the crawl: scheme, name and port, by the number that the caller's store gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A URL of the crawl, by the number that the caller's store gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlId(pub u64);

/// How a crawl treats hosts.
#[derive(Debug, Clone)]
pub struct Manners {
    /// From request start to request start on one host.
    pub delay: Duration,
    /// Requests at the same time to one host, at least 1.
    pub per_host: u32,
    /// Hosts asked at the same time, at least 1.
    pub concurrency: u32,
    /// URLs of one host that are held here, at most.
    pub window: usize,
}

/// What the caller should do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next<E> {
    /// Send this request now; [`Frontier::ended`] tells when it is over.
    Ask(HostId, What<E>),
    /// Read up to so many due URLs of this host from the store and hand them to [`Frontier::filled`].
    Read(HostId, usize),
    /// Nothing may start before this moment, unless a request ends or something is found.
    Wait(Moment),
    /// Nothing may start before a request ends.
    Busy,
    /// Nothing is left and nothing is under way.
    Idle,
}

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<E> {
    /// What the caller handed in with [`Frontier::errand`].
    Errand(E),
    /// A page.
    Page(UrlId),
}

/// How a host was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// Its pages are asked for at this pace.
    At(Duration),
    /// It asks for a pace beyond [`LONGEST_CRAWL_DELAY`]: one page, unless it had one already, and no second.
    TooSlow(Duration),
}

/// The frontier of one crawl.
#[derive(Debug)]
pub struct Frontier<E> {
    manners: Manners,
    hosts: HashMap<HostId, Host<E>>,
    /// Hosts that have something to do, by when it may start; of equal ones the one that waited longest.
    line: BTreeSet<(Moment, u64, HostId)>,
    /// Hosts with a request under way.
    active: u32,
    /// Requests under way.
    in_flight: u64,
    turns: u64,
}

impl<E> Frontier<E> {
    /// A frontier without hosts.
    #[must_use]
    pub fn new(manners: Manners) -> Self {
        Self { manners, hosts: HashMap::new(), line: BTreeSet::new(), active: 0, in_flight: 0, turns: 0 }
    }

    /// Makes a host known, and keeps it from being asked before `rest`. Its pages wait until it is opened.
    pub fn add(&mut self, id: HostId, rest: Moment) {
        let fresh = Host::new(self.manners.delay, rest);
        self.hosts.entry(id).or_insert(fresh);
        self.line_up(id);
    }

    /// A request that comes before pages, whether the host is open or not.
    pub fn errand(&mut self, id: HostId, errand: E) {
        self.change(id, |host| host.errands.push_back(errand));
    }

    /// Takes the pace that a host asks for, errands included, from when it is known; one beyond [`LONGEST_CRAWL_DELAY`] is
    /// for [`Frontier::open`] to judge.
    pub fn heed(&mut self, id: HostId, crawl_delay: Option<Duration>) {
        let wanted = crawl_delay.unwrap_or_default();
        if wanted <= LONGEST_CRAWL_DELAY {
            let pace = wanted.max(self.manners.delay);
            self.change(id, |host| host.delay = pace);
        }
    }

    /// Lets the pages of a host be asked for. `asked` is how many were, in this run and earlier ones.
    ///
    /// The pace is the slower one of ours and the host's Crawl-delay.
    pub fn open(&mut self, id: HostId, crawl_delay: Option<Duration>, asked: u64) -> Opened {
        let wanted = crawl_delay.unwrap_or_default();
        let (most, pace, opened) = if wanted > LONGEST_CRAWL_DELAY {
            (1, self.manners.delay, Opened::TooSlow(wanted))
        } else {
            let pace = wanted.max(self.manners.delay);
            (u64::MAX, pace, Opened::At(pace))
        };
        self.change(id, |host| {
            host.delay = pace;
            host.pages_left = most.saturating_sub(asked);
            host.gate = Gate::Open;
        });
        opened
    }

    /// No further page of this host is asked for; its errands are.
    pub fn close(&mut self, id: HostId) {
        self.change(id, |host| {
            host.gate = Gate::Closed;
            host.window.clear();
            host.stored = None;
        });
    }

    /// Holds the pages of a host back until it is opened again.
    pub fn shut(&mut self, id: HostId) {
        self.change(id, |host| host.gate = Gate::Shut);
    }

    /// Lets go of the held URLs that are not wanted any more.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(UrlId) -> bool) {
        let ids: Vec<HostId> = self.hosts.keys().copied().collect();
        for id in ids {
            self.change(id, |host| host.window.retain(|url| is_wanted(*url)));
        }
    }

    /// No further request at all is made of this host.
    pub fn abandon(&mut self, id: HostId) {
        self.close(id);
        self.change(id, |host| host.errands.clear());
    }

    /// Whether the pages of a host have been closed, or its share of pages is used up.
    #[must_use]
    pub fn is_closed(&self, id: HostId) -> bool {
        self.hosts.get(&id).is_some_and(Host::is_closed)
    }

    /// The store holds a URL of this host that may be asked for from this moment on.
    pub fn found(&mut self, id: HostId, due: Moment) {
        self.change(id, |host| host.expect_from_store(due));
    }

    /// What the store had: due URLs, none of them handed over before and still held, and when the next one is due.
    pub fn filled(&mut self, id: HostId, urls: impl IntoIterator<Item = UrlId>, next: Option<Moment>) {
        self.change(id, |host| {
            if host.gate == Gate::Closed {
                return;
            }
            host.window.extend(urls);
            host.stored = next;
        });
    }

    /// The request that was asked for began at this moment, which may be later than the caller was told to begin.
    pub fn began(&mut self, id: HostId, at: Moment) {
        self.change(id, |host| host.last_start = host.last_start.max(Some(at)));
    }

    /// A request to this host is over. The host rests until `rest`, if that is later than its pace.
    pub fn ended(&mut self, id: HostId, rest: Option<Moment>) {
        let Some(host) = self.hosts.get_mut(&id).filter(|host| host.in_flight > 0) else { return };
        host.in_flight -= 1;
        self.in_flight -= 1;
        if host.in_flight == 0 {
            self.active -= 1;
        }
        self.change(id, |host| host.rest = rest.map_or(host.rest, |rest| rest.max(host.rest)));
    }

    /// What to do next.
    pub fn next(&mut self, now: Moment) -> Next<E> {
        let Some((due, id)) = self.first_in_line() else {
            return if self.in_flight == 0 { Next::Idle } else { Next::Busy };
        };
        if due > now {
            return Next::Wait(due);
        }
        let room = self.manners.window;
        let Some(host) = self.hosts.get_mut(&id) else { return Next::Busy };
        if host.wants_store() {
            host.stored = None;
            self.line_up(id);
            return Next::Read(id, room);
        }
        let Some(what) = host.begin(now) else { return Next::Busy };
        self.in_flight += 1;
        self.turns += 1;
        host.turn = self.turns;
        if host.in_flight == 1 {
            self.active += 1;
        }
        self.line_up(id);
        Next::Ask(id, what)
    }

    /// Requests under way.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// URLs that are held here.
    #[must_use]
    pub fn held(&self) -> usize {
        self.hosts.values().map(|host| host.window.len()).sum()
    }

    /// The host that comes next. With all places taken only a host that has one comes in question.
    fn first_in_line(&self) -> Option<(Moment, HostId)> {
        let places = self.active < self.manners.concurrency;
        if !places && self.manners.per_host <= 1 {
            return None; // Whoever has a place is busy with its one request.
        }
        let is_active = |id: &HostId| self.hosts.get(id).is_some_and(|host| host.in_flight > 0);
        let mut line = self.line.iter();
        line.find(|(_, _, id)| places || is_active(id)).map(|(due, _, id)| (*due, *id))
    }

    fn change(&mut self, id: HostId, change: impl FnOnce(&mut Host<E>)) {
        if let Some(host) = self.hosts.get_mut(&id) {
            change(host);
            self.line_up(id);
        }
    }

    /// Gives a host the place in line that its state asks for.
    fn line_up(&mut self, id: HostId) {
        let Some(host) = self.hosts.get_mut(&id) else { return };
        let place = host.due(self.manners.per_host).map(|due| (due, host.turn));
        if place == host.place {
            return;
        }
        if let Some((due, turn)) = host.place {
            self.line.remove(&(due, turn, id));
        }
        if let Some((due, turn)) = place {
            self.line.insert((due, turn, id));
        }
        host.place = place;
    }
}
