//! A build as it goes on, and what became of it, step by step: pure.

use std::collections::BTreeMap;

use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::workflow::{StepError, StepReport, StepStatus, WorkflowReport};
use corpora_plan::{Runs, Stage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Head;

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
        /// The attempt that was; 0 when it never started.
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
        /// The sources that were not done, where that is known.
        failed: Vec<Name>,
        /// Those of them that are not known to be wrong for good.
        open: Vec<Name>,
    },
}

/// How much of a message stands in the report, in bytes. The first failure's message is the workflow's own, and whole.
const MESSAGE: usize = 1024;

/// How many bytes the messages of a report have together; what fails later is told by its kind alone. One report has to fit
/// into one message of the orchestrator.
const MESSAGES: usize = 256 * 1024;

/// A step that is due.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Due {
    /// The step.
    pub(crate) head: Head,
    /// The first source of the share that it works on, also when it does another one of it alone.
    pub(crate) share: Option<Name>,
    /// Sources of the share that failed in an earlier stage.
    pub(crate) left_out: Vec<Name>,
}

/// Which sources of a share have failed: their next stages are not tried, so that their own code stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Lost {
    /// All of them, as far as anybody can tell.
    All,
    /// These.
    Some(Vec<Name>),
}

/// A build as it goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    first: Option<StepError>,
    lost: BTreeMap<Name, Lost>,
    messages: usize,
    report: WorkflowReport,
}

impl Record {
    /// The steps of a level that are due, in its order. As the local build has it: after a failure only steps that always
    /// run still do; with `keep_going` other sources and their next stages too, but the dataset as a whole is not made
    /// without the one that failed.
    pub(crate) fn due(&mut self, level: &[Head], cancelled: bool, keep_going: bool) -> Vec<Due> {
        let code = self.code();
        let goes_on = |head: &&Head| {
            let in_spite = keep_going && code != ExitCode::Cancelled && head.first.is_some();
            head.runs == Runs::Always || (!cancelled && (code == ExitCode::Success || in_spite))
        };
        let due: Vec<Due> = level.iter().filter(goes_on).filter_map(|head| self.what_is_left(head)).collect();
        if cancelled && due.len() < level.len() {
            self.cancel();
        }
        due
    }

    fn what_is_left(&self, head: &Head) -> Option<Due> {
        let share = head.first.clone();
        let left_out = match share.as_ref().and_then(|share| self.lost.get(share)) {
            None => Vec::new(),
            Some(Lost::All) => return None,
            Some(Lost::Some(sources)) => sources.clone(),
        };
        let is_tried = head.first.is_none() || left_out.len() < usize::try_from(head.sources).unwrap_or(usize::MAX);
        is_tried.then(|| Due { head: head.clone(), share, left_out })
    }

    /// Notes how many steps the plan has.
    pub(crate) fn plan(&mut self, steps: usize) {
        self.report.planned = u32::try_from(steps).unwrap_or(u32::MAX);
    }

    /// Takes a step into the report, after those that are there.
    pub(crate) fn add(&mut self, head: &Head) {
        let sources = head.is_shared().then_some(head.sources);
        self.report.steps.push(StepReport { sources, ..step(&head.id, head.stage.as_str()) });
    }

    /// Notes that a step is with the workers.
    pub(crate) fn start(&mut self, step: &str) {
        if let Some(report) = self.step(step) {
            report.status = StepStatus::Running;
        }
    }

    /// Notes how a step ended.
    pub(crate) fn end(&mut self, due: &Due, ended: Ended) {
        self.give_up(due, &ended);
        if let Ended::Done { result, .. } = &ended {
            self.learn(due.head.stage, result);
        }
        self.note(&due.head.id, ended);
    }

    /// Notes that there is no plan.
    pub(crate) fn without_plan(&mut self, activity: &str, ended: Ended) {
        self.report.steps.push(step(activity, activity));
        self.note(activity, ended);
    }

