use super::*;

fn page(source: &str) -> Page {
    let hints = Hints { url: Some("https://mill.example/river/weir.html?x=1"), ..Hints::default() };
    extract_str(source, &hints, &Options::default())
}

#[test]
fn a_title_is_what_several_places_agree_on() {
    for (head, body, title) in [
        ("<title>The weir | The Mill Press</title>", "<h1>The weir</h1>", "The weir"),
        ("<title>The weir</title>", "<h1>The Mill Press</h1><h1>The weir</h1>", "The weir"),
        ("<title>The Mill Press</title><meta property=og:title content='The weir'>", "<h1>The weir</h1>", "The weir"),
        (
            "<title>The weir - The Mill Press</title><meta property=og:site_name content='The Mill Press'>",
            "",
            "The weir",
        ),
        ("<title>The weir: a history - part 2</title>", "", "The weir: a history - part 2"),
        ("", "<h1>The  <b>weir</b></h1>", "The weir"),
        ("<meta property=og:title content='The weir &amp; the mill'>", "", "The weir & the mill"),
        ("<title>\n  The\n weir </title>", "<h1></h1>", "The weir"),
        ("", "", ""),
    ] {
        assert_eq!(page(&format!("<head>{head}</head><body>{body}<p>{FIRST}</p>")).title, title, "{head}{body}");
    }
}

#[test]
fn what_a_page_states_is_read() {
    let page = page(
        "<html lang=de-AT><head><title>x</title><meta name=Description content=' Of  boards &amp; tar '>\
         <meta name=keywords content='weir, mill,, tar'><meta property=article:tag content=oak><meta property=article:tag content=tar>\
         <meta name=author content='By Ada Miller'><meta property=article:published_time content='2024-03-31T08:15:00+02:00'>\
         <link rel=canonical href='/river/weir'></head><body><p>x",
    );
    assert_eq!(page.language, "de-AT");
    assert_eq!(page.description, "Of boards & tar");
    assert_eq!(page.keywords, ["weir", "mill", "tar", "oak"]);
    assert_eq!(page.author, "Ada Miller");
    assert_eq!(page.date, "2024-03-31T08:15:00+02:00");
    assert_eq!(page.canonical, "https://mill.example/river/weir");
}

#[test]
fn structured_data_is_read() {
    let script = |json: &str| page(&format!("<script type=application/ld+json>{json}</script><p>{FIRST}"));
    let found = script(
        r#"{"@context":"https://schema.org","@graph":[{"@type":"WebSite","name":"The Mill Press"},{"@type":["NewsArticle"],
        "headline":"The weir","author":[{"@type":"Person","name":"Ada Miller"},{"name":"Bo Sawyer"}],"datePublished":"2024-03-31",
        "keywords":["oak","tar"],"description":"Of boards &amp; <b>tar</b>","license":"https://creativecommons.org/licenses/by/4.0/"}]}"#,
    );
    assert_eq!((found.author.as_str(), found.date.as_str()), ("Ada Miller, Bo Sawyer", "2024-03-31"));
    assert_eq!((found.description.as_str(), found.keywords.len()), ("Of boards & tar", 2));
    assert_eq!(found.rights.licenses, ["https://creativecommons.org/licenses/by/4.0/"]);
    // What is no JSON, or no object, states nothing.
    for json in ["{", "[]", "null", "{\"@type\":3,\"author\":7}", "\"x\"", "<!-- -->"] {
        assert_eq!(script(json).author, "", "{json}");
    }
    let microdata = page(
        "<article itemscope itemtype='https://schema.org/BlogPosting'><h1 itemprop=headline>The weir</h1>\
         <span itemprop=author itemscope><a rel=author><b itemprop=name>Ada Miller</b></a></span><time itemprop=datePublished datetime=2024-03-31>Sunday</time>",
    );
    assert_eq!((microdata.author.as_str(), microdata.date.as_str()), ("Ada Miller", "2024-03-31"));
}

#[test]
fn a_date_is_a_date() {
    let of = |stated: &str| page(&format!("<meta name=date content='{stated}'><p>x")).date;
    assert_eq!(of("2024-03-31"), "2024-03-31");
    assert_eq!(of(" 2024/03/31 08:15:00 "), "2024-03-31T08:15:00");
    assert_eq!(of("2024-03-31T08:15Z"), "2024-03-31T08:15Z");
    for stated in ["last Sunday", "31.03.2024", "2024", "2024-3-1", "9999-99-99", "", "2024-03-31abc"] {
        assert_eq!(of(stated), "", "{stated}");
    }
}

#[test]
fn links_are_resolved_against_the_base() {
    let page = page(
        "<base href=/lake/><link rel='Next Nofollow' href=two><link rel=stylesheet href=x.css><meta http-equiv=Refresh content='3; URL=\"/gone\"'>\
         <a href=' one.html '>The  <b>first</b></a><a href='?q=1' rel='NOFOLLOW ugc'><img alt='A gate' src=i></a><a href=mailto:a@b.example>write</a>\
         <a href='javascript:void(0)'>x</a><a>no link</a><a href='//other.example/a%20b'>other</a><map><area href=/pond alt=Pond></map><a href='http://[bad'>bad</a>",
    );
    let found: Vec<_> =
        page.links.iter().map(|link| (link.url.as_str(), link.text.as_str(), link.rel.as_str(), link.kind)).collect();
    assert_eq!(
        found,
        [
            ("https://mill.example/lake/two", "", "next nofollow", LinkKind::Page),
            ("https://mill.example/gone", "", "", LinkKind::Refresh),
            ("https://mill.example/lake/one.html", "The first", "", LinkKind::Anchor),
            ("https://mill.example/lake/?q=1", "A gate", "nofollow ugc", LinkKind::Anchor),
            ("https://other.example/a%20b", "other", "", LinkKind::Anchor),
            ("https://mill.example/pond", "Pond", "", LinkKind::Area),
        ]
    );
    let without =
        extract_str("<a href=/a>a</a><a href=https://b.example>b</a>", &Hints::default(), &Options::default());
    assert_eq!(without.links.iter().map(|link| link.url.as_str()).collect::<Vec<_>>(), ["/a", "https://b.example/"]);
}
