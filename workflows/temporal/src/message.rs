//! What travels through the orchestrator: small, whatever the size of a build, since each of these stands in the
//! workflow's history. What grows with the config lies in files below the artifacts directory.

use std::path::PathBuf;
use std::time::Duration;

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::workflow::WorkflowReport;
use corpora_plan::{RetryPolicy, Runs, Scope, Stage, Step, Timeouts};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::Record;

/// What a build is started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuildInput {
    /// What to build, and where.
    pub(crate) plan: PlanInput,
    /// A step that fails leaves other sources and their next stages alone.
    pub(crate) keep_going: bool,
    /// The trace that the build belongs to (W3C Trace Context).
    pub(crate) traceparent: Option<String>,
    /// What replaces the plan's own figures.
    pub(crate) pace: Pace,
    /// Whether the service knows the search attribute of the stage.
    pub(crate) searchable: bool,
    /// What earlier runs of the same build have done.
    pub(crate) carried: Option<Carried>,
}

/// What a build takes along when its history has grown long and it goes on as a new run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// How many levels have been walked.
    pub(crate) levels: usize,
    /// What became of their steps.
    pub(crate) record: Record,
    /// Whether the build holds before its next step.
    pub(crate) paused: bool,
}

/// What the plan is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanInput {
    /// The artifacts directory, absolute; one file system for all workers of a task queue.
    pub(crate) artifacts: PathBuf,
    /// The spec of every step.
    pub(crate) spec: Spec,
    /// The config's digest: what `spec` has to come to.
    pub(crate) digest: Digest,
    /// The last stage to run; all of them without it.
    pub(crate) until: Option<Stage>,
}

/// Where the spec is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Spec {
    /// Here.
    Document(Value),
    /// In this file below the artifacts directory, since it is too large for a message.
    File(PathBuf),
    /// With the plan, in the files of the run that this one continues.
    Run(String),
}

/// What replaces the figures of the plan; times in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// [`RetryPolicy::initial_interval_s`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_interval_s: Option<f64>,
    /// [`RetryPolicy::backoff_coefficient`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_backoff: Option<f64>,
    /// [`RetryPolicy::maximum_interval_s`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_cap_s: Option<f64>,
    /// [`RetryPolicy::maximum_attempts`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_attempts: Option<u32>,
    /// [`Timeouts::schedule_to_close_s`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step_timeout_s: Option<f64>,
    /// [`Timeouts::heartbeat_s`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) heartbeat_s: Option<f64>,
    /// How many steps are with the workers at a time; a whole level without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parallel: Option<usize>,
    /// After how many steps the build goes on as a new run; when the service suggests it without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) continue_after: Option<usize>,
}

impl Pace {
    /// The wait after the first attempt of a step.
    pub(crate) fn retry_interval(&self, retry: &RetryPolicy) -> Duration {
        seconds(self.retry_interval_s, retry.initial_interval_s)
    }

    /// The longest wait between two attempts: never shorter than the first one.
    pub(crate) fn retry_cap(&self, retry: &RetryPolicy) -> Duration {
        seconds(self.retry_cap_s, retry.maximum_interval_s).max(self.retry_interval(retry))
    }

    /// The factor by which the wait grows.
    pub(crate) fn retry_backoff(&self, retry: &RetryPolicy) -> f64 {
        self.retry_backoff.unwrap_or_else(|| u32::try_from(retry.backoff_coefficient).unwrap_or(u32::MAX).into())
    }

    /// The most attempts; 0 for no limit.
    pub(crate) fn retry_attempts(&self, retry: &RetryPolicy) -> u32 {
        let planned = retry.maximum_attempts.map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX));
        self.retry_attempts.unwrap_or(planned)
    }

    /// How long a step may take with all its attempts.
    pub(crate) fn step_timeout(&self, timeouts: &Timeouts) -> Duration {
        seconds(self.step_timeout_s, timeouts.schedule_to_close_s)
    }

    /// How long a step's attempt may give no sign of life.
    pub(crate) fn heartbeat(&self, timeouts: &Timeouts) -> Duration {
        seconds(self.heartbeat_s, timeouts.heartbeat_s)
    }
}

fn seconds(instead: Option<f64>, planned: u64) -> Duration {
    let instead = instead.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    instead.unwrap_or(Duration::from_secs(planned))
}

/// The plan, as far as its driver has to know it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanOutput {
    /// Each level needs all levels before it.
    pub(crate) levels: Vec<Vec<Head>>,
}

/// A step without its paths and, but for the first, its sources: those stand in the plan's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The step's id, and that of its activity.
    pub(crate) id: String,
    /// The type of its activity.
    pub(crate) stage: Stage,
    /// When it runs.
    #[serde(default = "after_success", skip_serializing_if = "is_after_success")]
    pub(crate) runs: Runs,
    /// The first of its sources; none when it works on what is made of all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first: Option<Name>,
    /// How many sources share it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) sources: u32,
    /// How long it may take, unless it is what most may.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) timeouts: Timeouts,
    /// What happens when it fails, unless it is what happens to most.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) retry: RetryPolicy,
}

fn after_success() -> Runs {
    Runs::AfterSuccess
}

