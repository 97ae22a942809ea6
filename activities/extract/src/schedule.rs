//! One run over the sources: one after the other, each on all cores; one failure stops the rest.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use corpora_contracts::config::{Config, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::Ledger;
use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::progress::Kind;
use corpora_contracts::record::StageRecord;
use corpora_contracts::summary::{EntryError, StageEntry, StageStatus, StageSummary};
use corpora_stage::lock::Lock;
use corpora_stage::{Context, Outcome, Progress, chain, durable, ledger, pinned, record};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::convert;
use crate::error::SourceError;
use crate::plan::{self, Action, STAGE, Task};
use crate::publish::{self, Publication};

/// The least time between two progress events of one source.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// What became of a source: its record, unless it is revoked.
type Ending = Result<(StageStatus, Option<StageRecord>), SourceError>;

pub(crate) async fn run(config: &Config, options: &Options, context: &Context) -> Outcome<StageSummary> {
    let config = &pinned::resolve_each(config, &context.layout);
    let selected = config.pinned().filter(|source| options.only.is_empty() || options.only.contains(&source.id));
    let selected: Vec<&Source> = selected.collect();
    let ledger = match ledger::read(&context.layout) {
        Ok(ledger) => ledger,
        Err(error) => {
            tracing::error!("{}", chain(&error));
            let error = Arc::new(error);
            let failed = selected.into_iter().map(|source| (source, Err(SourceError::Ledger(Arc::clone(&error)))));
            return conclude(config, failed.collect(), context);
        }
    };
    let stop = context.cancel.child_token();
    let leftovers = leftovers(&context.layout.stage(STAGE, &config.dataset, &config.version));
    let shop = Shop { config, options, context, ledger, leftovers, stop };
    let mut endings = Vec::new();
    for source in selected {
        endings.push((source, shop.visit(source).await));
    }
    conclude(config, endings, context)
}

/// What the sources of one run share.
struct Shop<'a> {
    config: &'a Config,
    options: &'a Options,
    context: &'a Context,
    ledger: Ledger,
    /// Folders in the making that lay here when the run began, by source.
    leftovers: BTreeMap<String, Vec<PathBuf>>,
    /// Stops every source: the run's cancel, or another source's failure.
    stop: CancellationToken,
}

impl Shop<'_> {
    async fn visit(&self, source: &Source) -> Ending {
        if self.stop.is_cancelled() {
            return Err(SourceError::Cancelled);
        }
        let ending = self.work(source).await;
        if let Err(error) = &ending
            && error.disposition() != Disposition::Cancelled
        {
            tracing::error!(source = %source.id, "{}", chain(error));
            if !self.options.keep_going {
                self.stop.cancel();
            }
        }
        ending
    }

    async fn work(&self, source: &Source) -> Ending {
        let is_clean = !self.leftovers.contains_key(source.id.as_str());
        match self.decide(source)? {
            Action::Revoked if is_clean => return Ok((StageStatus::Revoked, None)),
            Action::Cached(record) if is_clean => return Ok((StageStatus::Cached, Some(record))),
            _ => {}
        }
        let lock = self.context.layout.source_lock(&source.id);
        let _lock = Lock::acquire(&lock, self.options.lock_timeout, &self.stop).await?;
        for leftover in self.leftovers.get(source.id.as_str()).into_iter().flatten() {
            durable::remove_tree(leftover)?;
        }
        // Another run may have done the work while this one waited.
        match self.decide(source)? {
            Action::Revoked => Ok((StageStatus::Revoked, None)),
            Action::Cached(record) => Ok((StageStatus::Cached, Some(record))),
            Action::Refresh(record) => {
                let folder = self.folder(source);
                durable::clean_temporaries(&folder)?;
                record::write(&folder, &record, None)?;
                Ok((StageStatus::Cached, Some(record)))
            }
            Action::Extract(task, because) => {
                tracing::debug!(source = %source.id, "extracting: {}", because.join(", "));
                Ok((StageStatus::Done, Some(self.extract(source, *task).await?)))
            }
        }
    }

    fn decide(&self, source: &Source) -> Result<Action, SourceError> {
        plan::decide(self.config, source, &self.ledger, &self.context.layout)
    }

    async fn extract(&self, source: &Source, task: Task) -> Result<StageRecord, SourceError> {
        let Context { layout, progress, .. } = self.context;
        let (dataset, version) = (&self.config.dataset, &self.config.version);
        let (folder, aside) = (self.folder(source), layout.extracted_tmp(dataset, version, &source.id));
        let reporter = Reporter::new(progress.clone(), &source.id, task.parts.iter().map(|part| part.n_docs).sum());
        let (layout, jobs, stop) = (layout.clone(), self.options.jobs.max(1), self.stop.clone());
        let path = layout.relative(&folder);
        let blocking = spawn_blocking(move || {
            let report = |docs| reporter.report(docs);
            let (layout, task, stop, report) = (&layout, &task, &stop, &report);
            publish::publish(&Publication { layout, task, folder: &folder, aside: &aside, jobs, stop, report })
        });
        let record = blocking.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        tell_of_pages(source, &record);
        progress.emit(Kind::Ckpt { stage: STAGE.to_owned(), source: source.id.to_string(), path });
        Ok(record)
    }

    fn folder(&self, source: &Source) -> PathBuf {
        self.context.layout.extracted(&self.config.dataset, &self.config.version, &source.id)
    }
}

