//! The roles of a crawl with `engine = "queues"`, each as a process of its own, over queues in the artifacts directory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use corpora_contracts::config::{Config, Crawl, Engine};
use corpora_contracts::ids::Name;
use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::receipt::CrawlReport;
use corpora_crawl::metrics_file::MetricsFile;
use corpora_crawl::storage::{self, StorageWorker};
use corpora_crawl::worker::queued::Queues;
use corpora_crawl::worker::{Settings, Worker, queued};
use corpora_fetch::error::SourceError;
use corpora_fetch::{CommitMode, Options, queues};
use corpora_local::{SqliteMetadata, SqliteQueue};
use corpora_ports::metrics::Counters;
use corpora_ports::queue::Queue as _;
use corpora_stage::{Context, chain};
use serde::Serialize;

use crate::bars::Bars;
use crate::check;
use crate::config::Loaded;
use crate::fetch;
use crate::output::{self, Output};
use crate::stage::{self, Failure};
use crate::values::{at_least_one, positive_seconds, seconds};

/// How often counters are written while a role works.
const TICK: Duration = Duration::from_secs(1);

/// Which crawl a role is of.
#[derive(Debug, Args)]
pub(crate) struct RoleArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The artifacts directory [default: $CORPORA_ARTIFACTS, then ./artifacts]
    #[arg(long, value_name = "DIR")]
    artifacts: Option<PathBuf>,
    /// The crawl [default: the only one with `engine = "queues"`]
    #[arg(long, value_name = "ID")]
    source: Option<String>,
}

/// How long requests of a role may take.
#[derive(Debug, Args)]
pub(crate) struct RequestArguments {
    /// Seconds to wait for each read, never for the whole answer
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive_seconds)]
    timeout: Duration,
    /// Keep the role's counters in this file, in the text format of Prometheus
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorArguments {
    #[command(flatten)]
    role: RoleArguments,
    #[command(flatten)]
    requests: RequestArguments,
    /// Attempts for each page, robots.txt and sitemap
    #[arg(long, default_value_t = 4, value_parser = at_least_one::<u32>)]
    attempts: u32,
    /// Seconds to wait after the first failed attempt; doubles with each further one
    #[arg(long, default_value = "0.5", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    base_delay: Duration,
    /// Crawl again, although the crawl is cached
    #[arg(long)]
    refresh: bool,
    /// Seconds to wait for a lock that another run holds
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    lock_timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    #[command(flatten)]
    role: RoleArguments,
    #[command(flatten)]
    requests: RequestArguments,
    /// Pages at a time; the coordinator sees to it that no host is asked too often
    #[arg(long, default_value_t = 8, value_parser = at_least_one::<usize>)]
    concurrency: usize,
}

#[derive(Debug, Args)]
pub(crate) struct StorageArguments {
    #[command(flatten)]
    role: RoleArguments,
    /// A name of its own among the storage workers, which stands in the keys of objects [default: the process's id]
    #[arg(long, value_name = "NAME")]
    name: Option<Name>,
}

#[derive(Debug, Args)]
pub(crate) struct CollectArguments {
    #[command(flatten)]
    role: RoleArguments,
    /// Documents per raw part at most
    #[arg(long, default_value_t = 100_000, value_parser = at_least_one::<u64>)]
    part_docs: u64,
    /// Seconds to wait for a lock that another run holds
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    lock_timeout: Duration,
}

/// What a role prints when it ends.
#[derive(Debug, Serialize)]
struct Told<T> {
    role: &'static str,
    source_id: Name,
    ok: bool,
    #[serde(flatten)]
    what: T,
}

impl<T: Serialize> Told<T> {
    fn print(self, output: Output, numbers: impl IntoIterator<Item = (&'static str, String)>) -> ExitCode {
        let people = || {
            let rows = numbers.into_iter().map(|(name, number)| [name.to_owned(), number]);
            output::table([self.role, self.source_id.as_str()], rows)
        };
        output.result(&self, people)
    }
}

/// What a coordinator's crawl came to.
#[derive(Debug, Serialize)]
struct Coordinated {
    cached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    crawl: Option<CrawlReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RoleError>,
}

#[derive(Debug, Serialize)]
struct RoleError {
    kind: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
struct Worked {
    jobs: u64,
}

#[derive(Debug, Serialize)]
struct Stored {
    stored: u64,
    unreadable: u64,
}

#[derive(Debug, Serialize)]
struct Redriven {
    crawl: u64,
    storage: u64,
    discovery: u64,
}

/// A role that can begin.
struct Role {
    loaded: Loaded,
    crawl: Crawl,
    context: Context,
}

impl RoleArguments {
    fn begin(&self, bars: Option<&Bars>) -> Result<Role, Failure> {
        let loaded = check::load(&self.config)?;
        let crawl = crawl_of(&loaded.config, self.source.as_deref())?.clone();
        let context = stage::context(self.artifacts.as_ref(), None, bars)?;
        Ok(Role { loaded, crawl, context })
    }
}

impl Role {
    fn queue(&self, name: &'static str) -> Result<SqliteQueue, Failure> {
        queues::open(&self.context.layout, &self.crawl.id, name).map_err(|error| failure(&error))
    }

