use corpora_contracts::config::Format;
use corpora_contracts::receipt::SplitSettings;

use super::super::tests::{documents, dropping, limited, problem, settings, split_bytes};
use super::*;

/// The only document of a one-line file.
fn text_of(line: &[u8]) -> String {
    let mut found = documents(line, &settings(Format::Jsonl));
    assert_eq!(found.len(), 1);
    found.remove(0).1
}

/// Why a one-line file is refused.
fn reason(line: &[u8]) -> &'static str {
    problem(line, &settings(Format::Jsonl)).1.reason()
}

fn keeping(fields: &[&str]) -> SplitSettings {
    let mut settings = settings(Format::Jsonl);
    settings.documents.meta_fields = fields.iter().map(|&field| field.to_owned()).collect();
    settings
}

/// The raw line after the text of a one-line file.
fn meta_of(line: &str, fields: &[&str]) -> String {
    let mut lines =
        split_bytes(line.as_bytes(), &keeping(fields)).unwrap_or_else(|error| panic!("{error}")).raw_lines();
    let line = lines.remove(0);
    serde_json::from_str::<serde::de::IgnoredAny>(&line).unwrap();
    line.split_once("\"text\":\"t\"").unwrap().1.to_owned()
}

#[test]
fn strict_json_is_accepted() {
    for (line, text) in [
        (&br#"{"text":"a"}"#[..], "a"),
        (b" \t{ \"text\" :\t\"a\" } \r", "a"),
        (b"\xef\xbb\xbf{\"text\":\"a\"}", "a"),
        (br#"{"text":""}"#, ""),
        (br#"{"x":{"text":"in"},"text":"out","y":["text"]}"#, "out"),
        (br#"{"te\u0078t":"a\u0000\ud83d\ude00\/"}"#, "a\0\u{1f600}/"),
        ("{\"text\":\"a\u{2028}b\u{85}\u{feff}\u{7f}\"}".as_bytes(), "a\u{2028}b\u{85}\u{feff}\u{7f}"),
        (br#"{"a":1e999,"b":-0,"c":123456789012345678901234567890,"d":0.1E-7,"text":"x"}"#, "x"),
        (br#"{"a":1,"a":2,"text":"twice is ours to judge for our keys"}"#, "twice is ours to judge for our keys"),
        (br#"{"":null,"text":"t","Text":1,"text ":2}"#, "t"),
    ] {
        assert_eq!(text_of(line), text, "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn anything_else_is_refused_with_its_reason() {
    for (line, expected) in [
        (&br#"{"text":"a"} x"#[..], "not_json"),
        (br#"{"text":"a"}{"text":"b"}"#, "not_json"),
        (br#"{"text":"a""#, "not_json"),
        (br#"{"text":"a"#, "not_json"),
        (br#"{"text":"a",}"#, "not_json"),
        (br#"{"text":"a","b":NaN}"#, "not_json"),
        (br#"{"text":"a","b":Infinity}"#, "not_json"),
        (br#"{"text":"a","b":-Infinity}"#, "not_json"),
        (br#"{"text":"a","b":01}"#, "not_json"),
        (br#"{"text":"a","b":1.}"#, "not_json"),
        (br#"{"text":"a","b":.5}"#, "not_json"),
        (br#"{"text":"a","b":+1}"#, "not_json"),
        (br#"{"text":"a","b":tru}"#, "not_json"),
        (br#"{"text":"a","b":'c'}"#, "not_json"),
        (br#"{"text":"a","b":[1,]}"#, "not_json"),
        (br#"{"text":"a\x41"}"#, "not_json"),
        (br#"{"text":"a\u00g0"}"#, "not_json"),
        (br#"{text:"a"}"#, "not_json"),
        (b"{\"text\":\"a\tb\"}", "not_json"),
        (b"{\"text\":\"a\",\"b\":\"\x01\"}", "not_json"),
        (b"{\"text\":\"a\",\"b\":{\"\0\":1}}", "not_json"),
        ("\u{a0}{\"text\":\"a\"}".as_bytes(), "not_json"),
        (b"// comment", "not_json"),
        (b"a", "not_json"),
        (br#"["text","a"]"#, "not_object"),
        (b"null", "not_object"),
        (b" 12 ", "not_object"),
        (br#""text""#, "not_object"),
        (b"{}", "no_text"),
        (br#"{"text":null}"#, "no_text"),
        (br#"{"text":["a"]}"#, "no_text"),
        (br#"{"TEXT":"a"}"#, "no_text"),
        (br#"{"text":"a","text":"b"}"#, "duplicate_key"),
        (br#"{"text":"a","text":null}"#, "duplicate_key"),
        (br#"{"text":null,"t\u0065xt":"a"}"#, "duplicate_key"),
        (br#"{"text":"\ud800"}"#, "lone_surrogate"),
        (br#"{"text":"\udc00\ud800"}"#, "lone_surrogate"),
        (br#"{"text":"a","b":"\ud83dx"}"#, "lone_surrogate"),
        (br#"{"text":"a","b":[{"c":{"\udead":1}}]}"#, "lone_surrogate"),
        (b"{\"text\":\"\xff\"}", "not_utf8"),
        (b"{\"text\":\"a\",\"b\":\"\xc0\x80\"}", "not_utf8"),
        (b"{\"text\":\"a\",\"b\xed\xa0\x80\":1}", "not_utf8"),
        (b"{\"text\":\"a\"} \xf8", "not_utf8"),
    ] {
        assert_eq!(reason(line), expected, "{}", String::from_utf8_lossy(line));
    }
    // A key that is a lone surrogate is refused by the parser, which decodes the keys it compares.
    assert_eq!(reason(br#"{"text":"a","\udead":1}"#), "not_json");
}

#[test]
fn blank_lines_are_passed_over_and_count() {
    let file = "\n \t\r\n\u{b}\u{c}\u{85}\u{a0}\u{2028}\u{3000}\n{\"text\":\"a\"}\r\n\r\n{\"text\":\"b\"}";
    let found = documents(file.as_bytes(), &settings(Format::Jsonl));
    assert_eq!(found, [(4, "a".to_owned()), (6, "b".to_owned())]);
}

#[test]
fn another_key_may_hold_the_text() {
    for key in ["content", "", "a \"quoted\" é"] {
        let mut settings = settings(Format::Jsonl);
        settings.documents.text_field = key.to_owned();
        let line = format!("{{\"text\":1,{}:\"a\"}}", serde_json::to_string(key).unwrap());
        assert_eq!(documents(line.as_bytes(), &settings), [(1, "a".to_owned())]);
    }
}

#[test]
fn messages_say_where_and_what() {
    for (line, expected) in [
        (&br#"{"text":"a","b":NaN}"#[..], "not JSON, expected value at byte 17"),
        (br#"{"text":"a"#, "not JSON, EOF while parsing a string at byte 10"),
        (b"{\"text\":\"\xff\"}", "byte 10 is not UTF-8"),
        (br#"{"text":"ab\ud800"}"#, "a `\\u` escape at byte 12 is a lone surrogate"),
        (b"[]", "not a JSON object"),
        (b"{}", "no string at the key `text` (`text_field` names another key)"),
        (br#"{"text":"","text":""}"#, "the key `text` stands twice"),
    ] {
        assert_eq!(problem(line, &settings(Format::Jsonl)).1.to_string(), expected);
    }
}

#[test]
fn lines_have_a_limit() {
    let line = br#"{"text":"a"}"#;
    assert_eq!(documents(&[line, &b"\r\n"[..]].concat(), &limited(Format::Jsonl, 12)).len(), 1);
    let file = [b"\n", &line[..], b"\n"].concat();
    assert_eq!(problem(&file, &limited(Format::Jsonl, 11)), (2, Problem::LineTooLong { limit: 11 }));
}

#[test]
fn dropped_documents_are_counted_by_reason() {
    let mut settings = dropping(Format::Jsonl);
    settings.documents.max_line_bytes = 40;
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(1_000_000));
    let file =
        ["{\"text\":\"a\"}", "{", &long, "{}", "[]", "{\"text\":\"\\ud800\"}", "", "{]", "{\"text\":\"b\"}"].join("\n");
    let done = split_bytes(&[file.as_bytes(), b"\n\xff"].concat(), &settings).unwrap();
    assert_eq!(done.documents(), [(1, "a".to_owned()), (9, "b".to_owned())]);
    let dropped: Vec<_> = done.outcome.dropped.iter().map(|(reason, &count)| (reason.as_str(), count)).collect();
    let expected =
        [("lone_surrogate", 1), ("no_text", 1), ("not_json", 2), ("not_object", 1), ("not_utf8", 1), ("too_long", 1)];
    assert_eq!(dropped, expected);
}

#[test]
fn nesting_costs_neither_stack_nor_square_time() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 500_000;
        let value = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(text_of(format!("{{\"b\":{value},\"text\":\"a\"}}").as_bytes()), "a");
        assert_eq!(reason(format!("{{\"text\":{value}}}").as_bytes()), "no_text");
        assert_eq!(reason(open.repeat(depth).as_bytes()), "not_json");
        assert_eq!(reason(format!("{{\"text\":\"a\",\"b\":{}", open.repeat(depth)).as_bytes()), "not_json");
        assert_eq!(
            problem(format!("{{\"text\":\"a\",\"b\":{value}}}").as_bytes(), &keeping(&["b"])).1.reason(),
            "too_deep"
        );
    }
    // The deepest that is kept can be read again.
    let deepest = format!("{}{}", "[".repeat(META_DEPTH), "]".repeat(META_DEPTH));
    let line = format!("{{\"text\":\"t\",\"b\":{deepest}}}");
    assert_eq!(documents(line.as_bytes(), &keeping(&["b"])), [(1, "t".to_owned())]);
}

#[test]
fn meta_keeps_fields_in_the_order_of_the_settings() {
    for (line, fields, expected) in [
        (r#"{"text":"t"}"#, &["a"][..], r#","meta":{}}"#),
        (r#"{"a":1,"text":"t","b":2,"c":3}"#, &["b", "a"], r#","meta":{"b":2,"a":1}}"#),
        (r#"{"a":1,"text":"t"}"#, &["a", "a"], r#","meta":{"a":1}}"#),
        (r#"{"a":1e999,"b": -0.10E+2 ,"text":"t"}"#, &["a", "b"], r#","meta":{"a":1e999,"b":-0.10E+2}}"#),
        (r#"{"text":"t","a": { "k" : [ 1 , "x y" ] } }"#, &["a"], r#","meta":{"a":{"k":[1,"x y"]}}}"#),
        (r#"{"text":"t","\u0061\"":"\u00e9\/"}"#, &["a\""], r#","meta":{"a\"":"é/"}}"#),
        (r#"{"text":"t","a":null}"#, &["a"], r#","meta":{"a":null}}"#),
        (r#"{"text":"t"}"#, &["text"], r#","meta":{"text":"t"}}"#),
    ] {
        assert_eq!(meta_of(line, fields), expected, "{line}");
    }
    assert_eq!(meta_of(r#"{"text":"t","a":1}"#, &[]), "}");
}

#[test]
fn a_kept_field_stands_once() {
    let found = problem(br#"{"text":"a","b":1,"\u0062":1}"#, &keeping(&["a", "b"]));
    assert_eq!(found, (1, Problem::DuplicateKey { key: "b".to_owned() }));
}
