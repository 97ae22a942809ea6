//! A polite crawl of named domains, as roles that can run apart or together in one process.
//!
//! The coordinator owns the frontier, the robots.txt answers and what was seen, and checks every candidate before it
//! becomes a job. A worker turns one job into one result and knows nothing else. The storage worker keeps pages.

pub mod collect;
pub mod coordinator;
pub mod embedded;
pub mod metrics_file;
pub mod pages;
pub mod remote;
pub mod role;
pub mod runs;
pub mod storage;
pub mod worker;
