//! The share of pages that one host, or one pattern of addresses, may have: a trap uses up its own and nothing more.

use corpora_ports::frontier::UrlRecord;
use corpora_web::frontier::pattern;
use corpora_web::url::normalize;

use super::{Coordinator, CoordinatorError};

/// A host has had its pages.
const OF_HOST: &str = "max_pages_per_host";
/// A pattern has had its pages.
const OF_PATTERN: &str = "max_pages_per_pattern";

/// Where the pages asked for under a pattern are noted; the pattern follows.
const NOTE: &str = "pattern ";

impl Coordinator {
    /// The key of the share that is used up for a URL, counting what was asked for and what is about to be. A URL that was
    /// asked for already has its place.
    pub(super) fn used_up(&mut self, url: &UrlRecord) -> Result<Option<&'static str>, CoordinatorError> {
        if url.asked {
            return Ok(None);
        }
        let crawl = &self.settings.crawl;
        let (of_host, of_pattern) = (crawl.max_pages_per_host, crawl.max_pages_per_pattern);
        if let Some(most) = of_host {
            let asked = self.hosts.get_mut(url.host).map_or(0, |host| host.record.asked);
            let held = self.ready.values().filter(|held| held.host == url.host && !held.asked).count();
            if asked + held as u64 >= most {
                return Ok(Some(OF_HOST));
            }
        }
        if let Some(most) = of_pattern {
            let pattern = pattern_of(&url.address);
            let held = self.ready.values().filter(|held| !held.asked && pattern_of(&held.address) == pattern).count();
            if self.asked_under(&pattern)? + held as u64 >= most {
                return Ok(Some(OF_PATTERN));
            }
        }
        Ok(None)
    }

    /// Counts a URL that is asked for the first time.
    pub(super) fn count_under_its_pattern(&mut self, url: &UrlRecord) -> Result<(), CoordinatorError> {
        if self.settings.crawl.max_pages_per_pattern.is_none() {
            return Ok(());
        }
        let pattern = pattern_of(&url.address);
        let asked = self.asked_under(&pattern)? + 1;
        Ok(self.store.put_note(&format!("{NOTE}{pattern}"), &asked.to_string())?)
    }

    fn asked_under(&mut self, pattern: &str) -> Result<u64, CoordinatorError> {
        let note = self.store.note(&format!("{NOTE}{pattern}"))?;
        Ok(note.and_then(|note| note.parse().ok()).unwrap_or(0))
    }
}

fn pattern_of(address: &str) -> String {
    normalize(address).map(|url| pattern(url.as_url())).unwrap_or_default()
}
