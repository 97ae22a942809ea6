//! What a build says of itself, and what the service remembers of it.

use serde_json::Value;

use crate::harness::Outcome;

/// The object on the last line of stdout.
///
/// # Panics
/// When there is none, or it is not compact.
#[track_caller]
#[must_use]
pub fn object(outcome: &Outcome) -> Value {
    let line = outcome.stdout.lines().last().unwrap_or_default();
    let object: Value = serde_json::from_str(line).unwrap_or_default();
    assert!(object.is_object(), "no object: {}\n{}", outcome.stdout, outcome.stderr);
    // Keys come back in another order, but a blank more would be seen.
    assert_eq!(line.len(), object.to_string().len(), "compact: {line}");
    object
}

/// Each step of a report with what became of it and how many attempts that took.
#[must_use]
pub fn steps(report: &Value) -> Vec<(String, String, u64)> {
    let steps = report["steps"].as_array().unwrap().iter();
    let told = |step: &Value, key: &str| step[key].as_str().unwrap().to_owned();
    steps.map(|step| (told(step, "step"), told(step, "status"), step["attempts"].as_u64().unwrap())).collect()
}

/// The report of steps that all ended like this.
#[must_use]
pub fn all(ids: &[&str], status: &str, attempts: u64) -> Vec<(String, String, u64)> {
    ids.iter().map(|id| ((*id).to_owned(), status.to_owned(), attempts)).collect()
}

/// The attributes of a history's events of one type.
#[must_use]
pub fn events<'a>(history: &'a [Value], event: &str, attributes: &str) -> Vec<&'a Value> {
    let of_type = history.iter().filter(|entry| entry["eventType"] == format!("EVENT_TYPE_{event}"));
    of_type.map(|entry| &entry[attributes]).collect()
}
