use proptest::prelude::*;

use super::*;

fn links_at(source: &str, url: &str) -> Vec<String> {
    let url = Url::parse(url).unwrap();
    let found = scan(source, Syntax::Html, &url, "corpora", &mut Signals::default());
    found.links.iter().map(|link| link.as_str().to_owned()).collect()
}

fn links(source: &str) -> Vec<String> {
    links_at(source, "http://h.example/dir/page")
}

fn paths(source: &str) -> String {
    links(source).iter().map(|link| link.trim_start_matches("http://h.example")).collect::<Vec<_>>().join(" ")
}

#[test]
fn links_of_all_kinds_are_found_once_and_in_order() {
    let source = r#"<link rel="stylesheet" href=/s.css><link rel="shortcut NEXT" href=/next><link rel=canonical href=/canonical>
        <link rel=alternate hreflang=de href=/de><meta http-equiv=Refresh content="5; URL='/refreshed'">
        <A HREF="/a" rel=nofollow>x</A><map><area href=/area></map><a name=no>y</a><a href=/a#top>again</a>
        <img src=/i.png><iframe src=/f></iframe><a href="b?x=1&amp;y=2">z</a>"#;
    assert_eq!(paths(source), "/next /canonical /de /refreshed /a /area /dir/b?x=1&y=2");
}

#[test]
fn what_is_no_link_over_http_is_left_out() {
    let source = "<a href='javascript:x()'><a href=mailto:a@b.example><a href='data:text/html,<a href=/x>'><a href=tel:1><a href='http://'>";
    assert_eq!(links(source), [""; 0]);
    assert_eq!(
        links("<a href='#top'><a href='/p#x'><a href=/p><a href>"),
        ["http://h.example/dir/page", "http://h.example/p"]
    );
    assert_eq!(links("<a href=' /a\n\tb '>"), ["http://h.example/ab"]);
}

#[test]
fn the_first_base_counts_wherever_it_stands() {
    let source = "<a href=x><base target=_top><base href='//other.example/sub/'><base href=/no/><a href=/y>";
    assert_eq!(links(source), ["http://other.example/sub/x", "http://other.example/y"]);
    assert_eq!(links("<base href='javascript:x'><a href=http://h.example/a>"), ["http://h.example/a"]);
    assert_eq!(links("<base href='http://['><a href=a>"), ["http://h.example/dir/a"]);
}

#[test]
fn what_browsers_take_for_text_has_no_tags() {
    let table = [
        ("<!-- <a href=/no> --><a href=/yes>", "/yes"),
        ("<!-- > <a href=/no> --!><a href=/yes>", "/yes"),
        ("<!--><a href=/yes>", "/yes"),
        ("<!---><a href=/yes><!-- -- - --->", "/yes"),
        ("<!-- never closed <a href=/no>", ""),
        ("<!doctype html><?php <a href=/no ?><a href=/yes>", "/yes"),
        ("<script>'<a href=/no>' </scripty> '</ script>'</SCRIPT ><a href=/yes>", "/yes"),
        ("<style><a href=/no></style><a href=/yes>", "/yes"),
        ("<title><a href=/no></title><textarea><a href=/no></textarea/><a href=/yes>", "/yes"),
        ("<script><a href=/no>", ""),
        ("<a href=/yes><plaintext><a href=/no>", "/yes"),
        ("<noscript><a href=/yes></noscript>", "/yes"),
        ("< a href=/no><3 <a href=/yes>", "/yes"),
        ("</a href=/no><//><a href=/no><a href=/yes>", "/no /yes"),
        ("<p title='<a href=/no>'><a href=/yes>", "/yes"),
        ("<p title=a\"b><a href=/yes>\"", "/yes"),
        ("<p \"><a href=/yes>", "/yes"),
        ("<p =x=\"<a href=/no>\"><a href=/yes>", "/yes"),
        ("<a href=/yes/>", "/yes/"),
        ("<a/href = '/yes' href=/no>", "/yes"),
        ("<a hreflang=de href\n=\n\"/yes\">", "/yes"),
        ("<abbr href=/no><a-b href=/no><a\thref=/yes>", "/yes"),
        ("<a href=/no", ""),
        ("<a href='/no>", ""),
        ("<a href=", ""),
        ("<a href", ""),
        ("<", ""),
        ("<a", ""),
    ];
    for (source, expected) in table {
        assert_eq!(paths(source), expected, "{source}");
    }
}

