//! The command line of `corpora-worker`, to the letter of `contracts/PROTOCOL.md`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use corpora_plan::Stage;

/// Builds of corpora as durable workflows of a Temporal service.
///
/// The service is that of `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE` and their kin, or of a temporal.toml; without any it
/// is localhost:7233. Exit codes are those of `corpora`.
#[derive(Debug, Parser)]
#[command(name = "corpora-worker", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is said, and how.
#[derive(Debug, Args)]
pub(crate) struct Verbosity {
    /// How stderr is written
    #[arg(long, global = true, value_enum, default_value = "text")]
    pub(crate) log_format: Format,
    /// Say only what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Work: run builds and their steps until SIGTERM
    Run(RunArguments),
    /// Start a build, or join the one that runs
    Start(StartArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The task queue to work for
    #[arg(long, default_value = "corpora", value_name = "NAME")]
    pub(crate) task_queue: String,
    /// The program that the steps run, by name or path
    #[arg(long, default_value = "corpora", value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
    /// Steps at a time [default: one for each core]
    #[arg(long, value_parser = at_least_one)]
    pub(crate) jobs: Option<usize>,
    /// Seconds between SIGTERM and SIGKILL when a step is cancelled
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = seconds)]
    pub(crate) cancel_grace: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct StartArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The artifacts directory, as the workers see it [default: $CORPORA_ARTIFACTS, then ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) artifacts: Option<PathBuf>,
    /// Wait for the end, print what became of every step, and end with the build's code
    #[arg(long)]
    pub(crate) wait: bool,
    /// The task queue whose workers build
    #[arg(long, default_value = "corpora", value_name = "NAME")]
    pub(crate) task_queue: String,
    /// The last stage to run: fetch, extract, store or verify-ledger
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    pub(crate) until: Option<Stage>,
    /// Let the other steps go on when one fails
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Seconds between the first and the second attempt of a step [default: the plan's]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) retry_interval: Option<Duration>,
    /// Seconds without a sign of life after which an attempt counts as lost [default: the plan's]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) heartbeat_timeout: Option<Duration>,
}

fn stage(value: &str) -> Result<Stage, String> {
    let known = || Stage::ALL.iter().map(|stage| stage.as_str()).collect::<Vec<_>>().join(", ");
    let stage = Stage::ALL.iter().find(|stage| stage.as_str() == value);
    stage.copied().ok_or_else(|| format!("expected one of {}", known()))
}

fn at_least_one(value: &str) -> Result<usize, String> {
    value.parse().ok().filter(|&number| number >= 1).ok_or_else(|| "expected a whole number of at least 1".to_owned())
}

fn seconds(value: &str) -> Result<Duration, String> {
    let seconds: f64 = value.parse().map_err(|_| "expected seconds, whole or with a fraction".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected seconds of at least 0".to_owned())
}

fn positive_seconds(value: &str) -> Result<Duration, String> {
    seconds(value).ok().filter(|seconds| !seconds.is_zero()).ok_or_else(|| "expected seconds above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn accepts(line: &str) -> bool {
        Cli::try_parse_from(line.split(' ')).is_ok()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn wrong_values_are_refused() {
        for good in [
            "corpora-worker run",
            "corpora-worker run --task-queue q --program /bin/corpora --jobs 1 --cancel-grace 0",
            "corpora-worker start --config F --wait --until verify-ledger --retry-interval 0.1",
        ] {
            assert!(accepts(good), "{good}");
        }
        for bad in [
            "corpora-worker",
            "corpora-worker start",
            "corpora-worker run --jobs 0",
            "corpora-worker run --cancel-grace -1",
            "corpora-worker start --config F --until publish",
            "corpora-worker start --config F --retry-interval 0",
            "corpora-worker start --config F --heartbeat-timeout nan",
        ] {
            assert!(!accepts(bad), "{bad}");
        }
    }
}
