//! `CorpusBuild`: the plan, walked level by level.
//!
//! Workflow code runs again and again from its history, so it is deterministic: no clock, no randomness, no IO, and
//! nothing but its input, the plan in its history and the ends of its activities decides.

use std::time::Duration;

use corpora_contracts::outcome::ExitCode;
use corpora_plan::{Runs, Stage};
use temporalio_macros::{workflow, workflow_methods};
use temporalio_sdk::workflows::join_all;
use temporalio_sdk::{
    ActivityCancellationType, ActivityCloseTimeouts, ActivityExecutionError, ActivityOptions, ApplicationFailure,
    WorkflowCancellationToken, WorkflowContext, WorkflowContextView, WorkflowResult, WorkflowTermination,
};
use temporalio_workflow::RetryPolicy;

use crate::activities::Activities;
use crate::ending;
use crate::message::{BuildInput, Head, PlanOutput, StepInput, StepOutput};
use crate::plan;
use crate::report::{Ended, Record, Report};

/// How long the plan may take, and how long all attempts at it.
const PLAN: ActivityCloseTimeouts = ActivityCloseTimeouts::ScheduleAndStartToClose {
    start_to_close: Duration::from_secs(60),
    schedule_to_close: Duration::from_secs(7 * 24 * 60 * 60),
};

/// How long a step that always runs may still take once the build was cancelled: the commit needs seconds, and somebody
/// waits.
const AFTER_CANCEL: Duration = Duration::from_secs(5 * 60);

/// A build of one dataset version.
#[workflow]
pub(crate) struct CorpusBuild {
    input: BuildInput,
}

#[workflow_methods]
impl CorpusBuild {
    #[init]
    fn new(_context: &WorkflowContextView, input: BuildInput) -> Self {
        Self { input }
    }

    /// Runs every step of the plan.
    ///
    /// # Errors
    /// The first failure, with its type and message and the [`Report`] as details, once the steps that always run have
    /// run; a cancel likewise.
    #[run(name = "CorpusBuild")]
    pub(crate) async fn run(context: &mut WorkflowContext<Self>) -> WorkflowResult<Report> {
        let input = context.state(|build| build.input.clone());
        let mut record = Record::default();
        match plan(context, &input).await {
            Ok(PlanOutput { levels }) => {
                for level in &levels {
                    run_level(context, &input, level, &mut record).await;
                }
            }
            Err(error) => record.note(plan::ACTIVITY, plan::ACTIVITY, ending::of_error(plan::ACTIVITY, &error)),
        }
        end(record)
    }
}

async fn plan(
    context: &WorkflowContext<CorpusBuild>,
    input: &BuildInput,
) -> Result<PlanOutput, ActivityExecutionError> {
    let options = ActivityOptions::with_close_timeouts(PLAN).activity_id(plan::ACTIVITY).summary("the plan").build();
    context.execute_activity(Activities::plan, input.plan.clone(), options).await
}

/// Runs the steps of a level that are due, all at once; the workers bound how many children run.
async fn run_level(context: &WorkflowContext<CorpusBuild>, input: &BuildInput, level: &[Head], record: &mut Record) {
    let build = context.cancellation_token();
    let standing = Standing { code: record.code(), cancelled: build.is_cancelled(), keep_going: input.keep_going };
    let is_tried = |head: &&Head| head.source.as_ref().is_none_or(|source| !record.has_given_up(source));
    let due: Vec<&Head> = level.iter().filter(|head| standing.is_due(head)).filter(is_tried).collect();
    if standing.cancelled && due.len() < level.len() {
        record.cancel();
    }
    let together = build.child_token();
    let running = due.iter().map(|head| async {
        let ended = match head.runs {
            Runs::AfterSuccess => run_step(context, input, head, together.clone(), None).await,
            Runs::Always => run_always(context, input, head).await,
        };
        if matches!(ended, Ended::Failed { stops_others: true, .. }) && !input.keep_going {
            together.cancel();
        }
        ended
    });
    let ends = join_all(running).await;
    for (head, ended) in due.into_iter().zip(ends) {
        if let (Some(source), Ended::Failed { .. }) = (&head.source, &ended) {
            record.give_up(source.clone());
        }
        record.note(&head.id, head.stage.as_str(), ended);
    }
}

/// How a build stands when a level begins.
#[derive(Debug, Clone, Copy)]
struct Standing {
    code: ExitCode,
    cancelled: bool,
    keep_going: bool,
}

impl Standing {
    /// As the local build has it: after a failure only steps that always run still do; with `keep_going` other sources
    /// and their next stages too, but the dataset as a whole is not made without the one that failed.
    fn is_due(self, head: &Head) -> bool {
        let goes_on =
            self.code == ExitCode::Success || (self.keep_going && self.code != ExitCode::Cancelled && head.per_source);
        head.runs == Runs::Always || (goes_on && !self.cancelled)
    }
}

