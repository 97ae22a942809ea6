//! The command line, to the letter of `contracts/PROTOCOL.md`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use corpora_contracts::ids::Name;
use corpora_fetch::{CommitMode, Options};

use crate::crawl::dry_run::DryRunArguments;
use crate::crawl::roles::{CollectArguments, CoordinatorArguments, RoleArguments, StorageArguments, WorkerArguments};
use crate::page::PageArguments;
use crate::values::{at_least_one, positive_seconds, seconds};

/// A reviewed list of sources in, a licensed, verified, reproducible text corpus out.
///
/// Exit codes: 0 done, 2 usage, 65 the input is wrong and will be wrong next time, 75 a later attempt may succeed,
/// 130 cancelled (what was done is kept).
#[derive(Debug, Parser)]
#[command(name = "corpora", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is said, and how.
#[derive(Debug, Args)]
pub(crate) struct Verbosity {
    /// What stdout carries: text for people (default on a terminal) or one JSON object (default otherwise)
    #[arg(long, global = true, value_enum)]
    pub(crate) output: Option<Format>,
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
    /// Build the dataset: fetch, extract, store, verify-ledger; a second build does nothing and says so
    Build(BuildArguments),
    /// Fetch pinned files: verified raw parts and ledger rows
    Fetch(FetchArguments),
    /// Make normalised documents of raw parts
    Extract(ExtractArguments),
    /// Make a staged dataset of documents: shards, manifest, metadata
    Store(StoreArguments),
    /// Judge the staged dataset and publish it, or list every problem
    VerifyLedger(VerifyLedgerArguments),
    /// What is done and what is due, per source and stage
    Status(StatusArguments),
    /// Check a dataset folder against itself, every byte of it
    Verify {
        /// The folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Run one stage, as an orchestrator does: `run --stage fetch …` is `fetch …`
    Run {
        /// The stage; its own flags follow
        #[arg(long, value_enum)]
        stage: Stage,
    },
    /// Download files and print size, sha256, format and a config block to review
    Pin(PinArguments),
    /// Read one page as extract does: main text, title, language, links, metadata, rights
    Page(PageArguments),
    /// Look at crawls before they are run, and run the roles of one apart
    Crawl {
        #[command(subcommand)]
        command: CrawlCommand,
    },
    /// What was fetched, and under what terms
    Ledger {
        #[command(subcommand)]
        command: LedgerCommand,
    },
    /// Free old raw versions, quarantine, downloads and finished activities, after asking
    Gc(GcArguments),
    /// Check a config, or print its JSON Schema
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
}

/// The stages that `run` knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    Fetch,
    Extract,
    Store,
    VerifyLedger,
}

impl From<Stage> for corpora_plan::Stage {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Fetch => Self::Fetch,
            Stage::Extract => Self::Extract,
            Stage::Store => Self::Store,
            Stage::VerifyLedger => Self::VerifyLedger,
        }
    }
}

/// Where a stage's config and artifacts are, whichever stage it is.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["config", "spec"])))]
pub(crate) struct StageArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The spec of a subprocess activity (JSON); DONE.json is written beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,
    /// Append progress events to this file (JSON Lines)
    #[arg(long, value_name = "FILE")]
    pub(crate) progress: Option<PathBuf>,
    /// The artifacts directory [default: $CORPORA_ARTIFACTS, then ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) artifacts: Option<PathBuf>,
    /// Seconds to wait for a lock that another run holds
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) lock_timeout: Duration,
}

/// Which sources a stage works on.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// Only this source; may be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) source: Vec<String>,
    /// Go on with the other sources when one fails
    #[arg(long)]
    pub(crate) keep_going: bool,
}

