//! `corpora verify DIR` and `corpora ledger verify`.

use std::path::PathBuf;

use corpora_contracts::outcome::ExitCode;
use corpora_verify_ledger::Report;

use crate::check;
use crate::cli::LedgerArguments;
use crate::environment;
use crate::output::Output;
use crate::stage;

/// Checks a dataset folder against itself, wherever it stands.
pub(crate) async fn folder(folder: PathBuf, output: Output) -> ExitCode {
    print(tokio::task::spawn_blocking(move || corpora_verify_ledger::verify_folder(&folder)).await, output)
}

/// Holds ledger, receipts and raw directories of a config against each other.
pub(crate) async fn ledger(arguments: &LedgerArguments, full: bool, output: Output) -> ExitCode {
    let mut config = match check::load(&arguments.config) {
        Ok(loaded) => loaded.config,
        Err(error) => return check::report(&error),
    };
    let only = match stage::known(&config, &arguments.source) {
        Ok(only) => only,
        Err(failure) => return failure.report(),
    };
    if !only.is_empty() {
        config.sources.retain(|source| only.contains(&source.id));
        config.crawls.retain(|crawl| only.contains(&crawl.id));
    }
    let layout = environment::layout(arguments.artifacts.as_ref());
    let checking = move || corpora_verify_ledger::verify_ledger(&layout, &config, full);
    print(tokio::task::spawn_blocking(checking).await, output)
}

fn print(report: Result<Report, tokio::task::JoinError>, output: Output) -> ExitCode {
    let report = match report {
        Ok(report) => report,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    for warning in &report.warnings {
        tracing::warn!("{warning}");
    }
    for problem in &report.problems {
        tracing::error!("{problem}");
    }
    let text = || format!("{}: {}, {} documents", report.subject, report.headline(), report.n_docs);
    report.exit.worse(output.result(&report, text))
}