    fn told<T>(&self, role: &'static str, what: T) -> Told<T> {
        Told { role, source_id: self.crawl.id.clone(), ok: true, what }
    }
}

/// The crawl that is meant: the one that is named, or the only one whose roles run apart.
fn crawl_of<'c>(config: &'c Config, asked: Option<&str>) -> Result<&'c Crawl, Failure> {
    let apart: Vec<&Crawl> = config.crawls.iter().filter(|crawl| crawl.engine == Engine::Queues).collect();
    let known = || apart.iter().map(|crawl| crawl.id.as_str()).collect::<Vec<_>>().join(", ");
    let usage = |message: String| Failure::Other { message, exit: ExitCode::Usage };
    match (asked, &apart[..]) {
        (Some(asked), _) => apart.iter().find(|crawl| crawl.id.as_str() == asked).copied().ok_or_else(|| {
            usage(format!(
                "read --source: no crawl `{asked}` with engine = \"queues\" in the config; it has {}",
                known()
            ))
        }),
        (None, [only]) => Ok(only),
        (None, []) => Err(Failure::Other {
            message:
                "choose the crawl: none in the config has engine = \"queues\"; others are crawled by `corpora fetch`"
                    .to_owned(),
            exit: ExitCode::Data,
        }),
        (None, _) => Err(usage(format!("choose the crawl with --source: the config has {}", known()))),
    }
}

fn failure(error: &SourceError) -> Failure {
    Failure::new(error.disposition().into(), error)
}

/// How a role ends that works until it is stopped.
fn stopped(printed: ExitCode) -> ExitCode {
    ExitCode::Cancelled.worse(printed)
}

pub(crate) async fn coordinator(arguments: &CoordinatorArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    let role = match arguments.role.begin(bars.as_ref()) {
        Ok(role) => role,
        Err(failure) => return failure.report(),
    };
    let &CoordinatorArguments { attempts, base_delay, refresh, lock_timeout, .. } = arguments;
    let RequestArguments { timeout, metrics } = &arguments.requests;
    let (timeout, metrics) = (*timeout, metrics.clone());
    let options = Options { attempts, base_delay, refresh, lock_timeout, timeout, metrics, ..Options::default() };
    let Loaded { config, base, .. } = &role.loaded;
    let result = corpora_fetch::coordinate(config, &role.crawl, base, &options, &role.context).await;
    if let Some(bars) = bars {
        bars.clear();
    }
    let (exit, what) = match result {
        Ok(crawl) => (ExitCode::Success, Coordinated { cached: crawl.is_none(), crawl, error: None }),
        Err(error) => {
            match error.disposition() {
                Disposition::Cancelled => tracing::info!("stopped; the next coordinator goes on from here"),
                _ => tracing::error!("crawl `{}`: {}", role.crawl.id, chain(&error)),
            }
            let told = RoleError { kind: error.kind(), message: chain(&error) };
            (error.disposition().into(), Coordinated { cached: false, crawl: None, error: Some(told) })
        }
    };
    let asked = what.crawl.as_ref().map(|crawl| ("pages asked for", crawl.asked.to_string()));
    let told = Told { ok: exit == ExitCode::Success, ..role.told("coordinator", what) };
    exit.worse(told.print(output, asked))
}

pub(crate) async fn worker(arguments: &WorkerArguments, output: Output) -> ExitCode {
    match work(arguments, output).await {
        Ok(exit) => exit,
        Err(failure) => failure.report(),
    }
}

