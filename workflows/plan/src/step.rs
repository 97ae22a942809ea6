//! One step: a stage as a child process, what it works on, and what the driver owes it.

use std::fmt;

use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use serde::{Deserialize, Serialize};

/// A stage that a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Pinned files in, raw parts and a licensed ledger out.
    Fetch,
    /// Raw documents in, normalised documents out.
    Extract,
    /// Documents in, a staged dataset out.
    Store,
    /// A staged dataset in, a published one out.
    VerifyLedger,
}

impl Stage {
    /// Every stage in the order of a build.
    pub const ALL: &'static [Self] = &[Self::Fetch, Self::Extract, Self::Store, Self::VerifyLedger];

    /// The stage's verb on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Extract => "extract",
            Self::Store => "store",
            Self::VerifyLedger => "verify-ledger",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a step works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// These sources, in config order. When there are several, one that fails does not stop the others.
    Sources(Vec<Name>),
    /// The ledger rows of every source.
    Commit,
    /// The dataset as a whole.
    Dataset,
}

/// When a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runs {
    /// When every step of the levels before has succeeded.
    AfterSuccess,
    /// When every step of the levels before has ended, however.
    Always,
}

/// One run of one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Unique in its plan, and a segment of an idempotency key: `[A-Za-z0-9._-]+`.
    pub id: String,
    /// What runs.
    pub stage: Stage,
    /// On what.
    pub scope: Scope,
    /// When.
    pub runs: Runs,
    /// What the step may read under the artifacts directory: a path, or a folder and `/**` for all below it. What is
    /// outside (the network, local files) is what the config names.
    pub reads: Vec<String>,
    /// What the step may write there, in the same form; it may read these as well.
    pub writes: Vec<String>,
    /// How long the step may take.
    pub timeouts: Timeouts,
    /// What happens when it fails.
    pub retry: RetryPolicy,
}

/// What the id of such a step starts with; no stage is called so.
const ALONE: &str = "alone";

impl Step {
    /// The same step without some of its sources; none when it would be left with none.
    #[must_use]
    pub fn without(&self, left_out: &[Name]) -> Option<Self> {
        let Scope::Sources(sources) = &self.scope else { return Some(self.clone()) };
        let left: Vec<Name> = sources.iter().filter(|id| !left_out.contains(id)).cloned().collect();
        (!left.is_empty()).then(|| Self { scope: Scope::Sources(left), ..self.clone() })
    }

    /// The id of the step that does one source of this one alone.
    #[must_use]
    pub fn alone_id(stage: Stage, source: &Name) -> String {
        format!("{ALONE}-{stage}-{source}")
    }

    /// The source that a step with this id does alone; none when the id is no such step's.
    #[must_use]
    pub fn source_alone(stage: Stage, id: &str) -> Option<Name> {
        let of_stage = id.strip_prefix(ALONE)?.strip_prefix('-')?.strip_prefix(stage.as_str())?;
        of_stage.strip_prefix('-')?.parse().ok()
    }

    /// The step that does one source of this one alone: what is shared ends with one exit code, and when that is final, a
    /// source that might still succeed needs an exit code of its own. None when the source is not of this step.
    #[must_use]
    pub fn alone(&self, source: &Name) -> Option<Self> {
        let Scope::Sources(sources) = &self.scope else { return None };
        let scope = Scope::Sources(vec![source.clone()]);
        sources.contains(source).then(|| Self { id: Self::alone_id(self.stage, source), scope, ..self.clone() })
    }

    /// The arguments of `corpora` that run this step, without those that say where config and artifacts are.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![self.stage.to_string()];
        match &self.scope {
            Scope::Commit => arguments.push("--commit".to_owned()),
            Scope::Dataset => {}
            Scope::Sources(sources) => {
                if self.stage == Stage::Fetch {
                    arguments.push("--no-commit".to_owned());
                }
                arguments.extend(sources.iter().flat_map(|id| ["--source".to_owned(), id.to_string()]));
                if sources.len() > 1 {
                    arguments.push("--keep-going".to_owned());
                }
            }
        }
        arguments
    }
}

/// How long a step may take, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// From the moment the step is due to its end, all attempts and the waits between them included.
    pub schedule_to_close_s: u64,
    /// Without a sign of life for this long, an attempt counts as lost and the next one starts.
    pub heartbeat_s: u64,
}

impl Timeouts {
    /// A week for outages of others, half a minute for a lost worker.
    pub const DEFAULT: Self = Self { schedule_to_close_s: 7 * 24 * 60 * 60, heartbeat_s: 30 };
}

/// What an orchestrator does after a failed attempt; the local build leaves it to its caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// The wait after the first attempt, in seconds.
    pub initial_interval_s: u64,
    /// The wait grows by this factor.
    pub backoff_coefficient: u64,
    /// The longest wait, in seconds.
    pub maximum_interval_s: u64,
    /// The most attempts; none for no limit but [`Timeouts::schedule_to_close_s`].
    pub maximum_attempts: Option<u64>,
    /// The exit codes that no attempt follows.
    pub final_exit_codes: Vec<u8>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            initial_interval_s: 1,
            backoff_coefficient: 2,
            maximum_interval_s: 60,
            maximum_attempts: None,
            final_exit_codes: vec![ExitCode::Usage.code(), ExitCode::Data.code()],
        }
    }
}
