//! Files that survive a crash: written aside, synced, then published by one atomic rename whose folder is synced too.
//!
//! What another process sees: before the rename the old state, after it the new one, never a half. What is left by a
//! crash is a temporary whose name starts with a dot and ends with `.tmp`, which [`clean_temporaries`] removes.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use corpora_contracts::outcome::Disposition;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::fault;

/// A file operation of ours that failed.
#[derive(Debug, thiserror::Error)]
#[error("{action} `{}`", path.display())]
pub struct FileError {
    /// What was tried, as a verb: `write`, `rename`, `sync`.
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The operating system's error.
    pub source: io::Error,
}

impl FileError {
    /// Our own files may be written later: a full disk is emptied, a mount comes back. A path that leads through a
    /// file stays wrong.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        if self.source.kind() == io::ErrorKind::NotADirectory { Disposition::Fail } else { Disposition::Retry }
    }

    /// Whether the disk or the quota is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        is_disk_full(&self.source)
    }
}

/// Whether an error says that the disk or the quota is full (`ENOSPC`, `EDQUOT`).
#[must_use]
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Attaches what was tried, and on which file, to an [`io::Error`].
pub fn on(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError { action, path, source }
}

/// Publishes `bytes` under `path`, replacing what was there.
///
/// `points` are the kill points before and after the rename, where a test wants them.
///
/// # Errors
/// [`FileError`] for the operation that failed; `path` then still holds what it held.
pub fn write_atomic(path: &Path, bytes: &[u8], points: Option<[&str; 2]>) -> Result<(), FileError> {
    let folder = parent(path);
    create_folder(folder)?;
    let temporary = temporary_beside(path);
    let written = write_synced(&temporary, bytes);
    if written.is_err() {
        // The disk may be full: leave nothing half-written behind. The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    hit(points, 0);
    rename(&temporary, path)?;
    hit(points, 1);
    Ok(())
}

/// Renames within one file system and syncs the target's folder.
///
/// # Errors
/// [`FileError`] for the operation that failed.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(on("rename", to))?;
    sync_folder(parent(to))
}

/// Publishes a complete folder under `target`, in place of the folder that may stand there.
///
/// The file system exchanges the two names in one step where it can: another process sees the old folder or the new
/// one. Where it cannot, `target` is missing for a moment; a crash then leaves it missing, and the caller's next run
/// makes it again from what it was made of.
///
/// # Errors
/// [`FileError`] for the operation that failed.
pub fn replace_folder(new: &Path, target: &Path) -> Result<(), FileError> {
    if !target.exists() {
        return rename(new, target);
    }
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => sync_folder(parent(target))?,
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {
            let old = temporary_beside(target);
            remove_tree(&old)?;
            rename(target, &old)?;
            rename(new, target)?;
            return remove_tree(&old);
        }
        Err(error) => return Err(on("exchange", target)(error.into())),
    }
    // What was published before now stands under the new folder's old name. It is taken out of sight before it is
    // removed, so that a crash on the way leaves no half of it under a name that means something.
    let old = temporary_beside(target);
    remove_tree(&old)?;
    rename(new, &old)?;
    remove_tree(&old)
}

/// Creates a folder and the missing ones above it, each synced into its parent.
///
/// # Errors
/// [`FileError`] for the operation that failed.
pub fn create_folder(folder: &Path) -> Result<(), FileError> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    create_folder(parent(folder))?;
    match fs::create_dir(folder) {
        Ok(()) => sync_folder(parent(folder)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(on("create folder", folder)(io::ErrorKind::NotADirectory.into()))
        }
        Err(source) => Err(on("create folder", folder)(source)),
    }
}

/// Syncs a folder, so that the names in it survive a power cut.
///
/// # Errors
/// [`FileError`] for the operation that failed.
pub fn sync_folder(folder: &Path) -> Result<(), FileError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|file| file.sync_all()).map_err(on("sync folder", folder))
}

/// Removes a file; one that is not there is no error.
///
/// # Errors
/// [`FileError`] for any other failure.
pub fn remove_file(path: &Path) -> Result<(), FileError> {
    absent_is_fine(fs::remove_file(path)).map_err(on("remove", path))
}

