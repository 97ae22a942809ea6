//! The key of an activity: what makes its attempts one, and where their files are.

use std::path::{Path, PathBuf};

/// `<workflow id>/<run id>/<activity id>`: the idempotency key, and the folder below `activities`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActivityKey {
    run: String,
    activity: String,
}

/// Why an activity has no key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{segment}` is no segment of an activity's key: expected `[A-Za-z0-9._-]+`, neither `.` nor `..`")]
pub(crate) struct InvalidKey {
    /// The id that is not safe.
    pub(crate) segment: String,
}

impl ActivityKey {
    /// The key of an activity, whose ids become folders: none of them may lead elsewhere.
    ///
    /// # Errors
    /// [`InvalidKey`] names the first id that is not safe.
    pub(crate) fn new(workflow: &str, run: &str, activity: &str) -> Result<Self, InvalidKey> {
        let unsafe_one = [workflow, run, activity].into_iter().find(|segment| !is_safe(segment));
        match unsafe_one {
            Some(segment) => Err(InvalidKey { segment: segment.to_owned() }),
            None => Ok(Self { run: format!("{workflow}/{run}"), activity: activity.to_owned() }),
        }
    }

    /// The key of another activity of the same run.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn sibling(&self, activity: &str) -> Result<Self, InvalidKey> {
        let (workflow, run) = self.run.split_once('/').unwrap_or((&self.run, ""));
        Self::new(workflow, run, activity)
    }

    /// The key of the same activity in another run of the same workflow.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of_run(&self, run: &str) -> Result<Self, InvalidKey> {
        Self::new(self.workflow(), run, &self.activity)
    }

    fn workflow(&self) -> &str {
        self.run.split_once('/').map_or(&self.run, |(workflow, _)| workflow)
    }

    /// What all activities of the run share: `<workflow id>/<run id>`.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// The activity's own id.
    pub(crate) fn activity(&self) -> &str {
        &self.activity
    }

    /// The folder of all activities of the run.
    pub(crate) fn run_folder(&self, artifacts: &Path) -> PathBuf {
        artifacts.join("activities").join(&self.run)
    }

    /// The activity's folder, which serves all its attempts and nothing else.
    pub(crate) fn folder(&self, artifacts: &Path) -> PathBuf {
        self.run_folder(artifacts).join(&self.activity)
    }
}

impl std::fmt::Display for ActivityKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.run, self.activity)
    }
}

fn is_safe(segment: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !segment.is_empty() && segment.bytes().all(is_allowed) && !matches!(segment, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_below_the_activities() {
        let key = ActivityKey::new("corpus-build-a.b-v1", "0d6c", "fetch-x").unwrap();
        assert_eq!(key.to_string(), "corpus-build-a.b-v1/0d6c/fetch-x");
        assert_eq!(key.folder(Path::new("/a")), Path::new("/a/activities/corpus-build-a.b-v1/0d6c/fetch-x"));
        assert_eq!(key.sibling("plan").unwrap().to_string(), "corpus-build-a.b-v1/0d6c/plan");
        assert_eq!(key.of_run("1e7d").unwrap().to_string(), "corpus-build-a.b-v1/1e7d/fetch-x");
        assert_eq!(key.run_folder(Path::new("/a")), Path::new("/a/activities/corpus-build-a.b-v1/0d6c"));
        assert!(key.of_run("..").is_err());
        for bad in ["", ".", "..", "a/b", "/", "a b", "é", "a\n", "../x", "a\\b"] {
            for (workflow, run, activity) in [(bad, "r", "a"), ("w", bad, "a"), ("w", "r", bad)] {
                let refused = ActivityKey::new(workflow, run, activity);
                assert_eq!(refused, Err(InvalidKey { segment: bad.to_owned() }), "{bad:?}");
            }
        }
        assert!(key.sibling("..").is_err());
    }
}
