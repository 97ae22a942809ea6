//! One run at a time: an advisory lock (`flock`) on a file that says who holds it.
//!
//! The operating system frees it when its holder ends, however it ends. On a network file system it may not hold; what
//! is published is therefore always renamed from a name of its own, and the lock saves work, not correctness.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use corpora_contracts::outcome::Disposition;
use tokio_util::sync::CancellationToken;

use crate::durable::{self, FileError};

/// How often a waiting run looks again.
const POLL: Duration = Duration::from_millis(25);

/// Why a lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run holds it, and went on doing so for as long as we wait.
    #[error("lock `{}` within {waited:?}: {holder} holds it; wait for that run, or raise --lock-timeout", path.display())]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// Who holds it, as the holder wrote it.
        holder: String,
        /// How long we waited.
        waited: Duration,
    },
    /// The lock's file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// We were asked to stop while waiting.
    #[error("lock `{}`: cancelled while waiting", path.display())]
    Cancelled {
        /// The lock's file.
        path: PathBuf,
    },
}

impl LockError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Held { .. } => Disposition::Retry,
            Self::File(error) => error.disposition(),
            Self::Cancelled { .. } => Disposition::Cancelled,
        }
    }
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits up to `patience` for the lock and writes into its file who holds it.
    ///
    /// # Errors
    /// [`LockError`]; after `patience` it names the holder.
    pub async fn acquire(path: &Path, patience: Duration, cancel: &CancellationToken) -> Result<Self, LockError> {
        if let Some(folder) = path.parent() {
            durable::create_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        // The holder's name is written into the file: never into one elsewhere that a link leads to.
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(durable::on("open", path))?;
        let started = Instant::now();
        let mut said = false;
        while !try_lock(&file).map_err(durable::on("lock", path))? {
            if started.elapsed() >= patience {
                return Err(LockError::Held { path: path.to_owned(), holder: holder(&mut file), waited: patience });
            }
            if !said {
                tracing::info!(lock = %path.display(), "waiting for {}, which holds the lock", holder(&mut file));
                said = true;
            }
            tokio::select! {
                () = tokio::time::sleep(POLL) => {}
                () = cancel.cancelled() => return Err(LockError::Cancelled { path: path.to_owned() }),
            }
        }
        // For people only: a name that cannot be written costs the other run a worse message, nothing else.
        let _ = sign(&mut file);
        Ok(Self { _file: file })
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    write!(file, "process {} on {}", std::process::id(), host.trim())
}

fn holder(file: &mut File) -> String {
    let mut name = String::new();
    let read = file.rewind().and_then(|()| file.take(200).read_to_string(&mut name));
    if read.is_ok() && !name.is_empty() { name } else { "another process".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_waits_then_names_the_holder_and_the_next_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locks/tiny.lock");
        let cancel = CancellationToken::new();
        let first = Lock::acquire(&path, Duration::ZERO, &cancel).await.unwrap();
        let error = Lock::acquire(&path, Duration::from_millis(60), &cancel).await.unwrap_err();
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        assert_eq!(error.disposition(), Disposition::Retry);
        drop(first);
        Lock::acquire(&path, Duration::ZERO, &cancel).await.unwrap();
    }

    #[tokio::test]
    async fn a_cancelled_wait_ends_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tiny.lock");
        let cancel = CancellationToken::new();
        let _first = Lock::acquire(&path, Duration::ZERO, &cancel).await.unwrap();
        cancel.cancel();
        let error = Lock::acquire(&path, Duration::from_secs(60), &cancel).await.unwrap_err();
        assert_eq!(error.disposition(), Disposition::Cancelled);
    }

    #[tokio::test]
    async fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("tiny.lock"), folder.path().join("elsewhere"));
        std::fs::write(&elsewhere, "someone's").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        let error = Lock::acquire(&path, Duration::ZERO, &CancellationToken::new()).await.unwrap_err();
        assert!(matches!(error, LockError::File(_)), "{error}");
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "someone's");
    }
}
