//! The end of a build, as the one who waits for it sees it.

use std::io::{self, Write as _};
use std::time::Duration;

use corpora_contracts::ids::Name;
use corpora_contracts::outcome::{Disposition, ExitCode};
use serde::Serialize;
use temporalio_client::errors::WorkflowGetResultError;
use temporalio_client::{Client, WorkflowExecutionInfo, WorkflowGetResultOptions, WorkflowHandle};
use temporalio_common::error::IncomingError;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use crate::failure::chain;
use crate::report::{Report, Status};
use crate::service::ServiceError;
use crate::start::Build;
use crate::workflow::CorpusBuild;

/// How long the service may be away while a build is waited for; the build itself does not mind.
const OUTAGE: Duration = Duration::from_secs(60);

/// How long to wait before the service is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// What `start --wait` prints: the keys of `corpora build`, and what became of each step.
#[derive(Debug, Serialize)]
struct Ended<'a> {
    stage: &'static str,
    dataset: &'a Name,
    version: &'a Name,
    workflow_id: &'a str,
    run_id: &'a str,
    #[serde(flatten)]
    report: Report,
}

/// Waits for the end of a build, prints it and gives the build's code. A signal ends the waiting, not the build.
pub(crate) async fn until_end(client: &Client, build: &Build) -> ExitCode {
    let report = tokio::select! {
        report = ended(client, build) => report,
        () = signalled() => {
            tracing::warn!("not waiting any longer; build `{}` goes on", build.id);
            Report { code: ExitCode::Cancelled.code(), ..Report::default() }
        }
    };
    for step in report.steps.iter().filter(|step| step.status == Status::Failed) {
        if let Some(error) = &step.error {
            tracing::error!("step `{}` ended with {}: {}", step.step, error.kind, error.message);
        }
    }
    let code = code(report.code);
    let Build { id, run, dataset, version, .. } = build;
    let printed = print(&Ended { stage: "build", dataset, version, workflow_id: id, run_id: run, report });
    code.worse(printed)
}

/// Prints an object on one line. A reader that has gone away (`| head`) is no failure.
pub(crate) fn print(object: &impl Serialize) -> ExitCode {
    let written = serde_json::to_string(object).map_err(io::Error::from).and_then(|line| {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}").and_then(|()| stdout.flush())
    });
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            tracing::error!("write to stdout: {error}");
            ExitCode::Retry
        }
        _ => ExitCode::Success,
    }
}

async fn signalled() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// The build's own report, or one that says why there is none.
async fn ended(client: &Client, build: &Build) -> Report {
    let run = WorkflowExecutionInfo::builder().namespace(client.options().namespace.clone());
    let run = run.workflow_id(build.id.clone()).run_id(build.run.clone()).build();
    let handle = WorkflowHandle::<Client, CorpusBuild>::new(client.clone(), run);
    let mut away_since = None;
    loop {
        let error = match handle.get_result(WorkflowGetResultOptions::default()).await {
            Ok(report) => return report,
            Err(WorkflowGetResultError::Rpc(status)) => ServiceError::refused("wait for the build", status),
            Err(error) => return told_by(&error),
        };
        let since = *away_since.get_or_insert_with(Instant::now);
        if error.disposition() == Disposition::Fail || since.elapsed() > OUTAGE {
            tracing::error!("{}; the build may go on", chain(&error));
            return without_steps(error.disposition().into());
        }
        tracing::warn!("{}; asking again", chain(&error));
        sleep(PAUSE).await;
    }
}

/// The report of a build that did not succeed.
fn told_by(error: &WorkflowGetResultError) -> Report {
    let report = match error {
        WorkflowGetResultError::Failed(failure) => match &**failure {
            IncomingError::Application(failure) => failure.details().ok().flatten(),
            _ => None,
        },
        WorkflowGetResultError::Cancelled { details } => details.deserialize().ok(),
        _ => None,
    };
    report.unwrap_or_else(|| {
        tracing::error!("{}", chain(error));
        without_steps(match error {
            WorkflowGetResultError::Cancelled { .. } | WorkflowGetResultError::Terminated { .. } => ExitCode::Cancelled,
            _ => ExitCode::Retry,
        })
    })
}

fn without_steps(code: ExitCode) -> Report {
    Report { code: code.code(), ..Report::default() }
}

/// The exit code of this number; one that is not ours is no promise of anything.
fn code(number: u8) -> ExitCode {
    let all = [ExitCode::Success, ExitCode::Usage, ExitCode::Data, ExitCode::Cancelled];
    all.into_iter().find(|code| code.code() == number).unwrap_or(ExitCode::Retry)
}
