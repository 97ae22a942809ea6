//! The plan of a run: made once, from the config that the build was started with, and kept in files, so that every step
//! of the run, on whatever worker and release, is the step that was planned.

use std::path::{Path, PathBuf};

use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::Disposition;
use corpora_plan::{Plan, Step};

use crate::closing::{self, CloseError};
use crate::files::{self, FileError};
use crate::key::{ActivityKey, InvalidKey};
use crate::message::{Head, PlanInput, PlanOutput, Spec, StepInput};
use crate::spec::{self, SpecError};

/// The activity that makes the plan; no step has this id.
pub(crate) const ACTIVITY: &str = "plan";

/// The spec of a run, and of each of its steps.
pub(crate) const SPEC: &str = "spec.json";

/// The plan of a run.
const PLAN: &str = "plan.json";

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
    /// The files of another run cannot be closed.
    #[error(transparent)]
    Close(#[from] CloseError),
}

impl PlanError {
    /// What a later attempt can change: disks only.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::File(_) => Disposition::Retry,
            Self::Close(error) => error.disposition(),
            _ => Disposition::Fail,
        }
    }
}

/// Makes the plan of the run whose plan activity has this key, or takes over that of the run it continues.
///
/// Whatever else lies there of the same workflow is then said to be done with: a workflow has one open run at most, and
/// what a continued one needs has just been taken over.
///
/// # Errors
/// [`PlanError`].
pub(crate) fn make(input: &PlanInput, key: &ActivityKey) -> Result<PlanOutput, PlanError> {
    let folder = key.folder(&input.artifacts);
    match &input.spec {
        Spec::Document(document) => {
            plan(&serde_json::to_vec(document).map_err(PlanError::Unwritable)?, input, &folder)?;
        }
        Spec::File(path) => plan(&files::read(&input.artifacts.join(path))?, input, &folder)?,
        Spec::Run(run) => take_over(&key.of_run(run)?.folder(&input.artifacts), &folder)?,
    }
    closing::close_others(key, &input.artifacts)?;
    let Plan { levels } = read(&folder)?;
    Ok(PlanOutput { levels: levels.iter().map(|level| level.iter().map(Head::from).collect()).collect() })
}

/// Plans what the bytes of a spec say, into files of this folder.
fn plan(spec: &[u8], input: &PlanInput, folder: &Path) -> Result<(), PlanError> {
    let config = spec::read_spec(spec)?;
    let found = config.digest().map_err(PlanError::Unwritable)?;
    if found != input.digest {
        return Err(PlanError::Changed { expected: input.digest, found });
    }
    let mut plan = corpora_plan::steps(&config);
    let is_wanted = |level: &Vec<Step>| level.iter().all(|step| input.until.is_none_or(|until| step.stage <= until));
    plan.levels.retain(is_wanted);
    files::write_atomic(&folder.join(SPEC), spec)?;
    Ok(files::write_atomic(&folder.join(PLAN), &serde_json::to_vec(&plan).map_err(PlanError::Unwritable)?)?)
}

fn take_over(from: &Path, to: &Path) -> Result<(), FileError> {
    files::share(&from.join(SPEC), &to.join(SPEC))?;
    files::share(&from.join(PLAN), &to.join(PLAN))
}

fn read(folder: &Path) -> Result<Plan, PlanError> {
    let path = folder.join(PLAN);
    serde_json::from_slice(&files::read(&path)?).map_err(|source| PlanError::Damaged { path, source })
}

/// The step that the activity of this key is, with its spec in place.
///
/// # Errors
/// [`PlanError`].
pub(crate) fn step(input: &StepInput, key: &ActivityKey) -> Result<Step, PlanError> {
    let planned = key.sibling(ACTIVITY)?.folder(&input.artifacts);
    let unknown = || PlanError::UnknownStep { id: key.activity().to_owned() };
    let step =
        read(&planned)?.step(key.activity()).and_then(|step| step.without(&input.left_out)).ok_or_else(unknown)?;
    files::share(&planned.join(SPEC), &key.folder(&input.artifacts).join(SPEC))?;
    Ok(step)
}

