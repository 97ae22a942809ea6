//! `CorpusBuild`: the plan, walked level by level.
//!
//! Workflow code runs again and again from its history, so it is deterministic: no clock, no randomness, no IO, and
//! nothing but its input, the plan in its history, signals and the ends of its activities decides.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use corpora_contracts::workflow::WorkflowReport;
use corpora_plan::{Runs, Stage};
use temporalio_macros::{workflow, workflow_methods};
use temporalio_sdk::workflows::join_all;
use temporalio_sdk::{
    ActivityCancellationType, ActivityCloseTimeouts, ActivityExecutionError, ActivityOptions, ApplicationFailure,
    ContinueAsNewOptions, LocalActivityOptions, MemoValue, SyncWorkflowContext, WaitConditionOptions,
    WorkflowCancellationToken, WorkflowContext, WorkflowContextView, WorkflowResult, WorkflowTermination,
};
use temporalio_workflow::RetryPolicy;

use crate::activities::Activities;
use crate::labels;
use crate::message::{
    BuildInput, Carried, CloseInput, Head, PlanInput, PlanOutput, Progress, Spec, StepInput, StepOutput,
};
use crate::report::{self, Due, Ended, Record};
use crate::{closing, ending, plan};

/// How long the plan may take, and how long all attempts at it. It takes milliseconds and gives no sign of life meanwhile:
/// a worker that dies with it is noticed after that time.
const PLAN: ActivityCloseTimeouts = ActivityCloseTimeouts::ScheduleAndStartToClose {
    start_to_close: Duration::from_secs(10),
    schedule_to_close: Duration::from_secs(7 * 24 * 60 * 60),
};

/// How long a step that always runs may still take once the build was cancelled: the commit needs seconds, and somebody
/// waits.
const AFTER_CANCEL: Duration = Duration::from_secs(5 * 60);

/// How long a mark for `corpora gc` is worth waiting for.
const CLOSE: Duration = Duration::from_secs(30);

/// A build of one dataset version.
#[workflow]
pub(crate) struct CorpusBuild {
    input: BuildInput,
    /// Levels that earlier runs have walked.
    walked: usize,
    paused: bool,
    /// The stage, or `plan`.
    stage: &'static str,
    record: Record,
}

#[workflow_methods]
impl CorpusBuild {
    #[init]
    fn new(_context: &WorkflowContextView, mut input: BuildInput) -> Self {
        let carried = input.carried.take();
        let Carried { levels, record, paused } =
            carried.unwrap_or_else(|| Carried { levels: 0, record: Record::default(), paused: false });
        Self { input, walked: levels, paused, stage: plan::ACTIVITY, record }
    }

    /// Runs every step of the plan.
    ///
    /// # Errors
    /// The first failure, with its type and message and the [`WorkflowReport`] as details, once the steps that always run
    /// have run; a cancel likewise.
    #[run(name = "CorpusBuild")]
    pub(crate) async fn run(context: &mut WorkflowContext<Self>) -> WorkflowResult<WorkflowReport> {
        match plan(context).await {
            Ok(PlanOutput { levels }) => walk(context, &levels).await?,
            Err(error) => {
                let ended = ending::of_error(plan::ACTIVITY, &error);
                context.state_mut(|build| build.record.without_plan(plan::ACTIVITY, ended));
            }
        }
        close(context).await;
        end(&context.state(|build| build.record.clone()))
    }

    /// Holds before the next step; those that run go on.
    #[signal(name = "pause")]
    pub(crate) fn pause(&mut self, _context: &mut SyncWorkflowContext<Self>) {
        self.paused = true;
    }

    /// Goes on.
    #[signal(name = "resume")]
    pub(crate) fn resume(&mut self, _context: &mut SyncWorkflowContext<Self>) {
        self.paused = false;
    }

    /// How far it is.
    #[query(name = "status")]
    pub(crate) fn status(&self, _context: &WorkflowContextView) -> Progress {
        Progress { stage: self.stage.to_owned(), paused: self.paused, report: self.record.report() }
    }

