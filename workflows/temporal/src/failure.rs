//! What the orchestrator is told of an attempt that did not succeed.

use std::error::Error;
use std::time::Duration;

use corpora_contracts::outcome::ExitCode;
use serde_json::Value;
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::ActivityError;

use crate::message::StepFailure;

/// A result that is longer than this, as JSON, is told by its first keys alone: it stands in the workflow's history.
const MOST_BYTES: usize = 16 * 1024;

/// An attempt that did not succeed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// It was stopped, as asked.
    Cancelled(StepFailure),
    /// It failed.
    Failed {
        /// `ExitCode<n>` or `Signal<n>`.
        type_name: String,
        /// Whether no attempt follows.
        for_good: bool,
        /// What the child said last, or what happened before there was one.
        message: String,
        /// When the next attempt makes sense, where somebody said so.
        retry_after: Option<Duration>,
        /// What is told besides.
        details: StepFailure,
    },
}

impl Failure {
    /// A failure without a child that could tell it; it ends as a child would have ended.
    pub(crate) fn without_child(code: ExitCode, attempt: u32, error: &dyn Error) -> Self {
        let for_good = matches!(code, ExitCode::Usage | ExitCode::Data);
        Self::Failed {
            type_name: format!("ExitCode{}", code.code()),
            for_good,
            message: chain(error),
            retry_after: None,
            details: StepFailure { attempt, stops_others: true, result: Value::Null },
        }
    }

    /// The failure as the orchestrator's own.
    pub(crate) fn into_error(self) -> ActivityError {
        match self {
            Self::Cancelled(details) => ActivityError::cancelled_with_details(details),
            Self::Failed { type_name, for_good, message, retry_after, details } => {
                let failure = ApplicationFailure::builder(message).type_name(type_name).non_retryable(for_good);
                ActivityError::application(failure.maybe_next_retry_delay(retry_after).details(details).build())
            }
        }
    }
}

/// The object on the last line of a child's stdout; null without one.
pub(crate) fn result_of(stdout: &[u8]) -> Value {
    let last = stdout.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(last).ok().filter(Value::is_object).unwrap_or_default()
}

/// The result, cut where it is too long for a history.
pub(crate) fn small(result: Value) -> Value {
    if result.to_string().len() <= MOST_BYTES {
        return result;
    }
    ["stage", "ok"].into_iter().filter_map(|key| Some((key, result.get(key)?.clone()))).collect()
}

/// How long a server asked to be left alone, when that was too long to wait for in the child. Of several, the longest:
/// an earlier attempt would only meet the others.
pub(crate) fn retry_after(result: &Value) -> Option<Duration> {
    let seconds = entries(result).filter_map(|entry| entry["error"]["retry_after_s"].as_u64());
    seconds.max().map(Duration::from_secs)
}

/// Whether a step's failure ends the other steps of its level. Quarantined bytes are for a person and stop nobody.
pub(crate) fn stops_others(result: &Value) -> bool {
    let is = |status: &str| entries(result).any(|entry| entry["status"] == status);
    is("failed") || !is("quarantined")
}

/// What a child said last, as text.
pub(crate) fn message(step: &str, type_name: &str, stderr: &[u8]) -> String {
    // The first character may have been cut.
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim_start_matches(char::REPLACEMENT_CHARACTER).trim();
    if text.is_empty() { format!("step `{step}` ended with {type_name} and said nothing") } else { text.to_owned() }
}

/// An error with all its causes on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(current) = cause {
        let next = current.to_string();
        // Some libraries repeat the cause in their own message.
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = current.source();
    }
    text
}

fn entries(result: &Value) -> impl Iterator<Item = &Value> {
    result["entries"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_line_is_the_result() {
        let object = json!({"stage": "fetch", "ok": true});
        for stdout in [
            "{\"stage\":\"fetch\",\"ok\":true}\n",
            "{\"a\":1}\n{\"stage\":\"fetch\",\"ok\":true}",
            "x\n{\"stage\":\"fetch\",\"ok\":true}\n\n",
        ] {
            assert_eq!(result_of(stdout.as_bytes()), object, "{stdout:?}");
        }
        for stdout in ["", "\n", "text\n", "[1]\n", "7\n", "{\"stage\":\"fe"] {
            assert_eq!(result_of(stdout.as_bytes()), Value::Null, "{stdout:?}");
        }
    }

    #[test]
    fn a_long_result_is_told_by_its_first_keys() {
        let entries: Vec<Value> = (0..1000).map(|id| json!({"source_id": format!("source-{id}")})).collect();
        assert_eq!(
            small(json!({"stage": "fetch", "ok": true, "entries": entries})),
            json!({"stage": "fetch", "ok": true})
        );
        let short = json!({"stage": "fetch", "ok": true, "entries": [1]});
        assert_eq!(small(short.clone()), short);
        assert_eq!(small(Value::Null), Value::Null);
    }

    #[test]
    fn the_longest_wait_asked_for_counts() {
        let entry = |seconds: Option<u64>| json!({"status": "failed", "error": {"retry_after_s": seconds}});
        let result = json!({"entries": [entry(None), entry(Some(90)), entry(Some(600)), {"status": "fetched"}]});
        assert_eq!(retry_after(&result), Some(Duration::from_secs(600)));
        assert_eq!(retry_after(&json!({"entries": [entry(None)]})), None);
        assert_eq!(retry_after(&Value::Null), None);
    }

    #[test]
    fn quarantined_bytes_stop_nobody() {
        let of = |statuses: &[&str]| {
            let entries: Vec<Value> = statuses.iter().map(|status| json!({"status": status})).collect();
            stops_others(&json!({"entries": entries}))
        };
        assert!(!of(&["fetched", "quarantined"]));
        assert!(of(&["quarantined", "failed"]) && of(&["failed"]) && of(&["fetched"]) && of(&[]));
        assert!(stops_others(&Value::Null), "a crash says nothing");
    }

    #[test]
    fn what_a_child_said_is_the_message() {
        assert_eq!(message("fetch-a", "ExitCode65", b"\x82\xACerror: 404\n"), "error: 404");
        assert_eq!(message("fetch-a", "Signal9", b" \n"), "step `fetch-a` ended with Signal9 and said nothing");
    }
}
