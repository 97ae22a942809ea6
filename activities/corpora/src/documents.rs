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
    let options = corpora_store::Options { jobs: arguments.jobs.count(), lock_timeout: arguments.stage.lock_timeout };
    let run = async |config: &Config, context: &Context| corpora_store::run(config, &options, context).await;
    stage::run(OfDataset { stage: Stage::Store, run }, &arguments.stage, output, bars).await
}

pub(crate) async fn verify_ledger(arguments: &VerifyLedgerArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    let options = corpora_verify_ledger::Options { lock_timeout: arguments.stage.lock_timeout };
    let run = async |config: &Config, context: &Context| corpora_verify_ledger::run(config, &options, context).await;
    stage::run(OfDataset { stage: Stage::VerifyLedger, run }, &arguments.stage, output, bars).await
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

/// Store or verify-ledger, which work on the dataset as a whole.
struct OfDataset<R> {
    stage: Stage,
    run: R,
}

impl<R: AsyncFn(&Config, &Context) -> Outcome<StageSummary>> Work for OfDataset<R> {
    type Summary = StageSummary;

    fn stage(&self) -> Stage {
        self.stage
    }

    fn prepare(&mut self, _config: &Config) -> Result<(), Failure> {
        Ok(())
    }

    async fn run(&self, loaded: &Loaded, context: &Context) -> Outcome<StageSummary> {
        (self.run)(&loaded.config, context).await
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
