//! The twin in memory: what is in it is gone with the process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::{BATCH, Delivery, DeliveryId, Level, Queue, check_batch};
use crate::PortError;

const SERVICE: &str = "queue in memory";

/// A queue in memory.
#[derive(Debug)]
pub struct MemoryQueue {
    most_receives: u32,
    state: Mutex<State>,
    /// Told when something may have become ready.
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    ready: VecDeque<Message>,
    /// By the number of their delivery.
    hidden: BTreeMap<u64, (Instant, Message)>,
    dead: Vec<Message>,
    deliveries: u64,
}

#[derive(Debug)]
struct Message {
    body: Vec<u8>,
    receives: u32,
}

impl MemoryQueue {
    /// An empty queue whose messages become dead letters when they would be received more often than this.
    #[must_use]
    pub fn new(most_receives: u32) -> Self {
        Self { most_receives, state: Mutex::default(), news: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be received now; if nothing can, when something hidden will be back.
    fn take(&self, most: usize, hidden: Duration) -> Result<Vec<Delivery>, Option<Instant>> {
        let mut state = self.state();
        let now = Instant::now();
        state.come_back(now, self.most_receives);
        let mut taken = Vec::new();
        while taken.len() < most.min(BATCH) {
            let Some(mut message) = state.ready.pop_front() else { break };
            message.receives += 1;
            state.deliveries += 1;
            let number = state.deliveries;
            let (body, receives) = (message.body.clone(), message.receives);
            taken.push(Delivery { id: DeliveryId(number.to_string()), body, receives });
            state.hidden.insert(number, (now + hidden, message));
        }
        if taken.is_empty() { Err(state.hidden.values().map(|(until, _)| *until).min()) } else { Ok(taken) }
    }
}

impl State {
    /// Whatever was hidden long enough is ready again, or dead.
    fn come_back(&mut self, now: Instant, most_receives: u32) {
        let due: Vec<u64> = self.hidden.iter().filter(|(_, (until, _))| *until <= now).map(|(id, _)| *id).collect();
        for message in due.iter().filter_map(|id| self.hidden.remove(id)).map(|(_, message)| message) {
            if message.receives < most_receives { self.ready.push_back(message) } else { self.dead.push(message) }
        }
    }
}

impl Queue for MemoryQueue {
    async fn send(&self, bodies: &[Vec<u8>]) -> Result<(), PortError> {
        check_batch(SERVICE, bodies)?;
        self.state().ready.extend(bodies.iter().map(|body| Message { body: body.clone(), receives: 0 }));
        self.news.notify_waiters();
        Ok(())
    }

    async fn receive(&self, most: usize, hidden: Duration, wait: Duration) -> Result<Vec<Delivery>, PortError> {
        let end = Instant::now() + wait;
        loop {
            // Asked for before the look, so that what is sent in between is not missed.
            let news = self.news.notified();
            let back = match self.take(most, hidden) {
                Ok(taken) => return Ok(taken),
                Err(back) => back,
            };
            if Instant::now() >= end {
                return Ok(Vec::new());
            }
            let _ = timeout_at(back.map_or(end, |back| back.min(end)), news).await;
        }
    }

    async fn delete(&self, deliveries: &[DeliveryId]) -> Result<(), PortError> {
        let mut state = self.state();
        for number in deliveries.iter().filter_map(|id| id.0.parse().ok()) {
            let number: u64 = number;
            state.hidden.remove(&number);
        }
        Ok(())
    }

    async fn hide(&self, deliveries: &[DeliveryId], hidden: Duration) -> Result<(), PortError> {
        let (mut state, until) = (self.state(), Instant::now() + hidden);
        for number in deliveries.iter().filter_map(|id| id.0.parse().ok()) {
            let number: u64 = number;
            if let Some((back, _)) = state.hidden.get_mut(&number) {
                *back = until;
            }
        }
        self.news.notify_waiters();
        Ok(())
    }

    async fn level(&self) -> Result<Level, PortError> {
        let mut state = self.state();
        state.come_back(Instant::now(), self.most_receives);
        let count = |count: usize| count as u64;
        Ok(Level { ready: count(state.ready.len()), hidden: count(state.hidden.len()), dead: count(state.dead.len()) })
    }

    async fn redrive(&self) -> Result<u64, PortError> {
        let mut state = self.state();
        let dead = std::mem::take(&mut state.dead);
        let count = dead.len() as u64;
        state.ready.extend(dead.into_iter().map(|message| Message { receives: 0, ..message }));
        self.news.notify_waiters();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::suite;

    #[tokio::test]
    async fn the_twin_in_memory_is_a_queue() {
        suite::holds(async |most_receives| MemoryQueue::new(most_receives)).await;
    }
}
