//! URLs for messages: without the credentials they carry.

use url::Url;

/// What stands in the place of a secret.
const MASK: &str = "***";

/// Query parameters that are credentials or make a URL a signed one, in lower case.
const SECRET_PARAMETERS: &[&str] = &[
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "awsaccesskeyid",
    "googleaccessid",
    "key",
    "key-pair-id",
    "password",
    "policy",
    "sig",
    "signature",
    "token",
    "x-amz-credential",
    "x-amz-security-token",
    "x-amz-signature",
    "x-goog-credential",
    "x-goog-signature",
];

/// The text with `***` in the place of a URL's userinfo and of the values of secret query parameters.
///
/// Any text may be given; what is no URL but looks like one with userinfo loses everything up to its last `@`.
#[must_use]
pub fn redact(text: &str) -> String {
    let text = without_userinfo(text);
    let Some((before, rest)) = text.split_once('?') else { return text };
    let (query, fragment) = rest.split_once('#').map_or((rest, None), |(query, fragment)| (query, Some(fragment)));
    let pairs: Vec<_> = query.split('&').map(masked_pair).collect();
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    format!("{before}?{}{fragment}", pairs.join("&"))
}

/// The names of a URL's query parameters that are secrets, in the order written.
pub(super) fn secret_parameters(url: &Url) -> Vec<String> {
    url.query_pairs().map(|(name, _)| name.into_owned()).filter(|name| is_secret(name)).collect()
}

fn is_secret(name: &str) -> bool {
    SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str())
}

fn masked_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if is_secret(&decoded(name)) && !value.is_empty() => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    }
}

/// A parameter's name as the server reads it.
fn decoded(name: &str) -> String {
    url::form_urlencoded::parse(name.as_bytes()).map(|(name, _)| name.into_owned()).collect()
}

fn without_userinfo(text: &str) -> String {
    let Some(start) = after_scheme(text) else { return text.to_owned() };
    let (scheme, rest) = text.split_at(start);
    let end = match Url::parse(text.trim()) {
        Ok(url) if !url.cannot_be_a_base() && url.username().is_empty() && url.password().is_none() => None,
        // A password that is written out may hold `/`, `?` or `#`: then the URL does not parse, or parses wrongly, and
        // only the last `@` is a safe end.
        Ok(url) if !url.cannot_be_a_base() => authority(rest).rfind('@'),
        _ => rest.rfind('@'),
    };
    match end {
        Some(at) => format!("{scheme}{MASK}{}", &rest[at..]),
        None => text.to_owned(),
    }
}

/// Where the authority would start: behind `scheme:` and its slashes, or behind the slashes alone.
fn after_scheme(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(2);
    }
    let colon = text.find(':')?;
    let scheme = text[..colon].trim_start();
    let well_formed = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let slashes = text[colon + 1..].bytes().take_while(|byte| b"/\\".contains(byte)).count();
    ((well_formed && slashes > 0) || text[colon + 1..].contains('@')).then_some(colon + 1 + slashes)
}

fn authority(rest: &str) -> &str {
    &rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())]
}
