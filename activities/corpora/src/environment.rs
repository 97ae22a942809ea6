//! Every environment variable that the program itself reads; README.md lists them, and those of its libraries.

use std::path::PathBuf;

use corpora_contracts::layout::Layout;
use corpora_stage::clock::{CLOCK_VARIABLE, Clock, InvalidClock};

/// The artifacts directory, when no flag names it.
const ARTIFACTS: &str = "CORPORA_ARTIFACTS";
/// The key of a subprocess activity, for the log.
const IDEMPOTENCY_KEY: &str = "CORPORA_IDEMPOTENCY_KEY";
/// The 1-based attempt of a subprocess activity.
const ATTEMPT: &str = "CORPORA_ATTEMPT";
/// The W3C trace context, for the log.
const TRACEPARENT: &str = "TRACEPARENT";
/// The service's name in the log.
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";

/// The artifacts directory: the flag's, else the environment's, else `./artifacts`.
pub(crate) fn layout(flag: Option<&PathBuf>) -> Layout {
    let variable = || std::env::var_os(ARTIFACTS).filter(|value| !value.is_empty()).map(PathBuf::from);
    Layout::new(flag.cloned().or_else(variable).unwrap_or_else(|| PathBuf::from("artifacts")))
}

/// The clock that the environment asks for; a fixed one is said aloud.
pub(crate) fn clock() -> Result<Clock, InvalidClock> {
    let clock = Clock::from_variable(std::env::var(CLOCK_VARIABLE).ok().as_deref())?;
    if let Clock::Fixed(time) = clock {
        tracing::warn!("the clock is fixed at {time} by {CLOCK_VARIABLE}: retrieved_at is no evidence");
    }
    Ok(clock)
}

/// The attempt of this subprocess activity, from 1; what is no such number counts as the first.
pub(crate) fn attempt() -> u32 {
    std::env::var(ATTEMPT).ok().and_then(|attempt| attempt.parse().ok()).map_or(1, |attempt: u32| attempt.max(1))
}

/// The span that every log line of a subprocess activity stands in.
pub(crate) fn activity_span() -> tracing::Span {
    let value = |name: &str| std::env::var(name).unwrap_or_default();
    tracing::info_span!(
        "activity",
        key = value(IDEMPOTENCY_KEY),
        attempt = attempt(),
        traceparent = value(TRACEPARENT),
        service = value(SERVICE_NAME),
    )
}
