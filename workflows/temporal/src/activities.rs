//! The activities, by the names that stand in histories: the plan, and one for each stage. All stages run the same way.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corpora_contracts::outcome::ExitCode;
use temporalio_macros::activities;
use temporalio_sdk::activities::{ActivityContext, ActivityError};

use crate::failure::Failure;
use crate::key::ActivityKey;
use crate::message::{PlanInput, PlanOutput, StepInput, StepOutput};
use crate::plan;
use crate::runner::Runner;

/// What this worker does for builds.
#[derive(Debug)]
pub(crate) struct Activities {
    runner: Runner,
}

impl Activities {
    /// Activities whose steps run `program` and have `grace` between SIGTERM and SIGKILL.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(crate) fn new(program: PathBuf, grace: Duration) -> std::io::Result<Self> {
        Ok(Self { runner: Runner::new(program, grace)? })
    }

    async fn step(&self, context: ActivityContext, input: StepInput) -> Result<StepOutput, ActivityError> {
        let key = key(&context).map_err(Failure::into_error)?;
        self.runner.run(&key, &input, &context).await.map_err(Failure::into_error)
    }
}

/// The key of the activity that runs here; a later attempt has the same one.
fn key(context: &ActivityContext) -> Result<ActivityKey, Failure> {
    let info = context.info();
    let (workflow, run) = (info.workflow_id.as_deref(), info.workflow_run_id.as_deref());
    let key = ActivityKey::new(workflow.unwrap_or_default(), run.unwrap_or_default(), &info.activity_id);
    key.map_err(|error| Failure::without_child(ExitCode::Data, info.attempt, &error))
}

#[activities]
impl Activities {
    /// Makes the plan of the run.
    #[activity(name = "plan")]
    pub(crate) async fn plan(context: ActivityContext, input: PlanInput) -> Result<PlanOutput, ActivityError> {
        let key = key(&context).map_err(Failure::into_error)?;
        let failure = |error: plan::PlanError| {
            Failure::without_child(error.disposition().into(), context.info().attempt, &error).into_error()
        };
        plan::make(&input, &key).map_err(failure)
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
        assert_eq!(Activities::plan.name(), plan::ACTIVITY);
    }
}
