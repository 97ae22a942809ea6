//! Whole crawls in one process, over the durable state, against fetchers that answer from memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod embedded;
