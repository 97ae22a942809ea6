//! The twin in memory: for tests, and for what need not outlive a process.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use corpora_contracts::outcome::Disposition;

use super::{
    Answer, FrontierStore, FrontierStoreError, HostId, HostRecord, Link, NewUrl, Queued, Result, State, StoredPage,
    Tally, UrlId, UrlRecord,
};

/// A crawl's state that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryFrontier {
    hosts: Vec<HostRecord>,
    answers: BTreeMap<(HostId, String), Answer>,
    urls: Vec<UrlRecord>,
    keys: BTreeMap<String, UrlId>,
    queued: BTreeSet<(HostId, u64, u32, UrlId)>,
    links: HashMap<UrlId, Vec<Link>>,
    notes: HashMap<String, String>,
}

impl MemoryFrontier {
    /// A state in which nothing was found yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn index(&self, id: UrlId) -> Option<usize> {
        let index = usize::try_from(id.0).ok()?.checked_sub(1)?;
        (index < self.urls.len()).then_some(index)
    }
}

fn place(url: &UrlRecord) -> (HostId, u64, u32, UrlId) {
    (url.host, url.due, url.depth, url.id)
}

fn unknown(action: &'static str, what: String) -> FrontierStoreError {
    FrontierStoreError { action, disposition: Disposition::Fail, is_disk_full: false, source: what.into() }
}

impl FrontierStore for MemoryFrontier {
    fn hosts(&mut self) -> Result<Vec<HostRecord>> {
        Ok(self.hosts.clone())
    }

    fn host(&mut self, name: &str) -> Result<HostId> {
        if let Some(host) = self.hosts.iter().find(|host| host.name == name) {
            return Ok(host.id);
        }
        let number = u32::try_from(self.hosts.len());
        let id = HostId(number.map_err(|_| unknown("extend", format!("no number for `{name}`")))?);
        self.hosts.push(HostRecord { id, name: name.to_owned(), asked: 0, rest: 0 });
        Ok(id)
    }

    fn put_host(&mut self, host: &HostRecord) -> Result<()> {
        let known = self.hosts.iter_mut().find(|known| known.id == host.id);
        let known = known.ok_or_else(|| unknown("write", format!("host {} is not known", host.id.0)))?;
        (known.asked, known.rest) = (host.asked, host.rest);
        Ok(())
    }

    fn answers(&mut self, host: HostId) -> Result<Vec<Answer>> {
        let all = self.answers.iter().filter(|((of, _), _)| *of == host);
        Ok(all.map(|(_, answer)| answer.clone()).collect())
    }

    fn put_answer(&mut self, host: HostId, answer: &Answer) -> Result<()> {
        self.answers.insert((host, answer.about.clone()), answer.clone());
        Ok(())
    }

    fn find(&mut self, key: &str) -> Result<Option<UrlRecord>> {
        let id = self.keys.get(key).copied();
        id.map_or(Ok(None), |id| self.get(id))
    }

    fn get(&mut self, id: UrlId) -> Result<Option<UrlRecord>> {
        Ok(self.index(id).map(|index| self.urls[index].clone()))
    }

    fn add(&mut self, url: &NewUrl<'_>) -> Result<UrlId> {
        if self.keys.contains_key(url.key) {
            return Err(unknown("extend", format!("`{}` is known", url.key)));
        }
        let id = UrlId(self.urls.len() as u64 + 1);
        let record = UrlRecord {
            id,
            key: url.key.to_owned(),
            address: url.address.to_owned(),
            host: url.host,
            depth: url.depth,
            state: url.state,
            reason: url.reason.to_owned(),
            parent: url.parent,
            found: url.found,
            attempts: 0,
            due: 0,
            asked: false,
        };
        self.keys.insert(record.key.clone(), id);
        if record.state == State::Queued {
            self.queued.insert(place(&record));
        }
        self.urls.push(record);
        Ok(id)
    }

