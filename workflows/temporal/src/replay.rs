//! Recorded histories, replayed: a build that runs while the worker is replaced goes on only if the new code walks it as the
//! old code did. `record.rs` makes them.

mod record;

use std::path::{Path, PathBuf};

use temporalio_client::WorkflowHistory;
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;
use temporalio_common::protos::temporal::api::history::v1::{History, HistoryEvent};
use temporalio_sdk::Runtime;
use temporalio_sdk::workflow_replayer::{
    WorkflowReplayError, WorkflowReplayFailure, WorkflowReplayer, WorkflowReplayerOptions,
};

use crate::message::{Head, PlanOutput};
use crate::workflow::CorpusBuild;

/// Every shape of a build that is recorded.
const SHAPES: [&str; 8] =
    ["success", "retry", "failure", "keep-going", "cancel", "fan-out", "continued-1", "continued-2"];

fn path(shape: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/histories/{shape}.json"))
}

async fn events(shape: &str) -> Vec<HistoryEvent> {
    let path = path(shape);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    WorkflowHistory::from_json(&bytes).unwrap().into_events().await.unwrap()
}

async fn replay(events: Vec<HistoryEvent>) -> Result<(), WorkflowReplayError> {
    let options = WorkflowReplayerOptions::new().register_workflow::<CorpusBuild>().unwrap().build();
    WorkflowReplayer::new(options)?.replay_workflow(History { events }.into()).await
}

/// A runtime of the SDK, which a replay needs.
fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let _runtime = Runtime::from_current_tokio(Default::default()).unwrap();
        work.await
    })
}

/// The plan in a history, changed.
fn replan(events: &mut [HistoryEvent], change: impl FnOnce(&mut Vec<Vec<Head>>)) {
    let plans = events.iter_mut().find_map(|event| match &mut event.attributes {
        Some(Attributes::ActivityTaskCompletedEventAttributes(completed)) => completed.result.as_mut(),
        _ => None,
    });
    let payload = &mut plans.unwrap().payloads[0];
    let mut plan: PlanOutput = serde_json::from_slice(&payload.data).unwrap();
    change(&mut plan.levels);
    payload.data = serde_json::to_vec(&plan).unwrap();
}

#[test]
fn recorded_builds_are_walked_as_they_were() {
    in_runtime(async {
        for shape in SHAPES {
            if let Err(error) = replay(events(shape).await).await {
                panic!("{shape}: {error}");
            }
        }
    });
}

#[test]
fn every_recorded_history_is_replayed_and_of_no_machine() {
    let folder = path("").parent().unwrap().to_owned();
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".json", ""))
        .collect();
    found.sort_unstable();
    let mut expected = SHAPES;
    expected.sort_unstable();
    assert_eq!(found, expected);
    in_runtime(async {
        for shape in SHAPES {
            for event in events(shape).await {
                let told = format!("{event:?}");
                let identities = told.split("identity: \"").skip(1).filter_map(|rest| rest.split('"').next());
                let is_neutral = |identity: &str| identity.is_empty() || identity == record::WORKER;
                assert!(identities.into_iter().all(is_neutral) && !told.contains("/home/"), "{shape}: {told}");
            }
        }
    });
}

/// Something that is done to a plan.
type Change<'a> = &'a dyn Fn(&mut Vec<Vec<Head>>);

#[test]
fn steps_in_another_order_are_noticed() {
    in_runtime(async {
        let swap_levels = |levels: &mut Vec<Vec<Head>>| levels.swap(0, 1);
        let swap_steps = |levels: &mut Vec<Vec<Head>>| levels[0].reverse();
        let leave_out = |levels: &mut Vec<Vec<Head>>| drop(levels.remove(1));
        let changes: [(&str, Change<'_>); 4] =
            [("success", &swap_levels), ("fan-out", &swap_steps), ("success", &leave_out), ("continued-2", &leave_out)];
        for (shape, change) in changes {
            let mut events = events(shape).await;
            replan(&mut events, change);
            let error = replay(events).await.unwrap_err();
            let is_noticed = matches!(error, WorkflowReplayError::Replay(WorkflowReplayFailure::Nondeterminism { .. }));
            assert!(is_noticed, "{shape}: {error}");
        }
    });
}
