//! What `corpora-worker` prints of builds that an orchestrator runs.

use serde::{Deserialize, Serialize};

use crate::ids::{Digest, Name};
use crate::time::Timestamp;

/// What `start`, `pause`, `resume` and `cancel` print: what was asked of which run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowAnswer {
    /// `corpus-build-<dataset>-<version>`.
    pub workflow_id: String,
    /// The orchestrator's id of the run.
    pub run_id: String,
    /// What becomes of it.
    pub status: Answer,
}

/// What becomes of a build that something was asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It is a new run.
    Started,
    /// It ran already, of the same config.
    Joined,
    /// It starts no further step; those that run go on.
    Pausing,
    /// It goes on.
    Resuming,
    /// Its steps are stopped, and it ends.
    Cancelling,
}

/// What `start --wait` prints when the build has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowSummary {
    /// Always `build`.
    pub stage: String,
    /// The dataset.
    pub dataset: Name,
    /// Its version.
    pub version: Name,
    /// As in [`WorkflowAnswer`].
    pub workflow_id: String,
    /// The run that was started or joined; one that was continued as a new run is followed.
    pub run_id: String,
    /// What became of it.
    #[serde(flatten)]
    pub report: WorkflowReport,
}

/// What became of a build: the workflow's result, and what it carries when it failed or was cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkflowReport {
    /// Whether every step is done.
    pub ok: bool,
    /// The exit code of the build.
    pub code: u8,
    /// The verified dataset relative to the artifacts root; empty when the build did not get that far.
    pub dataset_dir: String,
    /// Its documents.
    pub n_docs: u64,
    /// `fixed` when `CORPORA_CLOCK` fixed the clock of a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// How many steps the plan has; 0 when there is none.
    pub planned: u32,
    /// The steps that were due, in the order of the plan.
    pub steps: Vec<StepReport>,
}

/// What became of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReport {
    /// The step.
    pub step: String,
    /// Its stage; `plan` for the plan itself.
    pub stage: String,
    /// What became of it.
    pub status: StepStatus,
    /// Attempts that are known of; 0 when it never started.
    pub attempts: u32,
    /// How many sources share it, where it is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<u32>,
    /// Why it is not done; while it runs, why its last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// How far it is, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<StepProgress>,
    /// When its next attempt is due, while it waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
}

/// What became of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// Its turn has not come, or the build is paused.
    Waiting,
    /// It is with the workers: it runs, or waits for a free one or for its next attempt.
    Running,
    /// It succeeded.
    Done,
    /// It failed for good, or its time was up.
    Failed,
    /// It was stopped, or never started because the build was.
    Cancelled,
}

/// Why a step is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepError {
    /// `ExitCode<n>`, `Signal<n>` or `Timeout`.
    pub kind: String,
    /// The end of what the child said.
    pub message: String,
}

/// The last step event that a child told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepProgress {
    /// The source, or empty for the whole stage.
    pub source: String,
    /// How much is done.
    pub done: u64,
    /// Of how much, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Of what: `bytes`, `docs`, `sources`.
    pub unit: String,
}

/// What `status` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowStatus {
    /// As in [`WorkflowAnswer`].
    pub workflow_id: String,
    /// The latest run.
    pub run_id: String,
    /// The dataset.
    pub dataset: Name,
    /// Its version.
    pub version: Name,
    /// The config's digest.
    pub config_digest: Digest,
    /// How the run stands.
    pub state: WorkflowState,
    /// The stage that it is at, or ended at; `plan` before the first.
    pub stage: String,
    /// Whether it holds before its next step.
    pub paused: bool,
    /// When the run was started.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The exit code of a build that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u8>,
    /// Whether the build itself was asked. Without a worker that answers for it there are no steps here but those that
    /// the service knows of.
    pub answered: bool,
    /// How many steps there are, by status.
    pub counts: StepCounts,
    /// Each source that has steps of its own: the last of them.
    pub sources: Vec<SourceStatus>,
    /// The steps that were due so far, in the order of the plan.
    pub steps: Vec<StepReport>,
}

/// How a run stands with the orchestrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowState {
    /// It goes on.
    Running,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It was ended from outside, without a chance to tidy up.
    Terminated,
    /// Its time was up.
    TimedOut,
}

/// Steps by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepCounts {
    /// Steps of the plan, and those that do a source of a shared one alone.
    pub total: u32,
    /// With the workers.
    pub running: u32,
    /// Succeeded.
    pub done: u32,
    /// Failed for good.
    pub failed: u32,
    /// Stopped.
    pub cancelled: u32,
}

/// How far one source is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceStatus {
    /// The source.
    pub source: Name,
    /// The stage of its last step.
    pub stage: String,
    /// What became of that step.
    pub status: StepStatus,
}
