//! `url.jsonl`: parsing as WPT and ada test it; canonical and safe URLs as w3lib has them.

use std::collections::BTreeMap;

use corpora_web::url::{CanonicalUrl, UrlError, normalize, resolve, validate};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::cases;

/// Where browsers have gone another way since the last release of the `idna` crate: labels that claim to be Punycode and are
/// none. No name in the DNS has one.
const NO_PUNYCODE: &str = "a label that starts with `xn--` and is no Punycode";

#[test]
fn urls_over_http_are_read_as_browsers_read_them() {
    let Some(cases) = cases("url.jsonl") else { return };
    let over_http = |case: &&Value| case["kind"] == "parse" && is_over_http(case);
    let mut counted = BTreeMap::new();
    for case in cases.iter().filter(over_http) {
        let (input, expected) = (text(case, "input"), case["expect"].as_str());
        let parsed = match case["base"].as_str() {
            Some(base) => validate(base).and_then(|base| resolve(&base, input).map(|url| url.as_url().clone())),
            None => validate(input),
        };
        let outcome = match (parsed, expected) {
            (Ok(url), Some(expected)) if url.as_str() == expected => "as browsers do",
            (Err(_), None) => "refused, as browsers do",
            // A reference is resolved to what is asked for: without fragment and userinfo, in one spelling.
            (Ok(url), Some(expected)) if Ok(url.as_str()) == normalize(expected).as_ref().map(|url| url.as_str()) => {
                "as browsers do, and then normalised"
            }
            (Err(UrlError::NoHost), Some(_)) => "a host of dots alone",
            (Err(UrlError::NotAUrl { .. }), Some(_)) if input.to_ascii_lowercase().contains("xn--") => NO_PUNYCODE,
            (got, expected) => panic!("{case}: {got:?}, not {expected:?}"),
        };
        *counted.entry(outcome).or_insert(0) += 1;
    }
    assert_eq!(counted.values().sum::<usize>(), 448);
    assert_eq!(counted.get(NO_PUNYCODE), Some(&7), "{counted:?}");
}

/// Whether a case is one of a URL over HTTP: the one that is expected, or else the one that is tried.
fn is_over_http(case: &Value) -> bool {
    let starts = |text: &str| {
        let text = text.trim_start_matches(|character| character <= ' ').to_ascii_lowercase();
        text.starts_with("http:") || text.starts_with("https:")
    };
    let base_is = case["base"].as_str().is_none_or(starts);
    match case["expect"].as_str() {
        Some(expected) => starts(expected) && base_is,
        None => {
            base_is && (starts(text(case, "input")) || (case["base"].is_string() && !text(case, "input").contains(':')))
        }
    }
}

#[test]
fn urls_are_as_w3lib_has_them_where_it_means_the_same() {
    let Some(cases) = cases("url.jsonl") else { return };
    let mut counted = BTreeMap::new();
    for case in cases.iter().filter(|case| case["src"] == "w3lib") {
        *counted.entry((text(case, "kind"), compared(case))).or_insert(0) += 1;
    }
    let of = |kind: &str, outcome: &str| {
        counted.iter().filter(|((a, b), _)| *a == kind && b.starts_with(outcome)).map(|(_, n)| n).sum::<usize>()
    };
    let shared = (of("canonicalize_url", "the same"), of("safe_url_string", "the same"));
    assert_eq!(shared, (273, 550), "{counted:#?}");
}

/// How what we make of a URL compares to what w3lib makes of it.
fn compared(case: &Value) -> &'static str {
    let (input, expected) = (text(case, "input"), text(case, "expect"));
    let is_canonical = case["kind"] == "canonicalize_url";
    let made = |text: &str| match is_canonical {
        true => CanonicalUrl::parse(text).map(String::from),
        false => normalize(text).map(|url| url.as_str().to_owned()),
    };
    let ours = match made(input) {
        Ok(ours) => ours,
        Err(UrlError::Scheme { .. } | UrlError::NotAUrl { .. }) if !input.trim().to_lowercase().starts_with("http") => {
            return "no URL over HTTP";
        }
        Err(_) if validate(input).is_err() => return "a host that browsers refuse",
        Err(error) => panic!("{case}: {error:?}"),
    };
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ").replace("=&", "&")).collect::<Vec<u8>>();
    let theirs = made(expected);
    match theirs {
        _ if ours == expected => "the same",
        _ if case["note"].is_string() => "an option that we do not have",
        Ok(theirs) if ours == theirs => "the same but for userinfo, fragment, port, empty path, spelling",
        Ok(theirs) if decoded(&ours) == decoded(theirs.trim_end_matches('=')) => {
            "reserved characters are left as they were"
        }
        theirs => panic!("{case}: {ours}, not {theirs:?}"),
    }
}

fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap_or_default()
}
