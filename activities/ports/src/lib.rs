//! What the roles of a crawl ask of the world, as traits.
//!
//! Each port has an in-memory twin, for tests and for what need not outlive a process, and one conformance suite that
//! every implementation passes, the twin included. No type of a vendor stands in a signature, and every method can fail.

mod error;

pub use error::PortError;

pub mod frontier;
pub mod metadata;
pub mod metrics;
pub mod queue;
