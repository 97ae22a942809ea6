//! A stage as a process: everything that stages share and that is not their own work.
//!
//! A stage is handed a [`Context`] and returns values; clock, cancellation and progress come in through it. Files become
//! durable through [`durable`] alone, one run at a time works on a source through [`lock`], and [`activity`] is the
//! protocol of a stage run as a subprocess.

pub mod activity;
pub mod clock;
pub mod context;
pub mod durable;
pub mod fault;
pub mod forecast;
pub mod holdings;
pub mod ledger;
pub mod lock;
pub mod outcome;
pub mod parts;
pub mod pinned;
pub mod progress;
pub mod record;
pub mod signals;

pub use clock::Clock;
pub use context::Context;
pub use outcome::{Outcome, chain};
pub use progress::Progress;