/// Runs a step whatever happens: a cancel stops it as it stops any other, and it is run once more.
async fn run_always(context: &WorkflowContext<CorpusBuild>, input: &BuildInput, head: &Head) -> Ended {
    let build = context.cancellation_token();
    if !build.is_cancelled() {
        let ended = run_step(context, input, head, build.clone(), None).await;
        if !build.is_cancelled() || !matches!(ended, Ended::Cancelled { .. }) {
            return ended;
        }
    }
    run_step(context, input, head, WorkflowCancellationToken::new(), Some(AFTER_CANCEL)).await
}

async fn run_step(
    context: &WorkflowContext<CorpusBuild>,
    input: &BuildInput,
    head: &Head,
    token: WorkflowCancellationToken,
    at_most: Option<Duration>,
) -> Ended {
    let planned = Duration::from_secs(head.timeouts.schedule_to_close_s);
    let options = ActivityOptions::with_schedule_to_close_timeout(at_most.unwrap_or(planned).min(planned))
        .activity_id(head.id.clone())
        .heartbeat_timeout(input.pace.heartbeat(&head.timeouts))
        // The others go on only when this child is gone: they may work on the same files.
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .cancellation_token(token)
        .retry_policy(retry_policy(input, head))
        .summary(head.id.clone())
        .build();
    let handed = StepInput { artifacts: input.plan.artifacts.clone(), traceparent: input.traceparent.clone() };
    let output = match head.stage {
        Stage::Fetch => context.execute_activity(Activities::fetch, handed, options).await,
        Stage::Extract => context.execute_activity(Activities::extract, handed, options).await,
        Stage::Store => context.execute_activity(Activities::store, handed, options).await,
        Stage::VerifyLedger => context.execute_activity(Activities::verify_ledger, handed, options).await,
    };
    match output {
        Ok(StepOutput { attempt, result }) => Ended::Done { attempt, result },
        Err(error) => ending::of_error(&head.id, &error),
    }
}

fn retry_policy(input: &BuildInput, head: &Head) -> RetryPolicy {
    let retry = &head.retry;
    // 0 is no limit.
    let attempts = retry.maximum_attempts.map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX));
    let initial = input.pace.retry_interval(retry);
    RetryPolicy::builder()
        .initial_interval(initial)
        .backoff_coefficient(f64::from(u32::try_from(retry.backoff_coefficient).unwrap_or(u32::MAX)))
        .maximum_interval(Duration::from_secs(retry.maximum_interval_s).max(initial))
        .maximum_attempts(attempts)
        .non_retryable_error_types(retry.final_exit_codes.iter().map(|code| format!("ExitCode{code}")))
        .build()
}

fn end(record: Record) -> WorkflowResult<Report> {
    let failure = record.first_failure().cloned();
    let report = record.into_report();
    match failure {
        Some(error) => {
            let failure = ApplicationFailure::builder(error.message).type_name(error.kind).non_retryable(true);
            Err(WorkflowTermination::failed_application(failure.details(report).build()))
        }
        None if report.ok => Ok(report),
        None => Err(WorkflowTermination::cancelled_with_details(report)),
    }
}

#[cfg(test)]
mod tests {
    use corpora_plan::{RetryPolicy as Retry, Timeouts};

    use super::*;

    #[test]
    fn after_a_failure_the_dataset_is_not_made_and_the_ledger_is_kept() {
        let head = |runs, per_source| {
            let (timeouts, retry) = (Timeouts::DEFAULT, Retry::default());
            Head { id: "x".to_owned(), stage: Stage::Fetch, runs, per_source, source: None, timeouts, retry }
        };
        let heads = [head(Runs::AfterSuccess, true), head(Runs::Always, false), head(Runs::AfterSuccess, false)];
        for (code, cancelled, keep_going, [source, commit, dataset]) in [
            (ExitCode::Success, false, false, [true, true, true]),
            (ExitCode::Success, false, true, [true, true, true]),
            (ExitCode::Data, false, false, [false, true, false]),
            (ExitCode::Data, false, true, [true, true, false]),
            (ExitCode::Retry, false, true, [true, true, false]),
            (ExitCode::Cancelled, true, true, [false, true, false]),
            (ExitCode::Success, true, true, [false, true, false]),
            (ExitCode::Data, true, true, [false, true, false]),
        ] {
            let standing = Standing { code, cancelled, keep_going };
            assert_eq!(heads.each_ref().map(|head| standing.is_due(head)), [source, commit, dataset], "{standing:?}");
        }
    }
}
