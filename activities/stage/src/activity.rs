//! A stage as a subprocess activity: `spec.json` in, `progress.jsonl` while it runs, `DONE.json` as its last act.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::progress::{Done, Kind};
use serde_json::value::RawValue;

use crate::Progress;
use crate::durable::{self, FileError};

/// The folder of one activity, which serves all its attempts and nothing else.
#[derive(Debug, Clone)]
pub struct Activity {
    folder: PathBuf,
    spec_sha256: Digest,
}

impl Activity {
    /// The activity whose spec lies at `spec` and has these bytes.
    #[must_use]
    pub fn new(spec: &Path, bytes: &[u8]) -> Self {
        Self { folder: spec.parent().unwrap_or(Path::new("")).to_owned(), spec_sha256: Digest::of(bytes) }
    }

    /// What an earlier attempt finished: its `DONE.json`, when that is of this very spec and all its outputs exist below
    /// the artifacts root.
    ///
    /// Any other `DONE.json` is removed, so that it can never be taken for this attempt's.
    ///
    /// # Errors
    /// When the file can be neither read nor removed.
    pub fn finished(&self, layout: &Layout) -> Result<Option<Done>, FileError> {
        let path = self.done_path();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(durable::on("read", &path)(error)),
        };
        let done = serde_json::from_slice::<Done>(&bytes).ok().filter(|done| self.stands(done, layout));
        if done.is_none() {
            durable::remove_file(&path)?;
        }
        Ok(done)
    }

    /// The last act of success: publishes `DONE.json`, then reports `done`.
    ///
    /// # Errors
    /// When the file cannot be published.
    pub fn finish(&self, outputs: Vec<String>, result: Box<RawValue>, progress: &Progress) -> Result<(), FileError> {
        let path = self.done_path();
        let done = Done { outputs, spec_sha256: self.spec_sha256, result };
        let bytes = serde_json::to_vec(&done).map_err(io::Error::from).map_err(durable::on("write", &path))?;
        durable::write_atomic(&path, &bytes, Some(["done.before", "done.after"]))?;
        progress.emit(Kind::Done { outputs: done.outputs });
        Ok(())
    }

    fn stands(&self, done: &Done, layout: &Layout) -> bool {
        let stands = |output: &String| is_below(Path::new(output)) && layout.root().join(output).exists();
        done.spec_sha256 == self.spec_sha256 && done.outputs.iter().all(stands)
    }

    fn done_path(&self) -> PathBuf {
        self.folder.join("DONE.json")
    }
}

/// Whether a relative path names something below its root: not empty, and nothing but names.
fn is_below(path: &Path) -> bool {
    let mut components = path.components().peekable();
    components.peek().is_some() && components.all(|component| matches!(component, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_counts_only_for_its_own_spec_and_standing_outputs() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let spec = folder.path().join("spec.json");
        let (ours, other) = (Activity::new(&spec, b"{}"), Activity::new(&spec, b"{ }"));
        assert_eq!(ours.finished(&layout).unwrap(), None);
        fs::write(folder.path().join("output"), "").unwrap();
        let finish = || {
            ours.finish(
                vec!["output".to_owned()],
                RawValue::from_string("{\"ok\":true}".to_owned()).unwrap(),
                &Progress::default(),
            )
        };
        finish().unwrap();
        assert_eq!(ours.finished(&layout).unwrap().unwrap().result.get(), "{\"ok\":true}");
        assert_eq!(other.finished(&layout).unwrap(), None, "another spec");
        assert_eq!(ours.finished(&layout).unwrap(), None, "the other spec's run removed it");
        finish().unwrap();
        fs::remove_file(folder.path().join("output")).unwrap();
        assert_eq!(ours.finished(&layout).unwrap(), None, "its output is gone");
    }

    #[test]
    fn outputs_outside_the_root_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("artifacts");
        fs::create_dir_all(root.join("corpus")).unwrap();
        fs::write(folder.path().join("outside"), "").unwrap();
        let (layout, spec) = (Layout::new(&root), root.join("spec.json"));
        let activity = Activity::new(&spec, b"{}");
        let absolute = folder.path().join("outside").display().to_string();
        for (output, stands) in [
            ("corpus", true),
            ("../outside", false),
            ("corpus/../../outside", false),
            ("corpus/..", false),
            (absolute.as_str(), false),
            ("", false),
            (".", false),
        ] {
            let result = RawValue::from_string("{}".to_owned()).unwrap();
            activity.finish(vec![output.to_owned()], result, &Progress::default()).unwrap();
            assert_eq!(activity.finished(&layout).unwrap().is_some(), stands, "{output:?}");
            assert_eq!(root.join("DONE.json").exists(), stands, "{output:?}: what does not count is removed");
        }
    }
}
