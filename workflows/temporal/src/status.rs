//! `corpora-worker status`: how far a build is, from what it answers itself and what the service knows of its steps.

use std::time::{SystemTime, UNIX_EPOCH};

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::progress::{Event, Kind};
use corpora_contracts::time::Timestamp;
use corpora_contracts::workflow::{
    SourceStatus, StepCounts, StepError, StepProgress, StepReport, StepStatus, WorkflowReport, WorkflowState,
    WorkflowStatus,
};
use corpora_plan::{Stage, Step};
use temporalio_client::{WorkflowGetResultOptions, WorkflowQueryOptions};
use temporalio_common::protos::temporal::api::failure::v1::Failure;
use temporalio_common::protos::temporal::api::failure::v1::failure::FailureInfo;
use temporalio_common::protos::temporal::api::workflow::v1::PendingActivityInfo;

use crate::failure::chain;
use crate::find::{self, FindError, Found};
use crate::message::Progress;
use crate::output::{self, Output};
use crate::service::ServiceError;
use crate::workflow::CorpusBuild;
use crate::{labels, plan, report, wait};

pub(crate) async fn run(id: &str, output: Output) -> ExitCode {
    match look(id).await {
        Ok(status) => output.result(&status, || for_people(&status)),
        Err(error) => {
            tracing::error!("{}", chain(&error));
            error.disposition().into()
        }
    }
}

async fn look(id: &str) -> Result<WorkflowStatus, FindError> {
    let found = find::build(id).await?;
    let state = found.state();
    let (answered, progress) = match state {
        WorkflowState::Running => match asked(&found).await {
            Ok(progress) => (true, progress),
            Err(why) => {
                tracing::warn!("no worker answers for the build ({why}); what follows is what the service knows");
                (false, unasked(&found))
            }
        },
        _ => (true, ended(&found).await?),
    };
    Ok(status(&found, state, answered, progress)?)
}

/// What a running build answers.
async fn asked(found: &Found) -> Result<Progress, String> {
    let run = found.run();
    let answer = found.service.answer(run.query(CorpusBuild::status, (), WorkflowQueryOptions::default())).await;
    let answer = answer.map_err(|_| "none in time".to_owned())?;
    answer.map_err(|error| chain(&error))
}

/// What is known of a build that does not answer.
fn unasked(found: &Found) -> Progress {
    let stage = memo(found, labels::STAGE_MEMO).unwrap_or_else(|| plan::ACTIVITY.to_owned());
    Progress { stage, paused: false, report: WorkflowReport::default() }
}

/// What a build that has ended left: no worker is needed for that.
async fn ended(found: &Found) -> Result<Progress, FindError> {
    let options = WorkflowGetResultOptions::builder().follow_runs(false).build();
    let result = found.service.answer(found.run().get_result(options)).await?;
    let report = result.or_else(wait::told_by).map_err(FindError::from)?;
    Ok(Progress { report, ..unasked(found) })
}

fn status(
    found: &Found,
    state: WorkflowState,
    answered: bool,
    progress: Progress,
) -> Result<WorkflowStatus, ServiceError> {
    let Progress { stage, paused, report } = progress;
    let WorkflowReport { code, planned, mut steps, .. } = report;
    // A run that was ended from outside leaves some behind.
    let pending = Some(&found.told.raw().pending_activities).filter(|_| state == WorkflowState::Running);
    pending.into_iter().flatten().for_each(|pending| update(&mut steps, pending));
    let time = |time: Option<SystemTime>| time.and_then(timestamp);
    Ok(WorkflowStatus {
        workflow_id: found.told.id().to_owned(),
        run_id: found.told.run_id().to_owned(),
        dataset: label(found, labels::DATASET_MEMO)?,
        version: label(found, labels::VERSION_MEMO)?,
        config_digest: label::<Digest>(found, labels::DIGEST_MEMO)?,
        state,
        stage,
        paused,
        started_at: time(found.told.start_time()).unwrap_or(Timestamp::EPOCH),
        ended_at: time(found.told.close_time()),
        code: (state != WorkflowState::Running).then_some(code),
        answered,
        counts: counts(&steps, planned),
        sources: sources(&steps),
        steps,
    })
}

fn memo(found: &Found, key: &str) -> Option<String> {
    found.told.memo().get(key).ok().flatten()
}

/// A label that every build of ours has.
fn label<T: std::str::FromStr>(found: &Found, key: &'static str) -> Result<T, ServiceError> {
    let value = memo(found, key).and_then(|value| value.parse().ok());
    value.ok_or_else(|| ServiceError::confused("read the memo of the build")(format!("no `{key}` in it")))
}

