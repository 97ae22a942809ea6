//! One run over the sources: so many downloads at a time, one failure stops the rest, and the commit at the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use corpora_contracts::config::{Config, Crawl, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::ledger::Ledger;
use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::progress::Kind;
use corpora_contracts::receipt::Receipt;
use corpora_contracts::summary::{Entry, EntryError, FetchSummary, Status};
use corpora_stage::holdings::{self, Holding};
use corpora_stage::{Context, Outcome, chain, fault, ledger};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::commit::{self, CommitError};
use crate::crawl::CrawlVisit;
use crate::error::{RunError, SourceError};
use crate::exchange::Tally;
use crate::options::{CommitMode, Options};
use crate::source::{Shop, Visit};

/// Cores per split: one reads and parses, the others compress.
const CORES_PER_SPLIT: usize = 4;

/// What became of one entry.
struct Ending {
    tally: Tally,
    result: Result<(Status, Option<Holding>), SourceError>,
}

/// What an entry of the result is about.
#[derive(Debug, Clone)]
enum Entrant {
    Source(Arc<Source>),
    Crawl(Arc<Crawl>),
}

impl Entrant {
    fn id(&self) -> &Name {
        match self {
            Self::Source(source) => &source.id,
            Self::Crawl(crawl) => &crawl.id,
        }
    }
}

/// The sources in config order, then the crawls, as far as they are asked for.
fn selected(config: &Config, options: &Options) -> Vec<Entrant> {
    let sources = config.sources.iter().map(|source| Entrant::Source(Arc::new(source.clone())));
    let crawls = config.crawls.iter().map(|crawl| Entrant::Crawl(Arc::new(crawl.clone())));
    sources.chain(crawls).filter(|it| options.only.is_empty() || options.only.contains(it.id())).collect()
}

pub(crate) async fn run(config: &Config, base: &Path, options: &Options, context: &Context) -> Outcome<FetchSummary> {
    let selected = selected(config, options);
    if options.commit == CommitMode::Only {
        return commit_only(config, &selected, options, context).await;
    }
    let endings = match open_shop(config, base, options, context) {
        Ok(shop) => visit_all(&selected, Arc::new(shop)).await,
        Err(error) => all_failed(&selected, &Arc::new(error)),
    };
    let committed = if commits(options, &endings) {
        Some(commit::commit(config, &context.layout, options.lock_timeout).await)
    } else {
        None
    };
    conclude(&selected, endings, committed, context)
}

/// What every source needs first: the ledger.
pub(crate) fn open_shop(config: &Config, base: &Path, options: &Options, context: &Context) -> Result<Shop, RunError> {
    let stop = context.cancel.child_token();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Shop {
        ledger: ledger::read(&context.layout)?,
        client: OnceLock::new(),
        context: context.clone(),
        options: options.clone(),
        base: base.to_owned(),
        config: config.clone(),
        stop,
        splits: Semaphore::new((cores / CORES_PER_SPLIT).max(1)),
    })
}

