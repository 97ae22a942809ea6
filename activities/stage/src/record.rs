//! Free reruns: whether what a stage made still stands, told by `_STAGE.json` without reading what did not change.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::line::to_line;
use corpora_contracts::record::{FileState, StageRecord};
use sha2::{Digest as _, Sha256};

use crate::durable::{self, FileError};

/// The name of a stage's record in its folder.
pub const RECORD: &str = "_STAGE.json";

/// Reads the record in a folder; none where there is none, or none that this release can read.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn read(folder: &Path) -> Result<Option<StageRecord>, FileError> {
    let path = folder.join(RECORD);
    match fs::read(&path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(durable::on("read", &path)(error)),
    }
}

/// Publishes the record in a folder: the commit point of the stage that wrote the rest of it.
///
/// # Errors
/// When it cannot be written.
pub fn write(folder: &Path, record: &StageRecord, points: Option<[&str; 2]>) -> Result<(), FileError> {
    let path = folder.join(RECORD);
    let text = to_line(record).map_err(io::Error::from).map_err(durable::on("write", &path))?;
    durable::write_atomic(&path, text.as_bytes(), points)
}

/// What a file is now: its size and time, and its digest, which is read only when `known` is of another size or time.
///
/// # Errors
/// When the file cannot be read.
pub fn file_state(layout: &Layout, path: &Path, known: Option<&FileState>) -> Result<FileState, FileError> {
    let (bytes, mtime_ns) = size_and_time(path)?;
    let unchanged = known.filter(|known| known.bytes == bytes && known.mtime_ns == mtime_ns);
    let sha256 = match unchanged {
        Some(known) => known.sha256,
        None => digest(path).map_err(durable::on("read", path))?,
    };
    Ok(FileState { path: layout.relative(path), sha256, bytes, mtime_ns })
}

/// What a file is whose digest a caller already has, taken before the bytes are read: if they change meanwhile, so does
/// the time.
///
/// # Errors
/// When the file is not there.
pub fn file_state_of(layout: &Layout, path: &Path, sha256: Digest) -> Result<FileState, FileError> {
    let (bytes, mtime_ns) = size_and_time(path)?;
    Ok(FileState { path: layout.relative(path), sha256, bytes, mtime_ns })
}

/// Whether every output of a record stands in its size.
#[must_use]
pub fn outputs_stand(layout: &Layout, record: &StageRecord) -> bool {
    let stands = |path: &str, bytes| fs::metadata(layout.root().join(path)).is_ok_and(|file| file.len() == bytes);
    record.outputs.iter().all(|output| stands(&output.path, output.bytes))
}

/// Bytes, and nanoseconds since 1970-01-01T00:00:00Z.
fn size_and_time(path: &Path) -> Result<(u64, i64), FileError> {
    let file = fs::metadata(path).map_err(durable::on("read", path))?;
    Ok((file.len(), file.mtime().saturating_mul(1_000_000_000).saturating_add(file.mtime_nsec())))
}

/// The digest of a file's bytes.
///
/// # Errors
/// When it cannot be read.
pub fn digest(path: &Path) -> io::Result<Digest> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(Digest::from_bytes(hasher.finalize().into()));
        }
        hasher.update(&buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_only_when_size_or_time_changed() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let path = folder.path().join("part");
        fs::write(&path, "one").unwrap();
        let first = file_state(&layout, &path, None).unwrap();
        assert_eq!((first.path.as_str(), first.sha256), ("part", Digest::of(b"one")));
        let remembered = FileState { sha256: Digest::of(b"remembered"), ..first.clone() };
        assert_eq!(file_state(&layout, &path, Some(&remembered)).unwrap().sha256, remembered.sha256);
        let older = FileState { mtime_ns: first.mtime_ns - 1, ..remembered };
        assert_eq!(file_state(&layout, &path, Some(&older)).unwrap(), first);
    }
}
