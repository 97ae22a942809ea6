//! The extract stage over raw directories, receipts and ledgers as fetch leaves them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop where it is")]

mod damage;
#[cfg(feature = "faults")]
mod killed;
mod order;
mod pages;
mod reruns;
mod terms;
mod world;