/// How fetch downloads and splits.
#[derive(Debug, Args)]
pub(crate) struct FetchTuning {
    /// Downloads and crawls at a time
    #[arg(long, default_value_t = 8, value_parser = at_least_one::<usize>)]
    pub(crate) concurrency: usize,
    /// Attempts per location; of a crawl for each page, robots.txt and sitemap
    #[arg(long, default_value_t = 4, value_parser = at_least_one::<u32>)]
    pub(crate) attempts: u32,
    /// Seconds to wait for each read, never for the whole download
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive_seconds)]
    pub(crate) timeout: Duration,
    /// Seconds to wait after the first failed attempt; doubles with each further one
    #[arg(long, default_value = "0.5", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) base_delay: Duration,
    /// Documents per raw part at most
    #[arg(long, default_value_t = 100_000, value_parser = at_least_one::<u64>)]
    pub(crate) part_docs: u64,
    /// Ask again for the pages of crawls that are cached, with conditional requests
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Keep the counters of crawls in this file, in the text format of Prometheus
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FetchArguments {
    #[command(flatten)]
    pub(crate) stage: StageArguments,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    #[command(flatten)]
    pub(crate) tuning: FetchTuning,
    /// Leave the ledger alone; an orchestrator commits as its last fetch step
    #[arg(long, conflicts_with = "commit")]
    pub(crate) no_commit: bool,
    /// Only append the ledger rows that are due
    #[arg(long)]
    pub(crate) commit: bool,
}

/// How many cores a stage uses.
#[derive(Debug, Args)]
pub(crate) struct JobsArgument {
    /// Cores to use [default: all]; any number gives the same bytes
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub(crate) jobs: Option<usize>,
}

