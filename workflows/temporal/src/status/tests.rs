use corpora_contracts::workflow::StepStatus::{Cancelled, Done, Failed, Running};
use temporalio_common::protos::temporal::api::common::v1::{ActivityType, Payload, Payloads};
use temporalio_common::protos::temporal::api::failure::v1::{ApplicationFailureInfo, TimeoutFailureInfo};

use super::*;

fn step(id: &str, stage: &str, status: StepStatus) -> StepReport {
    StepReport { status, ..report::step(id, stage) }
}

fn failed(info: FailureInfo, message: &str) -> Failure {
    Failure { message: message.to_owned(), failure_info: Some(info), ..Default::default() }
}

#[test]
fn what_the_service_knows_of_a_step_is_added() {
    let mut steps = vec![step("fetch-a", "fetch", Running)];
    let event =
        br#"{"ts":1.5,"attempt":3,"kind":"step","stage":"fetch","source":"a","done":20,"total":54,"unit":"bytes"}"#;
    let heartbeat = Payload { data: event.to_vec(), ..Default::default() };
    let info = ApplicationFailureInfo { r#type: "ExitCode75".to_owned(), ..Default::default() };
    let mut pending = PendingActivityInfo {
        activity_id: "fetch-a".to_owned(),
        activity_type: Some(ActivityType { name: "fetch".to_owned() }),
        attempt: 3,
        heartbeat_details: Some(Payloads { payloads: vec![heartbeat] }),
        last_failure: Some(failed(FailureInfo::ApplicationFailureInfo(info), "error: 503")),
        ..Default::default()
    };
    update(&mut steps, &pending);
    let progress = StepProgress { source: "a".to_owned(), done: 20, total: Some(54), unit: "bytes".to_owned() };
    let error = StepError { kind: "ExitCode75".to_owned(), message: "error: 503".to_owned() };
    assert_eq!((steps[0].attempts, &steps[0].progress, &steps[0].error), (3, &Some(progress), &Some(error)));

    pending.activity_id = "plan".to_owned();
    pending.activity_type = None;
    pending.heartbeat_details = None;
    pending.last_failure = Some(failed(FailureInfo::TimeoutFailureInfo(TimeoutFailureInfo::default()), "lost"));
    update(&mut steps, &pending);
    let told: Vec<_> = steps.iter().map(|step| (step.step.as_str(), step.status)).collect();
    assert_eq!(told, [("fetch-a", Running), ("plan", Running)], "a step that the build did not tell of");
    assert_eq!(steps[1].error.as_ref().map(|error| error.kind.as_str()), Some("Timeout"));
}

#[test]
fn sources_are_at_their_last_step() {
    let shared = StepReport { sources: Some(2), ..step("fetch-x", "fetch", Failed) };
    let steps = [
        step("fetch-a", "fetch", Done),
        step("fetch-extract-b", "fetch", Failed),
        shared,
        step("alone-fetch-y", "fetch", Done),
        step("commit", "fetch", Done),
        step("extract-a", "extract", Running),
        step("store", "store", Cancelled),
    ];
    let told = sources(&steps);
    let told: Vec<_> = told.iter().map(|at| (at.source.as_str(), at.stage.as_str(), at.status)).collect();
    assert_eq!(told, [("a", "extract", Running), ("extract-b", "fetch", Failed), ("y", "fetch", Done)]);
    let expected = StepCounts { total: 10, running: 1, done: 3, failed: 2, cancelled: 1 };
    assert_eq!(counts(&steps, 9), expected);
    assert_eq!(counts(&steps, 0).total, 7, "what is there is counted, plan or not");
}

#[test]
fn a_status_is_told_to_people() {
    let status = WorkflowStatus {
        workflow_id: "corpus-build-d-v1".to_owned(),
        run_id: "r".to_owned(),
        dataset: "d".parse().unwrap(),
        version: "v1".parse().unwrap(),
        config_digest: Digest::of(b""),
        state: WorkflowState::Running,
        stage: "fetch".to_owned(),
        paused: true,
        started_at: timestamp(UNIX_EPOCH + std::time::Duration::from_millis(1500)).unwrap(),
        ended_at: None,
        code: None,
        answered: true,
        counts: StepCounts { total: 5, running: 1, ..StepCounts::default() },
        sources: Vec::new(),
        steps: vec![step("fetch-a", "fetch", Running)],
    };
    let text = for_people(&status);
    assert!(text.starts_with("d v1: running, paused, at fetch\n0 of 5 steps done, 1 running, 0 failed"), "{text}");
    assert!(text.contains("started 1970-01-01T00:00:01Z\nrun r") && text.contains("fetch-a"), "{text}");
    let ended = WorkflowStatus {
        state: WorkflowState::TimedOut,
        paused: false,
        code: Some(75),
        ended_at: Some(Timestamp::EPOCH),
        ..status
    };
    assert!(for_people(&ended).starts_with("d v1: timed_out with 75, at fetch\n"), "{}", for_people(&ended));
}