    fn note(&mut self, step: &str, ended: Ended) {
        let (status, attempts, code, error) = match ended {
            Ended::Done { attempt, .. } => (StepStatus::Done, attempt, ExitCode::Success, None),
            Ended::Cancelled { attempt } => (StepStatus::Cancelled, attempt, ExitCode::Cancelled, None),
            Ended::Failed { attempt, code, error, .. } => (StepStatus::Failed, attempt, code, Some(error)),
        };
        self.report.code = self.code().worse(code).code();
        if let (None, Some(error)) = (&self.first, &error) {
            self.first = Some(error.clone());
        }
        let error = error.map(|StepError { kind, message }| StepError { kind, message: self.short(&message) });
        if let Some(report) = self.step(step) {
            (report.status, report.attempts, report.error) = (status, attempts, error);
        }
    }

    /// The end of a message, as long as there is room.
    fn short(&mut self, message: &str) -> String {
        let kept = if self.messages < MESSAGES { end_of(message) } else { "" };
        self.messages += kept.len();
        kept.to_owned()
    }

    fn step(&mut self, step: &str) -> Option<&mut StepReport> {
        self.report.steps.iter_mut().rfind(|report| report.step == step)
    }

    /// Notes which sources have failed with this step; those that are done alone next have a second chance.
    fn give_up(&mut self, due: &Due, ended: &Ended) {
        let (Some(share), Ended::Failed { failed, .. }) = (&due.share, ended) else { return };
        let again = alone(due, ended);
        let has_chance = |source: &&Name| again.iter().any(|due| due.head.first.as_ref() == Some(source));
        let lost = match &due.head.first {
            Some(source) if !due.head.is_shared() => Lost::Some(vec![source.clone()]),
            _ if failed.is_empty() => Lost::All,
            _ => Lost::Some(failed.iter().filter(|source| !has_chance(source)).cloned().collect()),
        };
        match (self.lost.entry(share.clone()).or_insert_with(|| Lost::Some(Vec::new())), lost) {
            (all, Lost::All) => *all = Lost::All,
            (Lost::Some(before), Lost::Some(more)) => before.extend(more),
            (Lost::All, Lost::Some(_)) => {}
        }
    }

    /// Notes that the build was asked to stop.
    pub(crate) fn cancel(&mut self) {
        self.report.code = self.code().worse(ExitCode::Cancelled).code();
    }

    /// The code of the build so far.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::of(self.report.code).unwrap_or(ExitCode::Retry)
    }

    /// The first failure, whole.
    pub(crate) fn first_failure(&self) -> Option<&StepError> {
        self.first.as_ref()
    }

    /// What became of the build so far.
    pub(crate) fn report(&self) -> WorkflowReport {
        WorkflowReport { ok: self.code() == ExitCode::Success, ..self.report.clone() }
    }

    /// What a step's result says about the build as a whole.
    fn learn(&mut self, stage: Stage, result: &Value) {
        if let Some(clock) = result["clock"].as_str() {
            self.report.clock = Some(clock.to_owned());
        }
        if stage == Stage::VerifyLedger {
            let dataset = &result["entries"][0];
            self.report.dataset_dir = dataset["path"].as_str().unwrap_or_default().to_owned();
            self.report.n_docs = dataset["n_docs"].as_u64().unwrap_or_default();
        }
    }
}

/// A step of which nothing is known yet.
pub(crate) fn step(id: &str, stage: &str) -> StepReport {
    StepReport {
        step: id.to_owned(),
        stage: stage.to_owned(),
        status: StepStatus::Waiting,
        attempts: 0,
        sources: None,
        error: None,
        progress: None,
        retry_at: None,
    }
}

/// The end of a message, at a character.
pub(crate) fn end_of(message: &str) -> &str {
    &message[message.ceil_char_boundary(message.len().saturating_sub(MESSAGE))..]
}

/// The sources of a shared step that are to be done alone, now that it failed for good: one exit code stands for all of
/// them, and 65 says only that one of them is wrong; each of the others has a code of its own coming.
///
/// What the child printed does not tell which of its failures may pass, so those that will not fail once more. The
/// quarantined ones are known, and left alone.
pub(crate) fn alone(due: &Due, ended: &Ended) -> Vec<Due> {
    let Ended::Failed { code: ExitCode::Data, open, .. } = ended else { return Vec::new() };
    let of_it = open.iter().filter(|_| due.head.is_shared());
    of_it.map(|source| Due { head: due.head.alone(source), share: due.share.clone(), left_out: Vec::new() }).collect()
}

#[cfg(test)]
mod tests;
