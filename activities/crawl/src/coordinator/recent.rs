//! Links that were seen lately, so that the menu of every page costs a look into memory and none into the store.
//!
//! Two generations: the older one is forgotten when the younger one is full, which bounds the memory.

use std::collections::HashMap;

use corpora_ports::frontier::UrlId;

/// Links of one generation: some megabytes, at usual lengths.
const MOST_LINKS: usize = 16_384;

/// Bytes of text of one generation.
const MOST_BYTES: usize = 2 << 20;

/// What a link led to: nothing that is a page, or a URL that was known at this depth or a lesser one.
pub(super) type Known = Option<(UrlId, u32)>;

#[derive(Debug, Default)]
pub(super) struct Recent {
    young: HashMap<Box<str>, Known>,
    old: HashMap<Box<str>, Known>,
    bytes: usize,
}

impl Recent {
    /// What this link led to, as far as that is remembered.
    pub(super) fn get(&mut self, link: &str) -> Option<Known> {
        if let Some(known) = self.young.get(link) {
            return Some(*known);
        }
        let known = self.old.get(link).copied()?;
        self.put(link, known);
        Some(known)
    }

    /// Remembers what a link led to.
    pub(super) fn put(&mut self, link: &str, known: Known) {
        if self.young.len() >= MOST_LINKS || self.bytes >= MOST_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        if self.young.insert(link.into(), known).is_none() {
            self.bytes += link.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_memory_has_a_bound() {
        let mut recent = Recent::default();
        recent.put("menu", Some((UrlId(1), 0)));
        for number in 0..200_000 {
            recent.put(&format!("http://h/{number}"), None);
            assert_eq!(recent.get("menu"), Some(Some((UrlId(1), 0))), "{number}");
            assert!(recent.young.len() <= MOST_LINKS && recent.old.len() <= MOST_LINKS);
        }
        assert_eq!(recent.get("http://h/0"), None, "long ago");
        let long = "x".repeat(MOST_BYTES);
        recent.put(&long, None);
        recent.put("next", None);
        assert_eq!((recent.young.len(), recent.get(&long)), (1, Some(None)));
    }
}
