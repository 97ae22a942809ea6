//! Why a page is not stored: stable words, by which pages are counted. A bound or rule of the config has its key's name.

/// The domains of the config do not hold it.
pub const ALLOWED_DOMAINS: &str = "allowed_domains";
/// Too many links from a seed.
pub const MAX_DEPTH: &str = "max_depth";
/// The number of pages was used up before its turn came.
pub const MAX_PAGES: &str = "max_pages";
/// robots.txt refuses it.
pub const ROBOTS: &str = "robots";
/// robots.txt could not be had, which refuses everything for now (RFC 9309 section 2.3.1.4).
pub const ROBOTS_UNREACHABLE: &str = "robots_unreachable";
/// Its host asks for a pace beyond the cap, and had its one page.
pub const CRAWL_DELAY: &str = "crawl_delay";
/// Its host asks for more patience than a run has.
pub const RETRY_AFTER: &str = "retry_after";
/// Its host does not answer.
pub const UNREACHABLE: &str = "host_unreachable";
/// It redirects elsewhere; where to is a page of its own.
pub const REDIRECT: &str = "redirect";
/// It redirects to an address that counts as the same page.
pub const REDIRECT_LOOP: &str = "redirect_loop";
/// The worker that had its job never told what came of it.
pub const LOST: &str = "lost";

/// It would be asked for, if this were more than a look.
pub const NOT_ASKED: &str = "not_asked";

/// Failures to get an answer that may pass.
const PASSING: &[&str] = &["dns", "connect", "tls", "tls_cut", "timeout", "cut", LOST];

/// Failures that say nothing of the page and all of the host.
const OF_THE_HOST: &[&str] = &["dns", "connect", "tls", "tls_cut"];

/// What is no result and will be the same next time, whatever the page.
const FOR_GOOD: &[&str] = &["certificate", "malformed_response", "private_network", "address", REDIRECT_LOOP];

/// Whether a later attempt may succeed.
#[must_use]
pub fn is_passing(error: &str) -> bool {
    PASSING.contains(&error)
}

/// Whether no later attempt will succeed, whatever is asked of the host.
#[must_use]
pub fn is_for_good(error: &str) -> bool {
    FOR_GOOD.contains(&error)
}

/// Whether it is the host that cannot be had.
#[must_use]
pub fn is_of_the_host(error: &str) -> bool {
    OF_THE_HOST.contains(&error)
}

/// Whether a seed that ended so has failed for good. Rules, bounds and pages that are gone are results.
#[must_use]
pub fn is_failure(reason: &str) -> bool {
    let status = reason.strip_prefix("http_").and_then(|status| status.parse::<u16>().ok());
    FOR_GOOD.contains(&reason) || status.is_some_and(|status| !matches!(status, 404 | 410))
}

/// Whether an address was asked for and gave no page: a status, an answer that cannot be read, none in time. The rest is kept out
/// by a rule or a bound.
#[must_use]
pub fn is_failed_answer(reason: &str) -> bool {
    const UNREADABLE: &[&str] = &["page_timeout", "content_encoding"];
    reason.starts_with("http_") || FOR_GOOD.contains(&reason) || UNREADABLE.contains(&reason)
}

/// The word for a status that is no page.
#[must_use]
pub fn of_status(status: u16) -> String {
    format!("http_{status}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_from_failures() {
        for failure in ["certificate", "http_403", "http_400", "private_network", "malformed_response"] {
            assert!(is_failure(failure), "{failure}");
        }
        for result in ["http_404", "http_410", ROBOTS, MAX_DEPTH, "noindex", "content_types", CRAWL_DELAY, REDIRECT, ""]
        {
            assert!(!is_failure(result), "{result}");
        }
        assert!(is_passing("cut") && is_of_the_host("dns") && !is_of_the_host("cut") && !is_passing("page_bytes"));
    }
}
