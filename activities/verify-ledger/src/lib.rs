//! The verify-ledger stage: a staged dataset is judged and published, or refused with every problem.
//!
//! # Reads
//! `corpus/datasets/<dataset>/<version>.staged/` to its last byte, `corpus/LEDGER.jsonl`, the receipts of the config's
//! sources and extract's `_STAGE.json` of each; where nothing is staged, what is published.
//!
//! # Writes
//! `_VERIFIED.json` into the staged folder, then the folder itself as `corpus/datasets/<dataset>/<version>/`; and, while
//! it does so, `corpus/datasets/<dataset>/.<version>.swap.json`.
//!
//! # Idempotency key
//! (config digest, the last ledger rows of its sources, licence policy): where nothing is staged and what is published is
//! of them, nothing is done. What was accepted under another policy alone is judged again where it stands.
//!
//! # Commit point
//! The exchange of the staged folder with the published one, of which another process sees either. What a crash leaves on
//! the way is put in order by the next run (`swap.rs` tells how); a refused dataset changes nothing.
//!
//! # Fails with
//! [`VerifyError`]; [`Outcome::exit`] says what the orchestrator should do. A refused dataset lists every problem.

mod by_source;
mod columns;
mod cores;
mod error;
mod evidence;
mod files;
mod folder;
mod forecast;
mod judge;
mod placed;
mod problem;
mod receipts;
mod report;
mod run;
mod scan;
mod shard_name;
mod standing;
mod swap;
mod table;
mod tally;
mod verify_folder;
mod verify_ledger;
mod watch;

use std::path::Path;
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::layout::Layout;
use corpora_contracts::summary::StageSummary;
use corpora_stage::{Context, Outcome};

pub use error::VerifyError;
pub use forecast::forecast;
pub use problem::{CountProblem, FileProblem, Problem, RowFault, RowProblem, TableProblem, TermsProblem};
pub use report::{Report, Verdict};

/// The stage's verb.
pub const STAGE: &str = "verify-ledger";

/// The stage flags of verify-ledger.
#[derive(Debug, Clone)]
pub struct Options {
    /// The longest wait for a lock that another run holds.
    pub lock_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { lock_timeout: Duration::from_secs(30) }
    }
}

/// Judges the staged dataset of a config, and publishes it when nothing is wrong with it.
///
/// It never fails as a whole: what went wrong stands in the outcome's one entry and was logged once.
pub async fn run(config: &Config, options: &Options, context: &Context) -> Outcome<StageSummary> {
    run::run(config, options, context).await
}

/// Holds the ledger, the receipts and the raw directories of a config's sources against each other, in sizes; with `full`
/// every byte of raw parts, extracted documents, shards and metadata. It takes no lock and changes nothing; blocking.
#[must_use]
pub fn verify_ledger(layout: &Layout, config: &Config, full: bool) -> Report {
    verify_ledger::verify(layout, config, full)
}

/// Holds a dataset folder against itself, wherever it stands, without config and ledger: every byte and every row.
///
/// It takes no lock and changes nothing; blocking.
#[must_use]
pub fn verify_folder(folder: &Path) -> Report {
    verify_folder::verify(folder)
}
