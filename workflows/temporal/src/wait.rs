//! The end of a build, as the one who waits for it sees it.

use std::time::Duration;

use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::workflow::{StepStatus, WorkflowReport, WorkflowSummary};
use temporalio_client::errors::WorkflowGetResultError;
use temporalio_client::tonic::Code;
use temporalio_client::{Client, WorkflowGetResultOptions};
use temporalio_common::error::IncomingError;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

use crate::failure::chain;
use crate::find;
use crate::output::{self, Output};
use crate::service::ServiceError;
use crate::start::Build;

/// How long a service may say that it knows of no such build before it is believed: one that has just been started again
/// says so, too.
const UNKNOWN: Duration = Duration::from_secs(60);

/// How long to wait before the service is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits for the end of a build, prints it and gives the build's code. A signal ends the waiting, not the build.
pub(crate) async fn until_end(client: &Client, build: &Build, mut leaving: Leaving, output: Output) -> ExitCode {
    let report = tokio::select! {
        report = ended(client, build) => report,
        () = leaving.asked() => {
            tracing::warn!("not waiting any longer; build `{}` goes on, `corpora-worker cancel` ends it", build.id);
            without_steps(ExitCode::Cancelled)
        }
    };
    for step in report.steps.iter().filter(|step| step.status == StepStatus::Failed) {
        if let Some(error) = &step.error {
            tracing::error!("step `{}` ended with {}: {}", step.step, error.kind, error.message);
        }
    }
    let code = ExitCode::of(report.code).unwrap_or(ExitCode::Retry);
    let Build { id, run, labels, .. } = build;
    let summary = WorkflowSummary {
        stage: "build".to_owned(),
        dataset: labels.dataset.clone(),
        version: labels.version.clone(),
        workflow_id: id.clone(),
        run_id: run.clone(),
        report,
    };
    code.worse(output.result(&summary, || for_people(&summary)))
}

fn for_people(summary: &WorkflowSummary) -> String {
    let WorkflowSummary { dataset, version, report, .. } = summary;
    let end = if report.dataset_dir.is_empty() {
        format!("{dataset} {version}: ended with {}", report.code)
    } else {
        format!("{dataset} {version}: {} documents, verified, in {}", report.n_docs, report.dataset_dir)
    };
    if report.steps.is_empty() { end } else { format!("{}\n\n{end}", output::steps(&report.steps)) }
}

/// A person who waits, and may be told by a signal to leave.
#[derive(Debug)]
pub(crate) struct Leaving {
    signals: Option<(Signal, Signal)>,
}

impl Leaving {
    /// From now on a signal ends the waiting and no longer the process.
    pub(crate) fn listen() -> Self {
        let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
        let (Ok(terminate), Ok(interrupt)) = signals else { return Self { signals: None } };
        Self { signals: Some((terminate, interrupt)) }
    }

    async fn asked(&mut self) {
        let Some((terminate, interrupt)) = &mut self.signals else { return std::future::pending().await };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}

/// The build's own report, however long it takes and however often the service is away meanwhile: the build does not mind.
async fn ended(client: &Client, build: &Build) -> WorkflowReport {
    let run = find::run(client, &build.id, &build.run);
    let (mut is_told, mut unknown_since) = (false, None);
    loop {
        let error = match run.get_result(WorkflowGetResultOptions::default()).await.or_else(told_by) {
            Ok(report) => return report,
            Err(error) => error,
        };
        if is_unknown(&error) {
            unknown_since.get_or_insert_with(Instant::now);
        } else {
            unknown_since = None;
        }
        let may_pass = unknown_since.map(|since| since.elapsed() < UNKNOWN);
        if !may_pass.unwrap_or(error.disposition() == Disposition::Retry) {
            tracing::error!("{}; the build may go on", chain(&error));
            return without_steps(error.disposition().into());
        }
        if !is_told {
            tracing::warn!("{}; the build goes on, and is asked for until the service answers", chain(&error));
            is_told = true;
        }
        sleep(PAUSE).await;
    }
}

fn is_unknown(error: &ServiceError) -> bool {
    matches!(error, ServiceError::Refused { status, .. } if status.code() == Code::NotFound)
}

/// The report of a build that did not succeed.
///
/// # Errors
/// When it is the service that does not answer, or not in words that are understood.
pub(crate) fn told_by(error: WorkflowGetResultError) -> Result<WorkflowReport, ServiceError> {
    let report: Option<WorkflowReport> = match &error {
        WorkflowGetResultError::Failed(failure) => match &**failure {
            IncomingError::Application(failure) => failure.details().ok().flatten(),
            _ => None,
        },
        WorkflowGetResultError::Cancelled { details } => details.deserialize().ok(),
        _ => None,
    };
    if let Some(report) = report {
        return Ok(report);
    }
    let what = "wait for the build";
    let code = match error {
        WorkflowGetResultError::Rpc(status) | WorkflowGetResultError::NotFound(status) => {
            return Err(ServiceError::refused(what, status));
        }
        WorkflowGetResultError::PayloadConversion(_) | WorkflowGetResultError::Other(_) => {
            return Err(ServiceError::confused(what)(error));
        }
        WorkflowGetResultError::Cancelled { .. } | WorkflowGetResultError::Terminated { .. } => ExitCode::Cancelled,
        _ => ExitCode::Retry,
    };
    tracing::error!("{}", chain(&error));
    Ok(without_steps(code))
}

fn without_steps(code: ExitCode) -> WorkflowReport {
    WorkflowReport { code: code.code(), ..WorkflowReport::default() }
}
