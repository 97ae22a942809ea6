//! The one integration-test binary: what Corpora promises, asked of the real program.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should stop where it is")]

mod architecture;
mod pitfalls;
mod seed;
mod servers;
