use corpora_contracts::config::Extract;
use corpora_contracts::document::Document;
use corpora_contracts::raw::RawDocument;

use super::*;

fn converted(raw: &str, k: u64) -> Result<String, Problem> {
    let (made, line) = converted_as(Shape::Lines, raw.as_bytes(), k)?;
    assert_eq!(made, Made::Document(None));
    Ok(line)
}

/// What became of a raw line of a source of this shape, and the line that was added.
fn converted_as(shape: Shape, raw: &[u8], k: u64) -> Result<(Made, String), Problem> {
    let reader = Reader::of(&Extract::DEFAULT);
    let (url, license_spdx) = ("https://h.example/a#b.jsonl", "CC-BY-SA-4.0");
    let terms = Terms { source_id: "tiny", url, license_spdx, shape, reader: &reader };
    let mut out = b"before\n".to_vec();
    let made = convert(raw, k, &terms, &mut out)?;
    Ok((made, String::from_utf8(out).unwrap().strip_prefix("before\n").unwrap().to_owned()))
}

fn raw(text: &str, rest: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        "{{\"url\":\"http://old.example/x#7\",\"fetched_at\":\"2026-01-01T00:00:00Z\",\"license_spdx\":\"MIT\",\"text\":{text}{rest}}}"
    )
}

#[test]
fn the_line_is_written_as_the_contract_has_it() {
    assert_eq!(
        converted(&raw("Tom has\r\na red ball.\u{feff}\n", ""), 41).unwrap(),
        "{\"id\":\"tiny:41\",\"source_id\":\"tiny\",\"url\":\"https://h.example/a#b.jsonl#7\",\
         \"fetched_at\":\"2026-01-01T00:00:00Z\",\"license_spdx\":\"CC-BY-SA-4.0\",\"lang\":\"en\",\"title\":\"\",\
         \"text\":\"Tom has\\na red ball.\",\"meta\":{}}\n"
    );
}

#[test]
fn an_empty_text_is_a_document() {
    let line = converted(&raw("", ""), 0).unwrap();
    let document: Document = serde_json::from_str(&line).unwrap();
    assert_eq!((document.id.as_str(), document.text.as_str(), document.lang.as_str()), ("tiny:0", "", "und"));
}

#[test]
fn meta_goes_through_as_it_is_spelt() {
    let meta =
        r#"{"z":1.00,"a":12345678901234567890123,"e":1e400,"n":{"b":-0.0,"a":[1,"é"]},"title":"A\n  \u0001title"}"#;
    let line = converted(&raw("x", &format!(",\"meta\":{meta}")), 0).unwrap();
    assert!(line.ends_with(&format!(",\"meta\":{meta}}}\n")), "{line}");
    assert!(line.contains(",\"title\":\"A title\","), "{line}");
}

