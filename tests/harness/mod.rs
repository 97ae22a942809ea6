//! The real program in a world of its own: a temporary folder, a clean environment, a server on loopback.
//!
//! A test reads as a transcript: set the server up, write a config, run, look at what was printed, asked and left.

mod archive;
mod config;
mod crawl;
mod footprints;
mod lab;
mod outcome;
mod processes;
mod program;
mod samples;
mod skip;
mod tree;
mod waiting;
mod workspace;

pub use archive::{warc_answer, warc_page, warc_record};
pub use config::{ConfigToml, SourceToml};
pub use crawl::{AGENT, crawl_config};
pub use footprints::Footprints;
pub use lab::{Lab, NEW_YEAR, Setup};
pub use outcome::Outcome;
pub use processes::processes_with;
pub use program::{Run, Running, Signal, program, signal_process, worker_program};
pub use samples::{NOTES, TINY, TINY_SHA256, documents, noise, pack_gzip, pack_zstd};
pub use skip::skipped;
pub use tree::Tree;
pub use waiting::wait_until;
pub use workspace::{PUBLISHED, Workspace};
