//! From queued URLs to jobs.

use corpora_contracts::ids::Digest;
use corpora_contracts::message::CrawlJob;
use corpora_contracts::time::Timestamp;
use corpora_ports::frontier::{HostId, State, UrlId, UrlRecord};
use corpora_web::frontier::{self, Moment};
use corpora_web::robots::LONGEST_AGE;
use corpora_web::url::normalize;

use super::hosts::Access;
use super::{Coordinator, CoordinatorError, UnderWay, errand, reason, turn};

impl Coordinator {
    /// Hands the frontier URLs of a host that are due and that robots.txt allows.
    pub(super) fn read(&mut self, id: frontier::HostId, room: usize, now: Moment) -> Result<(), CoordinatorError> {
        let host = HostId(id.0);
        if self.is_robots_old(host, now) {
            return self.ask_robots_again(host, now);
        }
        let mut urls = Vec::new();
        for url in self.store.due(host, now.as_millis(), room)? {
            if !self.allows(host, &url) {
                self.refuse(url, reason::ROBOTS)?;
            } else if let Some(key) = self.used_up(&url)? {
                self.refuse(url, key)?;
            } else if self.is_only_looked_at(&url)? {
                self.refuse(url, reason::NOT_ASKED)?;
            } else {
                urls.push(frontier::UrlId(url.id.0));
                self.ready.insert(url.id, url);
            }
        }
        let next = self.store.next_due(host)?.map(Moment::from_millis);
        self.frontier.filled(id, urls, next);
        Ok(())
    }

    /// The job of a URL whose turn has come; None when it has been settled meanwhile.
    pub(super) fn job(
        &mut self,
        host: frontier::HostId,
        url: frontier::UrlId,
        now: Moment,
    ) -> Result<Option<CrawlJob>, CoordinatorError> {
        let Some(mut url) = self.ready.remove(&UrlId(url.0)) else {
            self.frontier.ended(host, None);
            return Ok(None);
        };
        if self.is_robots_old(url.host, now) {
            // It is still queued in the store, and comes back once the host is open again.
            self.frontier.ended(host, None);
            self.ask_robots_again(url.host, now)?;
            return Ok(None);
        }
        if !self.allows(url.host, &url) {
            self.frontier.ended(host, None);
            self.refuse(url, reason::ROBOTS)?;
            return Ok(None);
        }
        url.state = State::InFlight;
        url.attempts += 1;
        if !url.asked {
            url.asked = true;
            self.spent.pages += 1;
            self.count_under_its_pattern(&url)?;
            if let Some(host) = self.hosts.get_mut(url.host) {
                host.record.asked += 1;
                self.store.put_host(&host.record)?;
            }
        }
        self.store.put(&url)?;
        self.requests += 1;
        let job_id = uuid(&[self.crawl_id.as_str(), &url.id.0.to_string(), &self.requests.to_string()]);
        let parent = url.parent.map_or(Ok(None), |parent| self.store.get(parent))?;
        self.under_way.insert(job_id.clone(), UnderWay { url: url.id });
        Ok(Some(CrawlJob {
            v: None,
            job_id,
            crawl_id: self.crawl_id.clone(),
            url: url.address,
            depth: url.depth,
            discovered_from: parent.map(|parent| parent.address),
            discovered_at: timestamp(if url.found == 0 { now.as_millis() } else { url.found }),
        }))
    }

    fn refuse(&mut self, mut url: UrlRecord, why: &str) -> Result<(), CoordinatorError> {
        (url.state, url.reason) = (State::Left, why.to_owned());
        Ok(self.store.put(&url)?)
    }

    /// Whether robots.txt allows a URL. What is no URL any more is not asked for.
    fn allows(&mut self, host: HostId, url: &UrlRecord) -> bool {
        let Ok(address) = normalize(&url.address) else { return false };
        let policy = self.hosts.get_mut(host).and_then(|host| host.policy.as_ref());
        policy.is_some_and(|policy| policy.allows(address.path_and_query()))
    }

    fn is_robots_old(&mut self, host: HostId, now: Moment) -> bool {
        let at = self.hosts.get_mut(host).map_or(0, |host| host.robots_at);
        now.since(Moment::from_millis(at)) >= LONGEST_AGE
    }

    fn ask_robots_again(&mut self, id: HostId, now: Moment) -> Result<(), CoordinatorError> {
        let Some(host) = self.hosts.get_mut(id) else { return Ok(()) };
        host.access = Access::Asking;
        let robots = host.key.as_ref().and_then(|key| errand::robots(id, key));
        self.frontier.shut(turn(id));
        self.frontier.found(turn(id), now);
        if let Some(robots) = robots {
            self.frontier.errand(turn(id), robots);
        }
        Ok(())
    }
}

/// Milliseconds since the Unix epoch as a time; the epoch for what no clock shows.
fn timestamp(millis: u64) -> Timestamp {
    i64::try_from(millis / 1000).ok().and_then(Timestamp::from_unix).unwrap_or(Timestamp::EPOCH)
}

/// A UUID of version 8 (RFC 9562 section 5.8): the digest of what it stands for.
pub(super) fn uuid(of: &[&str]) -> String {
    let mut bytes = *Digest::of(of.join("\n").as_bytes()).as_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes[..16].iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for nibble in [byte >> 4, byte & 0x0f] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_of_version_8() {
        let id = uuid(&["crawl", "1", "1"]);
        assert_eq!(id.len(), 36);
        assert_eq!((&id[14..15], id.split('-').map(str::len).collect::<Vec<_>>()), ("8", vec![8, 4, 4, 4, 12]));
        assert!("89ab".contains(&id[19..20]));
        assert_ne!(id, uuid(&["crawl", "1", "2"]));
    }
}