#[test]
fn a_title_is_a_string_at_the_key() {
    for (meta, title) in [
        (r#"{"title":"T"}"#, "T"),
        (r#"{"title":7}"#, ""),
        (r#"{"title":null}"#, ""),
        (r#"{"sub":{"title":"T"}}"#, ""),
        ("{}", ""),
        ("null", ""),
    ] {
        let line = converted(&raw("x", &format!(",\"meta\":{meta}")), 0);
        assert_eq!(serde_json::from_str::<Document>(&line.unwrap()).unwrap().title, title, "{meta}");
    }
}

#[test]
fn a_line_that_is_no_raw_document_is_told() {
    let bad_url = |url: &str| raw("x", "").replace("http://old.example/x#7", url);
    let cases = [
        (String::new(), "not a raw document, it is no object"),
        (r#"["u#1","2026-01-01T00:00:00Z","MIT","text",null]"#.to_owned(), "not a raw document, it is no object"),
        (raw("x", ",\"extra\":1"), "not a raw document, unknown field `extra`"),
        (raw("x", ",\"content_type\":\"text/html\""), "not a raw document, its source has no pages"),
        (raw("x", ",\"text\":\"y\""), "not a raw document, duplicate field `text`"),
        (raw("x", "") + "x", "not a raw document, trailing characters"),
        (raw("x", "").replace("\"x\"", "\"\\ud800\""), "not a raw document, "),
        (raw("x", "").replace("T00:00:00Z", ""), "`fetched_at` is not of the form"),
        (raw("x", ",\"meta\":[]"), "`meta` is not an object"),
        (raw("x", ",\"meta\":\"{\""), "`meta` is not an object"),
        (bad_url("http://old.example/x"), "the url does not end with"),
        (bad_url("http://old.example/x#"), "the url does not end with"),
        (bad_url("http://old.example/x#0"), "the url does not end with"),
        (bad_url("http://old.example/x#7a"), "the url does not end with"),
    ];
    for (line, expected) in cases {
        let problem = converted(&line, 0).unwrap_err().to_string();
        assert!(problem.starts_with(expected), "{line}: {problem}");
    }
    let mut not_utf8 = raw("x", "").into_bytes();
    not_utf8[10] = 0xff;
    assert!(matches!(converted_as(Shape::Lines, &not_utf8, 0), Err(Problem::NotRaw { .. })));
}

#[test]
fn what_is_written_is_what_the_contract_reads() {
    let line = raw("Ein \"Satz\" mit\tTab, \u{1f600} und \u{2028}mehr.", ",\"meta\":{\"a\":[1,2]}");
    let before: RawDocument = serde_json::from_str(&line).unwrap();
    let after: Document = serde_json::from_str(&converted(&line, 3).unwrap()).unwrap();
    assert_eq!(after.text, normalize(&before.text));
    assert_eq!((Some(after.meta), after.fetched_at), (before.meta, before.fetched_at));
    assert_eq!(
        serde_json::to_string(&serde_json::from_str::<Document>(&converted(&line, 3).unwrap()).unwrap()).unwrap()
            + "\n",
        converted(&line, 3).unwrap()
    );
}

fn page(content_type: &str, text: &str, meta: &str) -> String {
    raw(text, &format!(",\"content_type\":\"{content_type}\",\"meta\":{meta}"))
}

const TIDES: &str = "<html lang=en-GB><head><title>Tides</title><meta name=description content='Of the sea.'>\
    <meta name=keywords content='sea, moon'><meta name=author content='Mia Moss'><meta name=robots content=noai>\
    <meta name=date content=2026-01-31><link rel=canonical href='/tides'></head><body>\
    <p>The sea rises twice a day and falls twice a day, and nobody on the shore is surprised by it.</p></body></html>";

#[test]
fn a_page_is_its_main_text_with_what_it_states() {
    let meta = r#"{"charset":"UTF-8","status":200,"rights":{"robots":["noindex"],"x":1.00}}"#;
    let raw = page("text/html", TIDES, meta).replace("http://old.example/x#7", "https://sea.example/a/b");
    let (made, line) = converted_as(Shape::Pages, raw.as_bytes(), 3).unwrap();
    assert_eq!(made, Made::Document(None));
    let document: Document = serde_json::from_str(&line).unwrap();
    assert_eq!((document.id.as_str(), document.url.as_str()), ("tiny:3", "https://sea.example/a/b"));
    assert_eq!((document.title.as_str(), document.lang.as_str()), ("Tides", "en"));
    assert!(document.text.starts_with("The sea rises twice a day"), "{}", document.text);
    assert!(
        line.ends_with(
            ",\"meta\":{\"content_type\":\"text/html\",\"language\":\"en-GB\",\"description\":\"Of the sea.\",\
             \"keywords\":[\"sea\",\"moon\"],\"author\":\"Mia Moss\",\"date\":\"2026-01-31\",\
             \"canonical\":\"https://sea.example/tides\",\"charset\":\"UTF-8\",\
             \"rights\":{\"robots\":[\"noindex\",\"noai\"],\"x\":1.00},\"status\":200}}\n"
        ),
        "{line}"
    );
    let (_, line) = converted_as(Shape::Pages, page("text/html", TIDES, "{}").as_bytes(), 3).unwrap();
    assert!(line.contains("\"rights\":{\"robots\":[\"noai\"]}"), "{line}");
}

#[test]
fn a_source_of_one_page_has_the_address_of_the_ledger() {
    let (_, line) = converted_as(Shape::OnePage, page("text/html", TIDES, "{}").as_bytes(), 0).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&line).unwrap().url, "https://h.example/a#b.jsonl");
}

#[test]
fn a_page_without_text_is_left_out() {
    for (content_type, text) in [
        ("text/html", ""),
        ("text/html", "<html><body><script>1</script></body></html>"),
        ("application/xhtml+xml", "<img src=a.png>"),
        ("text/plain", " \n\u{feff}"),
    ] {
        let made = converted_as(Shape::Pages, page(content_type, text, "{}").as_bytes(), 0).unwrap();
        assert_eq!(made, (Made::LeftOut(EMPTY_PAGE), String::new()), "{text:?}");
    }
}

#[test]
fn a_text_of_a_page_is_kept_as_text() {
    let raw = page("text/plain", "<p>Mia naps.\r\n", r#"{"warc_date":"2026-01-01T00:00:00Z"}"#);
    let (made, line) = converted_as(Shape::Pages, raw.as_bytes(), 0).unwrap();
    assert_eq!(made, Made::Document(None));
    assert!(line.contains("\"text\":\"<p>Mia naps.\""), "{line}");
    assert!(line.ends_with("\"meta\":{\"content_type\":\"text/plain\",\"warc_date\":\"2026-01-01T00:00:00Z\"}}\n"));
}

#[test]
fn what_limits_cut_is_said_in_the_document() {
    let deep = format!("<p>The sea rises twice a day.{}and falls{}", "<b><i>".repeat(600), "</i></b>".repeat(600));
    let (made, line) = converted_as(Shape::Pages, page("text/html", &deep, "{}").as_bytes(), 0).unwrap();
    let Made::Document(Some(cut)) = made else { panic!("{made:?}") };
    assert!(cut.max_depth > 0 && cut.limits().eq(["max_depth"]), "{cut:?}");
    assert!(line.contains(&format!("\"cut\":{{\"max_depth\":{}}}", cut.max_depth)), "{line}");
}

#[test]
fn a_page_says_what_it_is() {
    for shape in [Shape::OnePage, Shape::Pages] {
        let problem = converted_as(shape, raw("x", "").as_bytes(), 0).unwrap_err().to_string();
        assert_eq!(problem, "not a raw document, it is a page, and has no `content_type`");
    }
}

#[test]
fn signals_of_the_page_join_those_that_came_with_it() {
    let rights = |head: &str, known: &str| {
        let source = format!("<head>{head}</head><p>The sea rises twice a day, and falls twice a day.</p>");
        let raw = page("text/html", &source, &format!("{{\"rights\":{known}}}"));
        let (_, line) = converted_as(Shape::Pages, raw.as_bytes(), 0).unwrap();
        let (_, rights) = line.split_once("\"rights\":").unwrap();
        rights.trim_end().strip_suffix("}}").unwrap().to_owned()
    };
    let robots = "<meta name=robots content='noai, noindex'>";
    let reserved = "<meta name=tdm-reservation content=1><meta name=tdm-policy content='https://h.example/p'>";
    let license = "<link rel=license href='https://h.example/l'>";
    for (head, known, expected) in [
        ("", r#"{"robots":["noindex"]}"#, r#"{"robots":["noindex"]}"#),
        (robots, r#"{"robots":["noindex"]}"#, r#"{"robots":["noindex","noai"]}"#),
        (robots, r#"{"robots":"noindex"}"#, r#"{"robots":"noindex"}"#),
        (
            robots,
            r#"{"content_signal":["ai-train=no"]}"#,
            r#"{"robots":["noai","noindex"],"content_signal":["ai-train=no"]}"#,
        ),
        (
            reserved,
            r#"{"tdm_reservation":false,"tdm_policy":"x"}"#,
            r#"{"tdm_reservation":true,"tdm_policy":"https://h.example/p"}"#,
        ),
        (
            robots,
            r#"{"tdm_reservation":false,"tdm_policy":"x"}"#,
            r#"{"robots":["noai","noindex"],"tdm_policy":"x","tdm_reservation":false}"#,
        ),
        (
            license,
            r#"{"licenses":["https://h.example/k"]}"#,
            r#"{"licenses":["https://h.example/k","https://h.example/l"]}"#,
        ),
        (robots, "[]", r#"{"robots":["noai","noindex"]}"#),
    ] {
        assert_eq!(rights(head, known), expected, "{head} {known}");
    }
}
