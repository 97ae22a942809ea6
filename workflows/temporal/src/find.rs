//! A build by its id, as the service knows it.

use corpora_contracts::outcome::Disposition;
use corpora_contracts::workflow::WorkflowState;
use temporalio_client::errors::WorkflowInteractionError;
use temporalio_client::{
    Client, WorkflowDescribeOptions, WorkflowExecutionDescription, WorkflowExecutionInfo, WorkflowExecutionStatus,
    WorkflowHandle,
};
use temporalio_common::WorkflowDefinition as _;

use crate::service::{Service, ServiceError};
use crate::workflow::CorpusBuild;

/// Why there is no such build to do something with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindError {
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The service knows of none.
    #[error("find build `{id}` in namespace `{namespace}`; its id is `corpus-build-<dataset>-<version>`")]
    Unknown {
        /// As asked for.
        id: String,
        /// Where it was looked for.
        namespace: String,
    },
    /// It is a workflow of somebody else.
    #[error("take workflow `{id}` for a build: it is a `{kind}`")]
    NoBuild {
        /// As asked for.
        id: String,
        /// Its type.
        kind: String,
    },
}

impl FindError {
    /// An id that is not there will not be there next time; a service may be.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Service(error) => error.disposition(),
            Self::Unknown { .. } | Self::NoBuild { .. } => Disposition::Fail,
        }
    }
}

/// A build that the service knows.
pub(crate) struct Found {
    /// The service.
    pub(crate) service: Service,
    /// What it says of the build's latest run.
    pub(crate) told: WorkflowExecutionDescription,
}

impl Found {
    /// The latest run, and no later one.
    pub(crate) fn run(&self) -> WorkflowHandle<Client, CorpusBuild> {
        run(&self.service.client, self.told.id(), self.told.run_id())
    }

    /// How it stands.
    pub(crate) fn state(&self) -> WorkflowState {
        state(self.told.status())
    }
}

/// One run of a build.
pub(crate) fn run(client: &Client, id: &str, run: &str) -> WorkflowHandle<Client, CorpusBuild> {
    let info = WorkflowExecutionInfo::builder().namespace(client.options().namespace.clone());
    WorkflowHandle::new(client.clone(), info.workflow_id(id).run_id(run).build())
}

/// Looks for the latest run of a build.
///
/// # Errors
/// [`FindError`].
pub(crate) async fn build(id: &str) -> Result<Found, FindError> {
    let service = Service::connect().await?;
    let handle = service.client.get_workflow_handle::<CorpusBuild>(id);
    let told = service.answer(handle.describe(WorkflowDescribeOptions::default())).await?;
    let namespace = || service.client.options().namespace.clone();
    let told = told.map_err(|error| match error {
        WorkflowInteractionError::NotFound(_) => FindError::Unknown { id: id.to_owned(), namespace: namespace() },
        WorkflowInteractionError::Rpc(status) => ServiceError::refused("look at the build", status).into(),
        other => ServiceError::confused("look at the build")(other).into(),
    })?;
    if told.workflow_type() != CorpusBuild::run.name() {
        return Err(FindError::NoBuild { id: id.to_owned(), kind: told.workflow_type().to_owned() });
    }
    Ok(Found { service, told })
}

/// The service's word for how a run stands, as ours. A run that was continued has a later one, which was not found in time.
fn state(status: WorkflowExecutionStatus) -> WorkflowState {
    match status {
        WorkflowExecutionStatus::Completed => WorkflowState::Completed,
        WorkflowExecutionStatus::Failed => WorkflowState::Failed,
        WorkflowExecutionStatus::Canceled => WorkflowState::Cancelled,
        WorkflowExecutionStatus::Terminated => WorkflowState::Terminated,
        WorkflowExecutionStatus::TimedOut => WorkflowState::TimedOut,
        _ => WorkflowState::Running,
    }
}
