//! Sites whose answers take their time, and a clock that jumps to the next thing that happens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::super::*;

/// A site of the simulated Web; times are milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) pages: u64,
    pub(super) answer: u64,
    pub(super) crawl_delay: Option<u64>,
}

/// One request, as its site saw it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) host: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

#[derive(Debug)]
pub(super) struct World {
    frontier: Frontier<()>,
    sites: Vec<Site>,
    stores: Vec<VecDeque<UrlId>>,
    under_way: BTreeSet<(u64, usize, u64)>,
    pub(super) log: Vec<Entry>,
    pub(super) most_held: usize,
    pub(super) most_hosts: usize,
}

impl World {
    pub(super) fn new(manners: Manners, sites: &[Site]) -> Self {
        let mut frontier = Frontier::new(manners);
        let mut stores = Vec::new();
        for (index, site) in sites.iter().enumerate() {
            let id = HostId(u32::try_from(index).unwrap());
            frontier.add(id, Moment::START);
            frontier.open(id, site.crawl_delay.map(Duration::from_millis), 0);
            stores.push((0..site.pages).map(UrlId).collect::<VecDeque<_>>());
            if site.pages > 0 {
                frontier.found(id, Moment::START);
            }
        }
        let (under_way, log) = (BTreeSet::new(), Vec::new());
        Self { frontier, sites: sites.to_vec(), stores, under_way, log, most_held: 0, most_hosts: 0 }
    }

    /// Crawls to the end.
    pub(super) fn run(&mut self) {
        let mut now = 0;
        for _step in 0..1_000_000 {
            self.most_held = self.most_held.max(self.frontier.held());
            match self.frontier.next(Moment::from_millis(now)) {
                Next::Ask(id, _) => self.ask(id, now),
                Next::Read(id, room) => self.read(id, room),
                Next::Wait(until) => now = self.advance(Some(until.as_millis())),
                Next::Busy => now = self.advance(None),
                Next::Idle => return assert!(self.under_way.is_empty(), "idle with requests under way"),
            }
        }
        panic!("the crawl does not end");
    }

    fn ask(&mut self, id: HostId, now: u64) {
        let host = id.0 as usize;
        let end = now + self.sites[host].answer;
        self.under_way.insert((end, host, self.log.len() as u64));
        self.log.push(Entry { host, start: now, end });
        let hosts: BTreeMap<usize, ()> = self.under_way.iter().map(|(_, host, _)| (*host, ())).collect();
        self.most_hosts = self.most_hosts.max(hosts.len());
    }

    fn read(&mut self, id: HostId, room: usize) {
        let store = &mut self.stores[id.0 as usize];
        let taken: Vec<_> = store.drain(..room.min(store.len())).collect();
        let next = (!store.is_empty()).then_some(Moment::START);
        self.frontier.filled(id, taken, next);
    }

    /// Ends the first answer, if it ends before `until`; the time after that.
    fn advance(&mut self, until: Option<u64>) -> u64 {
        let first = self.under_way.first().copied();
        match (first, until) {
            (Some((end, _, _)), Some(until)) if until < end => until,
            (None, until) => until.expect("busy with nothing under way"),
            (Some(first), _) => {
                self.under_way.remove(&first);
                self.frontier.ended(HostId(u32::try_from(first.1).unwrap()), None);
                first.0
            }
        }
    }
}
