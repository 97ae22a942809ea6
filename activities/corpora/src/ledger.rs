//! `corpora ledger show | history | revoke`.

use std::collections::HashSet;

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::ledger::{Ledger, Row};
use corpora_contracts::outcome::ExitCode;
use corpora_fetch::commit::{self, CommitError};
use corpora_stage::chain;
use corpora_stage::ledger::{self, ReadLedgerError};
use serde::Serialize;

use crate::check;
use crate::cli::{LedgerArguments, LedgerCommand};
use crate::config::LoadError;
use crate::environment;
use crate::output::{self, Output};

/// What these commands print.
#[derive(Debug, Serialize)]
struct Rows<'a> {
    rows: Vec<&'a Row>,
}

/// Why a ledger command failed.
#[derive(Debug, thiserror::Error)]
enum LedgerCommandError {
    #[error(transparent)]
    Config(#[from] LoadError),
    #[error(transparent)]
    Read(#[from] ReadLedgerError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error("revoke source `{0}`: the ledger has no row of it")]
    NeverFetched(String),
    #[error("read --source: no source `{0}` in the config")]
    UnknownSource(String),
    #[error("read --source: name the source to revoke")]
    NoSource,
}

impl LedgerCommandError {
    fn exit(&self) -> ExitCode {
        match self {
            Self::Config(_) | Self::NeverFetched(_) => ExitCode::Data,
            Self::Read(error) => error.disposition().into(),
            Self::Commit(error) => error.disposition().into(),
            Self::UnknownSource(_) | Self::NoSource => ExitCode::Usage,
        }
    }
}

pub(crate) async fn run(command: &LedgerCommand, output: Output) -> ExitCode {
    let result = match command {
        LedgerCommand::Show(arguments) => show(arguments, output),
        LedgerCommand::History(arguments) => history(arguments, output),
        LedgerCommand::Verify { arguments, full } => return crate::verify::ledger(arguments, *full, output).await,
        LedgerCommand::Revoke { arguments, .. } => revoke(arguments, command, output).await,
    };
    result.unwrap_or_else(|error| match error {
        LedgerCommandError::Config(error) => check::report(&error),
        error => {
            tracing::error!("{}", chain(&error));
            error.exit()
        }
    })
}

/// The last row of every version of the config's sources, in config order.
fn show(arguments: &LedgerArguments, output: Output) -> Result<ExitCode, LedgerCommandError> {
    let (config, ledger) = open(arguments)?;
    let mut rows: Vec<&Row> = Vec::new();
    for id in config.ids() {
        let versions = ledger.of_source(id).filter(|row| is_wanted(row, arguments));
        let last = versions
            .filter(|row| ledger.last(&row.source_id, &row.sha256).is_some_and(|last| std::ptr::eq(last, *row)));
        rows.extend(last);
    }
    Ok(print(&ledger, rows, output))
}

/// Every row of the config's sources, in file order.
fn history(arguments: &LedgerArguments, output: Output) -> Result<ExitCode, LedgerCommandError> {
    let (config, ledger) = open(arguments)?;
    let ids: HashSet<&Name> = config.ids().collect();
    let of_config = |row: &&Row| ids.contains(&row.source_id) && is_wanted(row, arguments);
    let rows = ledger.rows().iter().filter(of_config).collect();
    Ok(print(&ledger, rows, output))
}

async fn revoke(
    arguments: &LedgerArguments,
    command: &LedgerCommand,
    output: Output,
) -> Result<ExitCode, LedgerCommandError> {
    let LedgerCommand::Revoke { reason, undo, lock_timeout, .. } = command else { return Ok(ExitCode::Usage) };
    let (_, ledger) = open(arguments)?;
    if arguments.source.is_empty() {
        return Err(LedgerCommandError::NoSource);
    }
    for id in &arguments.source {
        if !ledger.rows().iter().any(|row| row.source_id.as_str() == id) {
            return Err(LedgerCommandError::NeverFetched(id.clone()));
        }
    }
    let rows = |ledger: &Ledger| {
        let last = |id: &String| ledger.rows().iter().rev().find(|row| row.source_id.as_str() == id).cloned();
        let says = |row: Row| Row { revoked: Some(!undo), notes: reason.clone(), ..row };
        let changed = |row: &Row| ledger.revoked(&row.source_id) == *undo;
        Ok(arguments.source.iter().filter_map(last).filter(changed).map(says).collect())
    };
    let layout = environment::layout(arguments.artifacts.as_ref());
    let after = commit::append_rows(&layout, *lock_timeout, rows).await?;
    let appended = after.rows()[ledger.rows().len().min(after.rows().len())..].iter().collect();
    Ok(print(&after, appended, output))
}

fn open(arguments: &LedgerArguments) -> Result<(Config, Ledger), LedgerCommandError> {
    let config = check::load(&arguments.config)?.config;
    for id in &arguments.source {
        if !config.ids().any(|known| known.as_str() == id) {
            return Err(LedgerCommandError::UnknownSource(id.clone()));
        }
    }
    Ok((config, ledger::read(&environment::layout(arguments.artifacts.as_ref()))?))
}

fn is_wanted(row: &Row, arguments: &LedgerArguments) -> bool {
    arguments.source.is_empty() || arguments.source.iter().any(|id| id == row.source_id.as_str())
}

fn print(ledger: &Ledger, rows: Vec<&Row>, output: Output) -> ExitCode {
    let for_people = |rows: &[&Row]| {
        let cells = rows.iter().map(|row| {
            [
                row.source_id.to_string(),
                row.license_spdx.clone(),
                row.retrieved_at.to_string(),
                row.n_docs.to_string(),
                row.sha256.to_string().chars().take(12).collect(),
                if ledger.revoked(&row.source_id) { "revoked".to_owned() } else { String::new() },
                row.url.clone(),
            ]
        });
        output::table(["SOURCE", "LICENCE", "RETRIEVED", "DOCS", "SHA256", "STATE", "URL"], cells)
    };
    let rows = Rows { rows };
    output.result(&rows, || for_people(&rows.rows))
}
