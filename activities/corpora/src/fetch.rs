//! `corpora fetch`.

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::{FetchSummary, Status};
use corpora_plan::Stage;
use corpora_stage::{Context, Outcome};

use crate::bars::Bars;
use crate::cli::FetchArguments;
use crate::config::Loaded;
use crate::output::{self, Output};
use crate::stage::{self, Failure, Work};

/// Fetch, with its flags.
struct Fetch<'a> {
    arguments: &'a FetchArguments,
    only: Vec<Name>,
}

pub(crate) async fn run(arguments: &FetchArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    stage::run(Fetch { arguments, only: Vec::new() }, &arguments.stage, output, bars).await
}

impl Work for Fetch<'_> {
    type Summary = FetchSummary;

    fn stage(&self) -> Stage {
        Stage::Fetch
    }

    fn prepare(&mut self, config: &Config) -> Result<(), Failure> {
        self.only = stage::known(config, &self.arguments.sources.source)?;
        Ok(())
    }

    async fn run(&self, loaded: &Loaded, context: &Context) -> Outcome<FetchSummary> {
        corpora_fetch::run(&loaded.config, &loaded.base, &self.arguments.options(self.only.clone()), context).await
    }

    fn for_people(&self, summary: &FetchSummary) -> String {
        table(summary)
    }
}

/// A fetch's result for people.
pub(crate) fn table(summary: &FetchSummary) -> String {
    let rows = summary.entries.iter().map(|entry| {
        let status = match entry.status {
            Status::Fetched => "fetched",
            Status::Cached => "cached",
            Status::Quarantined => "quarantined",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
            Status::Revoked => "revoked",
        };
        [
            entry.source_id.to_string(),
            status.to_owned(),
            entry.n_docs.to_string(),
            output::size(entry.bytes),
            entry.requests.to_string(),
            entry.raw_dir.clone(),
        ]
    });
    output::table(["SOURCE", "STATUS", "DOCS", "RECEIVED", "REQUESTS", "RAW DIRECTORY"], rows)
}

/// In a build with faults, prints the kill points when `CORPORA_FAILPOINT=list` asks for them.
#[cfg(feature = "faults")]
pub(crate) fn listed_kill_points() -> bool {
    use corpora_stage::fault::{ACTIVITY_POINTS, EXTRACT_POINTS, POINTS, STORE_POINTS, VERIFY_POINTS};

    let asked = std::env::var("CORPORA_FAILPOINT").is_ok_and(|value| value == "list");
    if asked {
        let stages = [&POINTS[..], &EXTRACT_POINTS, &STORE_POINTS, &VERIFY_POINTS, &ACTIVITY_POINTS];
        Output::new(None).text(&stages.concat().join("\n"));
    }
    asked
}

/// This build has no kill points.
#[cfg(not(feature = "faults"))]
pub(crate) fn listed_kill_points() -> bool {
    false
}
