//! How we know: misbehaving servers, the binary under test, and the one integration-test binary.
//!
//! `servers` answers the way real servers do when they break, `services` are real ones. `harness` runs the real program
//! in a world of its own and reads what it left behind. The tests themselves are the modules of `it`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of this crate is test code: a broken fixture should stop the test where it breaks"
)]

pub mod harness;
pub mod servers;
pub mod services;
