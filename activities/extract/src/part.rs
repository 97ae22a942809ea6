//! One raw part becomes one part of documents: reader → batches → workers → the writer, in order.
//!
//! The reader unpacks lines and hashes the file, workers convert batches in any order, and the writer takes their results
//! in the order of the batches, so that the bytes depend on neither the number of workers nor their timing. Channels
//! and a [`Budget`] bound what is under way: memory is flat, however long the part.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};

use corpora_contracts::ids::Digest;
use corpora_contracts::receipt::Part;
use corpora_stage::durable::FileError;
use corpora_stage::parts::{PartWriter, Written};
use tokio_util::sync::CancellationToken;

use crate::budget::Budget;
use crate::convert::{Made, Problem, Shape, Terms, convert};
use crate::lines::{Batch, Lines, ReadError};
use crate::page::CutSaid;

/// Raw bytes under way; their documents are about as many.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Batches under way for each worker.
const BATCHES_AHEAD: usize = 4;

/// One raw part, and what becomes of it.
pub(crate) struct PartJob<'a> {
    pub(crate) raw: &'a Path,
    /// What the receipt says about it.
    pub(crate) expected: &'a Part,
    /// The position of its first document in the source.
    pub(crate) first: u64,
    pub(crate) terms: Terms<'a>,
    /// The part of documents, which does not exist yet.
    pub(crate) out: PathBuf,
    /// Threads that convert, and threads that compress.
    pub(crate) workers: usize,
    pub(crate) stop: &'a CancellationToken,
    /// Told of so many more documents.
    pub(crate) report: &'a (dyn Fn(u64) + Sync),
}

/// Why a part has no documents.
#[derive(Debug)]
pub(crate) enum PartError {
    Changed,
    Read(FileError),
    Unpack(io::Error),
    Line { line: u64, problem: Problem },
    Miscounted { found: u64 },
    Write(FileError),
    Threads(io::Error),
    Cancelled,
}

/// What became of the raw documents of a part.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Documents.
    pub(crate) kept: u64,
    /// Pages left out, by reason.
    pub(crate) dropped: BTreeMap<&'static str, u64>,
    /// Pages that a limit cut, by limit.
    pub(crate) cut: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn note(&mut self, made: Made) {
        match made {
            Made::LeftOut(reason) => *self.dropped.entry(reason).or_default() += 1,
            Made::Document(cut) => {
                self.kept += 1;
                let limits = cut.into_iter().flat_map(CutSaid::limits);
                limits.for_each(|limit| *self.cut.entry(limit).or_default() += 1);
            }
        }
    }

    fn add(&mut self, other: &Self) {
        self.kept += other.kept;
        other.dropped.iter().for_each(|(reason, count)| *self.dropped.entry(reason).or_default() += count);
        other.cut.iter().for_each(|(limit, count)| *self.cut.entry(limit).or_default() += count);
    }
}

