//! The activities, by the names that stand in histories: the plan, one for each stage, and the mark at the end. All stages
//! run the same way.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corpora_contracts::outcome::{Disposition, ExitCode};
use temporalio_macros::activities;
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tracing::{Instrument as _, Span};

use crate::cli::Format;
use crate::closing;
use crate::failure::{Failure, chain};
use crate::key::ActivityKey;
use crate::message::{CloseInput, PlanInput, PlanOutput, StepInput, StepOutput};
use crate::plan;
use crate::runner::Runner;

/// What this worker does for builds.
#[derive(Debug)]
pub(crate) struct Activities {
    runner: Runner,
    logs: Format,
}

impl Activities {
    /// Activities whose steps run `program`, which logs as the worker does, and have `grace` between SIGTERM and SIGKILL.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(crate) fn new(program: PathBuf, logs: Format, grace: Duration) -> std::io::Result<Self> {
        Ok(Self { runner: Runner::new(program, logs, grace)?, logs })
    }

    async fn step(&self, context: ActivityContext, input: StepInput) -> Result<StepOutput, ActivityError> {
        let run = async {
            let key = key(&context).map_err(Failure::into_error)?;
            self.runner.run(&key, &input, &context).await.map_err(Failure::into_error)
        };
        // Lines of text name the activity's key as it is, for people.
        let span = if self.logs == Format::Json { span(&context) } else { Span::none() };
        run.instrument(span).await
    }
}

/// What every line says that is logged of an activity.
fn span(context: &ActivityContext) -> Span {
    let info = context.info();
    tracing::info_span!(
        "activity",
        workflow_id = info.workflow_id.as_deref().unwrap_or_default(),
        run_id = info.workflow_run_id.as_deref().unwrap_or_default(),
        activity_id = info.activity_id,
        attempt = info.attempt,
    )
}

/// The key of the activity that runs here; a later attempt has the same one.
fn key(context: &ActivityContext) -> Result<ActivityKey, Failure> {
    let info = context.info();
    let (workflow, run) = (info.workflow_id.as_deref(), info.workflow_run_id.as_deref());
    let key = ActivityKey::new(workflow.unwrap_or_default(), run.unwrap_or_default(), &info.activity_id);
    key.map_err(|error| Failure::without_child(ExitCode::Data, info.attempt, &error))
}

/// A failure of an activity that has no child.
fn refused(context: &ActivityContext, disposition: Disposition, error: &dyn Error) -> ActivityError {
    tracing::error!("{}", chain(error));
    Failure::without_child(disposition.into(), context.info().attempt, error).into_error()
}

#[activities]
impl Activities {
    /// Makes the plan of the run.
    #[activity(name = "plan")]
    pub(crate) async fn plan(context: ActivityContext, input: PlanInput) -> Result<PlanOutput, ActivityError> {
        let _entered = span(&context).entered();
        let key = key(&context).map_err(Failure::into_error)?;
        let made = plan::make(&input, &key);
        made.map_err(|error| refused(&context, error.disposition(), &error))
    }

    /// Says that the files of the run are needed no more.
    #[activity(name = "close")]
    pub(crate) async fn close(context: ActivityContext, input: CloseInput) -> Result<(), ActivityError> {
        let _entered = span(&context).entered();
        let key = key(&context).map_err(Failure::into_error)?;
        let closed = closing::close(&input, &key);
        closed.map_err(|error| refused(&context, error.disposition(), &error))
    }

    /// A step of the fetch stage.
    #[activity(name = "fetch")]
    pub(crate) async fn fetch(
        self: Arc<Self>,
        context: ActivityContext,
        input: StepInput,
    ) -> Result<StepOutput, ActivityError> {
        self.step(context, input).await
    }

    /// A step of the extract stage.
    #[activity(name = "extract")]
    pub(crate) async fn extract(
        self: Arc<Self>,
        context: ActivityContext,
        input: StepInput,
    ) -> Result<StepOutput, ActivityError> {
        self.step(context, input).await
    }

    /// A step of the store stage.
    #[activity(name = "store")]
    pub(crate) async fn store(
        self: Arc<Self>,
        context: ActivityContext,
        input: StepInput,
    ) -> Result<StepOutput, ActivityError> {
        self.step(context, input).await
    }

    /// A step of the verify-ledger stage.
    #[activity(name = "verify-ledger")]
    pub(crate) async fn verify_ledger(
        self: Arc<Self>,
        context: ActivityContext,
        input: StepInput,
    ) -> Result<StepOutput, ActivityError> {
        self.step(context, input).await
    }
}

#[cfg(test)]
mod tests {
    use corpora_plan::Stage;

    use super::*;

    #[test]
    fn an_activity_is_called_as_its_stage() {
        let names = [
            Activities::fetch.name(),
            Activities::extract.name(),
            Activities::store.name(),
            Activities::verify_ledger.name(),
        ];
        assert_eq!(names.to_vec(), Stage::ALL.iter().map(|stage| stage.as_str()).collect::<Vec<_>>());
        assert_eq!((Activities::plan.name(), Activities::close.name()), (plan::ACTIVITY, closing::ACTIVITY));
    }
}
