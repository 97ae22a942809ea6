//! What became of a build, step by step: pure.

use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use corpora_plan::Stage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What became of a build: the workflow's result, and what it carries when it failed or was cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Whether every step is done.
    pub(crate) ok: bool,
    /// The exit code of the build.
    pub(crate) code: u8,
    /// The verified dataset relative to the artifacts root; empty when the build did not get that far.
    pub(crate) dataset_dir: String,
    /// Its documents.
    pub(crate) n_docs: u64,
    /// `fixed` when `CORPORA_CLOCK` fixed the clock of a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<String>,
    /// The steps that were due, in the order of the plan.
    pub(crate) steps: Vec<StepReport>,
}

/// What became of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StepReport {
    /// The step.
    pub(crate) step: String,
    /// Its stage; `plan` for the plan itself.
    pub(crate) stage: String,
    /// What became of it.
    pub(crate) status: Status,
    /// Attempts that are known of; 0 when it never started.
    pub(crate) attempts: u32,
    /// Why it is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<StepError>,
}

/// What became of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// It succeeded.
    Done,
    /// It failed for good, or its time was up.
    Failed,
    /// It was stopped.
    Cancelled,
}

/// Why a step is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StepError {
    /// `ExitCode<n>`, `Signal<n>` or `Timeout`.
    pub(crate) kind: String,
    /// The end of what the child said.
    pub(crate) message: String,
}

/// How one step ended, as the workflow sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With success.
    Done {
        /// The attempt that succeeded.
        attempt: u32,
        /// What the child printed.
        result: Value,
    },
    /// It was stopped.
    Cancelled {
        /// The attempt that was.
        attempt: u32,
    },
    /// For good.
    Failed {
        /// The last attempt.
        attempt: u32,
        /// Its code for the build.
        code: ExitCode,
        /// Type and message.
        error: StepError,
        /// Whether the other steps of the level are to be stopped.
        stops_others: bool,
    },
}

/// How much of a message stands in the report, in bytes: one for each step must fit into one message of the
/// orchestrator. The first failure's message is the workflow's own, and whole.
const MESSAGE: usize = 1024;

/// A build as it goes on.
#[derive(Debug, Default)]
pub(crate) struct Record {
    code: Option<ExitCode>,
    first: Option<StepError>,
    failed: Vec<Name>,
    report: Report,
}

impl Record {
    /// Notes how a step ended; `stage` is the type of its activity.
    pub(crate) fn note(&mut self, step: &str, stage: &str, ended: Ended) {
        let (status, attempts, code, error) = match ended {
            Ended::Done { attempt, result } => {
                self.learn(stage, &result);
                (Status::Done, attempt, ExitCode::Success, None)
            }
            Ended::Cancelled { attempt } => (Status::Cancelled, attempt, ExitCode::Cancelled, None),
            Ended::Failed { attempt, code, error, .. } => (Status::Failed, attempt, code, Some(error)),
        };
        self.code = Some(self.code().worse(code));
        if let (None, Some(error)) = (&self.first, &error) {
            self.first = Some(error.clone());
        }
        let error = error.map(|StepError { kind, message }| StepError { kind, message: end_of(&message).to_owned() });
        let (step, stage) = (step.to_owned(), stage.to_owned());
        self.report.steps.push(StepReport { step, stage, status, attempts, error });
    }

    /// Notes that a source failed: its next stages are not tried, so that its own code stands.
    pub(crate) fn give_up(&mut self, source: Name) {
        self.failed.push(source);
    }

    /// Whether a source has failed.
    pub(crate) fn has_given_up(&self, source: &Name) -> bool {
        self.failed.contains(source)
    }

    /// Notes that the build was asked to stop.
    pub(crate) fn cancel(&mut self) {
        self.code = Some(self.code().worse(ExitCode::Cancelled));
    }

    /// The code of the build so far.
    pub(crate) fn code(&self) -> ExitCode {
        self.code.unwrap_or(ExitCode::Success)
    }

    /// The first failure, whole.
    pub(crate) fn first_failure(&self) -> Option<&StepError> {
        self.first.as_ref()
    }

    /// What became of the build.
    pub(crate) fn into_report(self) -> Report {
        let code = self.code();
        Report { ok: code == ExitCode::Success, code: code.code(), ..self.report }
    }

    /// What a step's result says about the build as a whole.
    fn learn(&mut self, stage: &str, result: &Value) {
        if let Some(clock) = result["clock"].as_str() {
            self.report.clock = Some(clock.to_owned());
        }
        if stage == Stage::VerifyLedger.as_str() {
            let dataset = &result["entries"][0];
            self.report.dataset_dir = dataset["path"].as_str().unwrap_or_default().to_owned();
            self.report.n_docs = dataset["n_docs"].as_u64().unwrap_or_default();
        }
    }
}

/// The end of a message, at a character.
fn end_of(message: &str) -> &str {
    let from = message.ceil_char_boundary(message.len().saturating_sub(MESSAGE));
    &message[from..]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn done(result: Value) -> Ended {
        Ended::Done { attempt: 1, result }
    }

    fn failed(code: ExitCode, message: &str) -> Ended {
        let error = StepError { kind: format!("ExitCode{}", code.code()), message: message.to_owned() };
        Ended::Failed { attempt: 2, code, error, stops_others: true }
    }

    #[test]
    fn a_build_is_as_good_as_its_worst_step() {
        let mut record = Record::default();
        assert_eq!(record.code(), ExitCode::Success);
        record.note("a", "fetch", done(Value::Null));
        record.note("b", "fetch", failed(ExitCode::Retry, "503"));
        record.note("c", "fetch", Ended::Cancelled { attempt: 1 });
        record.note("d", "fetch", failed(ExitCode::Data, "404"));
        record.cancel();
        assert_eq!(record.first_failure().map(|error| error.message.as_str()), Some("503"));
        let report = record.into_report();
        assert_eq!((report.ok, report.code), (false, 65));
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.contains(r#"{"step":"a","stage":"fetch","status":"done","attempts":1}"#), "{json}");
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }

    #[test]
    fn a_build_that_was_stopped_says_so() {
        let mut record = Record::default();
        record.note("a", "fetch", done(Value::Null));
        record.cancel();
        assert_eq!(record.into_report().code, 130);
    }

    #[test]
    fn a_build_tells_where_its_dataset_is() {
        let mut record = Record::default();
        record.note("fetch-a", "fetch", done(json!({"stage": "fetch", "clock": "fixed", "entries": []})));
        let entry = json!({"path": "corpus/datasets/d/v1", "n_docs": 7});
        record.note("verify-ledger", "verify-ledger", done(json!({"entries": [entry]})));
        let report = record.into_report();
        assert_eq!((report.dataset_dir.as_str(), report.n_docs), ("corpus/datasets/d/v1", 7));
        assert_eq!(report.clock.as_deref(), Some("fixed"));
    }

    #[test]
    fn a_report_holds_the_end_of_a_message() {
        let mut record = Record::default();
        let message = format!("{}end", "ü".repeat(MESSAGE));
        record.note("a", "fetch", failed(ExitCode::Data, &message));
        assert_eq!(record.first_failure().map(|error| error.message.len()), Some(message.len()));
        let report = record.into_report();
        let kept = &report.steps[0].error.as_ref().unwrap().message;
        assert!(kept.len() <= MESSAGE && kept.ends_with("üend"), "{kept}");
    }
}
