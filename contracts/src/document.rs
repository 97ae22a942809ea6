//! Documents after extract: one compact JSON line each, in `corpus/extract/<dataset>/<version>/<id>/part-<nnnnn>.jsonl.zst`.

use serde::{Deserialize, Serialize};
use url::Url;

use crate::ids::Name;
use crate::time::Timestamp;

/// A document; the keys stand in this order in the file, non-ASCII text as UTF-8.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// `<source_id>:<k>`, `k` the 0-based position in the source's raw files: it points through the raw line into
    /// bytes that were checksummed.
    pub id: String,
    /// The source.
    pub source_id: Name,
    /// `<url of the ledger row>#<line>`; of a page its own address.
    pub url: String,
    /// The raw document's.
    pub fetched_at: Timestamp,
    /// The ledger row's, which may have been corrected since the raw document captured it.
    pub license_spdx: String,
    /// The language identified from the text, an ISO 639 code (two letters where there is one); `und` when it cannot
    /// be told.
    pub lang: String,
    /// The title of the page, or the string `title` of `meta`, as one line; empty where the source has none.
    pub title: String,
    /// The text, normalised: LF line ends, no control characters but LF and TAB, no U+FEFF, NFC, no white space at the
    /// end of a line, at most one blank line in a row and none at either end.
    pub text: String,
    /// What else is known: the raw document's, byte for byte in the file, so that numbers are spelt as the source
    /// spells them; of a page also what it states of itself. This type reads them as `serde_json` does, and refuses those beyond the range of an `f64`.
    pub meta: serde_json::Map<String, serde_json::Value>,
}

/// Hosts of urls, as `metadata.sqlite` has them; consecutive documents mostly have the same one.
#[derive(Debug, Default)]
pub struct Domains {
    /// The start of the last url, up to its path.
    authority: String,
    domain: String,
}

impl Domains {
    /// The host of a url, empty without one.
    pub fn of(&mut self, url: &str) -> &str {
        let authority = authority(url);
        if authority != self.authority {
            let parsed = Url::parse(authority).ok();
            self.domain = parsed.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
            self.authority = authority.to_owned();
        }
        &self.domain
    }
}

/// Scheme and authority (RFC 3986, section 3); empty for a url that has no authority.
fn authority(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else { return "" };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    &url[..scheme.len() + 3 + end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_the_host_of_a_url() {
        let mut domains = Domains::default();
        for (url, domain) in [
            ("https://example.org/a.jsonl#1", "example.org"),
            ("https://example.org/a.jsonl#2", "example.org"),
            ("https://example.org", "example.org"),
            ("http://Sub.Example.org:8080?x#3", "sub.example.org"),
            ("http://[::1]:80/#4", "[::1]"),
            ("file:///data/a.jsonl#1", ""),
            ("data/a.jsonl#1", ""),
            ("data/a://b.jsonl#1", ""),
            ("", ""),
        ] {
            assert_eq!(domains.of(url), domain, "{url}");
        }
    }
}
