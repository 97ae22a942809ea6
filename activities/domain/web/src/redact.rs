//! URLs of requests as they may be printed: no password, no token.

use corpora_contracts::config::redact;
use url::Url;

/// One hop of a request: no userinfo, and `?…` for a query, which on signed URLs is the credential.
///
/// A configured url is shown by [`redact`], which leaves of its query what is no secret.
#[must_use]
pub fn hop(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_fragment(None);
    let query = if shown.query().is_some() { "?…" } else { "" };
    shown.set_query(None);
    format!("{}{query}", redact(shown.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_shows_origin_and_path() {
        let shown = |url: &str| hop(&Url::parse(url).unwrap());
        assert_eq!(shown("https://u:p@cdn.example/a/b?Signature=secret#f"), "https://***@cdn.example/a/b?…");
        assert_eq!(shown("http://h:8080/a"), "http://h:8080/a");
    }
}
