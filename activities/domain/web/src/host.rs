//! Hosts as a crawl tells them apart.

use std::fmt;

use url::Position;

use crate::url::{NormalUrl, UrlError, normalize};

/// Whom a request is made to: scheme, name and port, such as `https://example.org` or `http://127.0.0.1:8080`.
///
/// Each has its own robots.txt (RFC 9309 section 2.3) and its own politeness.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostKey(String);

impl HostKey {
    /// The host that answers for a URL.
    #[must_use]
    pub fn of(url: &NormalUrl) -> Self {
        Self(url.as_url()[..Position::BeforePath].to_owned())
    }

    /// The host in any URL; what [`HostKey::as_str`] gave comes back as it was.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        normalize(text).map(|url| Self::of(&url))
    }

    /// The host as text: a URL without path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where its robots.txt is (RFC 9309 section 2.3).
    ///
    /// # Errors
    /// Never for a host that came from a URL.
    pub fn robots_url(&self) -> Result<NormalUrl, UrlError> {
        normalize(&format!("{self}/robots.txt"))
    }

    /// Where its reservations of text and data mining are (TDM Reservation Protocol, section 6).
    ///
    /// # Errors
    /// Never for a host that came from a URL.
    pub fn tdmrep_url(&self) -> Result<NormalUrl, UrlError> {
        normalize(&format!("{self}/.well-known/tdmrep.json"))
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_scheme_name_and_port() {
        let key = |text: &str| HostKey::parse(text).unwrap();
        let host = key("HTTPS://user:pass@Example.ORG.:443/a?b#c");
        assert_eq!(host.as_str(), "https://example.org");
        assert_eq!(key(host.as_str()), host);
        assert_eq!(key("http://bücher.example/"), key("http://xn--bcher-kva.example:80"));
        let others = ["http://example.org", "https://example.org:8443", "https://www.example.org"];
        assert!(others.iter().all(|other| key(other) != host));
        assert_eq!(key("http://[::1]:8080/x").as_str(), "http://[::1]:8080");
    }

    #[test]
    fn its_files_have_their_places() {
        let host = HostKey::parse("http://127.0.0.2:8080/deep/page?x").unwrap();
        assert_eq!(host.robots_url().unwrap().as_str(), "http://127.0.0.2:8080/robots.txt");
        assert_eq!(host.tdmrep_url().unwrap().as_str(), "http://127.0.0.2:8080/.well-known/tdmrep.json");
    }
}
