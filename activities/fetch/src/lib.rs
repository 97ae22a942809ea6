//! The fetch stage: pinned files in, verified raw parts and a licensed ledger out.
//!
//! # Reads
//! The config's sources over HTTP(S) or from local files, the sites of its crawls; `corpus/LEDGER.jsonl`, `corpus/receipts/`, `corpus/raw/` and
//! what an earlier run left in `corpus/downloads/`.
//!
//! # Writes
//! `corpus/downloads/<id>/` while it runs, `corpus/crawls/<id>/`, `corpus/quarantine/<id>/`, `corpus/receipts/<id>/`, `corpus/raw/<id>/` and,
//! in the commit, rows of `corpus/LEDGER.jsonl`.
//!
//! # Idempotency key
//! (source id, pinned digest, split settings): a ledger row and a raw directory whose receipt names them make a source
//! cached, and no request is made. Of a crawl its key stands for the digest.
//!
//! # Commit point
//! Per source the rename of `raw/<id>/<yyyymmdd>.tmp`, after its receipt is synced; for the run the append to the
//! ledger, in config order, also after a failure or a cancel.
//!
//! # Fails with
//! [`error::SourceError`] per source; [`Outcome::exit`] says what the orchestrator should do.

pub mod commit;
mod crawl;
pub mod credentials;
pub mod download;
pub mod error;
pub mod exchange;
pub mod failure;
pub mod forecast;
pub mod http;
pub mod location;
pub mod options;
pub mod part;
pub mod pin;
pub mod plan;
pub mod publish;
pub mod schedule;
pub mod source;
pub mod split;
pub mod tidy;

use std::path::Path;
use std::sync::Arc;

use corpora_contracts::config::{Config, Crawl};
use corpora_contracts::receipt::CrawlReport;
use corpora_contracts::summary::FetchSummary;
use corpora_stage::{Context, Outcome};

pub use crawl::queues;
pub use options::{CommitMode, Options};

/// Fetches the config's sources and commits their rows; `base` is the folder that relative urls resolve against.
///
/// It never fails as a whole: what went wrong stands in the outcome's entries and was logged once.
pub async fn run(config: &Config, base: &Path, options: &Options, context: &Context) -> Outcome<FetchSummary> {
    schedule::run(config, base, options, context).await
}

/// Runs the coordinator of a crawl whose roles run apart to the crawl's end; [`run`] then makes raw parts of its pages. What
/// it came to; none when the crawl is cached.
///
/// # Errors
/// [`error::SourceError`]; the next coordinator goes on from where this one stopped.
pub async fn coordinate(
    config: &Config,
    crawl: &Crawl,
    base: &Path,
    options: &Options,
    context: &Context,
) -> Result<Option<CrawlReport>, error::SourceError> {
    let shop = schedule::open_shop(config, base, options, context).map_err(Arc::new)?;
    crawl::CrawlVisit::new(&shop, Arc::new(crawl.clone())).coordinate().await
}
