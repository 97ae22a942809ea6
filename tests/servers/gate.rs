//! Who is in flight, and who has to wait.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// No test holds an answer longer; a gate that nobody opens must not hang the suite.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long requests may take to arrive: whoever makes them may have a service to start first, beside other tests.
const ARRIVAL: Duration = Duration::from_secs(90);

/// Counts requests in flight.
#[derive(Debug, Clone, Default)]
pub struct Gauge {
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    current: usize,
    max: usize,
}

impl Gauge {
    /// The requests in flight now.
    #[must_use]
    pub fn current(&self) -> usize {
        self.counts.lock().unwrap().current
    }

    /// The most that ever were in flight at once.
    #[must_use]
    pub fn max(&self) -> usize {
        self.counts.lock().unwrap().max
    }

    /// Counts one request until the answer says that it is done.
    pub(super) fn enter(&self) -> InFlight {
        let mut counts = self.counts.lock().unwrap();
        counts.current += 1;
        counts.max = counts.max.max(counts.current);
        InFlight { gauge: Some(self.clone()) }
    }
}

/// One request in flight.
#[derive(Debug)]
pub(super) struct InFlight {
    gauge: Option<Gauge>,
}

impl InFlight {
    /// Ends the count; called just before the last bytes go out, since the client may ask again the moment it has
    /// them.
    pub(super) fn leave(&mut self) {
        if let Some(gauge) = self.gauge.take() {
            gauge.counts.lock().unwrap().current -= 1;
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Holds answers until enough requests are in, or the test opens it.
#[derive(Debug, Clone)]
pub struct Gate {
    state: Arc<(Mutex<State>, Condvar)>,
    opens_at: usize,
    linger: Duration,
}

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    open: bool,
}

impl Gate {
    /// A gate that only [`Gate::open`] opens.
    #[must_use]
    pub fn closed() -> Self {
        Self::opening_at(usize::MAX)
    }

    /// A gate that opens for good when so many requests wait at it.
    #[must_use]
    pub fn opening_at(requests: usize) -> Self {
        Self { state: Arc::default(), opens_at: requests, linger: Duration::ZERO }
    }

    /// Everyone stays this much longer, so that a request too many has the time to come in.
    #[must_use]
    pub fn lingering(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// Lets everyone through, now and later.
    pub fn open(&self) {
        self.state.0.lock().unwrap().open = true;
        self.state.1.notify_all();
    }

    /// Waits until so many requests have arrived in all.
    ///
    /// # Panics
    /// When they do not come.
    pub fn wait_for(&self, requests: usize) {
        let (lock, changed) = &*self.state;
        let state = lock.lock().unwrap();
        let (state, _) = changed.wait_timeout_while(state, ARRIVAL, |state| state.arrived < requests).unwrap();
        assert!(state.arrived >= requests, "{} of {requests} requests came to the gate", state.arrived);
    }

    /// Called by the server: waits, at most for [`PATIENCE`].
    pub(super) fn pass(&self) {
        let (lock, changed) = &*self.state;
        let mut state = lock.lock().unwrap();
        state.arrived += 1;
        state.open |= state.arrived >= self.opens_at;
        changed.notify_all();
        let deadline = Instant::now() + PATIENCE;
        while !state.open && Instant::now() < deadline {
            state = changed.wait_timeout(state, PATIENCE).unwrap().0;
        }
        drop(state);
        std::thread::sleep(self.linger);
    }
}