fn is_after_success(runs: &Runs) -> bool {
    *runs == Runs::AfterSuccess
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Head {
    /// Whether several sources share it.
    pub(crate) fn is_shared(&self) -> bool {
        self.sources > 1
    }

    /// The step that does one of its sources alone.
    pub(crate) fn alone(&self, source: &Name) -> Self {
        Self { id: Step::alone_id(self.stage, source), first: Some(source.clone()), sources: 1, ..self.clone() }
    }

    /// What people read beside the activity.
    pub(crate) fn summary(&self) -> String {
        match (&self.first, self.sources) {
            (Some(source), 0 | 1) => format!("{} {source}", self.stage),
            (Some(source), sources) => format!("{} {source} and {} more", self.stage, sources - 1),
            (None, _) => self.id.clone(),
        }
    }
}

impl From<&Step> for Head {
    fn from(step: &Step) -> Self {
        let sources = match &step.scope {
            Scope::Sources(sources) => sources.as_slice(),
            Scope::Commit | Scope::Dataset => &[],
        };
        Self {
            id: step.id.clone(),
            stage: step.stage,
            runs: step.runs,
            first: sources.first().cloned(),
            sources: u32::try_from(sources.len()).unwrap_or(u32::MAX),
            timeouts: step.timeouts,
            retry: step.retry.clone(),
        }
    }
}

/// What a step's activity is given beside its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StepInput {
    /// The artifacts directory, absolute.
    pub(crate) artifacts: PathBuf,
    /// The build's trace.
    pub(crate) traceparent: Option<String>,
    /// Sources of a shared step that failed in an earlier stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<Name>,
}

/// A step that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepOutput {
    /// The attempt that succeeded, from 1.
    pub(crate) attempt: u32,
    /// What the child printed.
    pub(crate) result: Value,
}

/// How a build ended, for those who tidy up behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CloseInput {
    /// The artifacts directory, absolute.
    pub(crate) artifacts: PathBuf,
    /// The exit code of the build.
    pub(crate) code: u8,
}

/// What the workflow answers when it is asked how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The stage, or `plan`.
    pub(crate) stage: String,
    /// Whether it holds before its next step.
    pub(crate) paused: bool,
    /// What became of its steps so far.
    pub(crate) report: WorkflowReport,
}

/// What is told of an attempt that failed, beside its type and message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepFailure {
    /// The attempt, from 1.
    pub(crate) attempt: u32,
    /// Whether it stops the other steps of its level, as a source's failure stops other sources.
    pub(crate) stops_others: bool,
    /// The sources that were not done, where the child told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failed: Vec<Name>,
    /// Those of them that are not known to be wrong for good: all but the quarantined ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<Name>,
    /// What the child printed.
    pub(crate) result: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_the_plans_unless_given() {
        let (retry, timeouts) = (RetryPolicy::default(), Timeouts::DEFAULT);
        let planned = Pace::default();
        assert_eq!(planned.retry_interval(&retry), Duration::from_secs(1));
        assert_eq!(planned.heartbeat(&timeouts), Duration::from_secs(30));
        assert_eq!(planned.retry_cap(&retry), Duration::from_secs(60));
        assert_eq!(planned.step_timeout(&timeouts), Duration::from_secs(7 * 24 * 60 * 60));
        assert_eq!((planned.retry_backoff(&retry), planned.retry_attempts(&retry)), (2.0, 0));
        let short = Pace {
            retry_interval_s: Some(0.25),
            retry_backoff: Some(1.5),
            retry_cap_s: Some(2.0),
            retry_attempts: Some(3),
            step_timeout_s: Some(9.5),
            heartbeat_s: Some(3.0),
            ..planned
        };
        assert_eq!(short.retry_interval(&retry), Duration::from_millis(250));
        assert_eq!(short.retry_cap(&retry), Duration::from_secs(2));
        assert_eq!(short.step_timeout(&timeouts), Duration::from_millis(9500));
        assert_eq!((short.retry_backoff(&retry), short.retry_attempts(&retry)), (1.5, 3));
        assert_eq!(short.heartbeat(&timeouts), Duration::from_secs(3));
        let long = Pace { retry_interval_s: Some(90.0), ..planned };
        assert_eq!(long.retry_cap(&retry), Duration::from_secs(90), "the cap is no shorter than the first wait");
        let wrong = Pace { retry_interval_s: Some(-1.0), heartbeat_s: Some(f64::NAN), ..planned };
        assert_eq!(
            (wrong.retry_interval(&retry), wrong.heartbeat(&timeouts)),
            (Duration::from_secs(1), Duration::from_secs(30))
        );
    }

    #[test]
    fn what_travels_of_a_plan_is_small() {
        let mut text = "dataset = \"d\"\nversion = \"v1\"\n".to_owned();
        for index in 0..1001 {
            let (id, sha256) = (format!("source-{index}"), "0".repeat(64));
            text +=
                &format!("[[sources]]\nid = \"{id}\"\nurl = \"{id}\"\nsha256 = \"{sha256}\"\nlicense_spdx = \"MIT\"\n");
        }
        let config = corpora_contracts::config::parse_toml(&text).unwrap();
        let plan = corpora_plan::steps(&corpora_contracts::config::validate(&config).config.unwrap());
        let levels: Vec<Vec<Head>> = plan.levels.iter().map(|level| level.iter().map(Head::from).collect()).collect();
        let output = PlanOutput { levels };
        let json = serde_json::to_string(&output).unwrap();
        assert!(json.len() < 110 * 1003, "{} bytes for 1,003 steps", json.len());
        assert_eq!(serde_json::from_str::<PlanOutput>(&json).unwrap(), output);
        let heads: Vec<&Head> = output.levels.iter().flatten().collect();
        assert_eq!((heads[0].sources, heads[499].sources), (3, 2));
        assert_eq!(heads[0].summary(), "fetch source-0 and 2 more");
        assert_eq!(heads[0].alone(&"source-2".parse().unwrap()).summary(), "fetch source-2");
        assert_eq!((heads[500].summary(), heads[500].sources), ("commit".to_owned(), 0));
    }
}
