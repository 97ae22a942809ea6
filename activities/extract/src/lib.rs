//! The extract stage: raw documents in, normalised documents with their language out. Of pages, the main text.
//!
//! # Reads
//! `corpus/LEDGER.jsonl`, and of each source `corpus/receipts/<id>/` and the raw directory that holds the pinned bytes
//! split as the config says.
//!
//! # Writes
//! `corpus/extract/<dataset>/<version>/<id>/`, made as `.<id>.tmp` beside it: one part of documents for each raw part,
//! and `_STAGE.json`.
//!
//! # Idempotency key
//! The digests of the raw parts, of `[extract]`, of the terms that documents carry (url and licence of the ledger's
//! last row), of this stage's own version, and of pages that of the extractor. While the record names them and its outputs stand in their sizes, a
//! source is cached, and no part is read.
//!
//! # Commit point
//! Per source the step that puts its complete folder under its name, in place of an older one.
//!
//! # Fails with
//! [`error::SourceError`] per source; [`Outcome::exit`] says what the orchestrator should do.

mod budget;
mod convert;
pub mod error;
mod forecast;
mod lines;
mod meta;
pub mod page;
mod part;
mod plan;
mod publish;
mod schedule;

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::summary::StageSummary;
use corpora_stage::{Context, Outcome};

pub use forecast::forecast;

/// The stage flags of extract.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only these sources; all of them when empty.
    pub only: Vec<Name>,
    /// Whether a source's failure leaves the others alone.
    pub keep_going: bool,
    /// Cores to use, at least 1. Any number gives the same bytes.
    pub jobs: usize,
    /// The longest wait for a source's lock that another run holds.
    pub lock_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let jobs = available_parallelism().map_or(1, NonZero::get);
        Self { only: Vec::new(), keep_going: false, jobs, lock_timeout: Duration::from_secs(30) }
    }
}

/// Makes documents of the config's sources.
///
/// It never fails as a whole: what went wrong stands in the outcome's entries and was logged once.
pub async fn run(config: &Config, options: &Options, context: &Context) -> Outcome<StageSummary> {
    schedule::run(config, options, context).await
}
