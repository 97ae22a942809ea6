//! `corpora config check`, and how every command says what is wrong with a config.

use std::path::Path;

use corpora_contracts::outcome::ExitCode;
use corpora_stage::chain;

use crate::config::{self, Check, Finding, LoadError, Loaded};
use crate::output::Output;

/// Checks a config and prints what is in it.
pub(crate) fn run(path: &Path, output: Output) -> ExitCode {
    match config::check(path) {
        Ok(check) => {
            warn(&check.warnings);
            output.result(&check, || for_people(&check))
        }
        Err(error) => report(&error),
    }
}

/// Loads a config and says what is doubtful about it.
///
/// # Errors
/// [`LoadError`], which is the caller's to report.
pub(crate) fn load(path: &Path) -> Result<Loaded, LoadError> {
    let loaded = config::load(path)?;
    warn(&loaded.warnings);
    Ok(loaded)
}

/// Says what is wrong, each problem on a line of its own that starts with its file and line.
pub(crate) fn report(error: &LoadError) -> ExitCode {
    if let LoadError::Invalid { findings, warnings, .. } = error {
        warn(warnings);
        for finding in findings {
            tracing::error!("{finding}");
        }
    } else {
        tracing::error!("{}", chain(error));
    }
    error.disposition().into()
}

/// Says what is doubtful.
pub(crate) fn warn(warnings: &[Finding]) {
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}

fn for_people(check: &Check) -> String {
    let Check { file, dataset, version, digest, sources, crawls, .. } = check;
    format!("{file}: dataset {dataset} {version}, {sources} sources, {crawls} crawls, digest {digest}")
}
