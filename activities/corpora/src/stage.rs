//! A stage from the command line: from a config, or as a subprocess activity from a spec.

use std::path::{Path, PathBuf};

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::progress::Kind;
use corpora_contracts::summary::EntryError;
use corpora_plan::Stage;
use corpora_stage::activity::Activity;
use corpora_stage::{Context, Outcome, Progress, chain, signals};
use serde::Serialize;
use tracing::Instrument as _;

use crate::bars::Bars;
use crate::check;
use crate::cli::StageArguments;
use crate::config::{self, LoadError, Loaded};
use crate::environment;
use crate::output::Output;

/// Why a command did not start or could not end in order.
pub(crate) enum Failure {
    /// The config or spec is wrong.
    Config(LoadError),
    /// Something else, with what to exit with.
    Other {
        /// What happened.
        message: String,
        /// How the process should end.
        exit: ExitCode,
    },
}

impl Failure {
    /// A failure told by an error and its causes.
    pub(crate) fn new(exit: ExitCode, error: &dyn std::error::Error) -> Self {
        Self::Other { message: chain(error), exit }
    }

    /// The same failure, after its object went to stdout: the config was accepted, so a reader expects one.
    fn printed(self, work: &impl Work, output: Output) -> Self {
        if let Self::Other { message, .. } = &self {
            let error = EntryError { kind: "setup".to_owned(), message: message.clone(), retry_after_s: None };
            let object = NotStarted { stage: work.stage().as_str(), ok: false, entries: [], error };
            output.result(&object, || message.clone());
        }
        self
    }

    /// Logs it and gives the code to end with.
    pub(crate) fn report(&self) -> ExitCode {
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

/// What a stage prints that could not start on an accepted config.
#[derive(Serialize)]
struct NotStarted {
    stage: &'static str,
    ok: bool,
    entries: [(); 0],
    error: EntryError,
}

/// A stage's work on a valid config.
pub(crate) trait Work {
    /// Which stage it is.
    fn stage(&self) -> Stage;

    /// The object that it prints.
    type Summary: Serialize;

    /// Checks what the flags say against the config, before anything is written.
    ///
    /// # Errors
    /// [`Failure`] with the code for usage.
    fn prepare(&mut self, config: &Config) -> Result<(), Failure>;

    /// Does it.
    async fn run(&self, loaded: &Loaded, context: &Context) -> Outcome<Self::Summary>;

    /// The summary as a table.
    fn for_people(&self, summary: &Self::Summary) -> String;
}

/// Runs a stage from its config, or from the spec of an activity.
pub(crate) async fn run(work: impl Work, arguments: &StageArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    let result = match (&arguments.spec, &arguments.config) {
        (Some(spec), _) => {
            let span = environment::activity_span();
            run_activity(work, spec, arguments, output.json(), bars).instrument(span).await
        }
        (None, Some(config)) => run_config(work, config, arguments, output, bars).await,
        // clap requires one of them.
        (None, None) => Ok(ExitCode::Usage),
    };
    result.unwrap_or_else(|failure| failure.report())
}

async fn run_config(
    mut work: impl Work,
    path: &Path,
    arguments: &StageArguments,
    output: Output,
    bars: Option<Bars>,
) -> Result<ExitCode, Failure> {
    let loaded = check::load(path)?;
    work.prepare(&loaded.config)?;
    let context = context(arguments.artifacts.as_ref(), arguments.progress.as_deref(), bars.as_ref());
    let context = context.map_err(|failure| failure.printed(&work, output))?;
    let outcome = work.run(&loaded, &context).await;
    if let Some(bars) = bars {
        bars.clear();
    }
    let printed = output.result(&outcome.summary, || work.for_people(&outcome.summary));
    Ok(outcome.exit.worse(printed))
}

async fn run_activity(
    mut work: impl Work,
    spec: &Path,
    arguments: &StageArguments,
    output: Output,
    bars: Option<Bars>,
) -> Result<ExitCode, Failure> {
    let loaded = config::load_spec(spec)?;
    check::warn(&loaded.warnings);
    let bytes = std::fs::read(spec).map_err(|error| Failure::new(ExitCode::Data, &error))?;
    work.prepare(&loaded.config)?;
    let context = context(arguments.artifacts.as_ref(), arguments.progress.as_deref(), bars.as_ref());
    let context = context.map_err(|failure| failure.printed(&work, output))?;
    let activity = Activity::new(spec, &bytes);
    let file = |error| Failure::new(ExitCode::Retry, &error);
    let finished = activity.finished(&context.layout).map_err(file);
    if let Some(done) = finished.map_err(|failure| failure.printed(&work, output))? {
        tracing::info!("an earlier attempt finished this activity");
        context.progress.emit(Kind::Done { outputs: done.outputs });
        return Ok(output.result(&done.result, String::new));
    }
    let outcome = work.run(&loaded, &context).await;
    if outcome.exit == ExitCode::Success {
        let result =
            serde_json::value::to_raw_value(&outcome.summary).map_err(|error| Failure::new(ExitCode::Retry, &error))?;
        activity.finish(outcome.outputs, result, &context.progress).map_err(file)?;
    }
    let printed = output.result(&outcome.summary, || work.for_people(&outcome.summary));
    Ok(outcome.exit.worse(printed))
}

/// What the stage is handed, from flags and environment.
///
/// # Errors
/// [`Failure`] when the clock is wrong or the progress file cannot be opened.
pub(crate) fn context(
    artifacts: Option<&PathBuf>,
    progress_file: Option<&Path>,
    bars: Option<&Bars>,
) -> Result<Context, Failure> {
    let clock = environment::clock().map_err(|error| Failure::new(ExitCode::Data, &error))?;
    let cancel = signals::cancel_on_signals().map_err(|error| Failure::new(ExitCode::Retry, &error))?;
    let mut progress = Progress::default();
    if let Some(bars) = bars {
        progress = progress.observed_by(bars.observer());
    }
    if let Some(path) = progress_file {
        let opened = progress.to_file(path, environment::attempt());
        progress = opened.map_err(|error| Failure::new(ExitCode::Retry, &error))?;
    }
    Ok(Context { layout: environment::layout(artifacts), clock, cancel, progress })
}

/// The names of `--source`, each of which must be a source or a crawl of the config.
///
/// # Errors
/// [`Failure`] with the code for usage.
pub(crate) fn known(config: &Config, asked: &[String]) -> Result<Vec<Name>, Failure> {
    let find = |asked: &String| {
        let found = config.ids().find(|id| id.as_str() == asked);
        let known = || config.ids().map(Name::as_str).collect::<Vec<_>>().join(", ");
        let unknown = || Failure::Other {
            message: format!("read --source: no source `{asked}` in the config; it has {}", known()),
            exit: ExitCode::Usage,
        };
        found.cloned().ok_or_else(unknown)
    };
    asked.iter().map(find).collect()
}
