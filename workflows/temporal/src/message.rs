//! What travels through the orchestrator: small, whatever the size of a build, since each of these stands in the
//! workflow's history. What grows with the config lies in files below the artifacts directory.

use std::path::PathBuf;
use std::time::Duration;

use corpora_contracts::ids::{Digest, Name};
use corpora_plan::{RetryPolicy, Runs, Scope, Stage, Step, Timeouts};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
}

/// Waits that replace those of the plan, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// [`RetryPolicy::initial_interval_s`].
    pub(crate) retry_interval_s: Option<f64>,
    /// [`Timeouts::heartbeat_s`].
    pub(crate) heartbeat_s: Option<f64>,
}

impl Pace {
    /// The wait after the first attempt of a step.
    pub(crate) fn retry_interval(&self, retry: &RetryPolicy) -> Duration {
        seconds(self.retry_interval_s, retry.initial_interval_s)
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

/// A step without its sources and paths: those stand in the plan's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The step's id, and that of its activity.
    pub(crate) id: String,
    /// The type of its activity.
    pub(crate) stage: Stage,
    /// When it runs.
    pub(crate) runs: Runs,
    /// Whether it works on sources, and not on what is made of all of them.
    pub(crate) per_source: bool,
    /// The source, when it works on a single one.
    pub(crate) source: Option<Name>,
    /// How long it may take.
    pub(crate) timeouts: Timeouts,
    /// What happens when it fails.
    pub(crate) retry: RetryPolicy,
}

impl From<&Step> for Head {
    fn from(step: &Step) -> Self {
        let (per_source, source) = match &step.scope {
            Scope::Sources(sources) => (true, Some(sources).filter(|all| all.len() == 1).and_then(|all| all.first())),
            Scope::Commit | Scope::Dataset => (false, None),
        };
        Self {
            id: step.id.clone(),
            stage: step.stage,
            runs: step.runs,
            per_source,
            source: source.cloned(),
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
}

/// A step that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepOutput {
    /// The attempt that succeeded, from 1.
    pub(crate) attempt: u32,
    /// What the child printed.
    pub(crate) result: Value,
}

/// What is told of an attempt that failed, beside its type and message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepFailure {
    /// The attempt, from 1.
    pub(crate) attempt: u32,
    /// Whether it stops the other steps of its level, as a source's failure stops other sources.
    pub(crate) stops_others: bool,
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
        let short = Pace { retry_interval_s: Some(0.25), heartbeat_s: Some(3.0) };
        assert_eq!(short.retry_interval(&retry), Duration::from_millis(250));
        assert_eq!(short.heartbeat(&timeouts), Duration::from_secs(3));
        let wrong = Pace { retry_interval_s: Some(-1.0), heartbeat_s: Some(f64::NAN) };
        assert_eq!(
            (wrong.retry_interval(&retry), wrong.heartbeat(&timeouts)),
            (Duration::from_secs(1), Duration::from_secs(30))
        );
    }
}
