//! What the frontier knows of one host.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Moment, UrlId, What};

/// Whether pages may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// Not before its robots.txt is known.
    Shut,
    /// Yes.
    Open,
    /// No more.
    Closed,
}

#[derive(Debug)]
pub(super) struct Host<E> {
    pub(super) gate: Gate,
    /// From request start to request start.
    pub(super) delay: Duration,
    pub(super) last_start: Option<Moment>,
    /// Nothing is asked before.
    pub(super) rest: Moment,
    pub(super) in_flight: u32,
    pub(super) pages_left: u64,
    pub(super) errands: VecDeque<E>,
    pub(super) window: VecDeque<UrlId>,
    /// From when on the store has a URL that is not in the window; None when it has none.
    pub(super) stored: Option<Moment>,
    /// When it last began a request, counted in requests of the crawl.
    pub(super) turn: u64,
    /// Where it stands in the line of hosts.
    pub(super) place: Option<(Moment, u64)>,
}

impl<E> Host<E> {
    pub(super) fn new(delay: Duration, rest: Moment) -> Self {
        Self {
            gate: Gate::Shut,
            delay,
            last_start: None,
            rest,
            in_flight: 0,
            pages_left: u64::MAX,
            errands: VecDeque::new(),
            window: VecDeque::new(),
            stored: None,
            turn: 0,
            place: None,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.gate == Gate::Closed || self.pages_left == 0
    }

    pub(super) fn expect_from_store(&mut self, due: Moment) {
        if self.gate != Gate::Closed {
            self.stored = Some(self.stored.map_or(due, |known| known.min(due)));
        }
    }

    /// When the next request may start; None when there is none, or one has to end first.
    pub(super) fn due(&self, per_host: u32) -> Option<Moment> {
        // Without a delay, "not before the last answer ended" is this line.
        if self.in_flight >= per_host {
            return None;
        }
        let polite = self.last_start.map_or(Moment::START, |start| start.after(self.delay)).max(self.rest);
        if !self.errands.is_empty() {
            return Some(polite);
        }
        if self.gate != Gate::Open || self.pages_left == 0 {
            return None;
        }
        if self.window.is_empty() { self.stored.map(|due| due.max(polite)) } else { Some(polite) }
    }

    /// Whether its turn is spent on reading the store.
    pub(super) fn wants_store(&self) -> bool {
        self.errands.is_empty() && self.window.is_empty()
    }

    /// Takes the next request off.
    pub(super) fn begin(&mut self, now: Moment) -> Option<What<E>> {
        let what = match self.errands.pop_front() {
            Some(errand) => What::Errand(errand),
            None => {
                let page = What::Page(self.window.pop_front()?);
                self.pages_left -= 1;
                page
            }
        };
        self.last_start = Some(now);
        self.in_flight += 1;
        Some(what)
    }
}
