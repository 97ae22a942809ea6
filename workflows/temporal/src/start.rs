//! `corpora-worker start`: a build is started, or the one that runs is joined.

use std::path::{Path, PathBuf};
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::workflow::{Answer, WorkflowAnswer};
use temporalio_client::errors::{WorkflowInteractionError, WorkflowStartError};
use temporalio_client::{Client, WorkflowDescribeOptions, WorkflowIdConflictPolicy, WorkflowStartOptions};

use crate::cli::StartArguments;
use crate::failure::chain;
use crate::files::FileError;
use crate::labels::{self, Labels};
use crate::message::{BuildInput, Pace, PlanInput, Spec};
use crate::output::Output;
use crate::service::{Service, ServiceError};
use crate::spec::{self, Reviewed, SpecError};
use crate::wait::{self, Leaving};
use crate::workflow::CorpusBuild;
use crate::{closing, environment};

/// The largest spec that travels as a message, as JSON; the service refuses 2 MiB.
const MOST_BYTES: usize = 1024 * 1024;

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
    /// What it is of.
    pub(crate) labels: Labels,
}

impl Build {
    /// Says on stderr that it runs. Whoever waits listens for signals by then: one who reads this may send one.
    fn tell(&self) {
        let Self { id, run, joined, .. } = self;
        let what = if *joined { "joined the build that runs" } else { "started" };
        tracing::info!(workflow_id = id, run_id = run, "{what}");
    }
}

pub(crate) async fn run(arguments: &StartArguments, output: Output) -> ExitCode {
    match start(arguments).await {
        Ok((client, build)) if arguments.wait => {
            let leaving = Leaving::listen();
            build.tell();
            wait::until_end(&client, &build, leaving, output).await
        }
        Ok((_, build)) => {
            build.tell();
            let Build { id, run, joined, .. } = build;
            let status = if joined { Answer::Joined } else { Answer::Started };
            let answer = WorkflowAnswer { workflow_id: id, run_id: run, status };
            let word = if joined { "joined" } else { "started" };
            output.result(&answer, || format!("{word} {}, run {}", answer.workflow_id, answer.run_id))
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
    let Config { dataset, version, .. } = reviewed.config;
    let labels = Labels { dataset, version, digest: reviewed.digest, artifacts };
    let starting = start_or_join(&service.client, &id, spec, arguments, &labels);
    let (run, joined) = service.answer(starting).await??;
    Ok((service.client, Build { id, run, joined, labels }))
}

/// The spec as it travels: itself, or where it was put.
fn spec_of(reviewed: &Reviewed, artifacts: &Path, id: &str) -> Result<Spec, StartError> {
    let bytes = serde_json::to_vec(&reviewed.document).map_err(SpecError::from)?;
    if bytes.len() <= MOST_BYTES {
        return Ok(Spec::Document(reviewed.document.clone()));
    }
    let path = closing::spec_file(id, reviewed.digest);
    closing::offer(artifacts, &path, &bytes)?;
    Ok(Spec::File(path))
}

/// The id of the run, and whether it was there already.
async fn start_or_join(
    client: &Client,
    id: &str,
    spec: Spec,
    arguments: &StartArguments,
    labels: &Labels,
) -> Result<(String, bool), StartError> {
    let searchable = labels::are_known(client).await;
    let mut input = input(spec, arguments, labels, searchable);
    let mut started =
        client.start_workflow(CorpusBuild::run, input.clone(), options(id, arguments, labels, searchable)).await;
    if let (true, Err(WorkflowStartError::Rpc(status))) = (searchable, &started)
        && labels::are_refused(status)
    {
        input.searchable = false;
        started = client.start_workflow(CorpusBuild::run, input, options(id, arguments, labels, false)).await;
    }
    match started {
        Ok(handle) => Ok((handle.run_id().unwrap_or_default().to_owned(), false)),
        Err(WorkflowStartError::AlreadyStarted { .. }) => join(client, id, labels).await.map(|run| (run, true)),
        Err(WorkflowStartError::Rpc(status)) => Err(ServiceError::refused("start the build", status).into()),
        Err(error) => Err(ServiceError::confused("start the build")(error).into()),
    }
}

fn options(id: &str, arguments: &StartArguments, labels: &Labels, searchable: bool) -> WorkflowStartOptions {
    let options = WorkflowStartOptions::new(&arguments.task_queue, id)
        .id_conflict_policy(WorkflowIdConflictPolicy::Fail)
        .memo(labels.memo())
        .static_summary(format!("corpus {} {}", labels.dataset, labels.version));
    options.maybe_search_attributes(searchable.then(|| labels.search_attributes())).build()
}

fn input(spec: Spec, arguments: &StartArguments, labels: &Labels, searchable: bool) -> BuildInput {
    let seconds = |wait: Option<Duration>| wait.map(|wait| wait.as_secs_f64());
    let pace = &arguments.pace;
    BuildInput {
        plan: PlanInput { spec, artifacts: labels.artifacts.clone(), digest: labels.digest, until: arguments.until },
        keep_going: arguments.keep_going,
        traceparent: environment::traceparent(),
        pace: Pace {
            retry_interval_s: seconds(pace.retry_interval),
            retry_backoff: pace.retry_backoff,
            retry_cap_s: seconds(pace.retry_cap),
            retry_attempts: pace.retry_attempts,
            step_timeout_s: seconds(pace.step_timeout),
            heartbeat_s: seconds(pace.heartbeat_timeout),
            parallel: pace.parallel,
            continue_after: pace.continue_after,
        },
        searchable,
        carried: None,
    }
}

/// The id of the run that is there, when it is of the same config.
async fn join(client: &Client, id: &str, labels: &Labels) -> Result<String, StartError> {
    const WHAT: &str = "look at the build that runs";
    let handle = client.get_workflow_handle::<CorpusBuild>(id);
    let described = handle.describe(WorkflowDescribeOptions::default()).await;
    let described = described.map_err(|error| match error {
        WorkflowInteractionError::Rpc(status) => ServiceError::refused(WHAT, status),
        other => ServiceError::confused(WHAT)(other),
    })?;
    let memo = described.memo();
    let theirs: Option<String> = memo.get(labels::DIGEST_MEMO).map_err(ServiceError::confused(WHAT))?;
    let theirs = theirs.unwrap_or_else(|| "unknown".to_owned());
    if theirs != labels.digest.to_string() {
        return Err(StartError::AnotherConfig { id: id.to_owned(), ours: labels.digest, theirs });
    }
    let elsewhere: Option<PathBuf> = memo.get(labels::ARTIFACTS_MEMO).map_err(ServiceError::confused(WHAT))?;
    if let Some(elsewhere) = elsewhere.filter(|elsewhere| *elsewhere != labels.artifacts) {
        tracing::warn!("the build that runs writes to `{}`", elsewhere.display());
    }
    Ok(described.run_id().to_owned())
}
