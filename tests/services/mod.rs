//! Real services, started for one test and gone with it.

mod front;
mod report;
mod scene;
mod temporal;
mod worker;

pub use front::Front;
pub use report::{all, events, object, steps};
pub use scene::{SMALL, Scene, script};
pub use temporal::Temporal;
pub use worker::Worker;
