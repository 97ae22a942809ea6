//! What the orchestrator is told of an attempt that did not succeed.

use std::error::Error;
use std::time::Duration;

use corpora_contracts::ids::Name;
use corpora_contracts::outcome::ExitCode;
use serde_json::Value;
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::ActivityError;

use crate::message::StepFailure;

/// How much of a child's stderr becomes the message of a failure: the protocol's 4 KiB.
pub(crate) const MOST_SAID: usize = 4 * 1024;

impl StepFailure {
    /// What a child's result tells of an attempt that failed.
    pub(crate) fn told(attempt: u32, result: &Value) -> Box<Self> {
        let (failed, open) = unfinished(result);
        Box::new(Self { attempt, stops_others: stops_others(result), failed, open, result: small(result.clone()) })
    }
}

/// A result that is longer than this, as JSON, is told by its first keys alone: it stands in the workflow's history.
const MOST_BYTES: usize = 4 * 1024;

/// An attempt that did not succeed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// It was stopped, as asked.
    Cancelled(Box<StepFailure>),
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
        details: Box<StepFailure>,
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
            details: StepFailure::told(attempt, &Value::Null),
        }
    }

    /// The failure as the orchestrator's own.
    pub(crate) fn into_error(self) -> ActivityError {
        match self {
            Self::Cancelled(details) => ActivityError::cancelled_with_details(*details),
            Self::Failed { type_name, for_good, message, retry_after, details } => {
                let failure = ApplicationFailure::builder(message).type_name(type_name).non_retryable(for_good);
                ActivityError::application(failure.maybe_next_retry_delay(retry_after).details(*details).build())
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
    ["stage", "ok", "clock"].into_iter().filter_map(|key| Some((key, result.get(key)?.clone()))).collect()
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

/// The sources that were not done, and those of them that are not known to be wrong for good.
fn unfinished(result: &Value) -> (Vec<Name>, Vec<Name>) {
    let name = |entry: &Value| entry["source_id"].as_str().or_else(|| entry["id"].as_str())?.parse::<Name>().ok();
    let with = |statuses: &'static [&str]| {
        let is_one = move |entry: &&Value| entry["status"].as_str().is_some_and(|status| statuses.contains(&status));
        entries(result).filter(is_one).filter_map(name).collect()
    };
    (with(&["failed", "cancelled", "quarantined"]), with(&["failed", "cancelled"]))
}

/// What a child said last, as text of at most [`MOST_SAID`] bytes.
pub(crate) fn message(step: &str, type_name: &str, stderr: &[u8]) -> String {
    // The first character may have been cut; and what is no text takes more room as text.
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim_start_matches(char::REPLACEMENT_CHARACTER);
    let text = text.lines().map(said).collect::<Vec<_>>().join("\n");
    let text = text[text.ceil_char_boundary(text.len().saturating_sub(MOST_SAID))..].trim();
    if text.is_empty() { format!("step `{step}` ended with {type_name} and said nothing") } else { text.to_owned() }
}

/// What a line of a log in JSON says; any other line as it is.
fn said(line: &str) -> String {
    let object: Option<Value> = serde_json::from_str(line).ok();
    let text = |key: &str| object.as_ref().and_then(|object| object[key].as_str());
    match (text("level"), text("message")) {
        (Some("ERROR") | None, Some(message)) => message.to_owned(),
        (Some(level), Some(message)) => format!("{level} {message}"),
        _ => line.to_owned(),
    }
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
            small(json!({"stage": "fetch", "ok": true, "entries": entries, "clock": "fixed"})),
            json!({"stage": "fetch", "ok": true, "clock": "fixed"})
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
    fn sources_that_were_not_done_are_named() {
        let fetch = |id: &str, status: &str| json!({"source_id": id, "status": status});
        let extract = |id: &str, status: &str| json!({"id": id, "status": status});
        let names = |names: Vec<Name>| names.iter().map(Name::to_string).collect::<Vec<_>>().join(" ");
        for (entries, failed, open) in [
            (vec![fetch("a", "fetched"), fetch("b", "quarantined"), fetch("c", "failed")], "b c", "c"),
            (vec![extract("a", "done"), extract("b", "failed"), extract("c", "cancelled")], "b c", "b c"),
            (vec![json!({"id": "d/v1", "status": "failed"}), json!(7)], "", ""),
            (vec![], "", ""),
        ] {
            let (not_done, left) = unfinished(&json!({"entries": entries}));
            assert_eq!((names(not_done).as_str(), names(left).as_str()), (failed, open), "{entries:?}");
        }
        let told = StepFailure::told(2, &json!({"stage": "fetch", "entries": [fetch("a", "failed")]}));
        assert_eq!((told.attempt, told.stops_others, names(told.open).as_str()), (2, true, "a"));
    }

    #[test]
    fn what_a_child_said_is_the_message() {
        assert_eq!(message("fetch-a", "ExitCode65", b"\x82\xACerror: 404\n"), "error: 404");
        let long = format!("{}e", "ü".repeat(MOST_SAID));
        let told = message("fetch-a", "ExitCode65", &long.as_bytes()[long.len() - MOST_SAID..]);
        assert_eq!(told, format!("{}e", "ü".repeat((MOST_SAID - 1) / 2)), "no character is split");
        let noise = message("fetch-a", "ExitCode65", &[b"error: \n".as_slice(), &[0xff; MOST_SAID]].concat());
        assert!(noise.len() <= MOST_SAID && noise.ends_with(char::REPLACEMENT_CHARACTER), "{}", noise.len());
        let logged = br#"ut":1}
{"level":"WARN","message":"slow","source":"a"}
{"timestamp":"2026-01-01T00:00:00Z","level":"ERROR","message":"fetch source `a`: 404"}
"#;
        assert_eq!(message("fetch-a", "ExitCode65", logged), "ut\":1}\nWARN slow\nfetch source `a`: 404");
        assert_eq!(message("fetch-a", "Signal9", b" \n"), "step `fetch-a` ended with Signal9 and said nothing");
    }
}
