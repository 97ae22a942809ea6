//! One run over one dataset version: put in order what a crash left, judge what is staged, publish it or refuse it.

use std::collections::BTreeMap;
use std::path::Path;

use corpora_contracts::config::{Config, MetadataKind};
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::manifest::{Manifest, Verified};
use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::progress::Kind;
use corpora_contracts::summary::{EntryError, StageEntry, StageStatus, StageSummary};
use corpora_license::Policy;
use corpora_stage::lock::Lock;
use corpora_stage::{Context, Outcome, Progress, chain};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::error::VerifyError;
use crate::evidence::{Evidence, read_ledger};
use crate::folder::Folder;
use crate::judge::{self, Standard, shards};
use crate::problem::Problem;
use crate::receipts;
use crate::scan;
use crate::standing::{self, Standing};
use crate::swap::{self, Places};
use crate::verify_folder::metadata;
use crate::watch::Watch;
use crate::{Options, STAGE};

/// So many differences between a dataset and the one that takes its place are told.
const TOLD: usize = 20;

/// What became of a dataset that is right.
#[derive(Debug)]
struct Accepted {
    status: StageStatus,
    manifest: Manifest,
}

/// What the blocking part of a run needs.
#[derive(Clone)]
struct Job {
    layout: Layout,
    config: Config,
    cancel: CancellationToken,
    progress: Progress,
}

/// Runs the stage; see the crate's documentation.
pub(crate) async fn run(config: &Config, options: &Options, context: &Context) -> Outcome<StageSummary> {
    let accepted = judge_and_publish(config, options, context).await;
    let layout = &context.layout;
    let published = layout.relative(&layout.dataset(&config.dataset, &config.version));
    let id = format!("{}/{}", config.dataset, config.version);
    let exit = accepted.as_ref().err().map_or(ExitCode::Success, |error| error.disposition().into());
    let outputs = if accepted.is_ok() { vec![published.clone()] } else { Vec::new() };
    let entry = match accepted {
        Ok(Accepted { status, manifest: Manifest { n_docs, dropped, .. } }) => {
            StageEntry { id, status, path: published, n_docs, dropped, error: None, problems: Vec::new() }
        }
        Err(error) => failed(id, &error),
    };
    let (stage, ok, clock) = (STAGE.to_owned(), entry.status.is_ok(), context.clock.mark());
    Outcome { summary: StageSummary { stage, ok, entries: vec![entry], clock }, exit, outputs }
}

/// The entry of a dataset that was not accepted, which is logged here and nowhere else.
fn failed(id: String, error: &VerifyError) -> StageEntry {
    let (message, is_cancel) = (chain(error), error.disposition() == Disposition::Cancelled);
    if is_cancel {
        tracing::warn!(dataset = %id, "stopped; what is published is untouched");
    } else {
        error.problems().iter().for_each(|problem| tracing::error!(dataset = %id, "{problem}"));
        tracing::error!(dataset = %id, kind = error.kind(), "{message}");
    }
    let status = if is_cancel { StageStatus::Cancelled } else { StageStatus::Failed };
    let problems = error.problems().iter().map(ToString::to_string).collect();
    let error = Some(EntryError { kind: error.kind().to_owned(), message, retry_after_s: None });
    StageEntry { id, status, path: String::new(), n_docs: 0, dropped: BTreeMap::new(), error, problems }
}