#[test]
fn an_empty_script_is_whole_in_xhtml_alone() {
    let source = "<script src='x'/><a href='/a'>a</a><script>'</a>'</script><a href='/b'/>";
    let url = Url::parse("http://h.example/").unwrap();
    let count = |syntax| scan(source, syntax, &url, "corpora", &mut Signals::default()).links.len();
    assert_eq!((count(Syntax::Html), count(Syntax::Xhtml)), (1, 2));
}

#[test]
fn character_references_are_read_as_in_attributes() {
    let table = [
        ("/?a=1&amp;b", "/?a=1&b"),
        ("/?a&ampb=1&amp=2&copy=3&copy", "/?a&ampb=1&amp=2&copy=3%C2%A9"),
        ("/p&#47;&#x2f;&#X2F&#47x", "/p////x"),
        ("/&nope;&;&", "/&nope;&;&"),
        ("/a&#;&#x;", "/a&"),
        ("/&eacute;&notit;&NotEqualTilde;", "/%C3%A9&notit;%E2%89%82%CC%B8"),
        ("/&#128;&#0;&#xD800;&#99999999999;", "/%E2%82%AC%EF%BF%BD%EF%BF%BD%EF%BF%BD"),
    ];
    for (source, expected) in table {
        assert_eq!(links(&format!("<a href='{source}'>")), [format!("http://h.example{expected}")], "{source}");
    }
}

#[test]
fn signals_are_added_to_those_of_the_headers() {
    let source = "<meta name=robots content='noindex'><META CONTENT=noai NAME=Corpora><meta name=googlebot content=nofollow>\
        <meta name=tdm-reservation content=1><link rel=license type=application/rsl+xml href=/rsl.xml><a rel='license nofollow' href=/l>";
    let mut signals = Signals::default();
    signals.read_header("x-robots-tag", "noarchive", "corpora");
    let url = Url::parse("http://h.example/").unwrap();
    let found = scan(source, Syntax::Html, &url, "corpora", &mut signals);
    assert_eq!(signals.robots, ["noarchive", "noindex", "noai"]);
    assert_eq!(signals.tdm_reservation, Some(true));
    assert_eq!(signals.licenses, ["http://h.example/rsl.xml", "http://h.example/l"]);
    assert_eq!(found.links.len(), 1, "a license of the page is no page of it");
}

#[test]
fn a_refresh_leads_somewhere_or_nowhere() {
    let to = |content: &str| paths(&format!("<meta http-equiv=refresh content=\"{content}\">"));
    assert_eq!([to("0;url=/a"), to("3, /a"), to("0; url = '/a' x"), to("1;URL/a")], ["/a", "/a", "/a", "/dir/URL/a"]);
    assert_eq!([to("5"), to("5;"), to("0; url="), to("")], ["", "", "", ""]);
}

#[test]
fn markup_is_told_from_other_bytes() {
    for markup in
        ["<!DOCTYPE html>", "\u{feff} \n<HTML>", "<!-- x", "<p>", "<?xml version='1.0'?>", "<body class=x", "<title>"]
    {
        assert!(looks_like_markup(markup.as_bytes()), "{markup}");
    }
    for other in ["", "text", "{\"a\":1}", "%PDF-1.7", "<", "<paper>", "<br3>", "\u{89}PNG", "a <p>"] {
        assert!(!looks_like_markup(other.as_bytes()), "{other}");
    }
}

/// Twice the page is not four times the work, whatever it is made of.
#[test]
fn hostile_pages_cost_their_size() {
    for piece in
        ["<", "<a", "<!--", "<a href=\"", "&", "&amp", "</", "<script>", "<a href=x>", "a=", "<a\t", "--", "'\"<p "]
    {
        let source = format!("<a href=/yes>{}", piece.repeat(2_000_000 / piece.len()));
        assert!(paths(&source).starts_with("/yes"), "{piece}");
    }
    assert_eq!(links(&format!("<a href='/{}'>", "&amp;&x".repeat(100_000))), [""; 0]);
}

proptest! {
    #[test]
    fn every_text_is_a_page(source in ".*", tags in "(<a href=['\"]?|</?script|<!--|-->|<base href=|[ >'\"=/a&;#x]){0,40}") {
        let _ = links(&source);
        let _ = links(&tags);
    }
}