#[cfg(test)]
mod tests {
    use corpora_plan::Stage;
    use serde_json::json;

    use super::*;

    fn input(artifacts: &Path) -> PlanInput {
        input_of(artifacts, &["a".to_owned(), "b".to_owned()])
    }

    fn input_of(artifacts: &Path, ids: &[String]) -> PlanInput {
        let source =
            |id: &str| json!({"id": id, "url": "https://h/x", "sha256": "0".repeat(64), "license_spdx": "MIT"});
        let document =
            json!({"dataset": "d", "version": "v1", "sources": ids.iter().map(|id| source(id)).collect::<Vec<_>>()});
        let digest = spec::read_spec(&serde_json::to_vec(&document).unwrap()).unwrap().digest().unwrap();
        PlanInput { artifacts: artifacts.to_owned(), spec: Spec::Document(document), digest, until: None }
    }

    fn handed(artifacts: &Path, left_out: &[&str]) -> StepInput {
        let left_out = left_out.iter().map(|id| id.parse().unwrap()).collect();
        StepInput { artifacts: artifacts.to_owned(), traceparent: None, left_out }
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
        let step = |key: &ActivityKey| step(&handed(folder.path(), &[]), key);
        assert_eq!(step(&of_step).unwrap().arguments(), ["fetch", "--no-commit", "--source", "b"]);
        let spec = std::fs::read(of_step.folder(folder.path()).join("spec.json")).unwrap();
        assert_eq!(Spec::Document(serde_json::from_slice(&spec).unwrap()), input.spec);

        let unknown = step(&key.sibling("fetch-c").unwrap()).unwrap_err();
        assert_eq!(unknown.disposition(), Disposition::Fail, "{unknown}");
        let elsewhere = step(&ActivityKey::new("w", "other", "commit").unwrap()).unwrap_err();
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

    #[test]
    fn a_shared_step_goes_on_without_what_failed_and_each_source_alone() {
        let folder = tempfile::tempdir().unwrap();
        let key = ActivityKey::new("w", "r", ACTIVITY).unwrap();
        let ids: Vec<String> = (0..501).map(|index| format!("s{index}")).collect();
        make(&input_of(folder.path(), &ids), &key).unwrap();
        let arguments = |activity: &str, left_out: &[&str]| {
            step(&handed(folder.path(), left_out), &key.sibling(activity).unwrap())
                .map(|step| step.arguments().join(" "))
        };
        assert_eq!(arguments("extract-s0", &[]).unwrap(), "extract --source s0 --source s1 --keep-going");
        assert_eq!(arguments("extract-s0", &["s0"]).unwrap(), "extract --source s1");
        assert_eq!(arguments("alone-fetch-s1", &[]).unwrap(), "fetch --no-commit --source s1");
        assert!(matches!(arguments("extract-s0", &["s0", "s1"]), Err(PlanError::UnknownStep { .. })));
    }

    #[test]
    fn a_continued_run_takes_over_the_plan_and_closes_what_it_continues() {
        let folder = tempfile::tempdir().unwrap();
        let first = ActivityKey::new("w", "1", ACTIVITY).unwrap();
        let mut input = input(folder.path());
        let planned = make(&input, &first).unwrap();
        let second = first.of_run("2").unwrap();
        input.spec = Spec::Run("1".to_owned());
        assert_eq!(make(&input, &second).unwrap(), planned);
        assert!(first.run_folder(folder.path()).join("DONE.json").is_file());
        std::fs::remove_dir_all(first.run_folder(folder.path())).unwrap();
        assert_eq!(make(&input, &second).unwrap(), planned, "a second attempt needs the other run no more");
        let of_step = second.sibling("fetch-b").unwrap();
        assert_eq!(step(&handed(folder.path(), &[]), &of_step).unwrap().id, "fetch-b");
        input.spec = Spec::Run("..".to_owned());
        assert!(matches!(make(&input, &second), Err(PlanError::Key(_))));
    }
}
