//! Real services, started for one test and gone with it.

mod temporal;

pub use temporal::{Temporal, Worker};
