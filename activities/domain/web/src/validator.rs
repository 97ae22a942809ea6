//! Which version of a file some bytes are of, as an answer told it.

use crate::range::Answer;

/// A validator that `If-Range` may carry (RFC 9110 section 13.1.5), verbatim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Validator {
    /// A strong `ETag`, quotes included.
    StrongEtag(String),
    /// `Last-Modified`. That it is strong in the sense of RFC 9110 section 8.8.2.2 is not known; the pinned digest
    /// decides in the end.
    LastModified(String),
}

impl Validator {
    /// The strong `ETag`, else `Last-Modified` if it is a date, else none: a weak `ETag` does not say that bytes are
    /// the same.
    #[must_use]
    pub fn from_answer(etag: Option<&str>, last_modified: Option<&str>) -> Option<Self> {
        let etag = etag.map(str::trim).filter(|etag| is_strong(etag)).map(|etag| Self::StrongEtag(etag.to_owned()));
        let is_date = |date: &&str| httpdate::parse_http_date(date).is_ok();
        etag.or_else(|| {
            let date = last_modified.map(str::trim).filter(is_date)?;
            Some(Self::LastModified(date.to_owned()))
        })
    }

    /// The value of `If-Range`.
    #[must_use]
    pub fn as_if_range(&self) -> &str {
        match self {
            Self::StrongEtag(value) | Self::LastModified(value) => value,
        }
    }

    /// Whether the answer names another version. An answer that does not name one, as a 206 may, contradicts nothing.
    ///
    /// `ETag`s are compared strongly (RFC 9110 section 8.8.3.2): a weak one is another one.
    #[must_use]
    pub fn contradicts(&self, answer: &Answer) -> bool {
        let (kept, named) = match self {
            Self::StrongEtag(etag) => (etag, &answer.etag),
            Self::LastModified(date) => (date, &answer.last_modified),
        };
        named.as_deref().is_some_and(|named| named.trim() != kept)
    }
}

/// `entity-tag = DQUOTE *etagc DQUOTE` (RFC 9110 section 8.8.3), without the `W/` of a weak one.
fn is_strong(etag: &str) -> bool {
    let opaque = etag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    opaque.is_some_and(|opaque| opaque.chars().all(|char| char > ' ' && char != '"' && char != '\u{7f}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    #[test]
    fn a_strong_etag_else_a_date_else_none() {
        let strong = Some(Validator::StrongEtag("\"a-1\"".to_owned()));
        let date = Some(Validator::LastModified(DATE.to_owned()));
        let empty = Some(Validator::StrongEtag("\"\"".to_owned()));
        let table = [
            (Some("\"a-1\""), Some(DATE), strong.clone()),
            (Some(" \"a-1\" "), None, strong),
            (Some("\"\""), None, empty),
            (Some("W/\"a-1\""), Some(DATE), date.clone()),
            (Some("W/\"a-1\""), None, None),
            (Some("w/\"a-1\""), None, None),
            (Some("a-1"), Some(DATE), date.clone()),
            (Some("\"a\"b\""), None, None),
            (Some("\"a b\""), None, None),
            (Some("\"a\nb\""), None, None),
            (Some("\""), None, None),
            (None, Some(DATE), date),
            (None, Some("yesterday"), None),
            (None, Some(""), None),
            (None, None, None),
        ];
        for (etag, last_modified, expected) in table {
            assert_eq!(Validator::from_answer(etag, last_modified), expected, "{etag:?} {last_modified:?}");
        }
    }

    #[test]
    fn if_range_is_verbatim() {
        let validator = Validator::from_answer(Some("\"a-1\""), None).unwrap();
        assert_eq!(validator.as_if_range(), "\"a-1\"");
        let validator = Validator::from_answer(None, Some(DATE)).unwrap();
        assert_eq!(validator.as_if_range(), DATE);
    }
}
