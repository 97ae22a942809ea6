use proptest::prelude::*;

use super::*;

fn normal(text: &str) -> String {
    normalize(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).as_str().to_owned()
}

fn canonical(text: &str) -> String {
    CanonicalUrl::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).into()
}

#[test]
fn a_url_is_written_as_it_is() {
    let url = normalize("HTTP://h.example/b?z=1&a=2#top").unwrap();
    assert_eq!(url.to_string(), "http://h.example/b?z=1&a=2");
    assert_eq!(canonicalize(&url).to_string(), "http://h.example/b?a=2&z=1");
}

#[test]
fn only_what_is_over_http_is_asked() {
    for text in
        ["javascript:void(0)", "mailto:a@b.example", "data:text/html,x", "tel:1", "file:///etc/passwd", "ftp://h/"]
    {
        let scheme = text.split(':').next().unwrap().to_owned();
        assert_eq!(normalize(text), Err(UrlError::Scheme { scheme: scheme.clone() }), "{text}");
        let base = validate("http://h.example/").unwrap();
        assert_eq!(resolve(&base, text), Err(UrlError::Scheme { scheme }), "{text}");
    }
    for text in ["", "/a", "http://", "http://[::1", "http://a b/", "http://h:99999/"] {
        assert!(matches!(normalize(text), Err(UrlError::NotAUrl { .. })), "{text}");
    }
    for text in ["http://./", "http://../a"] {
        assert_eq!(normalize(text), Err(UrlError::NoHost), "{text}");
    }
}

#[test]
fn what_is_too_long_is_told() {
    let long = |bytes: usize| format!("http://h.example/{}", "a".repeat(bytes - 17));
    assert_eq!(normal(&long(MOST_BYTES)).len(), MOST_BYTES);
    assert_eq!(normalize(&long(MOST_BYTES + 1)), Err(UrlError::TooLong { bytes: MOST_BYTES + 1 }));
    assert_eq!(normalize(&long(50_000_000)), Err(UrlError::TooLong { bytes: 50_000_000 }));
    let grows = format!("http://h.example/{}", "ü".repeat(2000));
    assert_eq!(normalize(&grows), Err(UrlError::TooLong { bytes: 17 + 2000 * 6 }));
}