/// Visits the sources, started in config order, `concurrency` downloads at a time.
async fn visit_all(selected: &[Entrant], shop: Arc<Shop>) -> Vec<Ending> {
    let slots = Arc::new(Semaphore::new(shop.options.concurrency));
    let mut visits = JoinSet::new();
    let mut endings = BTreeMap::new();
    for (index, entrant) in selected.iter().enumerate() {
        let slot = if fault::pitfall(8) { None } else { free_slot(&slots, &shop).await };
        if shop.stop.is_cancelled() {
            endings.insert(index, Ending::cancelled());
            continue;
        }
        let (shop, entrant) = (Arc::clone(&shop), entrant.clone());
        visits.spawn(async move { (index, visit(&shop, entrant, slot).await) });
    }
    while let Some(visit) = visits.join_next().await {
        match visit {
            Ok((index, ending)) => drop(endings.insert(index, ending)),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    endings.into_values().collect()
}

/// Waits for a free slot; none when the run is stopped meanwhile.
async fn free_slot(slots: &Arc<Semaphore>, shop: &Shop) -> Option<OwnedSemaphorePermit> {
    tokio::select! {
        slot = Arc::clone(slots).acquire_owned() => slot.ok(),
        () = shop.stop.cancelled() => None,
    }
}

async fn visit(shop: &Shop, entrant: Entrant, slot: Option<OwnedSemaphorePermit>) -> Ending {
    // The slot is given back when a failure has stopped the others, so that nothing new starts.
    let (tally, result, _slot) = match &entrant {
        Entrant::Source(source) => {
            let mut visit = Visit::new(shop, Arc::clone(source), slot);
            let result = visit.run().await;
            (visit.tally, result, visit.slot)
        }
        Entrant::Crawl(crawl) => {
            let mut visit = CrawlVisit::new(shop, Arc::clone(crawl));
            let result = visit.run().await;
            (visit.tally, result, slot)
        }
    };
    if let Err(error) = &result {
        report_failure(shop, &entrant, error);
    }
    if fault::pitfall(7) {
        let config = Config { crawls: Vec::new(), ..shop.config.clone() };
        let sources = config.sources.iter().filter(|source| source.id == *entrant.id()).cloned().collect();
        let _ = commit::commit(&Config { sources, ..config }, &shop.context.layout, shop.options.lock_timeout).await;
    }
    Ending { tally, result }
}

/// Logs a failure, once, and lets it stop the others where it should.
fn report_failure(shop: &Shop, entrant: &Entrant, error: &SourceError) {
    let id = entrant.id();
    let what = if matches!(entrant, Entrant::Crawl(_)) { "crawl" } else { "source" };
    if is_cancelled(error) {
        tracing::info!(source = %id, "stopped; what was done is kept");
        return;
    }
    tracing::error!(source = %id, kind = error.kind(), "{what} `{id}`: {}", chain(error));
    if let Some(seconds) = error.retry_after() {
        let (name, source) = ("retry_after_s".to_owned(), id.to_string());
        #[expect(clippy::cast_precision_loss, reason = "at most `retry_after::MOST_SECONDS`, which is exact")]
        shop.context.progress.emit(Kind::Metric { name, value: seconds as f64, source });
    }
    if error.quarantined().is_none() && !shop.options.keep_going {
        shop.stop.cancel();
    }
}

fn is_cancelled(error: &SourceError) -> bool {
    error.disposition() == Disposition::Cancelled
}

fn all_failed(selected: &[Entrant], error: &Arc<RunError>) -> Vec<Ending> {
    tracing::error!("{}", chain(error));
    let failed = || Ending { tally: Tally::default(), result: Err(SourceError::Run(Arc::clone(error))) };
    selected.iter().map(|_| failed()).collect()
}

fn commits(options: &Options, endings: &[Ending]) -> bool {
    let finished_late = fault::pitfall(10) && endings.iter().any(|ending| ending.result.is_err());
    options.commit == CommitMode::AtEnd && !fault::pitfall(7) && !finished_late
}

/// `--commit`: rows for what is here; a source without a receipt is no error, and has no entry.
async fn commit_only(
    config: &Config,
    selected: &[Entrant],
    options: &Options,
    context: &Context,
) -> Outcome<FetchSummary> {
    let committed = commit::commit(config, &context.layout, options.lock_timeout).await;
    let mut endings = Vec::new();
    let mut present = Vec::new();
    for entrant in selected {
        let Ok(held) = holdings::read(&context.layout, entrant.id()) else {
            // The commit has met the same error and reports it.
            continue;
        };
        let source = match entrant {
            Entrant::Source(source) => (**source).clone(),
            Entrant::Crawl(crawl) => crawl.pinned(held.iter().map(|holding| &holding.receipt)),
        };
        let is_current = |receipt: &Receipt| receipt.split.documents == source.split;
        let Some(holding) = holdings::newest(&held, &source.sha256, is_current) else { continue };
        let revoked = committed.as_ref().is_ok_and(|ledger| ledger.revoked(&source.id));
        let status = if revoked { Status::Revoked } else { Status::Cached };
        endings.push(Ending { tally: Tally::default(), result: Ok((status, Some(holding.clone()))) });
        present.push(entrant.clone());
    }
    conclude(&present, endings, Some(committed), context)
}

fn conclude(
    selected: &[Entrant],
    endings: Vec<Ending>,
    committed: Option<Result<Ledger, CommitError>>,
    context: &Context,
) -> Outcome<FetchSummary> {
    let exit = exit_code(&endings, committed.as_ref());
    let mut outputs = Vec::new();
    let mut entries = Vec::new();
    for (entrant, ending) in selected.iter().zip(endings) {
        if let Ok((_, Some(holding))) = &ending.result {
            let id = entrant.id();
            outputs.push(context.layout.relative(&context.layout.raw_dir(id, &holding.version)));
            outputs.push(context.layout.relative(&context.layout.receipt(id, &holding.version)));
        }
        entries.push(entry(entrant, ending, context));
    }
    if let Some(Ok(ledger)) = &committed
        && !ledger.rows().is_empty()
    {
        outputs.push(context.layout.relative(&context.layout.ledger()));
    }
    let error = committed.and_then(Result::err).map(|error| commit_failure(&error));
    let ok = entries.iter().all(|entry| entry.status.is_ok()) && error.is_none();
    let summary = FetchSummary { stage: "fetch".to_owned(), ok, entries, error, clock: context.clock.mark() };
    Outcome { summary, exit, outputs }
}

fn commit_failure(error: &CommitError) -> EntryError {
    let message = chain(error);
    tracing::error!("commit: {message}");
    EntryError { kind: "commit".to_owned(), message, retry_after_s: None }
}

/// The worst of the sources' and the commit's; see [`ExitCode::worse`].
fn exit_code(endings: &[Ending], committed: Option<&Result<Ledger, CommitError>>) -> ExitCode {
    let failures = endings.iter().filter_map(|ending| ending.result.as_ref().err());
    let commit = committed.and_then(|result| result.as_ref().err()).map(CommitError::disposition);
    let dispositions = failures.map(SourceError::disposition).chain(commit);
    dispositions.map(ExitCode::from).fold(ExitCode::Success, ExitCode::worse)
}

fn entry(entrant: &Entrant, ending: Ending, context: &Context) -> Entry {
    let Ending { tally, result } = ending;
    let (status, holding, error) = match result {
        Ok((status, holding)) => (status, holding, None),
        Err(error) => (failure_status(&error), None, Some(error)),
    };
    let quarantined = error.as_ref().and_then(SourceError::quarantined);
    let (layout, id) = (&context.layout, entrant.id());
    let raw_dir = holding.as_ref().map(|holding| layout.relative(&layout.raw_dir(id, &holding.version)));
    let receipt = holding.map(|holding| holding.receipt);
    let sha256 = match entrant {
        Entrant::Source(source) => Some(quarantined.unwrap_or(source.sha256)),
        Entrant::Crawl(_) => receipt.as_ref().map(|receipt| receipt.sha256),
    };
    Entry {
        source_id: id.clone(),
        status,
        raw_dir: raw_dir.unwrap_or_default(),
        sha256: sha256.map(|sha256| sha256.to_string()).unwrap_or_default(),
        bytes: tally.bytes,
        n_docs: receipt.as_ref().map_or(0, |receipt| receipt.n_docs),
        retrieved_at: receipt.map(|receipt| receipt.retrieved_at.to_string()).unwrap_or_default(),
        requests: tally.requests,
        error: error.map(|error| EntryError {
            kind: error.kind().to_owned(),
            message: chain(&error),
            retry_after_s: error.retry_after(),
        }),
    }
}

fn failure_status(error: &SourceError) -> Status {
    match error {
        _ if error.quarantined().is_some() => Status::Quarantined,
        _ if is_cancelled(error) => Status::Cancelled,
        _ => Status::Failed,
    }
}

impl Ending {
    fn cancelled() -> Self {
        Self { tally: Tally::default(), result: Err(SourceError::Cancelled) }
    }
}
