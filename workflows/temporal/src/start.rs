//! `corpora-worker start`: a build is started, or the one that runs is joined.

use std::path::{Path, PathBuf};
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::outcome::{Disposition, ExitCode};
use serde_json::json;
use temporalio_client::errors::{WorkflowInteractionError, WorkflowStartError};
use temporalio_client::{Client, WorkflowDescribeOptions, WorkflowIdConflictPolicy, WorkflowStartOptions};
use temporalio_common::MemoValues;

use crate::cli::StartArguments;
use crate::environment;
use crate::failure::chain;
use crate::files::{self, FileError};
use crate::message::{BuildInput, Pace, PlanInput, Spec};
use crate::service::{Service, ServiceError};
use crate::spec::{self, Reviewed, SpecError};
use crate::wait;
use crate::workflow::CorpusBuild;

/// The largest spec that travels as a message, as JSON; the service refuses 2 MiB.
const MOST_BYTES: usize = 1024 * 1024;

/// Under this name a build's memo holds the config's digest.
const DIGEST: &str = "config_digest";

/// Why no build was started.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no working directory to start a relative path from.
    #[error("find the artifacts directory")]
    Artifacts(#[source] std::io::Error),
    /// The same dataset version is being built of another config.
    #[error(
        "start `{id}` with config {ours}: it runs with config {theirs}; wait for its end, cancel it, or choose another \
         version"
    )]
    AnotherConfig {
        /// The workflow.
        id: String,
        /// The digest of the config given.
        ours: Digest,
        /// The digest of the config that is being built.
        theirs: String,
    },
}

impl StartError {
    fn disposition(&self) -> Disposition {
        match self {
            Self::Spec(_) | Self::AnotherConfig { .. } => Disposition::Fail,
            Self::Service(error) => error.disposition(),
            Self::File(_) | Self::Artifacts(_) => Disposition::Retry,
        }
    }
}

/// A build that runs.
#[derive(Debug)]
pub(crate) struct Build {
    /// `corpus-build-<dataset>-<version>`.
    pub(crate) id: String,
    /// The service's id of this run.
    pub(crate) run: String,
    /// Whether it ran already.
    pub(crate) joined: bool,
    /// The dataset.
    pub(crate) dataset: Name,
    /// Its version.
    pub(crate) version: Name,
}

pub(crate) async fn run(arguments: &StartArguments) -> ExitCode {
    match start(arguments).await {
        Ok((client, build)) if arguments.wait => wait::until_end(&client, &build).await,
        Ok((_, Build { id, run, joined, .. })) => {
            let status = if joined { "joined" } else { "started" };
            wait::print(&json!({"workflow_id": id, "run_id": run, "status": status}))
        }
        Err(error) => {
            tracing::error!("{}", chain(&error));
            error.disposition().into()
        }
    }
}

/// The one build of a dataset version.
fn workflow_id(config: &Config) -> String {
    format!("corpus-build-{}-{}", config.dataset, config.version)
}

async fn start(arguments: &StartArguments) -> Result<(Client, Build), StartError> {
    let reviewed = spec::read_config(&arguments.config)?;
    for warning in &reviewed.warnings {
        tracing::warn!("{warning}");
    }
    let artifacts = environment::artifacts(arguments.artifacts.as_deref()).map_err(StartError::Artifacts)?;
    let service = Service::connect().await?;
    let id = workflow_id(&reviewed.config);
    let spec = spec_of(&reviewed, &artifacts, &id)?;
    let plan = PlanInput { spec, artifacts, digest: reviewed.digest, until: arguments.until };
    let starting = start_or_join(&service.client, &id, plan, arguments, &reviewed.config);
    let (run, joined) = service.answer(starting).await??;
    tracing::info!(workflow_id = id, run_id = run, "{}", if joined { "joined the build that runs" } else { "started" });
    let Config { dataset, version, .. } = reviewed.config;
    Ok((service.client, Build { id, run, joined, dataset, version }))
}

/// The spec as it travels: itself, or where it was put.
fn spec_of(reviewed: &Reviewed, artifacts: &Path, id: &str) -> Result<Spec, StartError> {
    let bytes = serde_json::to_vec(&reviewed.document).map_err(SpecError::from)?;
    if bytes.len() <= MOST_BYTES {
        return Ok(Spec::Document(reviewed.document.clone()));
    }
    let path = PathBuf::from("activities").join(id).join(format!("{}.json", reviewed.digest));
    files::write_atomic(&artifacts.join(&path), &bytes)?;
    Ok(Spec::File(path))
}

/// The id of the run, and whether it was there already.
async fn start_or_join(
    client: &Client,
    id: &str,
    plan: PlanInput,
    arguments: &StartArguments,
    config: &Config,
) -> Result<(String, bool), StartError> {
    let digest = plan.digest;
    let mut memo = MemoValues::new();
    memo.insert(DIGEST, digest.to_string()).insert("artifacts", plan.artifacts.clone());
    let options = WorkflowStartOptions::new(&arguments.task_queue, id)
        .id_conflict_policy(WorkflowIdConflictPolicy::Fail)
        .memo(memo)
        .static_summary(format!("corpus {} {}", config.dataset, config.version))
        .build();
    match client.start_workflow(CorpusBuild::run, input(plan, arguments), options).await {
        Ok(handle) => Ok((handle.run_id().unwrap_or_default().to_owned(), false)),
        Err(WorkflowStartError::AlreadyStarted { .. }) => join(client, id, digest).await.map(|run| (run, true)),
        Err(WorkflowStartError::Rpc(status)) => Err(ServiceError::refused("start the build", status).into()),
        Err(error) => Err(ServiceError::Confused { what: "start the build", source: Box::new(error) }.into()),
    }
}

fn input(plan: PlanInput, arguments: &StartArguments) -> BuildInput {
    let seconds = |wait: Option<Duration>| wait.map(|wait| wait.as_secs_f64());
    let pace =
        Pace { retry_interval_s: seconds(arguments.retry_interval), heartbeat_s: seconds(arguments.heartbeat_timeout) };
    BuildInput { plan, keep_going: arguments.keep_going, traceparent: environment::traceparent(), pace }
}

/// The id of the run that is there, when it is of the same config.
async fn join(client: &Client, id: &str, ours: Digest) -> Result<String, StartError> {
    let handle = client.get_workflow_handle::<CorpusBuild>(id);
    let described = handle.describe(WorkflowDescribeOptions::default()).await;
    let described = described.map_err(|error| match error {
        WorkflowInteractionError::Rpc(status) => ServiceError::refused("look at the build that runs", status),
        other => confused(Box::new(other)),
    })?;
    let theirs: Option<String> = described.memo().get(DIGEST).map_err(|error| confused(Box::new(error)))?;
    let theirs = theirs.unwrap_or_else(|| "unknown".to_owned());
    if theirs != ours.to_string() {
        return Err(StartError::AnotherConfig { id: id.to_owned(), ours, theirs });
    }
    Ok(described.run_id().to_owned())
}

fn confused(source: Box<dyn std::error::Error + Send + Sync>) -> ServiceError {
    ServiceError::Confused { what: "look at the build that runs", source }
}
