//! The rules for strings, each with its words and the reason why a string breaks it.

use url::{Host, Url};

use crate::ids::{Digest, Name};

/// What a string must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A [`Name`] that fits in a file name with what we add to it.
    Name,
    /// A [`Name`] that is no other version's staged folder.
    Version,
    /// Where bytes are: `http(s):`, `file:` or a path.
    Location,
    /// An absolute `http(s):` URL.
    WebUrl,
    /// A SHA-256 digest.
    Digest,
    /// An SPDX expression; the licence policy judges it.
    License,
    /// A key of a JSON object.
    Field,
    /// The name of an environment variable (POSIX.1-2024 base definitions, section 8.1).
    EnvironmentVariable,
    /// A User-Agent header with a product token (RFC 9309 section 2.2.1).
    UserAgent,
    /// A host name or an IP literal, without a port.
    Domain,
    /// A regular expression in the syntax of the `regex` crate.
    Pattern,
    /// A media type without parameters (RFC 6838).
    MediaType,
    /// `artifacts` or an S3 prefix.
    Target,
    /// An absolute path.
    Base,
    /// A path.
    Path,
}

/// Longer names would not fit in a file name with the suffixes that stand behind them, in bytes.
const MAX_NAME: usize = 200;

/// Longer patterns are no patterns that a person reviewed, in bytes.
const MAX_PATTERN: usize = 1000;

impl Rule {
    /// What is allowed, as the end of a sentence that starts with "expected".
    #[must_use]
    pub fn expected(self) -> &'static str {
        match self {
            Self::Name => "a name of at most 200 characters that matches `^[a-z0-9][a-z0-9._-]*$`",
            Self::Version => {
                "a name of at most 200 characters that matches `^[a-z0-9][a-z0-9._-]*$` and does not end with `.staged`"
            }
            Self::Location => "an http(s): or file: URL, or a path relative to the config's folder",
            Self::WebUrl => "an absolute http(s): URL",
            Self::Digest => "64 lowercase hex digits",
            Self::License => "an SPDX expression",
            Self::Field => "the name of a field",
            Self::EnvironmentVariable => "the name of an environment variable, `^[A-Za-z_][A-Za-z0-9_]*$`",
            Self::UserAgent => {
                "a product token of letters, `-` and `_`, then anything visible, `corpora/0.1 (+https://…)`"
            }
            Self::Domain => "a host name or an IP address, without scheme, port and path; subdomains are included",
            Self::Pattern => "a regular expression",
            Self::MediaType => "a media type in lower case, without parameters, `text/html`",
            Self::Target => "`artifacts` or `s3://bucket/prefix`",
            Self::Base => "an absolute path",
            Self::Path => "a path relative to the config's folder",
        }
    }

    /// Whether what breaks this rule may be a secret that was written in the wrong place.
    pub(super) fn hides_value(self) -> bool {
        self == Self::EnvironmentVariable
    }

    /// Why `text` breaks the rule: a clause for a message; none when it keeps it.
    pub(super) fn fault(self, text: &str) -> Option<String> {
        let kept = match self {
            Self::Name => text.len() <= MAX_NAME && text.parse::<Name>().is_ok(),
            Self::Version => return Self::Name.fault(text).or_else(|| staged_fault(text)),
            Self::Location => return location_fault(text),
            Self::WebUrl => return web_fault(text),
            Self::Digest => text.parse::<Digest>().is_ok(),
            Self::License => !text.trim().is_empty() && !text.contains(char::is_control),
            Self::Field => !text.is_empty(),
            Self::EnvironmentVariable => return variable_fault(text),
            Self::UserAgent => is_user_agent(text),
            Self::Domain => is_domain(text),
            Self::Pattern => return pattern_fault(text),
            Self::MediaType => is_media_type(text),
            Self::Target => is_target(text),
            Self::Base => std::path::Path::new(text).is_absolute() && !text.contains('\0'),
            Self::Path => !text.is_empty() && !text.contains('\0'),
        };
        (!kept).then(|| format!("expected {}", self.expected()))
    }
}

/// What a location is, as far as its first characters say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// `http:` or `https:`.
    Web,
    /// `file:`.
    File,
    /// A path from the root.
    AbsolutePath,
    /// A path from the config's folder.
    RelativePath,
    /// Another scheme.
    Other,
}

impl Place {
    pub(super) fn of(location: &str) -> Self {
        match scheme(location) {
            Some(scheme) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => Self::Web,
            Some(scheme) if scheme.eq_ignore_ascii_case("file") => Self::File,
            Some(_) => Self::Other,
            // A URL without its scheme (RFC 3986 section 4.2) is no path that a person means.
            None if location.starts_with("//") => Self::Other,
            None if location.starts_with('/') => Self::AbsolutePath,
            None => Self::RelativePath,
        }
    }
}

/// The scheme of a URL (RFC 3986 section 3.1).
fn scheme(location: &str) -> Option<&str> {
    let (scheme, _) = location.split_once(':')?;
    let well_formed = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    well_formed.then_some(scheme)
}

