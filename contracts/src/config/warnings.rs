//! What is allowed and probably not meant.

use url::{Host, Url};

use super::document::{Document, Table};
use super::locations::{Located, of_source, strings, tables};
use super::problem::Problem;
use super::redact::secret_parameters;
use super::rules::{Place, Rule};

/// All that is doubtful in sources and crawls.
pub(super) fn of(document: &Document) -> Vec<Problem> {
    let sources = tables(document, "sources").flat_map(|(at, _, table)| source(table, &format!("sources[{at}]")));
    let crawls = tables(document, "crawls").flat_map(|(at, _, table)| crawl(table, &format!("crawls[{at}]")));
    sources.chain(crawls).collect()
}

fn source(table: &Table, path: &str) -> Vec<Problem> {
    let locations = of_source(table, path);
    let auth = table.get("auth");
    let mut warnings = Vec::new();
    for Located { key, text, node } in &locations {
        warnings.extend(doubts(text, auth.is_some()).into_iter().map(|doubt| Problem::of(node, key, doubt)));
    }
    let nowhere = !locations.is_empty() && locations.iter().all(|located| Place::of(located.text) != Place::Web);
    if let Some(auth) = auth.filter(|_| nowhere) {
        let doubt = "a credential is sent over http(s) only, and this source has no such URL";
        warnings.push(Problem::of(&auth.node, &format!("{path}.auth"), doubt));
    }
    warnings
}

fn doubts(location: &str, has_auth: bool) -> Vec<String> {
    let Some(url) = Url::parse(location).ok().filter(|_| Place::of(location) == Place::Web) else { return Vec::new() };
    let mut doubts = Vec::new();
    if let Some(parameter) = secret_parameters(&url).first() {
        doubts.push(format!(
            "`{parameter}` makes this a signed URL or one with a credential: it expires, and the ledger and every \
             document would repeat it; use the URL without it, with `auth` where needed"
        ));
    }
    if has_auth && url.scheme() == "http" {
        doubts.push("the credential of `auth` would be sent without encryption; use https:".to_owned());
    }
    if url.fragment().is_some() {
        doubts.push("what stands behind `#` is never sent, and a document's url has `#<line>` there".to_owned());
    }
    doubts
}

fn crawl(table: &Table, path: &str) -> Vec<Problem> {
    let domains = strings(table, path, "allowed_domains", Rule::Domain);
    let seeds = strings(table, path, "seed_urls", Rule::WebUrl);
    let outside = seeds.iter().filter(|seed| !domains.is_empty() && !is_inside(seed.text, &domains));
    let doubt = "its host is not in `allowed_domains`, so it would never be asked";
    outside.map(|seed| Problem::of(seed.node, &seed.key, doubt)).collect()
}

/// Whether the host of a URL is one of the domains, or below one that is a name.
fn is_inside(seed: &str, domains: &[Located<'_>]) -> bool {
    let Some(host) = Url::parse(seed).ok().and_then(|url| url.host().map(|host| host.to_owned())) else { return false };
    domains.iter().filter_map(|domain| parse_host(domain.text)).any(|domain| match (&host, &domain) {
        (Host::Domain(host), Host::Domain(domain)) => {
            let (host, domain) = (host.trim_end_matches('.'), domain.trim_end_matches('.'));
            host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
        }
        (host, domain) => host == domain,
    })
}

/// A host, its IPv6 literal with or without brackets.
fn parse_host(text: &str) -> Option<Host> {
    Host::parse(text).or_else(|_| Host::parse(&format!("[{text}]"))).ok()
}
