//! A queue that delivers at least once.
//!
//! A message that was received is hidden for a while, its visibility timeout; whoever has done its work deletes it. What
//! is not deleted in time is delivered again, to anyone. A message that was received too often without being deleted
//! goes to the dead letters, where a person looks at it and sends it on its way again.

mod memory;
pub mod suite;

use std::sync::Arc;
use std::time::Duration;

pub use memory::MemoryQueue;

use crate::PortError;

/// The most messages of one call.
pub const BATCH: usize = 10;

/// A queue.
pub trait Queue: Send + Sync {
    /// Adds up to [`BATCH`] messages, all of them or none.
    ///
    /// # Errors
    /// [`PortError`]; [`PortError::Request`] for a batch that is too large.
    fn send(&self, bodies: &[Vec<u8>]) -> impl Future<Output = Result<(), PortError>> + Send;

    /// Up to `most` messages, at most [`BATCH`], hidden from other receivers for `hidden`. Waits up to `wait` for the
    /// first one; none when nothing came.
    ///
    /// # Errors
    /// [`PortError`].
    fn receive(
        &self,
        most: usize,
        hidden: Duration,
        wait: Duration,
    ) -> impl Future<Output = Result<Vec<Delivery>, PortError>> + Send;

    /// Ends messages for good. One that was delivered again meanwhile stays: its latest receiver decides.
    ///
    /// # Errors
    /// [`PortError`].
    fn delete(&self, deliveries: &[DeliveryId]) -> impl Future<Output = Result<(), PortError>> + Send;

    /// Hides messages for so long from now on: more for work that takes longer, nothing to give them back at once.
    ///
    /// # Errors
    /// [`PortError`].
    fn hide(&self, deliveries: &[DeliveryId], hidden: Duration) -> impl Future<Output = Result<(), PortError>> + Send;

    /// How much is in it.
    ///
    /// # Errors
    /// [`PortError`].
    fn level(&self) -> impl Future<Output = Result<Level, PortError>> + Send;

    /// Puts every dead letter back behind the others, as if it had never been received; how many there were.
    ///
    /// # Errors
    /// [`PortError`].
    fn redrive(&self) -> impl Future<Output = Result<u64, PortError>> + Send;
}

/// A queue that several hold.
impl<Q: Queue> Queue for Arc<Q> {
    fn send(&self, bodies: &[Vec<u8>]) -> impl Future<Output = Result<(), PortError>> + Send {
        (**self).send(bodies)
    }

    fn receive(
        &self,
        most: usize,
        hidden: Duration,
        wait: Duration,
    ) -> impl Future<Output = Result<Vec<Delivery>, PortError>> + Send {
        (**self).receive(most, hidden, wait)
    }

    fn delete(&self, deliveries: &[DeliveryId]) -> impl Future<Output = Result<(), PortError>> + Send {
        (**self).delete(deliveries)
    }

    fn hide(&self, deliveries: &[DeliveryId], hidden: Duration) -> impl Future<Output = Result<(), PortError>> + Send {
        (**self).hide(deliveries, hidden)
    }

    fn level(&self) -> impl Future<Output = Result<Level, PortError>> + Send {
        (**self).level()
    }

    fn redrive(&self) -> impl Future<Output = Result<u64, PortError>> + Send {
        (**self).redrive()
    }
}

/// One delivery of a message; a second delivery of it has another id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeliveryId(pub String);

/// A message as it was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// What to delete or hide it by.
    pub id: DeliveryId,
    /// As it was sent.
    pub body: Vec<u8>,
    /// How often it was received, this time included.
    pub receives: u32,
}

/// How much is in a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level {
    /// Messages that could be received.
    pub ready: u64,
    /// Messages that are hidden.
    pub hidden: u64,
    /// Messages that were received too often.
    pub dead: u64,
}

/// Whether a batch is small enough to be sent.
///
/// # Errors
/// [`PortError::Request`].
pub fn check_batch(service: &str, bodies: &[Vec<u8>]) -> Result<(), PortError> {
    if bodies.len() <= BATCH {
        return Ok(());
    }
    let reason = format!("{} messages at once; {BATCH} is the most", bodies.len());
    Err(PortError::Request { action: "send to", service: service.to_owned(), reason })
}