/// `v1.staged` is the folder that store makes of version `v1`.
fn staged_fault(text: &str) -> Option<String> {
    text.ends_with(".staged").then(|| Rule::Version.expected().to_owned())
}

fn location_fault(text: &str) -> Option<String> {
    if let Some(fault) = spacing_fault(text, Rule::Location) {
        return Some(fault);
    }
    match Place::of(text) {
        Place::Web => web_fault(text),
        Place::File => file_fault(text),
        Place::Other => Some(format!("expected {}; a path with a colon starts with `./`", Rule::Location.expected())),
        Place::AbsolutePath | Place::RelativePath => None,
    }
}

fn web_fault(text: &str) -> Option<String> {
    if let Some(fault) = spacing_fault(text, Rule::WebUrl) {
        return Some(fault);
    }
    let expected = Rule::WebUrl.expected();
    // WHATWG parsing would mend a missing slash; here what is written is what the ledger keeps.
    let has_authority =
        scheme(text).and_then(|scheme| text.get(scheme.len() + 1..)).is_some_and(|rest| rest.starts_with("//"));
    if Place::of(text) != Place::Web || !has_authority {
        return Some(format!("expected {expected}, `https://host/path`"));
    }
    match Url::parse(text) {
        Err(error) => Some(format!("expected {expected}: {error}")),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => Some(
            "expected a URL without user name and password; name the credential with `auth = { bearer_env = … }` or \
             in a netrc file"
                .to_owned(),
        ),
        Ok(_) => None,
    }
}

fn file_fault(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| url.host().is_none() && text["file:".len()..].starts_with('/'));
    match url {
        None => Some("expected a file: URL of an absolute path on this machine, `file:///data/tiny.jsonl`".to_owned()),
        Some(url) if url.query().is_some() || url.fragment().is_some() => {
            Some("expected a file: URL without `?` and `#`; in a file name they are `%3F` and `%23`".to_owned())
        }
        Some(_) => None,
    }
}

fn spacing_fault(text: &str, rule: Rule) -> Option<String> {
    if text.is_empty() {
        Some(format!("expected {}", rule.expected()))
    } else if text.trim() != text || text.contains(char::is_control) {
        Some(format!("expected {}, without control characters and without spaces around it", rule.expected()))
    } else {
        None
    }
}

fn variable_fault(text: &str) -> Option<String> {
    let rule = Rule::EnvironmentVariable.expected();
    let well_formed = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !well_formed {
        Some(format!("expected {rule}, never the token itself"))
    } else if is_token(text) {
        Some(format!("expected {rule}; this looks like the token itself, which does not belong in a config"))
    } else {
        None
    }
}

/// Whether a string that could name a variable has the prefix of a well-known kind of token and is as long as one.
fn is_token(text: &str) -> bool {
    let prefixes = ["hf_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat_", "sk_"];
    text.len() >= 30 && prefixes.iter().any(|prefix| text.starts_with(prefix))
}

fn is_user_agent(text: &str) -> bool {
    let starts_with_token = text.starts_with(|first: char| first.is_ascii_alphabetic() || "-_".contains(first));
    starts_with_token && text.trim() == text && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn is_domain(text: &str) -> bool {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if bare.parse::<std::net::Ipv6Addr>().is_ok() {
        return true;
    }
    // The URL parser decodes percent signs and maps letters; what it maps to a name must be one without them.
    let plain = !text.contains(|c: char| c.is_whitespace() || c.is_control() || "%*:/?#@[]\\".contains(c));
    plain && !text.starts_with('.') && !text.contains("..") && Host::parse(text).is_ok()
}

fn pattern_fault(text: &str) -> Option<String> {
    if text.is_empty() || text.len() > MAX_PATTERN {
        return Some(format!("expected {} of 1 to {MAX_PATTERN} bytes", Rule::Pattern.expected()));
    }
    let reason = match regex_syntax::parse(text) {
        Ok(_) => return None,
        Err(regex_syntax::Error::Parse(error)) => error.kind().to_string(),
        Err(regex_syntax::Error::Translate(error)) => error.kind().to_string(),
        Err(error) => error.to_string(),
    };
    Some(format!("expected {}: {reason}", Rule::Pattern.expected()))
}

fn is_media_type(text: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$&-^_.+".contains(&byte))
    };
    text.split_once('/').is_some_and(|(kind, subtype)| is_name(kind) && is_name(subtype))
}

fn is_target(text: &str) -> bool {
    if text == "artifacts" {
        return true;
    }
    let Some(rest) = text.strip_prefix("s3://") else { return false };
    let (bucket, prefix) = rest.split_once('/').map_or((rest, None), |(bucket, prefix)| (bucket, Some(prefix)));
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [bucket.as_bytes().first(), bucket.as_bytes().last()];
    let is_bucket = (3..=63).contains(&bucket.len())
        && bucket.bytes().all(|byte| alphanumeric(&byte) || b".-".contains(&byte))
        && ends.iter().all(|end| end.is_some_and(alphanumeric));
    let is_segment = |segment: &str| !["", ".", ".."].contains(&segment) && !segment.contains(char::is_control);
    is_bucket && prefix.is_none_or(|prefix| prefix.split('/').all(is_segment))
}
