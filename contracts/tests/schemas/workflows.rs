//! What corpora-worker says.

use corpora_contracts::ids::Digest;
use corpora_contracts::workflow::{
    Answer, SourceStatus, StepCounts, StepError, StepProgress, StepReport, StepStatus, WorkflowAnswer, WorkflowReport,
    WorkflowState, WorkflowStatus, WorkflowSummary,
};

use crate::agreement::{Unknown, agree};
use crate::{JANUARY, TINY};

const ID: &str = "corpus-build-small-v1";
const RUN: &str = "019f0000-0000-7000-8000-000000000000";

fn step(id: &str, stage: &str, status: StepStatus, attempts: u32) -> StepReport {
    let (step, stage) = (id.to_owned(), stage.to_owned());
    StepReport { step, stage, status, attempts, sources: None, error: None, progress: None, retry_at: None }
}

/// Source `far`, whose server is down, and which shares its step.
fn retried() -> StepReport {
    let error = StepError { kind: "ExitCode75".into(), message: "source `far`: 503".into() };
    let progress = StepProgress { source: "far".into(), done: 20, total: Some(54), unit: "bytes".into() };
    StepReport {
        sources: Some(24),
        error: Some(error),
        progress: Some(progress),
        retry_at: Some(JANUARY.parse().unwrap()),
        ..step("fetch-far", "fetch", StepStatus::Running, 3)
    }
}

#[test]
fn workflow_answer() {
    let answer = |status| WorkflowAnswer { workflow_id: ID.into(), run_id: RUN.into(), status };
    agree("workflow-answer", Unknown::Ignored, &[("", answer(Answer::Started)), (".pause", answer(Answer::Pausing))]);
    for status in [Answer::Joined, Answer::Resuming, Answer::Cancelling] {
        let schema = crate::agreement::read_json(&crate::root().join("schemas/workflow-answer.schema.json"));
        assert!(jsonschema::is_valid(&schema, &serde_json::to_value(answer(status)).unwrap()), "{status:?}");
    }
}

#[test]
fn workflow_summary() {
    let summary = |report| WorkflowSummary {
        stage: "build".into(),
        dataset: "small".parse().unwrap(),
        version: "v1".parse().unwrap(),
        workflow_id: ID.into(),
        run_id: RUN.into(),
        report,
    };
    let done = WorkflowReport {
        ok: true,
        code: 0,
        dataset_dir: "corpus/datasets/small/v1".into(),
        n_docs: 2,
        clock: Some("fixed".into()),
        planned: 2,
        steps: vec![step("fetch-tiny", "fetch", StepStatus::Done, 1), step("commit", "fetch", StepStatus::Done, 1)],
    };
    let failed = StepReport { status: StepStatus::Failed, ..retried() };
    let failed = WorkflowReport { code: 75, planned: 5, steps: vec![failed], ..WorkflowReport::default() };
    agree("workflow-summary", Unknown::Ignored, &[("", summary(done)), (".failed", summary(failed))]);
}

#[test]
fn workflow_status() {
    let running = WorkflowStatus {
        workflow_id: ID.into(),
        run_id: RUN.into(),
        dataset: "small".parse().unwrap(),
        version: "v1".parse().unwrap(),
        config_digest: TINY.parse::<Digest>().unwrap(),
        state: WorkflowState::Running,
        stage: "fetch".into(),
        paused: true,
        started_at: JANUARY.parse().unwrap(),
        ended_at: None,
        code: None,
        answered: true,
        counts: StepCounts { total: 6, running: 1, done: 1, failed: 0, cancelled: 0 },
        sources: vec![SourceStatus {
            source: "tiny".parse().unwrap(),
            stage: "fetch".into(),
            status: StepStatus::Done,
        }],
        steps: vec![step("fetch-tiny", "fetch", StepStatus::Done, 1), retried()],
    };
    let ended = WorkflowStatus {
        state: WorkflowState::TimedOut,
        paused: false,
        ended_at: Some(JANUARY.parse().unwrap()),
        code: Some(75),
        ..running.clone()
    };
    agree("workflow-status", Unknown::Ignored, &[("", running), (".ended", ended)]);
}