impl JobsArgument {
    /// The cores to use.
    pub(crate) fn count(&self) -> usize {
        self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExtractArguments {
    #[command(flatten)]
    pub(crate) stage: StageArguments,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
}

#[derive(Debug, Args)]
pub(crate) struct StoreArguments {
    #[command(flatten)]
    pub(crate) stage: StageArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyLedgerArguments {
    #[command(flatten)]
    pub(crate) stage: StageArguments,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The artifacts directory [default: $CORPORA_ARTIFACTS, then ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) artifacts: Option<PathBuf>,
    /// Stop after this stage
    #[arg(long, value_enum, value_name = "STAGE")]
    pub(crate) until: Option<Stage>,
    /// Say what is cached and what would be done, and why; nothing is requested or written
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on with the other sources when one fails; the dataset itself is made only of all of them
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    #[command(flatten)]
    pub(crate) tuning: FetchTuning,
    /// Seconds to wait for a lock that another run holds
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) lock_timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The artifacts directory [default: $CORPORA_ARTIFACTS, then ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) artifacts: Option<PathBuf>,
    /// Documents per raw part that the next fetch would be asked for
    #[arg(long, default_value_t = 100_000, value_parser = at_least_one::<u64>)]
    pub(crate) part_docs: u64,
}

impl FetchArguments {
    /// The options of the stage; `only` are the known names among `--source`.
    pub(crate) fn options(&self, only: Vec<Name>) -> Options {
        let commit = match (self.commit, self.no_commit) {
            (true, _) => CommitMode::Only,
            (false, true) => CommitMode::Never,
            (false, false) => CommitMode::AtEnd,
        };
        let (keep_going, lock_timeout) = (self.sources.keep_going, self.stage.lock_timeout);
        Options { only, keep_going, commit, lock_timeout, ..self.tuning.options() }
    }
}

impl FetchTuning {
    /// The options with everything else at its default.
    pub(crate) fn options(&self) -> Options {
        let &Self { concurrency, attempts, timeout, base_delay, part_docs, refresh, ref metrics } = self;
        let metrics = metrics.clone();
        Options { concurrency, attempts, timeout, base_delay, part_docs, refresh, metrics, ..Options::default() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PinArguments {
    /// http(s) or file urls, or paths
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Attempts per url
    #[arg(long, default_value_t = 4, value_parser = at_least_one::<u32>)]
    pub(crate) attempts: u32,
    /// Seconds to wait for each read, never for the whole download
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive_seconds)]
    pub(crate) timeout: Duration,
    /// The environment variable that holds a bearer token for these urls
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) bearer_env: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CrawlCommand {
    /// What each crawl would ask for and what not, and why: asks for robots.txt and the seeds, and keeps nothing
    DryRun(DryRunArguments),
    /// Decide what is asked for, until the crawl has ended; one at a time
    Coordinator(CoordinatorArguments),
    /// Ask for pages until it is stopped; as many as you like
    Worker(WorkerArguments),
    /// Store pages until it is stopped; as many as you like
    StorageWorker(StorageArguments),
    /// Make raw parts of a crawl that has ended
    Collect(CollectArguments),
    /// Put dead letters back on their queues
    Redrive(RoleArguments),
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// The state of every source version of the config
    Show(LedgerArguments),
    /// Every row, oldest first
    History(LedgerArguments),
    /// Hold ledger, receipts and raw directories against each other
    Verify {
        #[command(flatten)]
        arguments: LedgerArguments,
        /// Read every byte of raw parts, documents and shards
        #[arg(long)]
        full: bool,
    },
    /// Revoke a source: it is not fetched, and later stages leave it out
    Revoke {
        #[command(flatten)]
        arguments: LedgerArguments,
        /// Why; kept in the row's notes
        #[arg(long, default_value = "")]
        reason: String,
        /// Take an earlier revocation back
        #[arg(long)]
        undo: bool,
        /// Seconds to wait for the ledger's lock
        #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
        lock_timeout: Duration,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LedgerArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The artifacts directory [default: $CORPORA_ARTIFACTS, then ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) artifacts: Option<PathBuf>,
    /// Only this source; may be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) source: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GcArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The artifacts directory [default: $CORPORA_ARTIFACTS, then ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) artifacts: Option<PathBuf>,
    /// Free without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Seconds to wait for a lock that another run holds
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) lock_timeout: Duration,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Report every problem of a config at once
    Check {
        /// The corpus config (TOML)
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Print the JSON Schema of the config, for editors
    Schema {
        /// Accepted for symmetry with `check`; the schema is the same for every config
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// `run --stage S …` is `S …`: the arguments with the stage as their verb. Other arguments stay as they are, and so does
/// a `run` whose stage is missing or unknown, which clap then refuses.
pub(crate) fn with_stage_as_verb(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let Some(verb) = verb(&arguments).filter(|&verb| arguments[verb] == "run") else { return arguments };
    let Some(flag) = arguments.iter().position(|word| word == "--stage" || stage_after_equals(word).is_some()) else {
        return arguments;
    };
    let (stage, words) = match stage_after_equals(&arguments[flag]) {
        Some(stage) => (Some(stage), 1),
        None => (arguments.get(flag + 1).map(|stage| stage.to_string_lossy().into_owned()), 2),
    };
    let known = stage.filter(|stage| Stage::from_str(stage, false).is_ok());
    if let Some(stage) = known.filter(|_| flag > verb) {
        arguments.drain(flag..flag + words);
        arguments[verb] = stage.into();
    }
    arguments
}

/// Where the verb is: the first word behind the program's name that is no option and no option's value.
fn verb(arguments: &[OsString]) -> Option<usize> {
    let mut at = 1;
    loop {
        let word = arguments.get(at)?.to_string_lossy();
        match word.as_ref() {
            "--output" | "--log-format" => at += 2,
            word if word.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
}

fn stage_after_equals(word: &OsString) -> Option<String> {
    word.to_string_lossy().strip_prefix("--stage=").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_stage_is_the_verb_that_run_names() {
        let rewritten = |line: &str| {
            let words = with_stage_as_verb(line.split(' ').map(OsString::from));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("corpora run --stage fetch --config F -v", "corpora fetch --config F -v"),
            ("corpora -q run --config F --stage=fetch", "corpora -q fetch --config F"),
            ("corpora --output json run --stage store -q", "corpora --output json store -q"),
            ("corpora --output run", "corpora --output run"),
            ("corpora run --stage nothing", "corpora run --stage nothing"),
            ("corpora run --stage", "corpora run --stage"),
            ("corpora run --config F", "corpora run --config F"),
            ("corpora pin run --stage fetch", "corpora pin run --stage fetch"),
        ] {
            assert_eq!(rewritten(line), expected);
        }
    }

    #[test]
    fn limits_below_their_bound_are_refused() {
        let accepts = |arguments: &[&str]| {
            let all = ["corpora", "fetch", "--config", "corpus.toml"].iter().chain(arguments);
            Cli::try_parse_from(all).is_ok()
        };
        for flag in ["--concurrency", "--attempts", "--part-docs"] {
            assert!(accepts(&[flag, "1"]) && !accepts(&[flag, "0"]) && !accepts(&[flag, "-1"]), "{flag}");
        }
        assert!(accepts(&["--timeout", "0.1"]) && !accepts(&["--timeout", "0"]) && !accepts(&["--timeout", "nan"]));
        assert!(accepts(&["--base-delay", "0"]) && !accepts(&["--base-delay", "-0.5"]));
        assert!(!accepts(&["--commit", "--no-commit"]), "they exclude each other");
    }
}
