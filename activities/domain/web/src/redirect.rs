//! Which redirects are followed.
//!
//! Dataset hosts answer file URLs with a redirect to a CDN. The caller asks the URL that [`Chain::follow`] gives, and
//! sends a credential only to a URL of the [`same_origin`] as the one that it was configured for.

use corpora_contracts::outcome::Disposition;
use url::Url;

use crate::redact::hop;

/// The most hops of one request (fetch seed, section 2.4).
pub const MOST_HOPS: usize = 5;

/// Why a redirect is not followed. URLs are shown without userinfo and query: those of signed URLs are credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// A sixth hop.
    #[error("follow more than {MOST_HOPS} redirects, the last from `{from}`")]
    TooMany {
        /// The URL that answered.
        from: String,
    },
    /// The chain comes back to a URL that it has asked.
    #[error("follow a redirect loop: `{from}` leads back to `{to}`")]
    Loop {
        /// The URL that answered.
        from: String,
        /// Where it points.
        to: String,
    },
    /// From `https` to `http`: what follows could be read and changed on the way.
    #[error("follow a redirect from `{from}` to the unencrypted `{to}`")]
    Downgrade {
        /// The URL that answered.
        from: String,
        /// Where it points.
        to: String,
    },
    /// Neither `http` nor `https`.
    #[error("follow a redirect from `{from}` to a URL of the scheme `{scheme}`")]
    Scheme {
        /// The URL that answered.
        from: String,
        /// The scheme of where it points.
        scheme: String,
    },
    /// Userinfo from an untrusted source is an error (RFC 9110 section 4.2.4).
    #[error("follow a redirect from `{from}` to `{to}`, which carries a user name or password")]
    Userinfo {
        /// The URL that answered.
        from: String,
        /// Where it points.
        to: String,
    },
    /// The `Location` is no URL.
    #[error("follow a redirect from `{from}`, whose `Location` is not a URL")]
    NotAUrl {
        /// The URL that answered.
        from: String,
        /// What is wrong with it.
        source: url::ParseError,
    },
}

impl RedirectError {
    /// All of them are the server's settings and will be the same next time.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        Disposition::Fail
    }
}

/// The URLs of one request so far, the configured one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    start: Url,
    hops: Vec<Url>,
}

impl Chain {
    /// A chain that starts at the configured URL.
    #[must_use]
    pub fn new(mut start: Url) -> Self {
        start.set_fragment(None);
        Self { start, hops: Vec::new() }
    }

    /// The URL to ask now.
    #[must_use]
    pub fn current(&self) -> &Url {
        self.hops.last().unwrap_or(&self.start)
    }

    /// How many redirects were followed.
    #[must_use]
    pub fn hops(&self) -> usize {
        self.hops.len()
    }

    /// The URL to ask next, given the `Location` of the current one's answer, which may be relative (RFC 9110 section
    /// 10.2.2). A fragment is dropped: it is never sent.
    ///
    /// # Errors
    /// The redirect is not to be followed; the chain stays where it was.
    pub fn follow(&mut self, location: &str) -> Result<Url, RedirectError> {
        let from = hop(self.current());
        if self.hops.len() == MOST_HOPS {
            return Err(RedirectError::TooMany { from });
        }
        let next = self.resolve(location).map_err(|source| RedirectError::NotAUrl { from: from.clone(), source })?;
        self.check(from, &next)?;
        self.hops.push(next.clone());
        Ok(next)
    }

    fn resolve(&self, location: &str) -> Result<Url, url::ParseError> {
        let mut next = self.current().join(location)?;
        next.set_fragment(None);
        Ok(next)
    }

    fn check(&self, from: String, next: &Url) -> Result<(), RedirectError> {
        if !matches!(next.scheme(), "http" | "https") {
            return Err(RedirectError::Scheme { from, scheme: next.scheme().to_owned() });
        }
        let to = hop(next);
        if !next.username().is_empty() || next.password().is_some() {
            return Err(RedirectError::Userinfo { from, to });
        }
        if self.current().scheme() == "https" && next.scheme() == "http" {
            return Err(RedirectError::Downgrade { from, to });
        }
        if *next == self.start || self.hops.contains(next) {
            return Err(RedirectError::Loop { from, to });
        }
        Ok(())
    }
}

