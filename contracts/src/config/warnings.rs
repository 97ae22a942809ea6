//! What is allowed and probably not meant.

use url::Url;

use super::check::Row;
use super::problem::Problem;
use super::redact::secret_parameters;
use super::rules::Place;

/// All that is doubtful in sources and crawls.
pub(super) fn of(sources: &[Row], crawls: &[Row]) -> Vec<Problem> {
    sources.iter().flat_map(of_source).chain(crawls.iter().flat_map(of_crawl)).collect()
}

fn of_source(row: &Row) -> Vec<Problem> {
    let mut locations =
        row.get::<String>("url").map(|url| ("url", row.key("url"), url)).into_iter().collect::<Vec<_>>();
    let mirrors: Vec<String> = row.get("mirrors").unwrap_or_default();
    locations.extend(
        mirrors.into_iter().enumerate().map(|(at, url)| ("mirrors", format!("{}[{at}]", row.key("mirrors")), url)),
    );
    let has_auth = row.get::<Row>("auth").is_some();
    let doubts = locations.iter().flat_map(|(key, path, url)| {
        let line = row.written(key).unwrap_or(row.line);
        doubts(url, has_auth).into_iter().map(move |doubt| Problem::text(line, path, url, doubt))
    });
    let mut warnings: Vec<_> = doubts.collect();
    if has_auth && locations.iter().all(|(_, _, url)| Place::of(url) != Place::Web) {
        let line = row.written("auth").unwrap_or(row.line);
        let doubt = "a credential is sent over http(s) only, and this source has no such URL";
        warnings.push(Problem::text(line, &row.key("auth"), "{…}", doubt));
    }
    warnings
}

fn doubts(location: &str, has_auth: bool) -> Vec<String> {
    let Some(url) = Url::parse(location).ok().filter(|_| Place::of(location) == Place::Web) else { return Vec::new() };
    let mut doubts = Vec::new();
    if let Some(parameter) = secret_parameters(&url).first() {
        doubts.push(format!(
            "`{parameter}` makes this a signed URL or a URL with a credential: it expires, and the ledger and every \
             document repeat it; use the URL without it, with `auth` where needed"
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

fn of_crawl(row: &Row) -> Vec<Problem> {
    let domains: Vec<String> = row.get("allowed_domains").unwrap_or_default();
    let seeds: Vec<String> = row.get("seed_urls").unwrap_or_default();
    let line = row.written("seed_urls").unwrap_or(row.line);
    let outside = seeds.iter().enumerate().filter(|(_, seed)| !domains.is_empty() && !is_inside(seed, &domains));
    let doubt = "its host is not in `allowed_domains`, so it would never be asked";
    outside.map(|(at, seed)| Problem::text(line, &format!("{}[{at}]", row.key("seed_urls")), seed, doubt)).collect()
}

/// Whether the host of a URL is one of the domains or below one.
fn is_inside(seed: &str, domains: &[String]) -> bool {
    let Some(host) = Url::parse(seed).ok().and_then(|url| url.host().map(|host| host.to_string())) else {
        return false;
    };
    let host = host.trim_end_matches('.');
    domains.iter().any(|domain| {
        let bracketed = format!("[{domain}]");
        let parsed =
            url::Host::parse(domain).or_else(|_| url::Host::parse(&bracketed)).map(|parsed| parsed.to_string());
        let Ok(domain) = parsed else { return false };
        let domain = domain.trim_end_matches('.');
        host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    })
}
