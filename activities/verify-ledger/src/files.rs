//! Files held against what is recorded of them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use corpora_contracts::ids::Digest;
use corpora_stage::durable::{self, FileError};
use sha2::{Digest as _, Sha256};

use crate::problem::FileProblem;
use crate::watch::Watch;

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Why a file was not checked to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// The system failed us.
    #[error(transparent)]
    File(#[from] FileError),
    /// We were asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// What is recorded of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded<'a> {
    /// Its name in messages.
    pub(crate) name: &'a str,
    /// In bytes.
    pub(crate) bytes: u64,
    pub(crate) sha256: &'a Digest,
}

/// Whether a regular file of the recorded size stands at `path`: none, or the problem.
///
/// # Errors
/// When the system does not say.
pub(crate) fn stands(path: &Path, recorded: Recorded<'_>) -> Result<Option<FileProblem>, FileError> {
    let Recorded { name, bytes, .. } = recorded;
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if is_absent(&error) => return Ok(Some(FileProblem::Missing { path: name.to_owned() })),
        Err(error) => return Err(durable::on("read", path)(error)),
    };
    Ok(match found.len() {
        _ if !found.is_file() => Some(FileProblem::NotRegular { path: name.to_owned() }),
        found if found != bytes => Some(FileProblem::Size { path: name.to_owned(), found, expected: bytes }),
        _ => None,
    })
}

/// Whether the file at `path` is the recorded one to the byte: none, or the problem.
///
/// # Errors
/// [`CheckError`].
pub(crate) fn is_recorded(
    path: &Path,
    recorded: Recorded<'_>,
    watch: &Watch,
) -> Result<Option<FileProblem>, CheckError> {
    if let Some(problem) = stands(path, recorded)? {
        return Ok(Some(problem));
    }
    let mut hashed = Hashed::open(path, watch)?;
    hashed.drain().map_err(|error| hashed.failed(error))?;
    Ok(hashed.problem(recorded))
}

/// Whether an error says that there is no such file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A file that is hashed as it is read, and that ends with an error when it is to stop.
pub(crate) struct Hashed<'a> {
    file: File,
    path: &'a Path,
    watch: &'a Watch,
    hasher: Sha256,
}

impl<'a> Hashed<'a> {
    pub(crate) fn open(path: &'a Path, watch: &'a Watch) -> Result<Self, FileError> {
        let file = File::open(path).map_err(durable::on("open", path))?;
        Ok(Self { file, path, watch, hasher: Sha256::new() })
    }

    /// Reads what is left.
    pub(crate) fn drain(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; BLOCK];
        while self.read(&mut buffer)? > 0 {}
        Ok(())
    }

    /// What an error of reading means.
    pub(crate) fn failed(&self, error: io::Error) -> CheckError {
        if self.watch.is_cancelled() { CheckError::Cancelled } else { durable::on("read", self.path)(error).into() }
    }

    /// The problem, when the bytes read are not the recorded ones.
    pub(crate) fn problem(self, recorded: Recorded<'_>) -> Option<FileProblem> {
        let found = Digest::from_bytes(self.hasher.finalize().into());
        let (path, expected) = (recorded.name.to_owned(), *recorded.sha256);
        (found != expected).then_some(FileProblem::Digest { path, found, expected })
    }
}

impl Read for Hashed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.watch.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let read = self.file.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.watch.advance(read as u64);
        Ok(read)
    }
}
