use corpora_contracts::document::Document;
use corpora_contracts::raw::RawDocument;

use super::*;

const TERMS: Terms<'_> = Terms { source_id: "tiny", url: "https://h.example/a#b.jsonl", license_spdx: "CC-BY-SA-4.0" };

fn converted(raw: &str, k: u64) -> Result<String, Problem> {
    let mut out = b"before\n".to_vec();
    convert(raw.as_bytes(), k, &TERMS, &mut out)?;
    Ok(String::from_utf8(out).unwrap().strip_prefix("before\n").unwrap().to_owned())
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
        (raw("x", ",\"content_type\":\"text/html\""), "not a raw document, unknown field `content_type`"),
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
    assert!(matches!(convert(&not_utf8, 0, &TERMS, &mut Vec::new()), Err(Problem::NotRaw { .. })));
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
