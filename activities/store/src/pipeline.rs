//! Documents to shards, on every core and in bounded memory:
//!
//! ```text
//! read ─blocks→ parse ×jobs ─rows in order→ cut ─groups→ encode ×jobs ─in order→ Parquet shards
//!                                              ├──────→ JSON Lines shards, compressed by ×jobs
//!                                              └──────→ metadata.sqlite
//! ```
//!
//! Every queue is short, so that the slowest step holds back the others. A step that fails drops its queue: those before
//! it end early, without an error of their own.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use corpora_contracts::config::{ShardFormat, Store};
use corpora_contracts::layout::Layout;
use corpora_contracts::record::FileState;
use tokio_util::sync::CancellationToken;

use crate::columns::Rows;
use crate::cut::{Count, Cutter};
use crate::documents;
use crate::duplicates::Duplicates;
use crate::error::{StoreError, of_parquet};
use crate::group::{Group, Origin, SharedGroup, WrittenShard};
use crate::ordered;
use crate::parquet::Form;
use crate::parse::parse;
use crate::plan::Plan;
use crate::{jsonl, metadata, parquet};

/// The file that digests may be sorted in, gone before the dataset is published.
const DIGESTS: &str = ".digests";

/// More threads for one step than this would wait for the one that unpacks the documents, and each holds a group.
const MOST_JOBS: usize = 8;

/// What is made of what, and how.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) store: &'a Store,
    pub(crate) layout: &'a Layout,
    /// The folder in the making; it is there and empty but for the one of JSON Lines.
    pub(crate) folder: &'a Path,
    pub(crate) jobs: usize,
    pub(crate) cancel: &'a CancellationToken,
    /// Told the documents that were cut.
    pub(crate) report: &'a (dyn Fn(u64) + Sync),
}

/// What was made.
#[derive(Debug)]
pub(crate) struct Made {
    /// The parts that were read.
    pub(crate) inputs: Vec<FileState>,
    /// By the index of the source among those of the plan.
    pub(crate) counts: Vec<Count>,
    pub(crate) exact_duplicates: u64,
    pub(crate) shards: Vec<(ShardFormat, Vec<WrittenShard>)>,
}

/// Makes all shards and the metadata table; every file is on the disk then.
///
/// # Errors
/// [`StoreError`] of the step that failed first on the documents' way.
pub(crate) fn run(work: Work<'_>) -> Result<Made, StoreError> {
    let origins: Vec<Origin> = work.plan.inputs.iter().map(|input| input.origin.clone()).collect();
    let form = Form::new().map_err(|error| of_parquet(work.folder, error))?;
    let work = Work { jobs: work.jobs.clamp(1, MOST_JOBS), ..work };
    thread::scope(|scope| {
        let (feed, blocks) = sync_channel(2);
        let reader = move || documents::read(work.plan, work.layout, work.cancel, &feed);
        let reader = start(scope, "read", reader)?;
        let parsed = ordered::spawn(scope, "parse", work.jobs, blocks, move |block| parse(work.plan, &block));
        let parsed = parsed.map_err(StoreError::Thread)?;
        let (groups, writers) = Writers::start(scope, work, &origins, &form)?;
        let cut = cut(work, parsed, &groups);
        drop(groups);
        let inputs = join(reader)?;
        let (counts, exact_duplicates) = cut?;
        Ok(Made { inputs, counts, exact_duplicates, shards: writers.finish()? })
    })
}

/// Cuts all rows into groups and hands each to every writer.
fn cut(
    work: Work<'_>,
    parsed: impl Iterator<Item = Result<Rows, StoreError>>,
    writers: &[SyncSender<SharedGroup>],
) -> Result<(Vec<Count>, u64), StoreError> {
    let mut cutter = Cutter::new(work.store.shard_rows, work.store.val_permille, work.plan.inputs.len());
    let mut duplicates = Duplicates::new(work.folder.join(DIGESTS));
    let mut emit = |group: Group| {
        let group = Arc::new(group);
        let all_take_it = writers.iter().all(|writer| writer.send(Arc::clone(&group)).is_ok());
        if all_take_it { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut done = 0;
    for rows in parsed {
        let rows = rows?;
        rows.sha256.iter().try_for_each(|sha256| duplicates.add(*sha256))?;
        if cutter.add(&rows, &mut emit).is_break() {
            // The writer that is gone has the reason.
            return Ok((cutter.counts, 0));
        }
        done += rows.len() as u64;
        (work.report)(done);
    }
    // The reader stopped, too; what is gathered is not worth compressing any more.
    if work.cancel.is_cancelled() {
        return Err(StoreError::Cancelled);
    }
    // After a reader that failed this makes a shorter last shard, of a folder that is thrown away.
    let _ = cutter.finish(&mut emit);
    Ok((cutter.counts, duplicates.count()?))
}

/// The threads that write.
struct Writers<'scope> {
    shards: Vec<(ShardFormat, Thread<'scope, Vec<WrittenShard>>)>,
    metadata: Thread<'scope, ()>,
}

type Thread<'scope, T> = ScopedJoinHandle<'scope, Result<T, StoreError>>;

impl<'scope> Writers<'scope> {
    /// Starts the writers of the config's formats, Parquet first; returned with what feeds each of them.
    fn start<'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        work: Work<'env>,
        origins: &'env [Origin],
        form: &'env Form,
    ) -> Result<(Vec<SyncSender<SharedGroup>>, Self), StoreError> {
        let mut feeds = Vec::new();
        let mut fed = || -> Receiver<SharedGroup> {
            let (feed, groups) = sync_channel(1);
            feeds.push(feed);
            groups
        };
        let mut shards = Vec::new();
        for format in [ShardFormat::Parquet, ShardFormat::Jsonl] {
            if !work.store.formats.contains(&format) {
                continue;
            }
            let groups = fed();
            let thread = match format {
                ShardFormat::Parquet => {
                    let encode = move |group| parquet::encode(form, origins, &group);
                    let encoded = ordered::spawn(scope, "encode", work.jobs, groups, encode);
                    let encoded = encoded.map_err(StoreError::Thread)?;
                    start(scope, "parquet", move || parquet::write(work.folder, form, encoded))?
                }
                ShardFormat::Jsonl => {
                    start(scope, "jsonl", move || jsonl::write(work.folder, origins, work.jobs, groups))?
                }
            };
            shards.push((format, thread));
        }
        let groups = fed();
        let metadata = start(scope, "metadata", move || metadata::write(work.folder, origins, work.cancel, groups))?;
        Ok((feeds, Self { shards, metadata }))
    }

    fn finish(self) -> Result<Vec<(ShardFormat, Vec<WrittenShard>)>, StoreError> {
        let shards = self.shards.into_iter().map(|(format, thread)| Ok((format, join(thread)?)));
        let shards: Result<Vec<_>, StoreError> = shards.collect();
        let metadata = join(self.metadata);
        let shards = shards?;
        metadata?;
        Ok(shards)
    }
}

fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'scope,
) -> Result<Thread<'scope, T>, StoreError> {
    let thread: io::Result<_> = Builder::new().name(name.to_owned()).spawn_scoped(scope, work);
    thread.map_err(StoreError::Thread)
}

/// What a thread gave; its panic goes on here.
fn join<T>(thread: Thread<'_, T>) -> Result<T, StoreError> {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
