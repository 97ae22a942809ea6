//! URLs as they may be printed: no password, no token.

use url::Url;

/// What stands in place of userinfo.
const MASK: &str = "***";

/// The URL with `***` in place of its userinfo, else exactly as written.
///
/// A string that is no URL may still hold a password: there, everything up to the last `@` that could belong to
/// userinfo is masked, rather too much than too little.
#[must_use]
pub fn redact(url: &str) -> String {
    match Url::parse(url) {
        Ok(parsed) if parsed.cannot_be_a_base() => mask_text(url),
        Ok(parsed) if parsed.username().is_empty() && parsed.password().is_none() => url.to_owned(),
        Ok(parsed) => mask_parsed(parsed).unwrap_or_else(|()| mask_text(url)),
        Err(_) => mask_text(url),
    }
}

/// One hop of a redirect: no userinfo, and `?…` for a query, which on signed URLs is the credential.
#[must_use]
pub fn hop(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_fragment(None);
    let query = if shown.query().is_some() { "?…" } else { "" };
    shown.set_query(None);
    format!("{}{query}", redact(shown.as_str()))
}

/// The parser knows where userinfo is, also in `http:\\user:password@host`.
fn mask_parsed(mut url: Url) -> Result<String, ()> {
    url.set_password(None)?;
    url.set_username(MASK)?;
    Ok(url.into())
}

/// Userinfo starts after `//`, or at the start when there is a `:` before the `@`, as in `user:password@host`.
fn mask_text(text: &str) -> String {
    let Some(at) = text.rfind('@') else { return text.to_owned() };
    let before = &text[..at];
    match before.find("//") {
        Some(slashes) => format!("{}{MASK}{}", &text[..slashes + 2], &text[at..]),
        None if before.contains(':') => format!("{MASK}{}", &text[at..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn userinfo_is_masked_and_the_rest_is_kept() {
        let table = [
            ("https://h/a b?q=1#f", "https://h/a b?q=1#f"),
            ("https://h/@scope/pkg", "https://h/@scope/pkg"),
            ("https://h/?to=a@b", "https://h/?to=a@b"),
            ("https://user:secret@h/x?q=1", "https://***@h/x?q=1"),
            ("https://secret@h:8443/x", "https://***@h:8443/x"),
            ("https://:secret@h/", "https://***@h/"),
            ("https://u:se@cret@h/", "https://***@h/"),
            ("s3://key:secret@bucket/prefix", "s3://***@bucket/prefix"),
            ("postgres://u:secret@h/db", "postgres://***@h/db"),
            ("http:\\\\u:secret@h/x", "http://***@h/x"),
            ("https://u:sec/ret@h/x", "https://***@h/x"),
            ("https://u:secret@h:port/x", "https://***@h:port/x"),
            ("https://u:secret@", "https://***@"),
            ("//u:secret@h/x", "//***@h/x"),
            ("u:secret@h/x", "***@h/x"),
            ("my_user:secret@h/x", "***@h/x"),
            ("file://u:secret@h/x", "file://***@h/x"),
            ("data/a@b.jsonl", "data/a@b.jsonl"),
            ("", ""),
            ("@", "@"),
        ];
        for (url, printed) in table {
            assert_eq!(redact(url), printed, "{url:?}");
        }
    }

    #[test]
    fn a_hop_shows_origin_and_path() {
        let shown = |url: &str| hop(&Url::parse(url).unwrap());
        assert_eq!(shown("https://u:p@cdn.example/a/b?Signature=secret#f"), "https://***@cdn.example/a/b?…");
        assert_eq!(shown("http://h:8080/a"), "http://h:8080/a");
    }

    proptest! {
        #[test]
        fn no_text_panics(url in ".*") {
            let _ = redact(&url);
        }

        #[test]
        fn no_password_is_printed(user in "[a-z]{0,5}", port in "(:[0-9]{1,7}|:x|)", noise in "[ -~]{0,6}") {
            let printed = redact(&format!("https://{user}:{noise}HUNTER2@h{port}/x"));
            // Where the parser ends the authority inside the password, the URL has no userinfo.
            let ends_early = noise.contains(['/', '\\', '?', '#']);
            prop_assert!(ends_early || !printed.contains("HUNTER2"), "{}", printed);
        }
    }
}
