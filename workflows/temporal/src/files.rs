//! Files of an activity, published whole: the worker links no stage, so it has its own small writer for the little it
//! writes, all of it below `activities`.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Why a file of an activity could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{verb} `{}`", path.display())]
pub(crate) struct FileError {
    verb: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// Reads a whole file.
///
/// # Errors
/// [`FileError`] with what the system says.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(on("read", path))
}

/// Makes a folder and those above it.
///
/// # Errors
/// As [`read`].
pub(crate) fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(on("create folder", path))
}

/// Writes a file aside, syncs it and renames it into place: whoever opens it sees all of it or none.
///
/// # Errors
/// As [`read`].
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    // Two workers may run attempts of one activity at once, when one of them counts as lost: each writes its own. In
    // containers both may have the same process id.
    let aside = path.with_extension(format!("{:016x}.tmp", RandomState::new().build_hasher().finish()));
    let write = || {
        let mut file = File::create(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&aside, path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(on("write", path))
}

/// Puts a file that never changes in a second place too, without a second copy where the file system can do that: the
/// specs of a large build would fill the disk. What stands there already is that very file.
///
/// # Errors
/// As [`read`].
pub(crate) fn share(from: &Path, to: &Path) -> Result<(), FileError> {
    if to.exists() {
        return Ok(());
    }
    create_folder(to.parent().unwrap_or(Path::new(".")))?;
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => write_atomic(to, &read(from)?),
    }
}

/// Removes a file; one that is not there is no error.
///
/// # Errors
/// As [`read`].
pub(crate) fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(on("remove", path)(error)),
        _ => Ok(()),
    }
}

fn on(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError { verb, path, source }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn is_missing(error: &FileError) -> bool {
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        source.is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/spec.json");
        assert!(is_missing(&read(&path).unwrap_err()));
        for text in ["{}", "{\"longer\":1}"] {
            write_atomic(&path, text.as_bytes()).unwrap();
            assert_eq!(read(&path).unwrap(), text.as_bytes());
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let error = write_atomic(&path.join("below-a-file"), b"").unwrap_err();
        assert!(error.to_string().starts_with("create folder `"), "{error}");
    }

    #[test]
    fn a_shared_file_is_the_same_in_both_places() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("plan/spec.json"), folder.path().join("step/spec.json"));
        assert!(is_missing(&share(&from, &to).unwrap_err()));
        write_atomic(&from, b"{}").unwrap();
        share(&from, &to).unwrap();
        remove(&from).unwrap();
        remove(&from).unwrap();
        share(&from, &to).unwrap();
        assert_eq!(read(&to).unwrap(), b"{}", "what stands there already needs no source");
    }
}