async fn judge_and_publish(config: &Config, options: &Options, context: &Context) -> Result<Accepted, VerifyError> {
    let Context { layout, cancel, progress, .. } = context;
    let config = receipts::resolve(layout, config)?;
    let lock = layout.dataset_lock(&config.dataset, &config.version);
    let job = Job { layout: layout.clone(), config, cancel: cancel.clone(), progress: progress.clone() };
    let (looking, job) = (job.clone(), job);
    if let Some(accepted) = blocking(move || looking.untouched()).await? {
        return Ok(accepted);
    }
    let lock = Lock::acquire(&lock, options.lock_timeout, cancel).await?;
    let worked = blocking(move || job.work()).await?;
    drop(lock);
    worked
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, VerifyError> {
    spawn_blocking(work).await.map_err(|error| VerifyError::Task { reason: error.to_string() })
}

impl Job {
    /// What is published, when it is what would be accepted now and there is nothing to put in order: then no lock is
    /// needed, which could not be had on a disk that only lets us read. Whatever else is found is looked at again under
    /// the lock.
    fn untouched(&self) -> Option<Accepted> {
        let places = Places::of(&self.layout, &self.config.dataset, &self.config.version);
        if places.staged.exists() || !swap::is_settled(&places).ok()? {
            return None;
        }
        let policy = Policy::new(&self.config.licenses).ok()?;
        let standard = Standard { config: &self.config, config_sha256: self.config.digest().ok()?, policy: &policy };
        match standing::read(&self.layout, &places, standard).ok()? {
            Standing::Accepted(manifest) => Some(Accepted { status: StageStatus::Cached, manifest }),
            _ => None,
        }
    }

    fn work(&self) -> Result<Accepted, VerifyError> {
        let places = Places::of(&self.layout, &self.config.dataset, &self.config.version);
        let policy = Policy::new(&self.config.licenses)?;
        let standard = Standard { config: &self.config, config_sha256: self.config.digest()?, policy: &policy };
        swap::recover(&places)?;
        if !places.staged.exists() {
            return self.keep(&places, standard);
        }
        let refused =
            |problems| VerifyError::Refused { id: self.id(), staged: self.layout.relative(&places.staged), problems };
        let folder = self.judged(&places.staged, standard)?.map_err(refused)?;
        if let Ok(Ok(old)) = Folder::read(&places.published) {
            tell_difference(&self.id(), &old.manifest, &folder.manifest);
        }
        swap::publish(&places, &accepted(&folder, &policy))?;
        Ok(self.done(&places, folder))
    }

    /// What is published, where nothing is staged: it stands, or is accepted where it stands, or must be made again.
    fn keep(&self, places: &Places, standard: Standard<'_>) -> Result<Accepted, VerifyError> {
        let stale = |problems| VerifyError::Stale {
            id: self.id(),
            published: self.layout.relative(&places.published),
            problems,
        };
        match standing::read(&self.layout, places, standard)? {
            Standing::Nothing => {
                Err(VerifyError::NothingStaged { id: self.id(), staged: self.layout.relative(&places.staged) })
            }
            Standing::Accepted(manifest) => Ok(Accepted { status: StageStatus::Cached, manifest }),
            Standing::Differs(problems) => Err(stale(problems)),
            Standing::Unaccepted(problem) => {
                tracing::warn!(dataset = %self.id(), "judging what is published again: {problem}");
                let folder = self.judged(&places.published, standard)?.map_err(stale)?;
                swap::accept(&places.published, &accepted(&folder, standard.policy))?;
                Ok(self.done(places, folder))
            }
        }
    }

    /// A folder with which nothing is wrong, or everything that is.
    fn judged(&self, path: &Path, standard: Standard<'_>) -> Result<Result<Folder, Vec<Problem>>, VerifyError> {
        let Self { layout, config, .. } = self;
        let folder = match Folder::read(path)? {
            Ok(folder) => folder,
            Err(problems) => return Ok(Err(problems)),
        };
        let named = shards::named(&folder.manifest);
        let ledger = read_ledger(layout)?.ok();
        let expected = judge::expected(&folder.manifest, Some(config), ledger.as_ref());
        let total = named.iter().map(|named| named.shard.bytes).fold(0, u64::saturating_add);
        let watch = Watch::new(self.cancel.clone(), self.progress.clone(), self.id(), total);
        let scans = scan::scan(path, &named, &expected, &watch)?;
        // Read when all else has been: what the ledger says as late as this still counts.
        let evidence = Evidence::read(layout, config)?;
        let mut problems = judge::of_dataset(standard, &evidence, &folder, &named, &scans, &expected);
        if config.store.metadata == MetadataKind::Sqlite {
            problems.extend(metadata(&folder, &named, &scans, problems.is_empty(), &watch)?);
        }
        // The last look before the name is given: after it, a signal changes nothing.
        if self.cancel.is_cancelled() {
            return Err(VerifyError::Cancelled);
        }
        Ok(if problems.is_empty() { Ok(folder) } else { Err(problems) })
    }

    fn done(&self, places: &Places, folder: Folder) -> Accepted {
        let path = self.layout.relative(&places.published);
        self.progress.emit(Kind::Ckpt { stage: STAGE.to_owned(), source: self.id(), path });
        Accepted { status: StageStatus::Done, manifest: folder.manifest }
    }

    fn id(&self) -> String {
        format!("{}/{}", self.config.dataset, self.config.version)
    }
}

/// What `_VERIFIED.json` says of a folder with which nothing is wrong.
fn accepted(folder: &Folder, policy: &Policy) -> Verified {
    Verified {
        manifest_sha256: folder.manifest_sha256,
        rows_sha256: Digest::of(&folder.rows),
        policy_sha256: policy.digest(),
    }
}

/// A dataset that is replaced whole: what differs is said.
fn tell_difference(id: &str, old: &Manifest, new: &Manifest) {
    let lines = old.difference(new);
    if lines.is_empty() {
        return tracing::info!(dataset = %id, "replacing the published dataset by one of the same content");
    }
    let more = lines.len().saturating_sub(TOLD);
    let told = lines.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join("; ");
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    tracing::warn!(dataset = %id, "replacing the published dataset: {told}{rest}");
}
