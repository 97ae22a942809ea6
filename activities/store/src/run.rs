//! One run over one dataset version: nothing to do, or a dataset made and staged.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use corpora_contracts::config::Config;
use corpora_contracts::layout::Layout;
use corpora_contracts::manifest::Manifest;
use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::progress::Kind;
use corpora_contracts::summary::{EntryError, StageEntry, StageStatus, StageSummary};
use corpora_stage::lock::Lock;
use corpora_stage::{Context, Outcome, Progress, chain, durable, ledger, record};
use tokio::task::spawn_blocking;

use crate::build::Build;
use crate::error::StoreError;
use crate::plan;
use crate::standing::{self, Action, Standing};
use crate::{Options, STAGE};

/// The least time between two progress events.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// A dataset that stands at the end.
struct Stored {
    status: StageStatus,
    folder: PathBuf,
    manifest: Manifest,
}

pub(crate) async fn run(config: &Config, options: &Options, context: &Context) -> Outcome<StageSummary> {
    let layout = &context.layout;
    let id = format!("{}/{}", config.dataset, config.version);
    let stored = store(config, options, context).await;
    let exit = stored.as_ref().err().map_or(ExitCode::Success, |error| error.disposition().into());
    let mut outputs = Vec::new();
    let entry = match stored {
        Ok(Stored { status, folder, manifest: Manifest { n_docs, dropped, .. } }) => {
            let path = layout.relative(&folder);
            let record = layout.stage(STAGE, &config.dataset, &config.version).join(record::RECORD);
            outputs.extend([path.clone(), layout.relative(&record)]);
            StageEntry { id, status, path, n_docs, dropped, error: None, problems: Vec::new() }
        }
        Err(error) => failed(id, &error),
    };
    let (stage, ok, clock) = (STAGE.to_owned(), entry.status.is_ok(), context.clock.mark());
    Outcome { summary: StageSummary { stage, ok, entries: vec![entry], clock }, exit, outputs }
}

/// The entry of a dataset that was not stored; it is logged here and nowhere else.
fn failed(id: String, error: &StoreError) -> StageEntry {
    let (kind, message) = (error.kind().to_owned(), chain(error));
    let is_cancel = error.disposition() == Disposition::Cancelled;
    if is_cancel {
        tracing::info!(dataset = %id, "{message}");
    } else {
        tracing::error!(dataset = %id, kind, "dataset `{id}`: {message}");
    }
    let status = if is_cancel { StageStatus::Cancelled } else { StageStatus::Failed };
    let error = Some(EntryError { kind, message, retry_after_s: None });
    StageEntry { id, status, path: String::new(), n_docs: 0, dropped: BTreeMap::new(), error, problems: Vec::new() }
}

async fn store(config: &Config, options: &Options, context: &Context) -> Result<Stored, StoreError> {
    let (looked, lock) = (config.clone(), context.layout.dataset_lock(&config.dataset, &config.version));
    let layout = context.layout.clone();
    if let Some(stored) = blocking(move || untouched(&looked, &layout)).await {
        return Ok(stored);
    }
    let _lock = Lock::acquire(&lock, options.lock_timeout, &context.cancel).await?;
    let (config, jobs, context) = (config.clone(), options.jobs, context.clone());
    blocking(move || store_locked(&config, jobs, &context)).await
}

/// Runs what blocks; its panic goes on here.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// The dataset, when there is nothing to do and nothing to put in order: then no lock is needed, which could not be had
/// on a disk that only lets us read. Whatever else is found is looked at again under the lock.
fn untouched(config: &Config, layout: &Layout) -> Option<Stored> {
    let left = durable::names_in(&layout.stage(STAGE, &config.dataset, &config.version)).ok()?;
    if left.iter().any(|name| durable::temporary_of(name).is_some()) {
        return None;
    }
    let plan = plan::plan(config, &ledger::read(layout).ok()?, layout).ok()?;
    match standing::decide(config, &plan, layout).ok()? {
        Action::Cached(standing) if standing.refreshed.is_none() && !standing.is_hidden => {
            Some(Stored { status: StageStatus::Cached, folder: standing.folder, manifest: standing.manifest })
        }
        _ => None,
    }
}

fn store_locked(config: &Config, jobs: usize, context: &Context) -> Result<Stored, StoreError> {
    let Context { layout, cancel, progress, .. } = context;
    // A crash on the way to the record's name leaves a temporary, which nobody else would remove.
    durable::clean_temporaries(&layout.stage(STAGE, &config.dataset, &config.version))?;
    let plan = plan::plan(config, &ledger::read(layout)?, layout)?;
    let reasons = match standing::decide(config, &plan, layout)? {
        Action::Cached(standing) => return keep(config, context, *standing),
        Action::Store(reasons) => reasons,
    };
    let id = format!("{}/{}", config.dataset, config.version);
    tracing::info!(dataset = %id, "storing: {}", reasons.join(", "));
    let reporter = Reporter { progress, total: plan.n_docs(), last: Mutex::new(Instant::now()) };
    let report = |done| reporter.report(done);
    let manifest = Build { config, layout, plan: &plan, jobs, cancel, report: &report }.run()?;
    let folder = layout.staged(&config.dataset, &config.version);
    let path = layout.relative(&folder);
    progress.emit(Kind::Ckpt { stage: STAGE.to_owned(), source: id, path });
    Ok(Stored { status: StageStatus::Done, folder, manifest })
}

/// Leaves a dataset that stands as it is, and puts in order what is around it.
fn keep(config: &Config, context: &Context, standing: Standing) -> Result<Stored, StoreError> {
    let layout = &context.layout;
    if standing.is_hidden {
        durable::remove_tree(&layout.staged(&config.dataset, &config.version))?;
    }
    if let Some(refreshed) = &standing.refreshed {
        record::write(&layout.stage(STAGE, &config.dataset, &config.version), refreshed, None)?;
    }
    Ok(Stored { status: StageStatus::Cached, folder: standing.folder, manifest: standing.manifest })
}

/// Emits progress, not more often than a person or an orchestrator can use.
struct Reporter<'a> {
    progress: &'a Progress,
    total: u64,
    last: Mutex<Instant>,
}

impl Reporter<'_> {
    fn report(&self, done: u64) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < REPORT_EVERY && done < self.total {
            return;
        }
        *last = Instant::now();
        let (stage, source, unit) = (STAGE.to_owned(), String::new(), "docs".to_owned());
        self.progress.emit(Kind::Step { stage, source, done, total: Some(self.total), unit });
    }
}
