//! What the coordinator holds of each host: its rules, and whether it may be asked.

use std::collections::HashMap;

use corpora_ports::frontier::{FrontierStore, HostId, HostRecord, Result};
use corpora_web::host::HostKey;
use corpora_web::rights::Reservations;
use corpora_web::robots::Policy;

/// The bucket for URLs of hosts that are not the crawl's: they are counted and never asked.
pub(super) const ELSEWHERE: &str = "";

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) record: HostRecord,
    /// None for the bucket of all hosts that are not the crawl's.
    pub(super) key: Option<HostKey>,
    pub(super) access: Access,
    /// What robots.txt means for us, once it is known.
    pub(super) policy: Option<Policy>,
    /// When robots.txt was answered, in milliseconds since the Unix epoch.
    pub(super) robots_at: u64,
    /// Addresses of sitemaps in its robots.txt.
    pub(super) sitemaps: Vec<String>,
    /// What is reserved, once that is known.
    pub(super) reservations: Option<Reservations>,
    /// Whether it asked for a pace beyond the cap.
    pub(super) is_too_slow: bool,
    /// Whether it is set aside for good.
    pub(super) is_lost: bool,
    /// Pages in a row that could not be had for want of an answer.
    pub(super) silent: u32,
}

/// Whether a host may be asked for pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Access {
    /// Nobody wanted a page of it yet.
    Unknown,
    /// Its robots.txt and what else comes first are being asked for.
    Asking,
    /// Yes.
    Open,
    /// Not in this run, for this reason.
    Aside(String),
}

/// All hosts of a crawl.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    all: Vec<Host>,
    numbers: HashMap<String, usize>,
}

impl Hosts {
    /// Takes in a host of the store.
    pub(super) fn insert(&mut self, record: HostRecord) {
        let key = HostKey::parse(&record.name).ok();
        self.numbers.insert(record.name.clone(), self.all.len());
        self.all.push(Host {
            record,
            key,
            access: Access::Unknown,
            policy: None,
            robots_at: 0,
            sitemaps: Vec::new(),
            reservations: None,
            is_too_slow: false,
            is_lost: false,
            silent: 0,
        });
    }

    /// The host of this name, which is made known where it is not; whether it is new.
    pub(super) fn named(&mut self, store: &mut dyn FrontierStore, name: &str) -> Result<(HostId, bool)> {
        if let Some(index) = self.numbers.get(name) {
            return Ok((self.all[*index].record.id, false));
        }
        let id = store.host(name)?;
        self.insert(HostRecord { id, name: name.to_owned(), asked: 0, rest: 0 });
        Ok((id, true))
    }

    /// A host that is known. Numbers are given in order from 0.
    pub(super) fn get_mut(&mut self, id: HostId) -> Option<&mut Host> {
        self.all.get_mut(id.0 as usize).filter(|host| host.record.id == id)
    }

    /// The host of this name, if it is known.
    pub(super) fn named_already(&self, name: &str) -> Option<&Host> {
        self.numbers.get(name).map(|index| &self.all[*index])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Host> {
        self.all.iter()
    }
}
