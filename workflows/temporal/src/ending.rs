//! The end of an activity, from the orchestrator's words to ours: pure.

use corpora_contracts::outcome::ExitCode;
use corpora_contracts::workflow::StepError;
use temporalio_common::error::IncomingError;
use temporalio_sdk::{ActivityExecutionError, ApplicationFailure};

use crate::message::StepFailure;
use crate::report::Ended;
use crate::runner::code_of;

/// How a step ended that did not succeed.
pub(crate) fn of_error(step: &str, error: &ActivityExecutionError) -> Ended {
    if let Some(cancelled) = error.as_cancelled() {
        let details: Option<StepFailure> = cancelled.details().ok().flatten();
        return Ended::Cancelled { attempt: details.map_or(0, |details| details.attempt) };
    }
    let told = error.cause().and_then(application);
    let details: Option<StepFailure> = told.and_then(|failure| failure.details().ok().flatten());
    let attempt = details.as_ref().map_or(0, |details| details.attempt);
    let stops_others = details.as_ref().is_none_or(|details| details.stops_others);
    let (failed, open) = details.map(|details| (details.failed, details.open)).unwrap_or_default();
    let said = told.map(ToString::to_string);
    if error.as_timeout().is_some() {
        let said = said.map(|said| format!("; its last attempt said: {said}")).unwrap_or_default();
        let message = format!("step `{step}` did not succeed in its time{said}");
        let error = StepError { kind: "Timeout".to_owned(), message };
        return Ended::Failed { attempt, code: ExitCode::Retry, error, stops_others, failed, open };
    }
    let kind = told.and_then(ApplicationFailure::type_name).unwrap_or_default().to_owned();
    let message = said.unwrap_or_else(|| format!("step `{step}` failed: {error}"));
    Ended::Failed { attempt, code: code_of(&kind), error: StepError { kind, message }, stops_others, failed, open }
}

/// The failure that the activity itself told, below what the orchestrator wrapped around it.
fn application(error: &IncomingError) -> Option<&ApplicationFailure> {
    match error {
        IncomingError::Application(failure) => Some(failure),
        other => other.cause().and_then(application),
    }
}
