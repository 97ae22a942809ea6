//! `corpora status` and `corpora build --dry-run`: what is done and what is due, told without doing anything.

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;
use corpora_contracts::outcome::ExitCode;
use corpora_crawl::coordinator::{self, CrawlStatus};
use corpora_crawl::runs;
use corpora_fetch::commit;
use corpora_local::frontier::SqliteFrontier;
use corpora_stage::forecast::Forecast;
use serde::Serialize;

use crate::check;
use crate::cli::{BuildArguments, StatusArguments};
use crate::environment;
use crate::output::{self, Output};
use crate::stage::Failure;

/// What a build would find and do.
#[derive(Debug, Serialize)]
struct Status {
    dataset: Name,
    version: Name,
    /// Whether the dataset stands verified and nothing is due.
    up_to_date: bool,
    sources: Vec<SourceStatus>,
    /// How far the crawls are that were begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    crawls: Vec<CrawlTold>,
    store: Forecast,
    #[serde(rename = "verify-ledger")]
    verify_ledger: Forecast,
}

/// How far the newest run of a crawl is.
#[derive(Debug, Serialize)]
struct CrawlTold {
    id: Name,
    run: u32,
    #[serde(flatten)]
    status: CrawlStatus,
}

/// What the stages of one source would do.
#[derive(Debug, Serialize)]
struct SourceStatus {
    source_id: Name,
    fetch: Forecast,
    extract: Forecast,
}

/// `corpora status`.
pub(crate) fn run(arguments: &StatusArguments, output: Output) -> ExitCode {
    let told = tell(&arguments.config, &environment::layout(arguments.artifacts.as_ref()), arguments.part_docs, false);
    match told {
        Ok(status) => output.result(&status, || for_people(&status)),
        Err(failure) => failure.report(),
    }
}

/// `corpora build --dry-run`.
///
/// # Errors
/// [`Failure`] when the config is wrong or what stands cannot be read.
pub(crate) fn dry_run(arguments: &BuildArguments, output: Output) -> Result<ExitCode, Failure> {
    let layout = environment::layout(arguments.artifacts.as_ref());
    let status = tell(&arguments.config, &layout, arguments.tuning.part_docs, arguments.tuning.refresh)?;
    Ok(output.result(&status, || for_people(&status)))
}

fn tell(path: &std::path::Path, layout: &Layout, part_docs: u64, refresh: bool) -> Result<Status, Failure> {
    let config = check::load(path)?.config;
    let fetch = corpora_fetch::forecast::forecast(&config, layout, part_docs, refresh)
        .map_err(|error| Failure::new(error.disposition().into(), &error))?;
    // Later stages are told the terms that the commit of this build will have written.
    let ledger =
        commit::ledger_after(&config, layout).map_err(|error| Failure::new(error.disposition().into(), &error))?;
    let extract = corpora_extract::forecast(&config, &ledger, layout)
        .map_err(|error| Failure::new(error.disposition().into(), &error))?;
    let store = corpora_store::forecast(&config, &ledger, layout)
        .map_err(|error| Failure::new(error.disposition().into(), &error))?;
    let verify_ledger = corpora_verify_ledger::forecast(&config, layout)
        .map_err(|error| Failure::new(error.disposition().into(), &error))?;
    let crawls = crawls(&config, layout)?;
    Ok(Status { crawls, ..combined(&config, fetch, extract, store, verify_ledger) })
}

/// What a stage makes anew, the next one works on anew.
fn combined(
    config: &Config,
    fetch: Vec<(Name, Forecast)>,
    extract: Vec<(Name, Forecast)>,
    store: Forecast,
    verify_ledger: Forecast,
) -> Status {
    let both = fetch.into_iter().zip(extract);
    let sources: Vec<SourceStatus> = both
        .map(|((source_id, fetch), (_, extract))| {
            let refetched = extract == Forecast::Cached && corpora_fetch::forecast::gets_bytes(&fetch);
            let extract = if refetched { Forecast::due("its raw directory is made anew") } else { extract };
            SourceStatus { source_id, fetch, extract }
        })
        .collect();
    let reextracted = store == Forecast::Cached && sources.iter().any(|source| source.extract.is_due());
    let store = if reextracted { Forecast::due("documents are made anew") } else { store };
    let verify_ledger = if store.is_due() { Forecast::due("the dataset is made anew") } else { verify_ledger };
    Status {
        dataset: config.dataset.clone(),
        version: config.version.clone(),
        up_to_date: !verify_ledger.is_due() && !sources.iter().any(|source| source.fetch.is_due()),
        sources,
        crawls: Vec::new(),
        store,
        verify_ledger,
    }
}

/// How far the crawls of the config are, each by its newest run.
fn crawls(config: &Config, layout: &Layout) -> Result<Vec<CrawlTold>, Failure> {
    let mut told = Vec::new();
    for crawl in &config.crawls {
        let run = runs::newest(layout, &crawl.id, &crawl.key);
        let run = run.map_err(|error| Failure::new(error.disposition().into(), &error))?;
        let Some(run) = run else { continue };
        let status = SqliteFrontier::open_to_read(&run.frontier()).and_then(|store| match store {
            Some(mut store) => coordinator::status(&mut store),
            None => Ok(None),
        });
        let status = status.map_err(|error| Failure::new(error.disposition.into(), &error))?;
        told.extend(status.map(|status| CrawlTold { id: crawl.id.clone(), run: run.number, status }));
    }
    Ok(told)
}

/// A crawl in some lines: how far, how fast, what was left out, and each host.
fn crawl_for_people(told: &CrawlTold) -> String {
    let CrawlTold { id, run, status } = told;
    let state = if status.ended { "ended" } else { "not at its end" };
    let rate = status.pages_per_s.map_or_else(String::new, |rate| format!(", {rate} pages a second"));
    let eta = status.eta_s.filter(|_| status.queued > 0).map_or_else(String::new, |eta| format!(", {eta} s to go"));
    let CrawlStatus { pages, stored, queued, .. } = status;
    let reasons = status.reasons.iter().map(|(reason, count)| format!("{reason} {count}"));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    let hosts = status
        .hosts
        .iter()
        .map(|host| [host.host.clone(), host.pages.to_string(), host.stored.to_string(), host.queued.to_string()]);
    let table = output::table(["HOST", "PAGES", "STORED", "QUEUED"], hosts);
    format!(
        "{id}, run {run}: {state}; {pages} pages, {stored} stored, {queued} queued{rate}{eta}\n  left out: {reasons}\n{table}"
    )
}

fn for_people(status: &Status) -> String {
    let sources = status
        .sources
        .iter()
        .map(|source| [source.source_id.to_string(), source.fetch.to_string(), source.extract.to_string()]);
    let table = output::table(["SOURCE", "FETCH", "EXTRACT"], sources);
    let Status { dataset, version, store, verify_ledger, up_to_date, .. } = status;
    let verdict = if *up_to_date { "up to date" } else { "a build has work to do" };
    let crawls: String = status.crawls.iter().map(|crawl| format!("\n\n{}", crawl_for_people(crawl))).collect();
    format!(
        "{table}{crawls}\n\n{dataset} {version}\n  store          {store}\n  verify-ledger  {verify_ledger}\n{verdict}"
    )
}
