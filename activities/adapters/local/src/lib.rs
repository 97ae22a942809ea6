//! The ports on one machine: SQLite files in the artifacts directory, durable.

mod database;
pub mod frontier;
mod metadata;
mod queue;

pub use metadata::SqliteMetadata;
pub use queue::SqliteQueue;
