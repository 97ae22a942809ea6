//! `corpora extract`, `store` and `verify-ledger`.

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::{StageStatus, StageSummary};
use corpora_plan::Stage;
use corpora_stage::{Context, Outcome};

use crate::bars::Bars;
use crate::cli::{ExtractArguments, StoreArguments, VerifyLedgerArguments};
use crate::config::Loaded;
use crate::output::{self, Output};
use crate::stage::{self, Failure, Work};

pub(crate) async fn extract(arguments: &ExtractArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    stage::run(Extract { arguments, only: Vec::new() }, &arguments.stage, output, bars).await
}

pub(crate) async fn store(arguments: &StoreArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    stage::run(Store { arguments }, &arguments.stage, output, bars).await
}

pub(crate) async fn verify_ledger(arguments: &VerifyLedgerArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    stage::run(VerifyLedger { arguments }, &arguments.stage, output, bars).await
}

struct Extract<'a> {
    arguments: &'a ExtractArguments,
    only: Vec<Name>,
}

impl Work for Extract<'_> {
    type Summary = StageSummary;

    fn stage(&self) -> Stage {
        Stage::Extract
    }

    fn prepare(&mut self, config: &Config) -> Result<(), Failure> {
        self.only = stage::known(config, &self.arguments.sources.source)?;
        Ok(())
    }

    async fn run(&self, loaded: &Loaded, context: &Context) -> Outcome<StageSummary> {
        let options = corpora_extract::Options {
            only: self.only.clone(),
            keep_going: self.arguments.sources.keep_going,
            jobs: self.arguments.jobs.count(),
            lock_timeout: self.arguments.stage.lock_timeout,
        };
        corpora_extract::run(&loaded.config, &options, context).await
    }

    fn for_people(&self, summary: &StageSummary) -> String {
        table(summary)
    }
}

struct Store<'a> {
    arguments: &'a StoreArguments,
}

impl Work for Store<'_> {
    type Summary = StageSummary;

    fn stage(&self) -> Stage {
        Stage::Store
    }

    fn prepare(&mut self, _config: &Config) -> Result<(), Failure> {
        Ok(())
    }

    async fn run(&self, loaded: &Loaded, context: &Context) -> Outcome<StageSummary> {
        let (jobs, lock_timeout) = (self.arguments.jobs.count(), self.arguments.stage.lock_timeout);
        corpora_store::run(&loaded.config, &corpora_store::Options { jobs, lock_timeout }, context).await
    }

    fn for_people(&self, summary: &StageSummary) -> String {
        table(summary)
    }
}

struct VerifyLedger<'a> {
    arguments: &'a VerifyLedgerArguments,
}

impl Work for VerifyLedger<'_> {
    type Summary = StageSummary;

    fn stage(&self) -> Stage {
        Stage::VerifyLedger
    }

    fn prepare(&mut self, _config: &Config) -> Result<(), Failure> {
        Ok(())
    }

    async fn run(&self, loaded: &Loaded, context: &Context) -> Outcome<StageSummary> {
        let options = corpora_verify_ledger::Options { lock_timeout: self.arguments.stage.lock_timeout };
        corpora_verify_ledger::run(&loaded.config, &options, context).await
    }

    fn for_people(&self, summary: &StageSummary) -> String {
        table(summary)
    }
}

/// A stage's result for people.
pub(crate) fn table(summary: &StageSummary) -> String {
    let rows = summary.entries.iter().map(|entry| {
        let status = match entry.status {
            StageStatus::Done => "done",
            StageStatus::Cached => "cached",
            StageStatus::Failed => "failed",
            StageStatus::Cancelled => "cancelled",
            StageStatus::Revoked => "revoked",
        };
        [entry.id.clone(), status.to_owned(), entry.n_docs.to_string(), entry.path.clone()]
    });
    output::table([&summary.stage.to_uppercase(), "STATUS", "DOCS", "PATH"], rows)
}
