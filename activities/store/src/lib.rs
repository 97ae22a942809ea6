//! The store stage: documents in, a staged dataset of shards, manifest and metadata out.
//!
//! # Reads
//! `corpus/LEDGER.jsonl`; of each source that is not revoked `corpus/extract/<dataset>/<version>/<id>/` and the receipt
//! of the raw directory that those documents were made of; of what is staged or published the manifest.
//!
//! # Writes
//! `corpus/datasets/<dataset>/<version>.staged/`, made as `.<version>.staged.tmp` beside it: shards, `_MANIFEST.json`,
//! `ledger.jsonl` and `metadata.sqlite`; then `corpus/store/<dataset>/<version>/_STAGE.json`.
//!
//! # Idempotency key
//! The digests of the extracted parts and of what extract counted, of the ledger's rows, of the config, and of this
//! stage's own version. While the record names them and the folder that it speaks of stands, staged or published since,
//! nothing is done.
//!
//! # Commit point
//! The one step that puts the complete folder under its name, in place of an older one. A crash between it and the
//! record costs the next run the work again, which gives the same bytes.
//!
//! # Fails with
//! [`StoreError`]; [`Outcome::exit`] says what the orchestrator should do.

mod build;
mod columns;
mod cut;
mod documents;
mod duplicates;
mod error;
mod forecast;
mod group;
mod jsonl;
mod metadata;
mod ordered;
mod parquet;
mod parse;
mod pipeline;
mod plan;
mod run;
mod shard;
mod standing;

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::summary::StageSummary;
use corpora_stage::{Context, Outcome};

pub use error::StoreError;
pub use forecast::forecast;

/// The stage's verb.
pub const STAGE: &str = "store";

/// The stage flags of store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Cores to use, at least 1. Any number gives the same bytes.
    pub jobs: usize,
    /// The longest wait for a lock that another run holds.
    pub lock_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let jobs = available_parallelism().map_or(1, NonZero::get);
        Self { jobs, lock_timeout: Duration::from_secs(30) }
    }
}

/// Makes the dataset of a config and stages it for verify-ledger.
///
/// It never fails as a whole: what went wrong stands in the outcome's one entry and was logged once.
pub async fn run(config: &Config, options: &Options, context: &Context) -> Outcome<StageSummary> {
    run::run(config, options, context).await
}
