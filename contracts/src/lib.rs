//! What Corpora promises: types, files, messages and exit codes.
//!
//! Everything here is a value: no IO, no clock, no async. The prose of the same promises is `PROTOCOL.md`, the JSON
//! Schemas are in `schemas/`, golden examples in `examples/v1/`; a test holds all of them together.

pub mod config;
pub mod document;
pub mod ids;
pub mod layout;
pub mod ledger;
pub mod line;
pub mod manifest;
pub mod message;
pub mod outcome;
pub mod progress;
pub mod raw;
pub mod receipt;
pub mod record;
pub mod summary;
pub mod time;
pub mod workflow;