async fn work(arguments: &WorkerArguments, output: Output) -> Result<ExitCode, Failure> {
    let role = arguments.role.begin(None)?;
    let counters = Counters::default();
    let settings = Settings::of(&role.crawl, arguments.requests.timeout, role.context.clock);
    let worker = Worker::new(settings, Arc::new(counters.clone()));
    let worker = worker.map_err(|error| Failure::new(ExitCode::Data, &error))?;
    let queues = Arc::new(Queues {
        crawl: role.queue(queues::CRAWL)?,
        storage: role.queue(queues::STORAGE)?,
        discovery: role.queue(queues::DISCOVERY)?,
    });
    let mut file = MetricsFile::new(counters, arguments.requests.metrics.clone());
    tracing::info!("working off jobs of crawl `{}` until stopped", role.crawl.id);
    let work = queued::run(&worker, queues, arguments.concurrency, &role.context.cancel);
    let done = with_metrics(&mut file, work).await;
    let jobs = done.map_err(|error| Failure::new(ExitCode::Retry, &error))?;
    Ok(stopped(role.told("worker", Worked { jobs }).print(output, [("jobs", jobs.to_string())])))
}

/// Awaits work, and writes its counters from time to time and at the end.
async fn with_metrics<T>(file: &mut MetricsFile, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            () = tokio::time::sleep(TICK) => file.refresh(),
        }
    };
    file.write();
    done
}

pub(crate) async fn storage_worker(arguments: &StorageArguments, output: Output) -> ExitCode {
    match store(arguments, output).await {
        Ok(exit) => exit,
        Err(failure) => failure.report(),
    }
}

async fn store(arguments: &StorageArguments, output: Output) -> Result<ExitCode, Failure> {
    let role = arguments.role.begin(None)?;
    let folder = queues::store(&role.context.layout, &role.crawl.id).map_err(|error| failure(&error))?;
    let stored = |error: storage::StorageError| Failure::new(error.disposition().into(), &error);
    let metadata = SqliteMetadata::open(&folder.join(queues::METADATA)).map_err(|error| stored(error.into()))?;
    let objects = storage::local_objects(&folder).map_err(stored)?;
    let name = arguments.name.as_ref().map_or_else(|| std::process::id().to_string(), Name::to_string);
    let mut worker = StorageWorker::new(objects, metadata, name, role.context.clock);
    let queue = role.queue(queues::STORAGE)?;
    tracing::info!("storing pages of crawl `{}` until stopped", role.crawl.id);
    let handled = storage::run(&queue, &mut worker, &role.context.cancel).await.map_err(stored)?;
    let storage::Handled { stored, unreadable } = handled;
    let numbers = [("stored", stored.to_string()), ("unreadable", unreadable.to_string())];
    Ok(stopped(role.told("storage-worker", Stored { stored, unreadable }).print(output, numbers)))
}

pub(crate) async fn collect(arguments: &CollectArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    let role = match arguments.role.begin(bars.as_ref()) {
        Ok(role) => role,
        Err(failure) => return failure.report(),
    };
    let &CollectArguments { part_docs, lock_timeout, .. } = arguments;
    let only = vec![role.crawl.id.clone()];
    let options = Options { part_docs, lock_timeout, only, commit: CommitMode::Never, ..Options::default() };
    let Loaded { config, base, .. } = &role.loaded;
    let outcome = corpora_fetch::run(config, base, &options, &role.context).await;
    if let Some(bars) = bars {
        bars.clear();
    }
    outcome.exit.worse(output.result(&outcome.summary, || fetch::table(&outcome.summary)))
}

pub(crate) async fn redrive(arguments: &RoleArguments, output: Output) -> ExitCode {
    match put_back(arguments, output).await {
        Ok(exit) => exit,
        Err(failure) => failure.report(),
    }
}

async fn put_back(arguments: &RoleArguments, output: Output) -> Result<ExitCode, Failure> {
    let role = arguments.begin(None)?;
    let mut counts = [0; 3];
    for (count, name) in counts.iter_mut().zip([queues::CRAWL, queues::STORAGE, queues::DISCOVERY]) {
        let redriven = role.queue(name)?.redrive().await;
        *count = redriven.map_err(|error| Failure::new(error.disposition().into(), &error))?;
    }
    let [crawl, storage, discovery] = counts;
    let numbers = [("crawl", crawl), ("storage", storage), ("discovery", discovery)];
    let told = role.told("redrive", Redriven { crawl, storage, discovery });
    Ok(told.print(output, numbers.map(|(queue, count)| (queue, count.to_string()))))
}
