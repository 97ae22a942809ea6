//! Every byte and every row of the shards, on every core.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use corpora_contracts::config::ShardFormat;
use corpora_contracts::manifest::Shard;
use corpora_stage::durable;

use crate::columns::{self, ColumnsError};
use crate::cores;
use crate::files::{self, CheckError, Hashed, Recorded};
use crate::problem::FileProblem;
use crate::shard_name::ShardName;
use crate::tally::{Expected, Tally};
use crate::watch::Watch;

/// A shard whose name is a shard's name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedShard<'a> {
    pub(crate) name: ShardName,
    pub(crate) shard: &'a Shard,
}

/// What became of the reading of one shard: its rows, or why there are none.
pub(crate) type Scan = Result<Tally, FileProblem>;

/// Reads the shards of the dataset in `folder`, in constant memory a core.
///
/// # Errors
/// [`CheckError`].
pub(crate) fn scan(
    folder: &Path,
    shards: &[NamedShard<'_>],
    expected: &Expected,
    watch: &Watch,
) -> Result<Vec<Scan>, CheckError> {
    cores::try_map(shards, |shard| scan_one(folder, *shard, expected, watch))
}

fn scan_one(folder: &Path, shard: NamedShard<'_>, expected: &Expected, watch: &Watch) -> Result<Scan, CheckError> {
    let NamedShard { name, shard: Shard { name: written, sha256, bytes, .. } } = shard;
    let (path, recorded) = (folder.join(written), Recorded { name: written, bytes: *bytes, sha256 });
    if let Some(problem) = files::stands(&path, recorded)? {
        return Ok(Err(problem));
    }
    let mut tally = expected.tally();
    let each = |row: crate::tally::TracedRow<'_>| tally.add(row, name.split, expected);
    let read = match name.format {
        ShardFormat::Parquet => {
            // The digest comes first: the decoder sees no bytes but the recorded ones, and finds them in memory.
            if let Some(problem) = files::is_recorded(&path, recorded, watch)? {
                return Ok(Err(problem));
            }
            let file = File::open(&path).map_err(durable::on("open", &path))?;
            guarded(|| columns::parquet::read(file, &|| watch.is_cancelled(), each))
        }
        ShardFormat::Jsonl => {
            let mut hashed = Hashed::open(&path, watch)?;
            let read = guarded(|| columns::jsonl::read(&mut hashed, &|| watch.is_cancelled(), each));
            // Whatever the decoder made of the bytes: when they are not the recorded ones, that is the problem.
            hashed.drain().map_err(|error| hashed.failed(error))?;
            if let Some(problem) = hashed.problem(recorded) {
                return Ok(Err(problem));
            }
            read
        }
    };
    match read {
        Ok(()) => Ok(Ok(tally)),
        Err(ColumnsError::Malformed(reason)) => Ok(Err(FileProblem::Unreadable { path: written.clone(), reason })),
        Err(ColumnsError::Io(error)) => Err(durable::on("read", &path)(error).into()),
        Err(ColumnsError::Cancelled) => Err(CheckError::Cancelled),
    }
}

/// A decoder that panics over a hostile file has told us that it cannot read it.
fn guarded(read: impl FnOnce() -> Result<(), ColumnsError>) -> Result<(), ColumnsError> {
    let caught = catch_unwind(AssertUnwindSafe(read));
    caught.unwrap_or_else(|_| Err(ColumnsError::Malformed("the decoder gave up".to_owned())))
}