    fn put(&mut self, url: &UrlRecord) -> Result<()> {
        let index = self.index(url.id).ok_or_else(|| unknown("write", format!("url {} is not known", url.id.0)))?;
        let known = &mut self.urls[index];
        self.queued.remove(&place(known));
        *known = UrlRecord { key: known.key.clone(), host: known.host, found: known.found, ..url.clone() };
        if known.state == State::Queued {
            self.queued.insert(place(known));
        }
        Ok(())
    }

    fn due(&mut self, host: HostId, now: u64, most: usize) -> Result<Vec<UrlRecord>> {
        let first = (host, 0, 0, UrlId(0));
        let last = (host, now, u32::MAX, UrlId(u64::MAX));
        let ids: Vec<UrlId> = self.queued.range(first..=last).take(most).map(|(_, _, _, id)| *id).collect();
        Ok(ids.into_iter().filter_map(|id| self.index(id)).map(|index| self.urls[index].clone()).collect())
    }

    fn next_due(&mut self, host: HostId) -> Result<Option<u64>> {
        let mut mine = self.queued.range((host, 0, 0, UrlId(0))..);
        Ok(mine.next().filter(|(of, _, _, _)| *of == host).map(|(_, due, _, _)| *due))
    }

    fn links(&mut self, from: UrlId) -> Result<Vec<Link>> {
        Ok(self.links.get(&from).cloned().unwrap_or_default())
    }

    fn put_links(&mut self, from: UrlId, links: &[Link]) -> Result<()> {
        self.links.insert(from, links.to_vec());
        Ok(())
    }

    fn note(&mut self, name: &str) -> Result<Option<String>> {
        Ok(self.notes.get(name).cloned())
    }

    fn put_note(&mut self, name: &str, value: &str) -> Result<()> {
        self.notes.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    fn reopen(&mut self, state: State) -> Result<u64> {
        let mut count = 0;
        for url in self.urls.iter_mut().filter(|url| url.state == state) {
            (url.state, url.attempts, url.due) = (State::Queued, 0, 0);
            url.reason.clear();
            self.queued.insert(place(url));
            count += 1;
        }
        Ok(count)
    }

    fn settle_queued(&mut self, which: Queued, state: State, reason: &str) -> Result<u64> {
        let is_meant = |url: &&mut UrlRecord| match which {
            _ if url.state != State::Queued => false,
            Queued::All => true,
            Queued::OfHost(host) => url.host == host,
            Queued::NeverAsked => !url.asked,
        };
        let mut count = 0;
        for url in self.urls.iter_mut().filter(is_meant) {
            self.queued.remove(&place(url));
            (url.state, url.reason) = (state, reason.to_owned());
            count += 1;
        }
        Ok(count)
    }

    fn stored(&mut self, after: Option<&str>, most: usize) -> Result<Vec<StoredPage>> {
        let behind = |key: &str| after.is_none_or(|after| key > after);
        let ids = self.keys.iter().filter(|(key, _)| behind(key)).filter_map(|(_, id)| self.index(*id));
        let stored = ids.map(|index| &self.urls[index]).filter(|url| url.state == State::Stored).take(most);
        Ok(stored.map(|url| StoredPage { key: url.key.clone(), depth: url.depth }).collect())
    }

    fn list(&mut self, after: Option<UrlId>, most: usize) -> Result<Vec<UrlRecord>> {
        let behind = self.urls.iter().filter(|url| after.is_none_or(|after| url.id > after));
        Ok(behind.take(most).cloned().collect())
    }

    fn tally(&mut self) -> Result<BTreeMap<HostId, Tally>> {
        let mut tallies: BTreeMap<HostId, Tally> = BTreeMap::new();
        for url in &self.urls {
            let tally = tallies.entry(url.host).or_default();
            match url.state {
                State::Queued => tally.queued += 1,
                State::InFlight => tally.in_flight += 1,
                State::Stored => tally.stored += 1,
                State::Left => *tally.left.entry(url.reason.clone()).or_default() += 1,
                State::Failed => *tally.failed.entry(url.reason.clone()).or_default() += 1,
            }
        }
        Ok(tallies)
    }

    fn clear(&mut self) -> Result<()> {
        *self = Self::default();
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twin_passes_the_suite() {
        crate::frontier::suite::run(MemoryFrontier::new);
    }
}
