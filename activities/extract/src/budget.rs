//! Bounds the bytes that are under way between the reader and the writer of a part.
//!
//! A bound on the number of batches alone would not do: a batch is as long as the longest line, up to `max_line_bytes`.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that may be under way; a single batch may be longer.
pub(crate) struct Budget {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    taken: usize,
    closed: bool,
}

impl Budget {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::new(State { taken: 0, closed: false }), changed: Condvar::new() }
    }

    /// Waits until so many bytes fit, or nothing else is under way. Whether to go on: not after [`Self::close`].
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let full = |state: &mut State| !state.closed && state.taken > 0 && state.taken + bytes > self.most;
        let waited = self.changed.wait_while(self.state(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.taken += bytes;
        !state.closed
    }

    /// Gives bytes back that were taken.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.state().taken -= bytes;
        self.changed.notify_all();
    }

    /// Ends every wait: nothing will be given back any more.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_waits_and_a_long_one_goes_alone() {
        let budget = Budget::new(10);
        assert!(budget.take(100), "alone");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| budget.take(1));
            budget.give_back(100);
            assert!(second.join().unwrap());
        });
        assert!(budget.take(9));
        std::thread::scope(|scope| {
            let third = scope.spawn(|| budget.take(1));
            budget.close();
            assert!(!third.join().unwrap(), "closed");
        });
    }
}