#[test]
fn one_resource_is_asked_for_in_one_spelling() {
    let table = [
        ("http://BÜCHER.example./", "http://xn--bcher-kva.example/"),
        ("http://xn--bcher-kva.example", "http://xn--bcher-kva.example/"),
        ("HTTP://user:pw@H.example:80", "http://h.example/"),
        ("https://h.example:443/a#top", "https://h.example/a"),
        ("http://h.example/a/./b/../c", "http://h.example/a/c"),
        ("http://h.example/%7euser/%41%2d%2E%5f", "http://h.example/~user/A-._"),
        ("http://h.example/a%2fb/%3f%c3%bc", "http://h.example/a%2Fb/%3F%C3%BC"),
        ("http://h.example/ü|^`{}\"<>", "http://h.example/%C3%BC%7C%5E%60%7B%7D%22%3C%3E"),
        ("http://h.example/?q=ü|a b'^`{}", "http://h.example/?q=%C3%BC%7Ca%20b%27%5E%60%7B%7D"),
        ("http://h.example/100%/%zz?50%", "http://h.example/100%25/%25zz?50%25"),
        ("http://h.example/%%32%65", "http://h.example/%252e"),
        ("http://h.example/a;b=1,2/(c)!$&'*+:@", "http://h.example/a;b=1,2/(c)!$&'*+:@"),
        ("http://h.example/?b=2&a=1&utm_source=x", "http://h.example/?b=2&a=1&utm_source=x"),
        ("  http://h.example/a\n\tb  ", "http://h.example/ab"),
        ("http:\\\\h.example\\a", "http://h.example/a"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://1.2.3.4../", "http://1.2.3.4/"),
    ];
    for (text, expected) in table {
        assert_eq!(normal(text), expected, "{text}");
    }
}

#[test]
fn references_resolve_as_in_a_page() {
    let base = validate("http://h.example/dir/page?x=1#f").unwrap();
    let table = [
        (" /a\n\tb ", "http://h.example/ab"),
        ("#top", "http://h.example/dir/page?x=1"),
        ("", "http://h.example/dir/page?x=1"),
        ("?y", "http://h.example/dir/page?y"),
        ("../up", "http://h.example/up"),
        ("//cdn.example/x", "http://cdn.example/x"),
        ("///cdn.example/x", "http://cdn.example/x"),
        (" /\\/\n/cdn.example/../x", "http://cdn.example/x"),
        ("https://Other.example", "https://other.example/"),
    ];
    for (reference, expected) in table {
        assert_eq!(resolve(&base, reference).unwrap().as_str(), expected, "{reference:?}");
    }
}

#[test]
fn a_page_is_known_by_one_address() {
    let table = [
        ("http://h.example/p#x", "http://h.example/p"),
        ("http://h.example/p?", "http://h.example/p"),
        ("http://h.example/p?&&", "http://h.example/p"),
        ("http://h.example/p/", "http://h.example/p/"),
        ("http://h.example/?c=3&b=5&b=2&a=50", "http://h.example/?a=50&b=2&b=5&c=3"),
        ("http://h.example/?a-b=1&a=2&a", "http://h.example/?a&a=2&a-b=1"),
        ("http://h.example/?utm_source=x&id=7&UTM_Medium=y&gclid=z&fbclid=1", "http://h.example/?id=7"),
        ("http://h.example/?PHPSESSID=abc&%75tm_id=2", "http://h.example/"),
        ("http://h.example/?ASPSESSIONIDQQ=1&session=2&utm=3", "http://h.example/?session=2&utm=3"),
        ("http://h.example/a;jsessionid=1A.n/b;JSESSIONID=2;v=1?x", "http://h.example/a/b;v=1?x"),
        ("http://h.example/a;v=1;jsessionid=2", "http://h.example/a;v=1"),
        ("http://h.example/a/..;jsessionid=2/b", "http://h.example/b"),
        ("http://h.example/a?next=/b;jsessionid=1", "http://h.example/a?next=/b;jsessionid=1"),
        ("http://h.example/%E3%81%82?q=%e3%81%82", "http://h.example/%E3%81%82?q=%E3%81%82"),
    ];
    for (text, expected) in table {
        assert_eq!(canonical(text), expected, "{text}");
        assert_eq!(canonical(expected), expected);
    }
}

#[test]
fn robots_are_asked_about_path_and_query() {
    let url = normalize("http://h.example:8080/a%20b?c#d").unwrap();
    assert_eq!(url.path_and_query(), "/a%20b?c");
    assert_eq!(url.host().as_str(), "http://h.example:8080");
    assert_eq!(normalize("http://h.example").unwrap().path_and_query(), "/");
}

fn urlish() -> impl Strategy<Value = String> {
    let hosts = prop_oneof![
        Just("h.example".to_owned()),
        Just("BÜCHER.example.".to_owned()),
        "[a-z0-9.%_-]{1,8}",
        "[0-9x.]{1,10}",
        Just("[::1]".to_owned()),
        ".{0,6}",
    ];
    let piece = prop_oneof![
        "[a-z/;?&=#.%+~]{0,6}",
        Just("%2e".to_owned()),
        Just("%%32%65".to_owned()),
        Just("%25%32%65".to_owned()),
        Just("/..".to_owned()),
        Just(";jsessionid=".to_owned()),
        Just("utm_a=1&".to_owned()),
        Just("?".to_owned()),
        ".{0,3}",
    ];
    (prop_oneof![Just("http"), Just("https"), Just("HtTp")], hosts, prop::collection::vec(piece, 0..10))
        .prop_map(|(scheme, host, pieces)| format!("{scheme}://{host}/{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_changes_the_second_time(text in urlish()) {
        let Ok(url) = normalize(&text) else { return Ok(()) };
        prop_assert_eq!(&normalize(url.as_str()).unwrap(), &url);
        prop_assert_eq!(&NormalUrl::from_url(url.as_url().clone()).unwrap(), &url);
        let known_by = canonicalize(&url);
        let again = normalize(known_by.as_str()).unwrap();
        prop_assert_eq!(again.as_str(), known_by.as_str(), "a canonical URL is a normal one");
        prop_assert_eq!(canonicalize(&again), known_by);
        prop_assert_eq!(url.as_url().fragment(), None);
        prop_assert_eq!(url.as_url().username(), "");
        prop_assert!(url.as_str().is_ascii());
    }

    #[test]
    fn any_text_is_judged(text in ".*", reference in ".*") {
        let _ = normalize(&text);
        let _ = resolve(&validate("http://h.example/a?b").unwrap(), &reference);
    }

    #[test]
    fn the_order_of_parameters_is_no_matter(mut pairs in prop::collection::vec("[a-z]{1,2}(=[a-z]{0,2})?", 0..8)) {
        let written = canonical(&format!("http://h.example/?{}", pairs.join("&")));
        pairs.reverse();
        prop_assert_eq!(canonical(&format!("http://h.example/?{}", pairs.join("&"))), written);
    }
}
