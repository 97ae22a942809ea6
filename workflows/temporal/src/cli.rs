//! The command line of `corpora-worker`, to the letter of `contracts/PROTOCOL.md`.

use std::net::SocketAddr;
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
    /// How results are printed [default: text on a terminal, JSON otherwise]
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<Format>,
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
    /// Tell how far a build is
    Status(BuildArguments),
    /// Hold a build before its next step; the steps that run go on
    Pause(BuildArguments),
    /// Let a paused build go on
    Resume(BuildArguments),
    /// Stop a build; what is done is kept
    Cancel(BuildArguments),
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// The build: `corpus-build-<dataset>-<version>`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
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
    /// Serve metrics for Prometheus at http://HOST:PORT/metrics; a probe may ask there, too
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) metrics_address: Option<SocketAddr>,
    /// Builds whose state is kept in memory between two steps, at most
    #[arg(long, default_value = "100", value_name = "N", value_parser = at_least_one)]
    pub(crate) cached_builds: usize,
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
    #[command(flatten)]
    pub(crate) pace: PaceArguments,
}

/// What replaces the figures of the plan.
#[derive(Debug, Args)]
#[command(next_help_heading = "Retries and pace")]
pub(crate) struct PaceArguments {
    /// Seconds between the first and the second attempt of a step [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) retry_interval: Option<Duration>,
    /// The factor by which the wait grows with each attempt [default: 2]
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) retry_backoff: Option<f64>,
    /// The longest wait between two attempts, in seconds [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) retry_cap: Option<Duration>,
    /// The most attempts of a step [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) retry_attempts: Option<u32>,
    /// Seconds that a step may take with all its attempts [default: 7 days]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) step_timeout: Option<Duration>,
    /// Seconds without a sign of life after which an attempt counts as lost [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) heartbeat_timeout: Option<Duration>,
    /// Steps that are with the workers at a time [default: all that are due, 500 at most]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) parallel: Option<usize>,
    /// Steps after which the build goes on as a new run, between two stages [default: when the service suggests it]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) continue_after: Option<usize>,
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

fn factor(value: &str) -> Result<f64, String> {
    let factor = value.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 1.0);
    factor.ok_or_else(|| "expected a number of at least 1".to_owned())
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
            "corpora-worker run --metrics-address 127.0.0.1:9464 --cached-builds 1",
            "corpora-worker start --config F --wait --until verify-ledger --retry-interval 0.1",
            "corpora-worker start --config F --retry-backoff 1 --retry-cap 2 --retry-attempts 1 --step-timeout 5",
            "corpora-worker start --config F --parallel 1 --continue-after 1 --output text",
            "corpora-worker status corpus-build-d-v1",
            "corpora-worker --output json cancel corpus-build-d-v1",
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
            "corpora-worker start --config F --retry-backoff 0.5",
            "corpora-worker start --config F --retry-backoff inf",
            "corpora-worker start --config F --retry-attempts 0",
            "corpora-worker start --config F --parallel 0",
            "corpora-worker run --metrics-address 9464",
            "corpora-worker status",
            "corpora-worker pause a b",
        ] {
            assert!(!accepts(bad), "{bad}");
        }
    }
}