/// Removes a folder with all that is in it; one that is not there is no error.
///
/// # Errors
/// [`FileError`] for any other failure.
pub fn remove_tree(path: &Path) -> Result<(), FileError> {
    absent_is_fine(fs::remove_dir_all(path)).map_err(on("remove", path))
}

/// Removes a folder if it is empty: no empty folder carries meaning.
pub fn remove_folder_if_empty(path: &Path) {
    let _ = fs::remove_dir(path);
}

/// The names in a folder, sorted; none where the folder does not exist.
///
/// # Errors
/// [`FileError`] when the folder cannot be read.
pub fn names_in(folder: &Path) -> Result<Vec<String>, FileError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(on("list", folder)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(on("list", folder))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Removes the temporaries that crashed runs left in a folder; only under the lock of what the folder holds.
///
/// # Errors
/// [`FileError`] for the operation that failed.
pub fn clean_temporaries(folder: &Path) -> Result<(), FileError> {
    let temporaries = names_in(folder)?.into_iter().filter(|name| name.starts_with('.') && name.ends_with(".tmp"));
    for name in temporaries {
        let path = folder.join(name);
        if path.is_dir() { remove_tree(&path)? } else { remove_file(&path)? }
    }
    Ok(())
}

/// Whose temporary a name is: `.<name>.tmp`, a folder in the making, or `.<name>~<process>.tmp`. None for other names.
#[must_use]
pub fn temporary_of(name: &str) -> Option<&str> {
    let inside = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    Some(inside.split_once('~').map_or(inside, |(name, _process)| name))
}

/// A temporary's path: unique among processes, also of other machines, whose numbers may be the same, since a lock on a
/// network file system may not hold.
///
/// No name of ours has a `~`, so the temporary of `a` is never taken for that of `a.7`, and [`temporary_of`] can tell.
fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let random = RandomState::new().build_hasher().finish();
    path.with_file_name(format!(".{name}~{}-{random:016x}.tmp", std::process::id()))
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = File::create_new(path).map_err(on("create", path))?;
    file.write_all(bytes).map_err(on("write", path))?;
    file.sync_all().map_err(on("sync", path))
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn hit(points: Option<[&str; 2]>, index: usize) {
    if let Some(points) = points {
        fault::point(points[index]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/receipt.json");
        for content in ["one", "two"] {
            write_atomic(&path, content.as_bytes(), None).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(names_in(path.parent().unwrap()).unwrap(), ["receipt.json"]);
    }

    #[test]
    fn a_folder_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("v1");
        for content in ["one", "two"] {
            let staged = folder.path().join("v1.staged");
            create_folder(&staged).unwrap();
            fs::write(staged.join(content), content).unwrap();
            replace_folder(&staged, &target).unwrap();
            assert_eq!(names_in(&target).unwrap(), [content]);
            assert_eq!(names_in(folder.path()).unwrap(), ["v1"]);
        }
    }

    #[test]
    fn what_a_crash_left_is_cleaned_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".receipt.json.7.tmp", "20260101.json", ".hidden"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        clean_temporaries(folder.path()).unwrap();
        assert_eq!(names_in(folder.path()).unwrap(), [".hidden", "20260101.json"]);
        clean_temporaries(&folder.path().join("absent")).unwrap();
    }

    #[test]
    fn a_temporary_says_whose_it_is() {
        let path = temporary_beside(Path::new("folder/a.7"));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!((path.parent(), temporary_of(name)), (Some(Path::new("folder")), Some("a.7")));
        assert_ne!(path, temporary_beside(Path::new("folder/a.7")), "another process may have the same number");
        assert_eq!([".a.7.tmp", ".a~7.tmp"].map(temporary_of), [Some("a.7"), Some("a")]);
        assert_eq!(["a.tmp", ".a", "a", ".tmp"].map(temporary_of), [None; 4]);
    }

    #[test]
    fn a_failed_write_names_the_file_and_can_be_retried() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let error = write_atomic(&folder.path().join("file/below"), b"", None).unwrap_err();
        assert!(error.to_string().starts_with("create folder `"), "{error}");
        assert_eq!(error.disposition(), Disposition::Fail, "a path through a file");
        assert!(!error.is_disk_full());
        assert!(is_disk_full(&io::Error::from_raw_os_error(28)), "ENOSPC");
    }
}
