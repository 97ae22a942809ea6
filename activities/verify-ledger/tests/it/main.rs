//! Whole runs of verify-ledger over real folders.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod corruptions;
mod crashes;
mod lab;
mod reports;
mod runs;
mod stages;
mod table;
