//! Depth is the length of the shortest path from a seed, also when that path is found last.
//!
//! A page that turns out to be less deep is not asked for again: the ways from it were kept, so what it leads to becomes
//! less deep, too, and what was too deep may have its turn.

use corpora_ports::frontier::{State, UrlRecord};

use super::{Coordinator, CoordinatorError, reason};

impl Coordinator {
    /// Gives a URL this depth if it is less than the known one, and what it leads to accordingly.
    pub(super) fn lessen_depth(&mut self, url: UrlRecord, depth: u32) -> Result<(), CoordinatorError> {
        let mut shorter = vec![(url, depth)];
        while let Some((mut url, depth)) = shorter.pop() {
            if depth >= url.depth {
                continue;
            }
            url.depth = depth;
            self.revive(&mut url);
            self.store.put(&url)?;
            if let Some(ready) = self.ready.get_mut(&url.id) {
                ready.depth = depth;
            }
            if url.state == State::Queued {
                self.queued(url.host, url.due)?;
            }
            for link in self.store.links(url.id)? {
                let depth = depth.saturating_add(u32::from(!link.is_redirect));
                let next = self.store.get(link.to)?.filter(|next| depth < next.depth);
                shorter.extend(next.map(|next| (next, depth)));
            }
        }
        Ok(())
    }

    /// Queues a URL that was too deep and is not any more.
    fn revive(&self, url: &mut UrlRecord) {
        if url.state != State::Left || url.reason != reason::MAX_DEPTH || url.depth > self.settings.crawl.max_depth {
            return;
        }
        if self.pages_used_up {
            url.reason = reason::MAX_PAGES.to_owned();
        } else {
            url.state = State::Queued;
            url.reason.clear();
        }
    }
}
