//! The environment: what a child inherits, what is added to it, and what the worker reads itself.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use corpora_contracts::ids::Digest;

use crate::key::ActivityKey;

/// The artifacts directory, when no flag names it; and what a child is told.
const ARTIFACTS: &str = "CORPORA_ARTIFACTS";
/// The key of a subprocess activity.
const IDEMPOTENCY_KEY: &str = "CORPORA_IDEMPOTENCY_KEY";
/// The 1-based attempt of a subprocess activity.
const ATTEMPT: &str = "CORPORA_ATTEMPT";
/// The W3C trace context.
const TRACEPARENT: &str = "TRACEPARENT";
/// The service's name in logs.
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// How the variables of the orchestrator start, credentials among them: no child sees them.
const ORCHESTRATORS: &[u8] = b"TEMPORAL_";

/// A variable and its value.
pub(crate) type Variable = (OsString, OsString);

/// The artifacts directory, absolute: the flag's, else the environment's, else `./artifacts`.
///
/// # Errors
/// When the working directory is not known.
pub(crate) fn artifacts(flag: Option<&Path>) -> std::io::Result<PathBuf> {
    let variable = || std::env::var_os(ARTIFACTS).filter(|value| !value.is_empty()).map(PathBuf::from);
    std::path::absolute(flag.map(Path::to_owned).or_else(variable).unwrap_or_else(|| PathBuf::from("artifacts")))
}

/// The trace that a build is started in.
pub(crate) fn traceparent() -> Option<String> {
    std::env::var(TRACEPARENT).ok().filter(|value| parts(value).is_some())
}

/// The environment of the worker.
pub(crate) fn inherited() -> impl Iterator<Item = Variable> {
    std::env::vars_os()
}

/// The variables that are the orchestrator's own, as text.
pub(crate) fn orchestrators() -> HashMap<String, String> {
    let own = inherited().filter(|(name, _)| name.as_encoded_bytes().starts_with(ORCHESTRATORS));
    own.map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())).collect()
}

/// What every child inherits: all but what is the orchestrator's own.
pub(crate) fn for_children(inherited: impl IntoIterator<Item = Variable>) -> impl Iterator<Item = Variable> {
    inherited.into_iter().filter(|(name, _)| !name.as_encoded_bytes().starts_with(ORCHESTRATORS))
}

/// What one attempt's child sees: what it inherits, and what the protocol adds.
pub(crate) fn of_child(
    inherited: impl IntoIterator<Item = Variable>,
    artifacts: &Path,
    key: &ActivityKey,
    attempt: u32,
    traceparent: Option<&str>,
) -> Vec<Variable> {
    let named = |name: &str, value: OsString| (OsString::from(name), value);
    let ours = [
        named(ARTIFACTS, artifacts.into()),
        named(IDEMPOTENCY_KEY, key.to_string().into()),
        named(ATTEMPT, attempt.to_string().into()),
        named(TRACEPARENT, span(traceparent, key, attempt).into()),
    ];
    let is_ours = |name: &OsString| ours.iter().any(|(our, _)| our == name);
    let mut all: Vec<Variable> = for_children(inherited).filter(|(name, _)| !is_ours(name)).collect();
    if all.iter().all(|(name, _)| name != SERVICE_NAME) {
        all.push(named(SERVICE_NAME, "corpora".into()));
    }
    all.extend(ours);
    all
}

/// The trace context of one attempt (W3C Trace Context, section 3.2): in the build's trace, else in one of the run's
/// own; its span is the attempt's. Both come from the key, so that they need no randomness and can be found again.
fn span(traceparent: Option<&str>, key: &ActivityKey, attempt: u32) -> String {
    let run = Digest::of(key.run().as_bytes()).to_string();
    let (trace, flags) = traceparent.and_then(parts).unwrap_or((&run[..32], "01"));
    let span = Digest::of(format!("{key}/{attempt}").as_bytes()).to_string();
    format!("00-{trace}-{}-{flags}", &span[..16])
}

/// Trace id and flags of a version 00 trace context.
fn parts(traceparent: &str) -> Option<(&str, &str)> {
    let [version, trace, parent, flags] = traceparent.split('-').collect::<Vec<_>>()[..] else { return None };
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let is_id = |text: &str, length| is_hex(text, length) && text.bytes().any(|byte| byte != b'0');
    (version == "00" && is_id(trace, 32) && is_id(parent, 16) && is_hex(flags, 2)).then_some((trace, flags))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    fn child(inherited: &[(&str, &str)], attempt: u32, traceparent: Option<&str>) -> BTreeMap<String, String> {
        let key = ActivityKey::new("w", "r", "fetch-a").unwrap();
        let inherited = inherited.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let all = of_child(inherited, Path::new("/artifacts"), &key, attempt, traceparent);
        let count = all.len();
        let text = |part: OsString| part.into_string().unwrap();
        let map: BTreeMap<_, _> = all.into_iter().map(|(name, value)| (text(name), text(value))).collect();
        assert_eq!(map.len(), count, "no variable twice");
        map
    }

    #[test]
    fn a_child_inherits_all_but_the_orchestrators_variables() {
        let inherited = [
            ("PATH", "/bin"),
            ("HTTPS_PROXY", "http://proxy"),
            ("AWS_REGION", "eu"),
            ("HF_TOKEN", "t"),
            ("CORPORA_CLOCK", "1"),
            ("CORPORA_ARTIFACTS", "/elsewhere"),
            ("CORPORA_ATTEMPT", "9"),
            ("TEMPORAL_API_KEY", "secret"),
            ("TEMPORAL_ADDRESS", "h:1"),
            ("TRACEPARENT", "stale"),
        ];
        let seen = child(&inherited, 2, None);
        let value = |name: &str| seen.get(name).map(String::as_str);
        for name in ["PATH", "HTTPS_PROXY", "AWS_REGION", "HF_TOKEN", "CORPORA_CLOCK"] {
            let given = inherited.iter().find(|(inherited, _)| *inherited == name);
            assert_eq!(value(name), given.map(|(_, value)| *value), "{name}");
        }
        assert_eq!(value("CORPORA_ARTIFACTS"), Some("/artifacts"));
        assert_eq!(value("CORPORA_IDEMPOTENCY_KEY"), Some("w/r/fetch-a"));
        assert_eq!(value("CORPORA_ATTEMPT"), Some("2"));
        assert_eq!(value("OTEL_SERVICE_NAME"), Some("corpora"));
        assert!(seen.keys().all(|name| !name.starts_with("TEMPORAL_")), "{seen:?}");
        assert_eq!(child(&[("OTEL_SERVICE_NAME", "mine")], 1, None)["OTEL_SERVICE_NAME"], "mine");
    }

    #[test]
    fn every_attempt_is_a_span_of_the_builds_trace() {
        let of = |attempt, parent| child(&[], attempt, parent)["TRACEPARENT"].clone();
        let (first, second) = (of(1, Some(TRACE)), of(2, Some(TRACE)));
        assert_ne!(first, second);
        for span in [&first, &second] {
            assert_eq!(parts(span), Some(("4bf92f3577b34da6a3ce929d0e0e4736", "00")));
        }
        let own = of(1, None);
        assert!(parts(&own).is_some(), "{own}");
        assert_eq!(of(1, Some("00-zz-00-01")), own, "what is no trace context is none");
        assert_eq!(of(1, None), own, "the same attempt has the same span");
    }
}
