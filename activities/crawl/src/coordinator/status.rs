//! How far a crawl is, read from its state while it runs or afterwards.

use std::collections::BTreeMap;

use corpora_ports::frontier::{FrontierStore, HostRecord, Result, Tally};
use serde::Serialize;

use super::end::reasons;
use super::hosts::ELSEWHERE;
use super::start;

/// How far a crawl is, over all its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrawlStatus {
    /// Whether the last run came to its end; one that was stopped or killed did not.
    pub ended: bool,
    /// Pages asked for.
    pub pages: u64,
    /// Pages stored.
    pub stored: u64,
    /// URLs that wait, those under way included.
    pub queued: u64,
    /// Requests, of robots.txt and further attempts too.
    pub requests: u64,
    /// Unpacked bytes of bodies.
    pub bytes: u64,
    /// Running time in seconds.
    pub seconds: f64,
    /// Pages asked for in a second of running time, on average; None before the first second is over.
    pub pages_per_s: Option<f64>,
    /// Seconds until what waits now has been asked for, at that rate. What is found meanwhile comes on top.
    pub eta_s: Option<u64>,
    /// What is not stored, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Its hosts, by name.
    pub hosts: Vec<HostStatus>,
}

/// How far a crawl is with one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostStatus {
    /// Scheme, name and port.
    pub host: String,
    /// Pages asked of it.
    pub pages: u64,
    /// Pages stored.
    pub stored: u64,
    /// URLs that wait.
    pub queued: u64,
    /// What is not stored, by reason.
    pub reasons: BTreeMap<String, u64>,
}

/// How far the crawl with this state is; None when nobody has begun it.
///
/// # Errors
/// When the state cannot be read.
pub fn status(store: &mut dyn FrontierStore) -> Result<Option<CrawlStatus>> {
    let Some(spent) = store.note(start::SPENT)? else { return Ok(None) };
    let numbers: Vec<u64> = spent.split(' ').map(|number| number.parse().unwrap_or(0)).collect();
    let number = |index: usize| numbers.get(index).copied().unwrap_or(0);
    let tallies = store.tally()?;
    let queued = tallies.values().map(waiting).sum();
    let (pages, seconds) = (number(0), number(2) as f64 / 1000.0);
    let rate = (seconds >= 1.0 && pages > 0).then(|| pages as f64 / seconds);
    let of_host = |host: HostRecord| {
        let tally = tallies.get(&host.id).cloned().unwrap_or_default();
        let (stored, queued) = (tally.stored, waiting(&tally));
        let reasons = reasons(&BTreeMap::from([(host.id, tally)]));
        HostStatus { host: host.name, pages: host.asked, stored, queued, reasons }
    };
    let hosts = store.hosts()?.into_iter().filter(|host| host.name != ELSEWHERE);
    let mut hosts: Vec<HostStatus> = hosts.map(of_host).collect();
    hosts.sort_by(|a, b| a.host.cmp(&b.host));
    Ok(Some(CrawlStatus {
        ended: store.note(start::ENDED)?.is_some_and(|ended| !ended.is_empty()),
        pages,
        stored: tallies.values().map(|tally| tally.stored).sum(),
        queued,
        requests: number(3),
        bytes: number(1),
        seconds,
        pages_per_s: rate.map(|rate| (rate * 100.0).round() / 100.0),
        eta_s: rate.map(|rate| (queued as f64 / rate).ceil() as u64),
        reasons: reasons(&tallies),
        hosts,
    }))
}

fn waiting(tally: &Tally) -> u64 {
    tally.queued + tally.in_flight
}
