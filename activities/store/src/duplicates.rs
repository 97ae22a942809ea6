//! Exact duplicates, counted exactly in bounded memory: digests are sorted in runs on the disk, which are then merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Take, Write as _};
use std::path::{Path, PathBuf};

use corpora_stage::durable::{self, FileError};

/// A text's digest.
type Sha256 = [u8; 32];

/// Digests that are sorted in memory: 8 MiB. A corpus of fewer documents writes no file.
const RUN_DIGESTS: usize = 256 * 1024;

/// Bytes of each run that are read at once: a corpus of a thousand million documents has 4,000 runs.
const RUN_BUFFER: usize = 4 * 1024;

/// Counts the digests that were seen before.
#[derive(Debug)]
pub(crate) struct Duplicates {
    path: PathBuf,
    run_digests: usize,
    run: Vec<Sha256>,
    /// The file of sorted runs, and how many digests each has.
    spilled: Option<BufWriter<File>>,
    runs: Vec<usize>,
}

impl Duplicates {
    /// A counter that may put a file at `path`, which is removed in the end.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, run_digests: RUN_DIGESTS, run: Vec::new(), spilled: None, runs: Vec::new() }
    }

    /// Adds the digest of a text.
    ///
    /// # Errors
    /// When a run cannot be written.
    pub(crate) fn add(&mut self, sha256: Sha256) -> Result<(), FileError> {
        self.run.push(sha256);
        if self.run.len() < self.run_digests { Ok(()) } else { self.spill() }
    }

    /// The number of digests added that had been added before.
    ///
    /// # Errors
    /// When the runs cannot be read.
    pub(crate) fn count(mut self) -> Result<u64, FileError> {
        self.run.sort_unstable();
        let Some(spilled) = self.spilled.take() else {
            return Ok(repeats(self.run.iter().copied()));
        };
        let file = spilled.into_inner().map_err(|error| durable::on("write", &self.path)(error.into_error()))?;
        drop(file);
        let count = merge(&self.path, &self.runs, &self.run).map_err(durable::on("read", &self.path))?;
        durable::remove_file(&self.path)?;
        Ok(count)
    }

    fn spill(&mut self) -> Result<(), FileError> {
        self.run.sort_unstable();
        let file = match &mut self.spilled {
            Some(file) => file,
            none => {
                let file = File::create_new(&self.path).map_err(durable::on("create", &self.path))?;
                none.insert(BufWriter::with_capacity(256 * 1024, file))
            }
        };
        let written = self.run.iter().try_for_each(|sha256| file.write_all(sha256));
        written.map_err(durable::on("write", &self.path))?;
        self.runs.push(self.run.len());
        self.run.clear();
        Ok(())
    }
}

/// How many of these, which are sorted, equal the one before.
fn repeats(sorted: impl Iterator<Item = Sha256>) -> u64 {
    let mut last = None;
    sorted.filter(|sha256| last.replace(*sha256) == Some(*sha256)).count() as u64
}

/// The repeats among all runs of the file and the one in memory.
fn merge(path: &Path, runs: &[usize], in_memory: &[Sha256]) -> io::Result<u64> {
    let mut readers = Vec::with_capacity(runs.len());
    let mut start = 0;
    for digests in runs {
        let length = (*digests * size_of::<Sha256>()) as u64;
        readers.push(Run::open(path, start, length)?);
        start += length;
    }
    let mut memory = in_memory.iter().copied();
    let mut next = |run: usize| match readers.get_mut(run) {
        Some(reader) => reader.next(),
        None => Ok(memory.next()),
    };
    let mut heads = BinaryHeap::new();
    for run in 0..=runs.len() {
        heads.extend(next(run)?.map(|sha256| Reverse((sha256, run))));
    }
    let (mut last, mut repeats) = (None, 0);
    while let Some(Reverse((sha256, run))) = heads.pop() {
        repeats += u64::from(last.replace(sha256) == Some(sha256));
        heads.extend(next(run)?.map(|sha256| Reverse((sha256, run))));
    }
    Ok(repeats)
}

/// A sorted run in the file.
struct Run(BufReader<Take<File>>);

impl Run {
    fn open(path: &Path, start: u64, length: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        Ok(Self(BufReader::with_capacity(RUN_BUFFER, file.take(length))))
    }

    fn next(&mut self) -> io::Result<Option<Sha256>> {
        let mut sha256 = [0; 32];
        match self.0.read_exact(&mut sha256) {
            Ok(()) => Ok(Some(sha256)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_on_disk_count_as_a_set_does(values in proptest::collection::vec(0_u8..20, 0..100), run_digests in 1_usize..40) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("digests");
            let mut duplicates = Duplicates { run_digests, ..Duplicates::new(path.clone()) };
            let digests: Vec<Sha256> = values.iter().map(|value| *corpora_contracts::ids::Digest::of(&[*value]).as_bytes()).collect();
            for digest in &digests {
                duplicates.add(*digest).unwrap();
            }
            prop_assert_eq!(path.exists(), values.len() >= run_digests);
            let distinct = digests.iter().collect::<HashSet<_>>().len();
            prop_assert_eq!(duplicates.count().unwrap(), (digests.len() - distinct) as u64);
            prop_assert!(!path.exists());
        }
    }
}
