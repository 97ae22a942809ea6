//! `corpora-worker run`: polls for builds and steps until it is told to stop.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use corpora_contracts::outcome::{Disposition, ExitCode};
use temporalio_common::telemetry::metrics::CoreMeter;
use temporalio_common::telemetry::{PrometheusExporterOptions, TelemetryOptions, start_prometheus_metric_exporter};
use temporalio_sdk::runtime::RuntimeOptions;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::activities::Activities;
use crate::cli::{Format, RunArguments};
use crate::environment;
use crate::failure::chain;
use crate::service::{Service, ServiceError};
use crate::workflow::CorpusBuild;

/// Workflow tasks at a time: they take milliseconds and no child.
const WORKFLOW_TASKS: usize = 100;

/// The longest that a sign of life is held back. The library would wait for most of the heartbeat timeout, and a cancel
/// comes back with a sign of life; how often there is one decides the runner.
const THROTTLE: Duration = Duration::from_secs(1);

/// How long the service holds a build's next task for the worker that has the build in memory. One that has died never
/// comes; any other one reads the history again, which takes milliseconds.
const HELD_FOR_ITS_WORKER: Duration = Duration::from_secs(3);

/// From the signal to the children's own: at once. They have their grace, and the next attempt goes on where they end.
const BEFORE_CHILDREN_ARE_STOPPED: Duration = Duration::ZERO;

/// How long the service has, when the children have had their grace, to take how they ended.
const AFTER_CHILDREN_ARE_STOPPED: Duration = Duration::from_secs(5);

/// Why the worker does not work.
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// There is no such program: every step would fail.
    #[error("start `{}`; name the program with --program, or install it on the PATH", program.display())]
    Program {
        /// As given.
        program: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Nobody could look at the metrics.
    #[error("serve metrics at {address}; is --metrics-address right, is the port free?")]
    Metrics {
        /// As given.
        address: SocketAddr,
        /// What the system says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The system or the library refuses.
    #[error("{what}")]
    Refused {
        /// What was to be done.
        what: &'static str,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl WorkerError {
    fn disposition(&self) -> Disposition {
        match self {
            Self::Service(error) => error.disposition(),
            Self::Program { .. } => Disposition::Fail,
            Self::Metrics { .. } | Self::Refused { .. } => Disposition::Retry,
        }
    }
}

pub(crate) async fn run(arguments: &RunArguments, logs: Format) -> ExitCode {
    match work(arguments, logs).await {
        Ok(()) => ExitCode::Success,
        Err(error) => {
            tracing::error!("{}", chain(&error));
            error.disposition().into()
        }
    }
}

async fn work(arguments: &RunArguments, logs: Format) -> Result<(), WorkerError> {
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate()).map_err(refused("listen for signals"))?,
        signal(SignalKind::interrupt()).map_err(refused("listen for signals"))?,
    );
    let runtime = Runtime::from_current_tokio(runtime_options(arguments.metrics_address)?);
    let runtime = runtime.map_err(refused("start the worker"))?;
    find(&arguments.program)?;
    let service = Service::connect().await?;
    let options = options(arguments, logs)?;
    let mut worker = Worker::new(&runtime, service.client, options).map_err(refused("start the worker"))?;
    let stop = worker.shutdown_handle();
    let stopped = async {
        tokio::select! {
            _ = terminate.recv() => tracing::warn!("SIGTERM: stopping; steps go on elsewhere, from what they have done"),
            _ = interrupt.recv() => tracing::warn!("SIGINT: stopping; steps go on elsewhere, from what they have done"),
        }
        stop();
        sleep(arguments.cancel_grace + AFTER_CHILDREN_ARE_STOPPED).await;
    };
    tracing::info!(task_queue = arguments.task_queue, "working");
    tokio::select! {
        worked = worker.run() => worked.map_err(refused("work")),
        () = stopped => {
            tracing::warn!("the service did not take the ends of all steps in time; it finds out by itself");
            Ok(())
        }
    }
}

/// With metrics for those who scrape them, where an address is given.
fn runtime_options(metrics: Option<SocketAddr>) -> Result<RuntimeOptions, WorkerError> {
    let Some(address) = metrics else { return Ok(RuntimeOptions::default()) };
    let exporter = PrometheusExporterOptions::builder()
        .socket_addr(address)
        .counters_total_suffix(true)
        .unit_suffix(true)
        .use_seconds_for_durations(true)
        .build();
    let server = start_prometheus_metric_exporter(exporter);
    let server = server.map_err(|source| WorkerError::Metrics { address, source: source.into() })?;
    tracing::info!("metrics at http://{}/metrics", server.bound_addr);
    let meter: Arc<dyn CoreMeter> = server.meter;
    let telemetry = TelemetryOptions::builder().metrics(meter).build();
    RuntimeOptions::builder().telemetry_options(telemetry).build().map_err(refused("start the worker"))
}

/// Starts the program once, to see that it can be.
fn find(program: &Path) -> Result<(), WorkerError> {
    let mut command = Command::new(program);
    command.arg("--version").env_clear().envs(environment::for_children(environment::inherited()));
    let found = command.stdin(Stdio::null()).output();
    let missing = |source| WorkerError::Program { program: program.to_owned(), source };
    let version = found.map_err(missing)?.stdout;
    tracing::info!("steps run {}", String::from_utf8_lossy(&version).trim());
    Ok(())
}

fn options(arguments: &RunArguments, logs: Format) -> Result<WorkerOptions, WorkerError> {
    let activities = Activities::new(arguments.program.clone(), logs, arguments.cancel_grace);
    let activities = activities.map_err(refused("start the thread of the children"))?;
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let steps = FixedSizeSlotSupplier::new(arguments.jobs.unwrap_or_else(cores));
    let tuner = TunerHolder::builder()
        .workflow_task_slot_supplier(FixedSizeSlotSupplier::new(WORKFLOW_TASKS))
        .activity_task_slot_supplier(steps)
        .local_activity_task_slot_supplier(steps)
        .nexus_task_slot_supplier(FixedSizeSlotSupplier::new(1))
        .build();
    let options = WorkerOptions::new(&arguments.task_queue)
        .register_workflow::<CorpusBuild>()
        .map_err(refused("register the workflow"))?
        .register_activities(activities)
        .tuner(tuner)
        .max_cached_workflows(arguments.cached_builds)
        .sticky_queue_schedule_to_start_timeout(HELD_FOR_ITS_WORKER)
        .max_heartbeat_throttle_interval(THROTTLE)
        .graceful_shutdown_period(BEFORE_CHILDREN_ARE_STOPPED);
    Ok(options.build())
}

fn refused<E: Into<Box<dyn std::error::Error + Send + Sync>>>(what: &'static str) -> impl FnOnce(E) -> WorkerError {
    move |error| WorkerError::Refused { what, source: error.into() }
}
