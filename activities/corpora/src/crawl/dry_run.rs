//! `corpora crawl dry-run`: what a crawl would ask for and what not, and why.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use corpora_contracts::config::Crawl;
use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use corpora_crawl::coordinator::{self, Coordinator, End, Look};
use corpora_crawl::embedded::{self, RunClock};
use corpora_crawl::role::Nowhere;
use corpora_crawl::worker::{Settings, Worker};
use corpora_ports::frontier::MemoryFrontier;
use corpora_ports::metrics::Counters;
use corpora_stage::{Clock, signals};
use corpora_web::frontier::Retries;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::check;
use crate::output::{self, Output};
use crate::stage::Failure;
use crate::values::{at_least_one, positive_seconds, seconds};

/// The flags of the command.
#[derive(Debug, Args)]
pub(crate) struct DryRunArguments {
    /// The corpus config (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Attempts for each request
    #[arg(long, default_value_t = 1, value_parser = at_least_one::<u32>)]
    pub(crate) attempts: u32,
    /// Seconds to wait for each read, never for the whole answer
    #[arg(long, default_value = "30", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive_seconds)]
    pub(crate) timeout: Duration,
    /// Seconds to wait after the first failed attempt; each further one doubles it
    #[arg(long, default_value = "0.5", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) base_delay: Duration,
}

/// What the command prints.
#[derive(Debug, Serialize)]
struct DryRun {
    crawls: Vec<CrawlLook>,
}

/// What was seen of one crawl.
#[derive(Debug, Serialize)]
struct CrawlLook {
    id: Name,
    #[serde(flatten)]
    look: Look,
}

pub(crate) async fn run(arguments: &DryRunArguments, output: Output) -> ExitCode {
    match look_at_all(arguments).await {
        Ok(told) => output.result(&told, || for_people(&told)),
        Err(failure) => failure.report(),
    }
}

async fn look_at_all(arguments: &DryRunArguments) -> Result<DryRun, Failure> {
    let config = check::load(&arguments.config)?.config;
    let cancel = signals::cancel_on_signals().map_err(|error| Failure::new(ExitCode::Retry, &error))?;
    tracing::info!("robots.txt and the seeds are asked for, and nothing else; nothing is kept");
    let mut crawls = Vec::new();
    for crawl in config.crawls {
        let id = crawl.id.clone();
        crawls.push(CrawlLook { id, look: look(crawl, arguments, &cancel).await? });
    }
    Ok(DryRun { crawls })
}

async fn look(crawl: Crawl, arguments: &DryRunArguments, cancel: &CancellationToken) -> Result<Look, Failure> {
    let settings = Settings::of(&crawl, arguments.timeout, Clock::System);
    let worker =
        Worker::new(settings, Arc::new(Counters::default())).map_err(|error| Failure::new(ExitCode::Data, &error))?;
    let retries = Retries { attempts: arguments.attempts, base_delay: arguments.base_delay };
    let clock = RunClock::start();
    let store = Box::new(MemoryFrontier::new());
    let settings = coordinator::Settings { crawl, retries };
    let mut coordinator = Coordinator::open_to_look(store, settings, clock.now())
        .map_err(|error| Failure::new(error.disposition().into(), &error))?;
    let end = embedded::drive(&mut coordinator, clock, worker, &mut Nowhere, cancel, |_| ()).await;
    let end = end.map_err(|error| Failure::new(error.disposition().into(), &error))?;
    if end == End::Cancelled {
        return Err(Failure::new(ExitCode::Cancelled, &Stopped));
    }
    coordinator.look().map_err(|error| Failure::new(error.disposition().into(), &error))
}

/// A look that was not finished is none.
#[derive(Debug, thiserror::Error)]
#[error("look at the crawls: stopped")]
struct Stopped;

fn for_people(told: &DryRun) -> String {
    let mut text = String::new();
    for CrawlLook { id, look } in &told.crawls {
        let hosts = look.hosts.iter().map(|host| {
            let pace = host.delay_s.map_or_else(|| "one page".to_owned(), |delay| format!("{delay} s"));
            [host.host.clone(), host.robots.clone(), pace]
        });
        text.push_str(&format!("{id}\n{}\n\n", output::table(["HOST", "ROBOTS", "DELAY"], hosts)));
        let fetched = look.would_fetch.iter().map(|url| ["fetch".to_owned(), url.clone()]);
        let left = look.left_out.iter().map(|left| [left.reason.clone(), left.url.clone()]);
        text.push_str(&format!("{}\n\n", output::table(["WHAT", "URL"], fetched.chain(left))));
    }
    text
}
