//! The store stage over real files: documents as extract leaves them in, staged datasets out.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[cfg(feature = "faults")]
mod crash;
mod free_reruns;
mod manifest;
mod readers;
mod refusals;
mod shards;
mod world;