/// Adds what the service knows of a step that is with the workers: its attempts leave nothing in the history.
fn update(steps: &mut Vec<StepReport>, pending: &PendingActivityInfo) {
    let known = steps.iter().rposition(|step| step.step == pending.activity_id);
    let at = known.unwrap_or_else(|| {
        steps.push(report::step(&pending.activity_id, activity_type(pending)));
        steps.len() - 1
    });
    let Some(step) = steps.get_mut(at) else { return };
    step.status = StepStatus::Running;
    step.attempts = u32::try_from(pending.attempt).unwrap_or_default();
    step.error = pending.last_failure.as_ref().map(error);
    step.progress = progress(pending);
    let next = pending.next_attempt_schedule_time.as_ref();
    step.retry_at = next.and_then(|time| Timestamp::from_unix(time.seconds));
}

fn activity_type(pending: &PendingActivityInfo) -> &str {
    pending.activity_type.as_ref().map_or("", |activity| activity.name.as_str())
}

fn error(failure: &Failure) -> StepError {
    let kind = match &failure.failure_info {
        Some(FailureInfo::ApplicationFailureInfo(info)) => info.r#type.clone(),
        Some(FailureInfo::TimeoutFailureInfo(_)) => "Timeout".to_owned(),
        _ => String::new(),
    };
    StepError { kind, message: report::end_of(&failure.message).to_owned() }
}

/// The step event that the last heartbeat carried.
fn progress(pending: &PendingActivityInfo) -> Option<StepProgress> {
    let payload = pending.heartbeat_details.as_ref()?.payloads.first()?;
    match serde_json::from_slice::<Event>(&payload.data).ok()?.kind {
        Kind::Step { source, done, total, unit, .. } => Some(StepProgress { source, done, total, unit }),
        _ => None,
    }
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Timestamp::from_unix(i64::try_from(seconds).ok()?)
}

fn counts(steps: &[StepReport], planned: u32) -> StepCounts {
    let of = |status| steps.iter().filter(|step| step.status == status).count();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let alone = steps.iter().filter(|step| source_alone(step).is_some()).count();
    StepCounts {
        total: planned.saturating_add(number(alone)).max(number(steps.len())),
        running: number(of(StepStatus::Running)),
        done: number(of(StepStatus::Done)),
        failed: number(of(StepStatus::Failed)),
        cancelled: number(of(StepStatus::Cancelled)),
    }
}

/// The last step of each source that has steps of its own, in the order of their first.
fn sources(steps: &[StepReport]) -> Vec<SourceStatus> {
    let mut sources: Vec<SourceStatus> = Vec::new();
    for step in steps.iter().filter(|step| step.sources.is_none()) {
        let Some(source) = source_of(step) else { continue };
        let now = SourceStatus { source, stage: step.stage.clone(), status: step.status };
        match sources.iter_mut().find(|known| known.source == now.source) {
            Some(known) => *known = now,
            None => sources.push(now),
        }
    }
    sources
}

fn source_of(step: &StepReport) -> Option<Name> {
    let is_per_source = [Stage::Fetch, Stage::Extract].iter().any(|stage| stage.as_str() == step.stage);
    let own = step.step.strip_prefix(&step.stage).and_then(|rest| rest.strip_prefix('-')?.parse().ok());
    source_alone(step).or(own.filter(|_| is_per_source))
}

/// The source that a step does alone, taken out of a shared one.
fn source_alone(step: &StepReport) -> Option<Name> {
    let stage = Stage::ALL.iter().find(|stage| stage.as_str() == step.stage)?;
    Step::source_alone(*stage, &step.step)
}

fn for_people(status: &WorkflowStatus) -> String {
    let state = output::word(status.state);
    let held = if status.paused { ", paused" } else { "" };
    let code = status.code.map(|code| format!(" with {code}")).unwrap_or_default();
    let StepCounts { total, running, done, failed, cancelled } = status.counts;
    let head = format!(
        "{} {}: {state}{code}{held}, at {}\n{done} of {total} steps done, {running} running, {failed} failed, \
         {cancelled} cancelled\nstarted {}{}\nrun {}, config {}",
        status.dataset,
        status.version,
        status.stage,
        status.started_at,
        status.ended_at.map(|time| format!(", ended {time}")).unwrap_or_default(),
        status.run_id,
        status.config_digest,
    );
    if status.steps.is_empty() { head } else { format!("{head}\n\n{}", output::steps(&status.steps)) }
}

#[cfg(test)]
mod tests;