/// Whether a credential for `a` may go to `b`: the same scheme, host and port (RFC 6454 section 5).
#[must_use]
pub fn same_origin(a: &Url, b: &Url) -> bool {
    a.origin() == b.origin()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chain(start: &str) -> Chain {
        Chain::new(Url::parse(start).unwrap())
    }

    #[test]
    fn locations_resolve_against_the_url_that_answered() {
        let table = [
            ("http://h/a/b", "/c", "http://h/c"),
            ("http://h/a/b", "c?x=1", "http://h/a/c?x=1"),
            ("http://h/a/b", "//cdn/c", "http://cdn/c"),
            ("http://h/a/b", "https://h/a/b", "https://h/a/b"),
            ("http://h/a/b", "http://h:8080/a/b#frag", "http://h:8080/a/b"),
            ("https://h/a/b", "../../../c", "https://h/c"),
        ];
        for (start, location, next) in table {
            let mut chain = chain(start);
            assert_eq!(chain.follow(location).unwrap().as_str(), next, "{start} → {location}");
            assert_eq!((chain.current().as_str(), chain.hops()), (next, 1));
        }
        let mut two = chain("http://h/a");
        two.follow("http://cdn/x/y").unwrap();
        assert_eq!(two.follow("z").unwrap().as_str(), "http://cdn/x/z");
    }

    #[test]
    fn five_hops_and_no_more() {
        let mut chain = chain("http://h/0?token=secret");
        for hop in 1..=5 {
            chain.follow(&format!("/{hop}")).unwrap();
        }
        let error = chain.follow("/6").unwrap_err();
        assert_eq!(error, RedirectError::TooMany { from: "http://h/5".to_owned() });
        assert_eq!(chain.current().as_str(), "http://h/5");
    }

    #[test]
    fn loops_are_named() {
        let to_itself = chain("http://h/a#x").follow("/a#y").unwrap_err();
        assert_eq!(to_itself.to_string(), "follow a redirect loop: `http://h/a` leads back to `http://h/a`");
        let mut longer = chain("http://h/a");
        longer.follow("/b").unwrap();
        longer.follow("/b?page=2").unwrap();
        let error = longer.follow("/b").unwrap_err();
        assert_eq!(error.to_string(), "follow a redirect loop: `http://h/b?…` leads back to `http://h/b`");
        assert_eq!(error.disposition(), Disposition::Fail);
    }

    #[test]
    fn what_is_not_followed_shows_no_secret() {
        let table = [
            (
                "https://h/a?sig=SECRET",
                "http://h/b?sig=SECRET",
                "follow a redirect from `https://h/a?…` to the unencrypted `http://h/b?…`",
            ),
            ("http://h/a", "ftp://u:SECRET@h/b", "follow a redirect from `http://h/a` to a URL of the scheme `ftp`"),
            ("http://h/a", "file:///etc/passwd", "follow a redirect from `http://h/a` to a URL of the scheme `file`"),
            (
                "http://h/a",
                "data:text/plain,SECRET",
                "follow a redirect from `http://h/a` to a URL of the scheme `data`",
            ),
            (
                "http://h/a",
                "http://u:SECRET@h/b",
                "follow a redirect from `http://h/a` to `http://***@h/b`, which carries a user name or password",
            ),
            (
                "http://h/a",
                "//SECRET@h/b",
                "follow a redirect from `http://h/a` to `http://***@h/b`, which carries a user name or password",
            ),
            ("http://h/a", "http://SECRET:x/", "follow a redirect from `http://h/a`, whose `Location` is not a URL"),
        ];
        for (start, location, message) in table {
            let error = chain(start).follow(location).unwrap_err();
            assert_eq!(error.to_string(), message, "{start} → {location}");
            assert!(!format!("{error:?}").contains("SECRET"), "{error:?}");
        }
    }

    #[test]
    fn a_credential_stays_with_its_origin() {
        let same = |a: &str, b: &str| same_origin(&Url::parse(a).unwrap(), &Url::parse(b).unwrap());
        assert!(same("https://h/a", "https://H:443/b"));
        for other in ["http://h/a", "https://h:8443/a", "https://cdn.h/a", "https://h.evil/a"] {
            assert!(!same("https://h/a", other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_chain_never_panics_never_repeats_and_ends(locations in prop::collection::vec(".{0,12}", 0..12)) {
            let mut chain = chain("https://h/start");
            let mut seen = vec![chain.current().clone()];
            for location in locations {
                if let Ok(next) = chain.follow(&location) {
                    prop_assert!(!seen.contains(&next) && next.scheme() == "https" && next.fragment().is_none());
                    seen.push(next);
                }
            }
            prop_assert!(chain.hops() <= MOST_HOPS);
        }
    }
}
