//! The documents of one source: its parts made aside, its record beside them, its folder put in place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use corpora_contracts::ids::Name;
use corpora_contracts::layout::{Layout, part_name};
use corpora_contracts::record::{FileState, OutputFile, StageRecord};
use corpora_stage::{durable, fault, record};
use tokio_util::sync::CancellationToken;

use crate::error::SourceError;
use crate::part::{self, PartError, PartJob, Tally};
use crate::plan::{STAGE, Task};

/// Cores that one part keeps busy before its reader, which is one thread, is the bottleneck.
const JOBS_PER_LANE: usize = 4;

/// A source whose documents are to be made, under its lock.
pub(crate) struct Publication<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) task: &'a Task,
    /// Where the documents go.
    pub(crate) folder: &'a Path,
    /// Where they are made.
    pub(crate) aside: &'a Path,
    /// Cores to use.
    pub(crate) jobs: usize,
    pub(crate) stop: &'a CancellationToken,
    /// Told of so many more documents.
    pub(crate) report: &'a (dyn Fn(u64) + Sync),
}

/// Makes and publishes the documents; blocking.
///
/// # Errors
/// [`SourceError`]; nothing is published then, and what was begun is removed.
pub(crate) fn publish(publication: &Publication<'_>) -> Result<StageRecord, SourceError> {
    let Publication { aside, folder, .. } = publication;
    durable::remove_tree(aside)?;
    durable::create_folder(aside)?;
    let made = make(publication);
    if made.is_err() {
        // A full disk gets its room back; the first error is the one to report.
        let _ = durable::remove_tree(aside);
        if let Some(version) = aside.parent() {
            durable::remove_folder_if_empty(version);
        }
    }
    let record = made?;
    fault::point("extract.before");
    durable::replace_folder(aside, folder)?;
    fault::point("extract.after");
    Ok(record)
}

fn make(publication: &Publication<'_>) -> Result<StageRecord, SourceError> {
    let Publication { layout, task, folder, aside, stop, .. } = publication;
    let mut made = StageRecord {
        stage: STAGE.to_owned(),
        keys: task.keys.clone(),
        inputs: Vec::new(),
        kept: 0,
        dropped: task.dropped.clone(),
        cut: BTreeMap::new(),
        outputs: Vec::new(),
    };
    for (input, mut output, tally) in make_parts(publication)? {
        let add = |to: &mut BTreeMap<String, u64>, (name, count): (&str, u64)| {
            *to.entry(name.to_owned()).or_default() += count;
        };
        tally.dropped.into_iter().for_each(|counted| add(&mut made.dropped, counted));
        tally.cut.into_iter().for_each(|counted| add(&mut made.cut, counted));
        output.path = layout.relative(&folder.join(&output.path));
        made.kept += output.n_docs;
        made.inputs.push(input);
        made.outputs.push(output);
    }
    if stop.is_cancelled() {
        return Err(SourceError::Cancelled);
    }
    // The record's own rename syncs the folder, and the parts in it with it.
    record::write(aside, &made, None)?;
    fault::point("extract-record.after");
    Ok(made)
}

type Made = (FileState, OutputFile, Tally);

/// Several parts at a time: none depends on another, and one that is being synced leaves the cores to the next.
fn make_parts(publication: &Publication<'_>) -> Result<Vec<Made>, SourceError> {
    let Publication { task, jobs, stop, .. } = publication;
    let lanes = jobs.div_ceil(JOBS_PER_LANE).max(2).min(*jobs).min(task.parts.len()).max(1);
    let workers = (jobs / lanes).max(1);
    let ended = stop.child_token();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let lane = || {
        while !ended.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= task.parts.len() {
                return;
            }
            let result = make_part(publication, index, workers, &ended);
            if result.is_err() {
                ended.cancel();
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        let started = (0..lanes).try_for_each(|_| Builder::new().spawn_scoped(scope, lane).map(drop));
        started.inspect_err(|_| ended.cancel())
    })
    .map_err(|source| SourceError::Threads { id: task.row.source_id.clone(), source })?;
    in_order(results.into_inner().unwrap_or_else(PoisonError::into_inner), task.parts.len())
}

/// The results in order, or the failure of the first part that failed of its own.
fn in_order(mut results: Vec<(usize, Result<Made, SourceError>)>, expected: usize) -> Result<Vec<Made>, SourceError> {
    results.sort_by_key(|(index, _)| *index);
    let mut made = Vec::new();
    for (_, result) in results {
        match result {
            Ok(part) => made.push(part),
            Err(SourceError::Cancelled) => {}
            Err(error) => return Err(error),
        }
    }
    if made.len() == expected { Ok(made) } else { Err(SourceError::Cancelled) }
}

fn make_part(
    publication: &Publication<'_>,
    index: usize,
    workers: usize,
    stop: &CancellationToken,
) -> Result<Made, SourceError> {
    let Publication { layout, task, aside, report, .. } = publication;
    let expected = &task.parts[index];
    let (raw, name) = (task.raw_dir.join(&expected.name), part_name(index));
    // Before the bytes are read: if they change meanwhile, so does the time, and the next run looks.
    let input = record::file_state_of(layout, &raw, expected.sha256)?;
    let job = PartJob {
        raw: &raw,
        expected,
        first: task.parts[..index].iter().map(|part| part.n_docs).sum(),
        terms: task.terms(),
        out: aside.join(&name),
        workers,
        stop,
        report: *report,
    };
    let extracted = part::extract(&job).map_err(|error| blame(error, &job, &task.row.source_id, layout));
    let (written, tally) = extracted?;
    fault::point("extract-part.after");
    let n_docs = tally.kept;
    Ok((input, OutputFile { path: name, sha256: written.sha256, bytes: written.bytes, n_docs }, tally))
}

/// Names the part.
fn blame(error: PartError, job: &PartJob<'_>, id: &Name, layout: &Layout) -> SourceError {
    let path = layout.relative(job.raw);
    match error {
        PartError::Changed => SourceError::RawPartChanged { path, expected: job.expected.sha256 },
        PartError::Read(error) | PartError::Write(error) => error.into(),
        PartError::Unpack(source) => SourceError::Unpack { path, source },
        PartError::Line { line, problem } => SourceError::Line { path, line, problem },
        PartError::Miscounted { found } => SourceError::Miscounted { path, expected: job.expected.n_docs, found },
        PartError::Threads(source) => SourceError::Threads { id: id.clone(), source },
        PartError::Cancelled => SourceError::Cancelled,
    }
}