    /// What a new run goes on with; its plan lies in this one's files.
    fn next_run(&self, this_run: &str, levels: usize) -> BuildInput {
        let plan = PlanInput { spec: Spec::Run(this_run.to_owned()), ..self.input.plan.clone() };
        let carried = Carried { levels, record: self.record.clone(), paused: self.paused };
        BuildInput { plan, carried: Some(carried), ..self.input.clone() }
    }
}

async fn plan(context: &WorkflowContext<CorpusBuild>) -> Result<PlanOutput, ActivityExecutionError> {
    let options = ActivityOptions::with_close_timeouts(PLAN).activity_id(plan::ACTIVITY).summary("the plan").build();
    context.execute_activity(Activities::plan, context.state(|build| build.input.plan.clone()), options).await
}

/// Walks what earlier runs have left of the plan, and goes on as a new run when the history grows long: between two levels
/// nothing is under way.
async fn walk(context: &WorkflowContext<CorpusBuild>, levels: &[Vec<Head>]) -> Result<(), WorkflowTermination> {
    context.state_mut(|build| build.record.plan(levels.iter().map(Vec::len).sum()));
    let (walked, continue_after) = context.state(|build| (build.walked, build.input.pace.continue_after));
    let mut steps = 0;
    for (index, level) in levels.iter().enumerate().skip(walked) {
        steps += run_level(context, level).await;
        let is_long = continue_after.map_or_else(|| context.continue_as_new_suggested(), |most| steps >= most);
        let is_over = index + 1 == levels.len() || context.cancellation_token().is_cancelled();
        if is_long && !is_over {
            let next = context.state(|build| build.next_run(context.run_id(), index + 1));
            context.continue_as_new(next, ContinueAsNewOptions::default())?;
        }
    }
    Ok(())
}

/// Runs the steps of a level that are due, and then those sources alone that a shared step left open. Gives their number.
async fn run_level(context: &WorkflowContext<CorpusBuild>, level: &[Head]) -> usize {
    let cancelled = context.cancellation_token().is_cancelled();
    let due = context.state_mut(|build| build.record.due(level, cancelled, build.input.keep_going));
    let Some(first) = due.first() else { return 0 };
    enter(context, first.head.stage);
    let count = due.len();
    let alone = run_together(context, due).await;
    let again = alone.len();
    run_together(context, alone).await;
    count + again
}

/// Tells people what the build is at now.
fn enter(context: &WorkflowContext<CorpusBuild>, stage: Stage) {
    let name = stage.as_str();
    if context.state(|build| build.stage) == name {
        return;
    }
    context.state_mut(|build| build.stage = name);
    context.set_current_details(format!("stage **{name}**"));
    if context.state(|build| build.input.searchable) {
        context.upsert_search_attributes([labels::STAGE.value_set(name.to_owned())]);
    }
    // Only what cannot be written as JSON fails here, and a word can.
    let _ = context.upsert_memo([(labels::STAGE_MEMO, Some(MemoValue::new(name.to_owned())))]);
}

/// Runs steps in their order, as many at a time as the build may have with the workers, which bound how many of them run.
/// Gives the steps that are to follow alone.
async fn run_together(context: &WorkflowContext<CorpusBuild>, due: Vec<Due>) -> Vec<Due> {
    context.state_mut(|build| due.iter().for_each(|due| build.record.add(&due.head)));
    let lanes = context.state(|build| build.input.pace.parallel).unwrap_or(due.len()).clamp(1, due.len().max(1));
    let together = context.cancellation_token().child_token();
    let (queue, alone) = (RefCell::new(VecDeque::from(due)), RefCell::new(Vec::new()));
    let lane = || async {
        loop {
            let next = queue.borrow_mut().pop_front();
            let Some(due) = next else { return };
            let follow = run_due(context, &due, &together).await;
            alone.borrow_mut().extend(follow);
        }
    };
    join_all((0..lanes).map(|_| lane())).await;
    alone.into_inner()
}

/// Runs a step when the build is not paused, notes its end, and stops the others when it has to. Gives the steps that are
/// to follow alone.
async fn run_due(context: &WorkflowContext<CorpusBuild>, due: &Due, together: &WorkflowCancellationToken) -> Vec<Due> {
    let ended = match due.head.runs {
        Runs::AfterSuccess => run_held(context, due, together).await,
        Runs::Always => run_always(context, due).await,
    };
    let alone = report::alone(due, &ended);
    let stops_others = matches!(ended, Ended::Failed { stops_others: true, .. }) && alone.is_empty();
    if stops_others && !context.state(|build| build.input.keep_going) {
        together.cancel();
    }
    context.state_mut(|build| build.record.end(due, ended));
    alone
}

