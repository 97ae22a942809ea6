//! What is said of a run's files when it needs them no more: `DONE.json` in the run's own folder, so that `corpora gc`
//! frees all of it, the plan and what failed steps left included.

use std::fs;
use std::path::{Path, PathBuf};

use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::Disposition;
use corpora_contracts::progress::Done;
use serde_json::json;
use serde_json::value::to_raw_value;

use crate::files::{self, FileError};
use crate::key::ActivityKey;
use crate::message::CloseInput;
use crate::plan;

/// The activity that closes a run; no step has this id.
pub(crate) const ACTIVITY: &str = "close";

/// The mark, as every finished activity has it.
const DONE: &str = "DONE.json";

/// Why a run could not be closed. It has ended all the same.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CloseError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The mark cannot be written as JSON.
    #[error("write the mark of a finished run as JSON")]
    Unwritable(#[from] serde_json::Error),
}

impl CloseError {
    /// What a later attempt can change: disks only.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::File(_) => Disposition::Retry,
            Self::Unwritable(_) => Disposition::Fail,
        }
    }
}

/// Says that the run of this key has ended, how being for people.
///
/// # Errors
/// [`CloseError`].
pub(crate) fn close(input: &CloseInput, key: &ActivityKey) -> Result<(), CloseError> {
    mark(&key.run_folder(&input.artifacts), &json!({"stage": "build", "ok": input.code == 0, "code": input.code}))
}

/// Says that all other runs of this key's workflow have ended, and that the specs which were put there for it have been
/// read.
///
/// # Errors
/// [`CloseError`].
pub(crate) fn close_others(key: &ActivityKey, artifacts: &Path) -> Result<(), CloseError> {
    let own = key.run_folder(artifacts);
    let Some(workflow) = own.parent() else { return Ok(()) };
    let entries = fs::read_dir(workflow).into_iter().flatten().flatten().map(|entry| entry.path());
    for other in entries.filter(|path| path.is_dir() && *path != own && !path.join(DONE).exists()) {
        mark(&other, &json!({"stage": "build"}))?;
    }
    Ok(())
}

/// Where a spec lies that is too large for a message, relative to the artifacts root: beside the runs of its workflow, in
/// a folder that is closed as they are.
pub(crate) fn spec_file(workflow: &str, digest: Digest) -> PathBuf {
    ["activities", workflow, &digest.to_string(), plan::SPEC].iter().collect()
}

/// Puts a spec there for the next run.
///
/// # Errors
/// [`FileError`].
pub(crate) fn offer(artifacts: &Path, path: &Path, spec: &[u8]) -> Result<(), FileError> {
    let path = artifacts.join(path);
    files::write_atomic(&path, spec)?;
    files::remove(&path.with_file_name(DONE))
}

/// A folder without a spec has nothing to be freed.
fn mark(folder: &Path, result: &serde_json::Value) -> Result<(), CloseError> {
    let specs = [folder.join(plan::ACTIVITY).join(plan::SPEC), folder.join(plan::SPEC)];
    let Some(spec) = specs.iter().find(|spec| spec.is_file()) else { return Ok(()) };
    let spec_sha256 = Digest::of(&files::read(spec)?);
    let done = Done { outputs: Vec::new(), spec_sha256, result: to_raw_value(result)? };
    Ok(files::write_atomic(&folder.join(DONE), &serde_json::to_vec(&done)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_closed_by_its_end_or_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = folder.path();
        let key = |run: &str| ActivityKey::new("w", run, plan::ACTIVITY).unwrap();
        let done = |path: &str| artifacts.join("activities/w").join(path).join(DONE);
        for run in ["1", "2"] {
            files::write_atomic(&key(run).folder(artifacts).join(plan::SPEC), b"{}").unwrap();
        }
        fs::create_dir_all(artifacts.join("activities/w/without")).unwrap();
        let offered = spec_file("w", Digest::of(b"c"));
        offer(artifacts, &offered, b"{\"dataset\":1}").unwrap();

        close_others(&key("2"), artifacts).unwrap();
        let shown: Done = serde_json::from_slice(&fs::read(done("1")).unwrap()).unwrap();
        assert_eq!((shown.spec_sha256, shown.result.get()), (Digest::of(b"{}"), "{\"stage\":\"build\"}"));
        let beside = artifacts.join(&offered).with_file_name(DONE);
        assert!(beside.is_file() && !done("2").exists() && !done("without").exists());
        offer(artifacts, &offered, b"{\"dataset\":1}").unwrap();
        assert!(!beside.exists(), "what is offered again is not done with");

        close(&CloseInput { artifacts: artifacts.to_owned(), code: 75 }, &key("2")).unwrap();
        let shown: Done = serde_json::from_slice(&fs::read(done("2")).unwrap()).unwrap();
        assert_eq!(shown.result.get(), "{\"code\":75,\"ok\":false,\"stage\":\"build\"}");
        close(&CloseInput { artifacts: artifacts.to_owned(), code: 65 }, &key("never-planned")).unwrap();
        assert!(!artifacts.join("activities/w/never-planned").exists());
    }
}
