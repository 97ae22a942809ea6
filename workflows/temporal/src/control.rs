//! `corpora-worker pause`, `resume` and `cancel`: what is asked of a build that runs.
//!
//! Pause and resume are signals, not updates: the service takes them and keeps them also while no worker is there.

use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::workflow::{Answer, WorkflowAnswer, WorkflowState};
use temporalio_client::errors::WorkflowInteractionError;
use temporalio_client::{WorkflowCancelOptions, WorkflowSignalOptions};

use crate::failure::chain;
use crate::find::{self, FindError, Found};
use crate::output::{self, Output};
use crate::service::ServiceError;
use crate::workflow::CorpusBuild;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// To start no further step.
    Pause,
    /// To go on.
    Resume,
    /// To end.
    Cancel,
}

/// Why nothing was asked.
#[derive(Debug, thiserror::Error)]
enum ControlError {
    #[error(transparent)]
    Find(#[from] FindError),
    /// There is nothing left to ask it.
    #[error("{verb} build `{id}`: it has ended ({}); `corpora-worker start` begins a new run", output::word(state))]
    Ended {
        /// What was to be asked.
        verb: &'static str,
        /// The build.
        id: String,
        /// How it ended.
        state: WorkflowState,
    },
}

impl ControlError {
    fn disposition(&self) -> Disposition {
        match self {
            Self::Find(error) => error.disposition(),
            Self::Ended { .. } => Disposition::Fail,
        }
    }
}

impl Request {
    fn verb(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
        }
    }

    fn answer(self) -> Answer {
        match self {
            Self::Pause => Answer::Pausing,
            Self::Resume => Answer::Resuming,
            Self::Cancel => Answer::Cancelling,
        }
    }
}

pub(crate) async fn run(request: Request, id: &str, output: Output) -> ExitCode {
    match ask(request, id).await {
        Ok(answer) => output.result(&answer, || format!("{} {}", request.verb(), answer.workflow_id)),
        Err(error) => {
            tracing::error!("{}", chain(&error));
            error.disposition().into()
        }
    }
}

async fn ask(request: Request, id: &str) -> Result<WorkflowAnswer, ControlError> {
    let found = find::build(id).await?;
    let ended = |state| ControlError::Ended { verb: request.verb(), id: id.to_owned(), state };
    if found.state() != WorkflowState::Running {
        return Err(ended(found.state()));
    }
    match send(request, &found).await.map_err(FindError::from)? {
        Ok(()) => {}
        // It ended between the two questions.
        Err(WorkflowInteractionError::NotFound(_)) => return Err(ended(find::build(id).await?.state())),
        Err(WorkflowInteractionError::Rpc(status)) => return Err(of(ServiceError::refused(request.verb(), status))),
        Err(other) => return Err(of(ServiceError::confused(request.verb())(other))),
    }
    let run_id = found.told.run_id().to_owned();
    Ok(WorkflowAnswer { workflow_id: id.to_owned(), run_id, status: request.answer() })
}

/// Sends it to the latest run: a build that was continued meanwhile takes it all the same.
async fn send(request: Request, found: &Found) -> Result<Result<(), WorkflowInteractionError>, ServiceError> {
    let build = found.service.client.get_workflow_handle::<CorpusBuild>(found.told.id());
    let signal = WorkflowSignalOptions::default();
    match request {
        Request::Pause => found.service.answer(build.signal(CorpusBuild::pause, (), signal)).await,
        Request::Resume => found.service.answer(build.signal(CorpusBuild::resume, (), signal)).await,
        Request::Cancel => {
            let why = WorkflowCancelOptions::builder().reason("corpora-worker cancel").build();
            found.service.answer(build.cancel(why)).await
        }
    }
}

fn of(error: ServiceError) -> ControlError {
    ControlError::Find(error.into())
}
