//! `corpora fetch`, and the same as a subprocess activity.

use std::path::Path;

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::progress::Kind;
use corpora_contracts::summary::{FetchSummary, Status};
use corpora_stage::activity::Activity;
use corpora_stage::{Context, Progress, signals};
use tracing::Instrument as _;

use crate::bars::Bars;
use crate::check;
use crate::cli::FetchArguments;
use crate::config::{self, LoadError, Loaded};
use crate::environment;
use crate::output::{self, Output};

/// Runs the stage from a config, or from the spec of an activity.
pub(crate) async fn run(arguments: &FetchArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    let result = match (&arguments.spec, &arguments.config) {
        (Some(spec), _) => {
            let span = environment::activity_span();
            run_activity(spec, arguments, output.json(), bars).instrument(span).await
        }
        (None, Some(config)) => run_config(config, arguments, output, bars).await,
        // clap requires one of them.
        (None, None) => Ok(ExitCode::Usage),
    };
    result.unwrap_or_else(|failure| failure.report())
}

/// Why the stage did not start or could not end in order.
enum Failure {
    Config(LoadError),
    Other { message: String, exit: ExitCode },
}

impl Failure {
    fn new(exit: ExitCode, error: &dyn std::error::Error) -> Self {
        Self::Other { message: corpora_stage::chain(error), exit }
    }

    fn report(&self) -> ExitCode {
        match self {
            Self::Config(error) => check::report(error),
            Self::Other { message, exit } => {
                tracing::error!("{message}");
                *exit
            }
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Config(error)
    }
}

async fn run_config(
    path: &Path,
    arguments: &FetchArguments,
    output: Output,
    bars: Option<Bars>,
) -> Result<ExitCode, Failure> {
    let loaded = check::load(path)?;
    let only = known(&loaded.config, &arguments.source)?;
    let context = context(arguments, bars.as_ref())?;
    let outcome = corpora_fetch::run(&loaded.config, &loaded.base, &arguments.options(only), &context).await;
    if let Some(bars) = bars {
        bars.clear();
    }
    let printed = output.result(&outcome.summary, || for_people(&outcome.summary));
    Ok(outcome.exit.worse(printed))
}

async fn run_activity(
    spec: &Path,
    arguments: &FetchArguments,
    output: Output,
    bars: Option<Bars>,
) -> Result<ExitCode, Failure> {
    let Loaded { config, base, .. } = config::load_spec(spec)?;
    let bytes = std::fs::read(spec).map_err(|error| Failure::new(ExitCode::Data, &error))?;
    let only = known(&config, &arguments.source)?;
    let context = context(arguments, bars.as_ref())?;
    let activity = Activity::new(spec, &bytes);
    let file = |error| Failure::new(ExitCode::Retry, &error);
    if let Some(done) = activity.finished(&context.layout).map_err(file)? {
        tracing::info!("an earlier attempt finished this activity");
        context.progress.emit(Kind::Done { outputs: done.outputs });
        return Ok(output.result(&done.result, String::new));
    }
    let outcome = corpora_fetch::run(&config, &base, &arguments.options(only), &context).await;
    if outcome.exit == ExitCode::Success {
        let result = serde_json::to_value(&outcome.summary).map_err(|error| Failure::new(ExitCode::Retry, &error))?;
        activity.finish(outcome.outputs, result, &context.progress).map_err(file)?;
    }
    let printed = output.result(&outcome.summary, || for_people(&outcome.summary));
    Ok(outcome.exit.worse(printed))
}

fn context(arguments: &FetchArguments, bars: Option<&Bars>) -> Result<Context, Failure> {
    let clock = environment::clock().map_err(|error| Failure::new(ExitCode::Data, &error))?;
    let cancel = signals::cancel_on_signals().map_err(|error| Failure::new(ExitCode::Retry, &error))?;
    let mut progress = Progress::default();
    if let Some(bars) = bars {
        progress = progress.observed_by(bars.observer());
    }
    if let Some(path) = &arguments.progress {
        let opened = progress.to_file(path, environment::attempt());
        progress = opened.map_err(|error| Failure::new(ExitCode::Retry, &error))?;
    }
    Ok(Context { layout: environment::layout(arguments.artifacts.as_ref()), clock, cancel, progress })
}

/// The names of `--source`, each of which must be a source of the config.
fn known(config: &Config, asked: &[String]) -> Result<Vec<Name>, Failure> {
    let find = |asked: &String| {
        let source = config.sources.iter().find(|source| source.id.as_str() == asked);
        let known = || config.sources.iter().map(|source| source.id.as_str()).collect::<Vec<_>>().join(", ");
        let unknown = || Failure::Other {
            message: format!("read --source: no source `{asked}` in the config; it has {}", known()),
            exit: ExitCode::Usage,
        };
        source.map(|source| source.id.clone()).ok_or_else(unknown)
    };
    asked.iter().map(find).collect()
}

fn for_people(summary: &FetchSummary) -> String {
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
    use corpora_stage::fault::{ACTIVITY_POINTS, POINTS};

    let asked = std::env::var("CORPORA_FAILPOINT").is_ok_and(|value| value == "list");
    if asked {
        let all: Vec<&str> = POINTS.into_iter().chain(ACTIVITY_POINTS).collect();
        Output::new(None).text(&all.join("\n"));
    }
    asked
}

/// This build has no kill points.
#[cfg(not(feature = "faults"))]
pub(crate) fn listed_kill_points() -> bool {
    false
}
