//! The plan of a run: made once, from the config that the build was started with, and kept in files, so that every step
//! of the run, on whatever worker and release, is the step that was planned.

use std::path::{Path, PathBuf};

use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::Disposition;
use corpora_plan::{Plan, Step};

use crate::files::{self, FileError};
use crate::key::{ActivityKey, InvalidKey};
use crate::message::{Head, PlanInput, PlanOutput, Spec};
use crate::spec::{self, SpecError};

/// The activity that makes the plan; no step has this id.
pub(crate) const ACTIVITY: &str = "plan";

/// Why there is no plan, or no such step in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    /// The spec is of no use.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The spec is another one than the build was started with.
    #[error("find config `{expected}` in the spec, which holds `{found}`; start the build again")]
    Changed {
        /// The digest that the build was started with.
        expected: Digest,
        /// The spec's.
        found: Digest,
    },
    /// The plan has no such step.
    #[error("find step `{id}` in the plan of this run")]
    UnknownStep {
        /// What was asked for.
        id: String,
    },
    /// The run has no key.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The plan's own file is damaged.
    #[error("read plan `{}`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The plan cannot be written as JSON.
    #[error("write the plan as JSON")]
    Unwritable(#[source] serde_json::Error),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl PlanError {
    /// What a later attempt can change: disks only.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::File(_) => Disposition::Retry,
            _ => Disposition::Fail,
        }
    }
}

/// Makes the plan of the run whose plan activity has this key.
///
/// # Errors
/// [`PlanError`].
pub(crate) fn make(input: &PlanInput, key: &ActivityKey) -> Result<PlanOutput, PlanError> {
    let bytes = match &input.spec {
        Spec::Document(document) => serde_json::to_vec(document).map_err(PlanError::Unwritable)?,
        Spec::File(path) => files::read(&input.artifacts.join(path))?,
    };
    let config = spec::read_spec(&bytes)?;
    let found = config.digest().map_err(PlanError::Unwritable)?;
    if found != input.digest {
        return Err(PlanError::Changed { expected: input.digest, found });
    }
    let mut plan = corpora_plan::steps(&config);
    let is_wanted = |level: &Vec<Step>| level.iter().all(|step| input.until.is_none_or(|until| step.stage <= until));
    plan.levels.retain(is_wanted);
    let folder = key.folder(&input.artifacts);
    files::write_atomic(&folder.join("spec.json"), &bytes)?;
    files::write_atomic(&folder.join("plan.json"), &serde_json::to_vec(&plan).map_err(PlanError::Unwritable)?)?;
    Ok(PlanOutput { levels: plan.levels.iter().map(|level| level.iter().map(Head::from).collect()).collect() })
}

/// The step that the activity of this key is, with its spec in place.
///
/// # Errors
/// [`PlanError`].
pub(crate) fn step(artifacts: &Path, key: &ActivityKey) -> Result<Step, PlanError> {
    let planned = key.sibling(ACTIVITY)?.folder(artifacts);
    let path = planned.join("plan.json");
    let plan: Plan =
        serde_json::from_slice(&files::read(&path)?).map_err(|source| PlanError::Damaged { path, source })?;
    let unknown = || PlanError::UnknownStep { id: key.activity().to_owned() };
    let step = plan.steps().find(|step| step.id == key.activity()).cloned().ok_or_else(unknown)?;
    files::share(&planned.join("spec.json"), &key.folder(artifacts).join("spec.json"))?;
    Ok(step)
}

#[cfg(test)]
mod tests {
    use corpora_plan::Stage;
    use serde_json::json;

    use super::*;

    fn input(artifacts: &Path) -> PlanInput {
        let source =
            |id: &str| json!({"id": id, "url": "https://h/x", "sha256": "0".repeat(64), "license_spdx": "MIT"});
        let document = json!({"dataset": "d", "version": "v1", "sources": [source("a"), source("b")]});
        let digest = spec::read_spec(&serde_json::to_vec(&document).unwrap()).unwrap().digest().unwrap();
        PlanInput { artifacts: artifacts.to_owned(), spec: Spec::Document(document), digest, until: None }
    }

    fn ids(output: &PlanOutput) -> Vec<Vec<&str>> {
        output.levels.iter().map(|level| level.iter().map(|head| head.id.as_str()).collect()).collect()
    }

    #[test]
    fn a_step_finds_its_plan_and_spec() {
        let folder = tempfile::tempdir().unwrap();
        let key = ActivityKey::new("w", "r", ACTIVITY).unwrap();
        let input = input(folder.path());
        let output = make(&input, &key).unwrap();
        assert_eq!(ids(&output)[..2], [vec!["fetch-a", "fetch-b"], vec!["commit"]]);
        let of_step = key.sibling("fetch-b").unwrap();
        assert_eq!(step(folder.path(), &of_step).unwrap().arguments(), ["fetch", "--no-commit", "--source", "b"]);
        let spec = std::fs::read(of_step.folder(folder.path()).join("spec.json")).unwrap();
        assert_eq!(Spec::Document(serde_json::from_slice(&spec).unwrap()), input.spec);

        let unknown = step(folder.path(), &key.sibling("fetch-c").unwrap()).unwrap_err();
        assert_eq!(unknown.disposition(), Disposition::Fail, "{unknown}");
        let elsewhere = step(folder.path(), &ActivityKey::new("w", "other", "commit").unwrap()).unwrap_err();
        assert_eq!(elsewhere.disposition(), Disposition::Retry, "{elsewhere}");
    }

    #[test]
    fn the_plan_ends_with_the_last_stage_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let key = ActivityKey::new("w", "r", ACTIVITY).unwrap();
        let mut input = input(folder.path());
        for (until, levels) in [(Stage::Fetch, 2), (Stage::Extract, 3), (Stage::Store, 4), (Stage::VerifyLedger, 5)] {
            input.until = Some(until);
            assert_eq!(make(&input, &key).unwrap().levels.len(), levels, "{until}");
        }
    }

    #[test]
    fn a_spec_may_be_a_file_but_no_other_one() {
        let folder = tempfile::tempdir().unwrap();
        let key = ActivityKey::new("w", "r", ACTIVITY).unwrap();
        let mut input = input(folder.path());
        let Spec::Document(mut document) = input.spec.clone() else { panic!("a document") };
        let path = folder.path().join("activities/w/spec.json");
        files::write_atomic(&path, &serde_json::to_vec(&document).unwrap()).unwrap();
        input.spec = Spec::File("activities/w/spec.json".into());
        assert_eq!(make(&input, &key).unwrap().levels.len(), 5);
        document["version"] = json!("v2");
        files::write_atomic(&path, &serde_json::to_vec(&document).unwrap()).unwrap();
        let error = make(&input, &key).unwrap_err();
        assert!(matches!(error, PlanError::Changed { .. }), "{error}");
        assert_eq!(error.disposition(), Disposition::Fail);
        input.spec = Spec::Document(json!({"dataset": "d"}));
        assert!(matches!(make(&input, &key), Err(PlanError::Spec(_))));
    }
}