/// Says what was left out and cut of pages.
fn tell_of_pages(source: &Source, record: &StageRecord) {
    let told = |counts: &BTreeMap<String, u64>| {
        counts.iter().map(|(name, count)| format!("{count} `{name}`")).collect::<Vec<_>>().join(", ")
    };
    if let Some(count) = record.dropped.get(convert::EMPTY_PAGE) {
        tracing::warn!(source = %source.id, "left out {count} pages without any text");
    }
    if !record.cut.is_empty() {
        tracing::warn!(source = %source.id, "pages that a limit of `[extract]` cut, by its key: {}", told(&record.cut));
    }
}

/// What crashed runs left here, and perhaps what other runs are making now, by source.
fn leftovers(folder: &std::path::Path) -> BTreeMap<String, Vec<PathBuf>> {
    // A folder that cannot be read fails the sources, each with its own error.
    let names = durable::names_in(folder).unwrap_or_default();
    let mut leftovers: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for name in &names {
        if let Some(source) = durable::temporary_of(name) {
            leftovers.entry(source.to_owned()).or_default().push(folder.join(name));
        }
    }
    leftovers
}

fn conclude(config: &Config, endings: Vec<(&Source, Ending)>, context: &Context) -> Outcome<StageSummary> {
    let failures = endings.iter().filter_map(|(_, ending)| ending.as_ref().err());
    let codes = failures.map(|error| ExitCode::from(error.disposition()));
    let exit = codes.fold(ExitCode::Success, ExitCode::worse);
    let entry = |(source, ending): (&Source, Ending)| {
        let folder = context.layout.extracted(&config.dataset, &config.version, &source.id);
        entry(&source.id, ending, &context.layout, &folder)
    };
    let entries: Vec<StageEntry> = endings.into_iter().map(entry).collect();
    let outputs = entries.iter().map(|entry| entry.path.clone()).filter(|path| !path.is_empty()).collect();
    let ok = entries.iter().all(|entry| entry.status.is_ok());
    Outcome {
        summary: StageSummary { stage: STAGE.to_owned(), ok, entries, clock: context.clock.mark() },
        exit,
        outputs,
    }
}

fn entry(id: &Name, ending: Ending, layout: &Layout, folder: &std::path::Path) -> StageEntry {
    let (status, record, error) = match ending {
        Ok((status, record)) => (status, record, None),
        Err(error) if error.disposition() == Disposition::Cancelled => (StageStatus::Cancelled, None, Some(error)),
        Err(error) => (StageStatus::Failed, None, Some(error)),
    };
    StageEntry {
        id: id.to_string(),
        status,
        path: record.as_ref().map(|_| layout.relative(folder)).unwrap_or_default(),
        n_docs: record.as_ref().map_or(0, |record| record.kept),
        dropped: record.map(|record| record.dropped).unwrap_or_default(),
        error: error.map(|error| EntryError {
            kind: error.kind().to_owned(),
            message: chain(&error),
            retry_after_s: None,
        }),
        problems: Vec::new(),
    }
}

/// Emits progress of one source, not more often than a person or an orchestrator can use.
struct Reporter {
    progress: Progress,
    source: String,
    done: AtomicU64,
    total: u64,
    last: Mutex<Instant>,
}

impl Reporter {
    fn new(progress: Progress, source: &Name, total: u64) -> Self {
        let last = Mutex::new(Instant::now());
        Self { progress, source: source.to_string(), done: AtomicU64::new(0), total, last }
    }

    fn report(&self, docs: u64) {
        let done = self.done.fetch_add(docs, Ordering::Relaxed) + docs;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < REPORT_EVERY && done < self.total {
            return;
        }
        *last = Instant::now();
        let (stage, source, unit) = (STAGE.to_owned(), self.source.clone(), "docs".to_owned());
        self.progress.emit(Kind::Step { stage, source, done, total: Some(self.total), unit });
    }
}
