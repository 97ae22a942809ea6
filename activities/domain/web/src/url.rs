//! Addresses of pages: what is a URL, which one is asked, and which one a page is known by.
//!
//! Four steps, as the crawl's seed names them. [`validate`] takes what WHATWG's parser takes, over HTTP. [`normalize`]
//! makes the [`NormalUrl`] that a request asks for: two spellings of one resource (RFC 3986 section 6.2) are one. [`resolve`]
//! is the same for a reference in a page. [`canonicalize`] makes the [`CanonicalUrl`], by which a page counts as seen.
//!
//! | | [`NormalUrl`] | [`CanonicalUrl`] |
//! |---|---|---|
//! | fragment, userinfo, default port, trailing dots of the host | removed | removed |
//! | percent-encoding | one spelling, reserved characters as they were | the same |
//! | empty path | `/` | `/` |
//! | trailing slash | kept | kept |
//! | parameters of the query | as they were | sorted by name and value, empty ones dropped |
//! | tracking and session parameters | kept | dropped, see [`is_dropped_parameter`] |
//!
//! Both steps change nothing the second time.

use std::fmt;

use url::Url;

use crate::host::HostKey;

mod canonical;
pub(crate) mod encoding;

pub use canonical::is_dropped_parameter;

/// Longer URLs are not asked for: RFC 9110 section 4.1 has senders and receivers support 8000 octets, and a trap that makes its
/// paths longer and longer has to end somewhere.
pub const MOST_BYTES: usize = 8000;

/// Why a text is no address of a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// WHATWG's parser refuses it.
    #[error("read a URL")]
    NotAUrl {
        /// What the parser says.
        source: url::ParseError,
    },
    /// Neither `http` nor `https`: `mailto:`, `javascript:`, `data:`, ….
    #[error("ask a URL of the scheme `{scheme}`")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// Its host has no name but dots.
    #[error("ask a URL whose host has no name")]
    NoHost,
    /// Longer than [`MOST_BYTES`].
    #[error("ask a URL of {bytes} bytes; {MOST_BYTES} are the most")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

/// A URL as it is asked for. See the table of this module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NormalUrl(Url);

/// What a page is known by: two addresses with the same one are the same page. See the table of this module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUrl(String);

/// An absolute URL over HTTP, by WHATWG's rules: white space around it and line breaks in it are no part of it.
///
/// # Errors
/// [`UrlError`].
pub fn validate(text: &str) -> Result<Url, UrlError> {
    is_worth_parsing(text)?;
    over_http(Url::parse(text))
}

/// The URL that a request asks for.
///
/// # Errors
/// [`UrlError`].
pub fn normalize(text: &str) -> Result<NormalUrl, UrlError> {
    NormalUrl::from_url(validate(text)?)
}

/// The URL that a reference stands for: `href` of a page, `Location` of an answer.
///
/// # Errors
/// [`UrlError`].
pub fn resolve(base: &Url, reference: &str) -> Result<NormalUrl, UrlError> {
    is_worth_parsing(reference)?;
    let joined = match after_slashes(reference) {
        Some(rest) => base.join(&format!("//{rest}")),
        None => base.join(reference),
    };
    NormalUrl::from_url(over_http(joined)?)
}

/// What a page at this URL is known by.
#[must_use]
pub fn canonicalize(url: &NormalUrl) -> CanonicalUrl {
    CanonicalUrl(canonical::of(&url.0))
}

impl NormalUrl {
    /// The normal form of a URL that was parsed already.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn from_url(mut url: Url) -> Result<Self, UrlError> {
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        if !url.username().is_empty() || url.password().is_some() {
            // Fails for URLs without host alone, and those over HTTP have one.
            let _: Result<(), ()> = url.set_password(None).and_then(|()| url.set_username(""));
        }
        trim_host(&mut url)?;
        encoding::rewrite(&mut url);
        is_short_enough(url.as_str().len())?;
        Ok(Self(url))
    }

    /// The URL itself.
    #[must_use]
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// The URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host that answers for it.
    #[must_use]
    pub fn host(&self) -> HostKey {
        HostKey::of(self)
    }

    /// What robots.txt is asked about (RFC 9309 section 2.2.2): path and query.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

impl CanonicalUrl {
    /// The URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The canonical form of any text that is a URL; one that [`canonicalize`] gave stays as it is.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        normalize(text).map(|url| canonicalize(&url))
    }
}

impl From<CanonicalUrl> for String {
    fn from(url: CanonicalUrl) -> Self {
        url.0
    }
}

impl fmt::Display for NormalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn over_http(parsed: Result<Url, url::ParseError>) -> Result<Url, UrlError> {
    let url = parsed.map_err(|source| UrlError::NotAUrl { source })?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(UrlError::Scheme { scheme: other.to_owned() }),
    }
}

/// White space may go and a character may become nine, but what is too long by far is not even parsed.
fn is_worth_parsing(text: &str) -> Result<(), UrlError> {
    let bytes = text.len();
    if bytes > 4 * MOST_BYTES { Err(UrlError::TooLong { bytes }) } else { Ok(()) }
}

fn is_short_enough(bytes: usize) -> Result<(), UrlError> {
    if bytes > MOST_BYTES { Err(UrlError::TooLong { bytes }) } else { Ok(()) }
}

/// What stands behind three slashes or more: over HTTP they are as good as two (WHATWG URL, "special authority ignore slashes
/// state"), which the `url` crate knows of absolute URLs alone.
fn after_slashes(reference: &str) -> Option<&str> {
    let is_blank = |character: char| character <= ' ';
    let is_slash = |character: char| matches!(character, '/' | '\\');
    let rest = reference.trim_start_matches(is_blank);
    rest.starts_with(is_slash).then_some(())?;
    let behind = rest.trim_start_matches(|character| is_slash(character) || matches!(character, '\t' | '\n' | '\r'));
    let slashes = rest[..rest.len() - behind.len()].chars().filter(|&character| is_slash(character)).count();
    (slashes > 2).then_some(behind)
}

/// Takes the trailing dots off the host: `example.org.` is `example.org`, written as a full name.
fn trim_host(url: &mut Url) -> Result<(), UrlError> {
    let Some(host) = url.host_str() else { return Err(UrlError::NoHost) };
    if !host.ends_with('.') {
        return Ok(());
    }
    let trimmed = host.trim_end_matches('.').to_owned();
    if trimmed.is_empty() {
        return Err(UrlError::NoHost);
    }
    // What was a name because of its dots may be an address without them, or nothing.
    url.set_host(Some(&trimmed)).map_err(|source| UrlError::NotAUrl { source })
}

#[cfg(test)]
mod tests;
