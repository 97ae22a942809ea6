//! Which pages belong to a crawl.

use corpora_contracts::config::Crawl;
use regex::RegexSet;
use url::Host;

use crate::url::{CanonicalUrl, NormalUrl};

/// Which pages belong to a crawl: those of its domains that `include` and `exclude` leave.
#[derive(Debug, Clone)]
pub struct Scope {
    domains: Vec<Host<String>>,
    include: RegexSet,
    exclude: RegexSet,
}

/// Why there is no scope.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScopeError {
    /// No name and no address.
    #[error("read the domain `{domain}`")]
    Domain {
        /// What was given.
        domain: String,
    },
    /// The patterns do not compile, or take more memory than a set of patterns may.
    #[error("read the patterns of `{key}`")]
    Patterns {
        /// `include` or `exclude`.
        key: &'static str,
        /// What is wrong.
        source: regex::Error,
    },
}

/// Why a page does not belong to the crawl: the key of the config that keeps it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutOfScope {
    /// Its host is in none of the domains.
    Domains,
    /// It matches one of `exclude`.
    Exclude,
    /// It matches none of `include`.
    Include,
}

impl OutOfScope {
    /// The key's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Domains => "allowed_domains",
            Self::Exclude => "exclude",
            Self::Include => "include",
        }
    }
}

impl Scope {
    /// The scope of a crawl that was validated.
    ///
    /// # Errors
    /// [`ScopeError`].
    pub fn of(crawl: &Crawl) -> Result<Self, ScopeError> {
        Self::new(&crawl.allowed_domains, &crawl.include, &crawl.exclude)
    }

    /// A scope of domains (names with their subdomains, and IP literals, in any case and script) and patterns
    /// (unanchored, on the canonical URL; no pattern in `include` is one that matches all).
    ///
    /// # Errors
    /// [`ScopeError`].
    pub fn new(domains: &[String], include: &[String], exclude: &[String]) -> Result<Self, ScopeError> {
        let domain = |domain: &String| host(domain).ok_or_else(|| ScopeError::Domain { domain: domain.clone() });
        let set = |key, patterns| RegexSet::new(patterns).map_err(|source| ScopeError::Patterns { key, source });
        let domains = domains.iter().map(domain).collect::<Result<_, _>>()?;
        Ok(Self { domains, include: set("include", include)?, exclude: set("exclude", exclude)? })
    }

    /// Whether a page belongs to the crawl. `exclude` wins over `include`, and a seed needs no `include`.
    ///
    /// # Errors
    /// The key of the config that keeps it out.
    pub fn check(&self, url: &NormalUrl, canonical: &CanonicalUrl, is_seed: bool) -> Result<(), OutOfScope> {
        if !self.has_domain_of(url) {
            return Err(OutOfScope::Domains);
        }
        if self.exclude.is_match(canonical.as_str()) {
            return Err(OutOfScope::Exclude);
        }
        if !is_seed && !self.include.is_empty() && !self.include.is_match(canonical.as_str()) {
            return Err(OutOfScope::Include);
        }
        Ok(())
    }

    /// Whether a URL's host is one of the domains or below one that is a name. Addresses have nothing below them.
    #[must_use]
    pub fn has_domain_of(&self, url: &NormalUrl) -> bool {
        let Some(host) = url.as_url().host() else { return false };
        self.domains.iter().any(|domain| match (&host, domain) {
            (Host::Domain(host), Host::Domain(domain)) => is_within(host, domain),
            (Host::Ipv4(host), Host::Ipv4(domain)) => host == domain,
            (Host::Ipv6(host), Host::Ipv6(domain)) => host == domain,
            _ => false,
        })
    }
}

fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// A domain of the config as hosts of URLs are written.
fn host(domain: &str) -> Option<Host<String>> {
    let parsed = Host::parse(domain).or_else(|_| Host::parse(&format!("[{domain}]"))).ok()?;
    match parsed {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            // Without its dots it may be an address.
            (!name.is_empty()).then(|| Host::parse(name).ok()).flatten()
        }
        address => Some(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::{canonicalize, normalize};

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|&text| text.to_owned()).collect()
    }

    fn scope(domains: &[&str], include: &[&str], exclude: &[&str]) -> Scope {
        Scope::new(&strings(domains), &strings(include), &strings(exclude)).unwrap()
    }

    fn check(scope: &Scope, url: &str, is_seed: bool) -> Result<(), OutOfScope> {
        let url = normalize(url).unwrap();
        scope.check(&url, &canonicalize(&url), is_seed)
    }

    #[test]
    fn a_crawl_has_the_scope_of_its_keys() {
        let text = "dataset = 'd'\nversion = 'v'\n[[crawls]]\nid = 'c'\nseed_urls = ['http://h.example/']\nmax_depth = 1\n\
                    allowed_domains = ['h.example']\nuser_agent = 'bot'\nlicense_spdx = 'MIT'\n\
                    include = ['/docs/']\nexclude = ['/docs/old']\n";
        let document = corpora_contracts::config::parse_toml(text).unwrap();
        let crawl = corpora_contracts::config::validate(&document).config.unwrap().crawls.remove(0);
        let scope = Scope::of(&crawl).unwrap();
        assert_eq!(check(&scope, "http://h.example/docs/new", false), Ok(()));
        for (url, key) in [
            ("http://other.example/docs/", "allowed_domains"),
            ("http://h.example/docs/old", "exclude"),
            ("http://h.example/blog/", "include"),
        ] {
            assert_eq!(check(&scope, url, false).unwrap_err().as_str(), key, "{url}");
        }
    }

    #[test]
    fn a_domain_has_its_subdomains_and_an_address_nothing() {
        let scope = scope(&["Example.org", "bücher.example.", "127.0.0.1", "::1", "[2001:db8::1]"], &[], &[]);
        for inside in [
            "http://example.org/",
            "https://EXAMPLE.org./a",
            "http://www.example.org:8080/",
            "http://a.b.example.org/",
            "http://xn--bcher-kva.example/",
            "http://www.BÜCHER.example/",
            "http://127.0.0.1:8080/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://[::1]/",
            "http://[2001:DB8:0::1]:80/",
        ] {
            assert_eq!(check(&scope, inside, false), Ok(()), "{inside}");
        }
        for outside in [
            "http://example.org.evil.com/",
            "http://evilexample.org/",
            "http://example.com/",
            "http://org/",
            "http://127.0.0.2/",
            "http://1.127.0.0.1.example/",
            "http://[::2]/",
            "http://[::ffff:127.0.0.1]/",
            "http://example.org@evil.com/",
        ] {
            assert_eq!(check(&scope, outside, true), Err(OutOfScope::Domains), "{outside}");
        }
    }

    #[test]
    fn patterns_are_unanchored_on_the_canonical_url_and_exclude_wins() {
        let scope = scope(&["h.example"], &["/docs/", "^http://h\\.example/\\?a=1&b=2$"], &["print"]);
        assert_eq!(check(&scope, "http://h.example/docs/a", false), Ok(()));
        assert_eq!(check(&scope, "http://h.example/?b=2&utm_source=x&a=1#f", false), Ok(()));
        assert_eq!(check(&scope, "http://h.example/docs/print", false), Err(OutOfScope::Exclude));
        assert_eq!(check(&scope, "http://h.example/", false), Err(OutOfScope::Include));
        assert_eq!(check(&scope, "http://h.example/", true), Ok(()), "a seed needs no include");
        assert_eq!(check(&scope, "http://h.example/print", true), Err(OutOfScope::Exclude));
        assert_eq!(check(&scope, "http://other.example/docs/", false).unwrap_err().as_str(), "allowed_domains");
    }

    #[test]
    fn what_is_no_domain_and_no_pattern_is_named() {
        let error = |domains: &[&str], include: &[&str]| {
            Scope::new(&strings(domains), &strings(include), &[]).unwrap_err().to_string()
        };
        assert_eq!(error(&["a b"], &[]), "read the domain `a b`");
        assert_eq!(error(&["."], &[]), "read the domain `.`");
        assert_eq!(error(&["h"], &["("]), "read the patterns of `include`");
    }
}