/// Converts one part; blocking. When it returns, the part of documents is on the disk.
pub(crate) fn extract(job: &PartJob<'_>) -> Result<(Written, Tally), PartError> {
    let mut writer = PartWriter::new(u32::try_from(job.workers).unwrap_or(u32::MAX)).map_err(PartError::Threads)?;
    writer.open(job.out.clone()).map_err(PartError::Write)?;
    let (stop, budget) = (job.stop.child_token(), Budget::new(MOST_BYTES));
    let (written, read) = thread::scope(|scope| {
        let ahead = job.workers * BATCHES_AHEAD;
        let (to_workers, work) = sync_channel(ahead);
        let (to_writer, in_order) = sync_channel(ahead);
        let work = Arc::new(Mutex::new(work));
        for _ in 0..job.workers {
            let work = Arc::clone(&work);
            Builder::new().spawn_scoped(scope, move || convert_all(&work, job))?;
        }
        // The reader is to see it when the last worker ends.
        drop(work);
        let hatch = Hatch { to_workers, to_writer, budget: &budget, stop: &stop };
        let reader = Builder::new().spawn_scoped(scope, move || read_all(job.raw, hatch))?;
        let written = write_all(in_order, &mut writer, &budget, job.report);
        if matches!(written, Err(PartError::Write(_))) {
            stop.cancel();
        }
        budget.close();
        Ok((written, reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
    })
    .map_err(PartError::Threads)?;
    let tally = judge(job, written, read)?;
    let written = writer.finish().map_err(PartError::Write)?.ok_or(PartError::Cancelled)?;
    Ok((written, tally))
}

/// Whether what was written are the documents of the raw part that the receipt vouches for.
///
/// The digest comes before all that the content is blamed for: of other bytes nothing else is worth telling.
fn judge(
    job: &PartJob<'_>,
    written: Result<Tally, PartError>,
    read: Result<ReadEnd, ReadError>,
) -> Result<Tally, PartError> {
    let written = match written {
        Err(error @ PartError::Write(_)) => return Err(error),
        written => written,
    };
    let read = read.map_err(|error| match error {
        ReadError::File(error) => PartError::Read(error),
        ReadError::Unpack(error) => PartError::Unpack(error),
    })?;
    if read.digest.ok_or(PartError::Cancelled)? != job.expected.sha256 {
        return Err(PartError::Changed);
    }
    if let Some(error) = read.failed {
        return Err(PartError::Unpack(error));
    }
    let tally = written?;
    if read.lines == job.expected.n_docs { Ok(tally) } else { Err(PartError::Miscounted { found: read.lines }) }
}

/// A batch, and where its documents go.
type Work = (Batch, SyncSender<Converted>);

/// The documents of a batch, up to the first line that is none.
struct Converted {
    documents: Vec<u8>,
    /// Raw lines that were converted.
    count: u64,
    tally: Tally,
    /// What the batch took of the budget.
    raw_bytes: usize,
    failed: Option<(u64, Problem)>,
}

/// Where the reader hands batches out.
struct Hatch<'a> {
    to_workers: SyncSender<Work>,
    /// Told of each batch first, in order.
    to_writer: SyncSender<Receiver<Converted>>,
    budget: &'a Budget,
    stop: &'a CancellationToken,
}

/// What the reader knows at the end.
struct ReadEnd {
    /// None when it was stopped.
    digest: Option<Digest>,
    lines: u64,
    /// Why the file was unpacked no further.
    failed: Option<io::Error>,
}

fn read_all(path: &Path, hatch: Hatch<'_>) -> Result<ReadEnd, ReadError> {
    let mut lines = Lines::open(path)?;
    let stop = hatch.stop;
    let failed = match hand_out(&mut lines, hatch) {
        Ok(()) => None,
        Err(ReadError::Unpack(error)) => Some(error),
        Err(error) => return Err(error),
    };
    Ok(ReadEnd { lines: lines.count(), digest: lines.digest(|| stop.is_cancelled())?, failed })
}

/// Hands out batches until the end, or until nobody takes them any more.
#[expect(clippy::needless_pass_by_value, reason = "the channels close when the last batch is handed out")]
fn hand_out(lines: &mut Lines<'_>, hatch: Hatch<'_>) -> Result<(), ReadError> {
    while !hatch.stop.is_cancelled() {
        let Some(batch) = lines.next()? else { break };
        let (result, promise) = sync_channel(1);
        let taken = hatch.budget.take(batch.bytes.len())
            && hatch.to_writer.send(promise).is_ok()
            && hatch.to_workers.send((batch, result)).is_ok();
        if !taken {
            break;
        }
    }
    Ok(())
}

fn convert_all(work: &Mutex<Receiver<Work>>, job: &PartJob<'_>) {
    loop {
        // Whoever holds the lock waits for work; the others wait for the lock.
        let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((batch, result)) = next else { return };
        // The writer is gone when another batch failed.
        let _ = result.send(convert_batch(&batch, job));
    }
}

fn convert_batch(batch: &Batch, job: &PartJob<'_>) -> Converted {
    let raw_bytes = batch.bytes.len();
    // The text of a page is a small part of its source.
    let capacity = if job.terms.shape == Shape::Lines { raw_bytes * 5 / 4 } else { 0 };
    let documents = Vec::with_capacity(capacity);
    let mut converted = Converted { documents, count: 0, tally: Tally::default(), raw_bytes, failed: None };
    for line in batch.bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let at = batch.first + converted.count;
        match convert(line, job.first + at, &job.terms, &mut converted.documents) {
            Ok(made) => converted.tally.note(made),
            Err(problem) => {
                converted.failed = Some((at + 1, problem));
                break;
            }
        }
        converted.count += 1;
    }
    converted
}

#[expect(clippy::needless_pass_by_value, reason = "the channel closes when the writer stops, which stops the reader")]
fn write_all(
    in_order: Receiver<Receiver<Converted>>,
    writer: &mut PartWriter,
    budget: &Budget,
    report: &(dyn Fn(u64) + Sync),
) -> Result<Tally, PartError> {
    let mut tally = Tally::default();
    // A promise that is not kept is of a worker whose panic the scope passes on.
    for converted in in_order.iter().map_while(|promise| promise.recv().ok()) {
        writer.put(&converted.documents).map_err(PartError::Write)?;
        budget.give_back(converted.raw_bytes);
        report(converted.count);
        tally.add(&converted.tally);
        if let Some((line, problem)) = converted.failed {
            return Err(PartError::Line { line, problem });
        }
    }
    Ok(tally)
}