/// Runs a step once the build is not paused, unless it is stopped before.
async fn run_held(context: &WorkflowContext<CorpusBuild>, due: &Due, token: &WorkflowCancellationToken) -> Ended {
    let options = WaitConditionOptions::builder().cancellation_token(token.clone()).build();
    let go_on = context.wait_condition_with_options(|build| !build.paused, options).await;
    if go_on.is_err() || token.is_cancelled() {
        return Ended::Cancelled { attempt: 0 };
    }
    run_step(context, due, token.clone(), None).await
}

/// Runs a step whatever happens: a cancel stops it as it stops any other, and it is run once more.
async fn run_always(context: &WorkflowContext<CorpusBuild>, due: &Due) -> Ended {
    let build = context.cancellation_token();
    if !build.is_cancelled() {
        let ended = run_held(context, due, &build).await;
        if !build.is_cancelled() || !matches!(ended, Ended::Cancelled { .. }) {
            return ended;
        }
    }
    run_step(context, due, WorkflowCancellationToken::new(), Some(AFTER_CANCEL)).await
}

async fn run_step(
    context: &WorkflowContext<CorpusBuild>,
    due: &Due,
    token: WorkflowCancellationToken,
    at_most: Option<Duration>,
) -> Ended {
    let head = &due.head;
    context.state_mut(|build| build.record.start(&head.id));
    let (options, handed) =
        context.state(|build| (options(&build.input, head, token, at_most), handed(&build.input, due)));
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

fn options(
    input: &BuildInput,
    head: &Head,
    token: WorkflowCancellationToken,
    at_most: Option<Duration>,
) -> ActivityOptions {
    let planned = input.pace.step_timeout(&head.timeouts);
    ActivityOptions::with_schedule_to_close_timeout(at_most.unwrap_or(planned).min(planned))
        .activity_id(head.id.clone())
        .heartbeat_timeout(input.pace.heartbeat(&head.timeouts))
        // The others go on only when this child is gone: they may work on the same files.
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .cancellation_token(token)
        .retry_policy(retry_policy(input, head))
        .summary(head.summary())
        .build()
}

fn handed(input: &BuildInput, due: &Due) -> StepInput {
    StepInput {
        artifacts: input.plan.artifacts.clone(),
        traceparent: input.traceparent.clone(),
        left_out: due.left_out.clone(),
    }
}

fn retry_policy(input: &BuildInput, head: &Head) -> RetryPolicy {
    let (pace, retry) = (&input.pace, &head.retry);
    RetryPolicy::builder()
        .initial_interval(pace.retry_interval(retry))
        .backoff_coefficient(pace.retry_backoff(retry))
        .maximum_interval(pace.retry_cap(retry))
        .maximum_attempts(pace.retry_attempts(retry))
        .non_retryable_error_types(retry.final_exit_codes.iter().map(|code| format!("ExitCode{code}")))
        .build()
}

/// Says that the run's files are needed no more. A build that cannot say so has ended all the same.
async fn close(context: &WorkflowContext<CorpusBuild>) {
    let closing = context
        .state(|build| CloseInput { artifacts: build.input.plan.artifacts.clone(), code: build.record.code().code() });
    let options = LocalActivityOptions::builder()
        .activity_id(closing::ACTIVITY.to_owned())
        .schedule_to_close_timeout(CLOSE)
        .cancellation_token(WorkflowCancellationToken::new())
        .build();
    let _ = context.execute_local_activity(Activities::close, closing, options).await;
}

fn end(record: &Record) -> WorkflowResult<WorkflowReport> {
    let report = record.report();
    match record.first_failure().cloned() {
        Some(error) => {
            let failure = ApplicationFailure::builder(error.message).type_name(error.kind).non_retryable(true);
            Err(WorkflowTermination::failed_application(failure.details(report).build()))
        }
        None if report.ok => Ok(report),
        None => Err(WorkflowTermination::cancelled_with_details(report)),
    }
}
