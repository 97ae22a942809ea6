//! `corpora crawl`: what a crawl would ask for, and its roles, each as a process of its own.

pub(crate) mod dry_run;
pub(crate) mod roles;

use corpora_contracts::outcome::ExitCode;

use crate::bars::Bars;
use crate::cli::CrawlCommand;
use crate::output::Output;

pub(crate) async fn run(command: &CrawlCommand, output: Output, bars: Option<Bars>) -> ExitCode {
    match command {
        CrawlCommand::DryRun(arguments) => dry_run::run(arguments, output).await,
        CrawlCommand::Coordinator(arguments) => roles::coordinator(arguments, output, bars).await,
        CrawlCommand::Worker(arguments) => roles::worker(arguments, output).await,
        CrawlCommand::StorageWorker(arguments) => roles::storage_worker(arguments, output).await,
        CrawlCommand::Collect(arguments) => roles::collect(arguments, output, bars).await,
        CrawlCommand::Redrive(arguments) => roles::redrive(arguments, output).await,
    }
}
