//! The storage worker behind a queue, as a role of its own.

use std::time::Duration;

use corpora_contracts::message::{self, StorageMessage};
use corpora_ports::metadata::MetadataStore;
use corpora_ports::queue::{BATCH, Delivery, DeliveryId, Queue};
use tokio_util::sync::CancellationToken;

use super::{StorageError, StorageWorker};

/// How long a batch is hidden from other storage workers: longer than writing ten large pages takes. When it does not suffice, two
/// write the same pages, which are one page each to whoever collects.
const HIDDEN: Duration = Duration::from_secs(30);

/// How long one call waits for messages: as long as a storage worker without work takes to see that it is to stop.
const WAIT: Duration = Duration::from_secs(1);

/// What a storage worker did until it was stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Handled {
    /// Messages that were stored, or were stored already.
    pub stored: u64,
    /// Deliveries that are no storage message; they become dead letters.
    pub unreadable: u64,
}

/// Stores what comes over a queue until it is cancelled. A message is deleted when its page is durable, and not before.
///
/// # Errors
/// [`StorageError`]; what was received and not stored comes again.
pub async fn run<Q: Queue, M: MetadataStore>(
    queue: &Q,
    worker: &mut StorageWorker<M>,
    cancel: &CancellationToken,
) -> Result<Handled, StorageError> {
    let mut handled = Handled::default();
    while !cancel.is_cancelled() {
        let received = queue.receive(BATCH, HIDDEN, WAIT).await?;
        if received.is_empty() {
            continue;
        }
        let (pages, ids) = readable(&received);
        handled.unreadable += (received.len() - pages.len()) as u64;
        worker.store(&pages).await?;
        queue.delete(&ids).await?;
        handled.stored += pages.len() as u64;
    }
    Ok(handled)
}

/// The messages of a batch that can be read, and what to delete them by.
fn readable(received: &[Delivery]) -> (Vec<StorageMessage>, Vec<DeliveryId>) {
    let (mut pages, mut ids) = (Vec::new(), Vec::new());
    for delivery in received {
        match message::read(&delivery.body) {
            Ok(page) => {
                pages.push(page);
                ids.push(delivery.id.clone());
            }
            // Never its body: that is a page.
            Err(error) => tracing::error!(delivery = %delivery.id.0, "read a storage message: {error}"),
        }
    }
    (pages, ids)
}
