//! JSON Lines, strictly (RFC 8259 and RFC 8785 section 3.1 for lone surrogates).

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, SourceToml};

/// What becomes of a file.
enum Becomes {
    /// These texts, each with the line it starts at.
    Documents(&'static [(u64, &'static str)]),
    /// A data error that names this line.
    BadLine(u64),
}

use Becomes::{BadLine, Documents};

const TABLE: &[(&str, &[u8], Becomes)] = &[
    ("two lines", b"{\"text\":\"a\"}\n{\"text\":\"b\"}\n", Documents(&[(1, "a"), (2, "b")])),
    ("no last newline", b"{\"text\":\"a\"}\n{\"text\":\"b\"}", Documents(&[(1, "a"), (2, "b")])),
    ("blank lines", b"\n{\"text\":\"a\"}\n\n \t\n{\"text\":\"b\"}\n\n", Documents(&[(2, "a"), (5, "b")])),
    ("nothing", b"", Documents(&[])),
    ("only blank lines", b"\n\r\n  \n", Documents(&[])),
    ("CRLF", b"{\"text\":\"a\"}\r\n\r\n{\"text\":\"b\"}\r\n", Documents(&[(1, "a"), (3, "b")])),
    ("an empty text", b"{\"text\":\"\"}\n", Documents(&[(1, "")])),
    ("white space around", b" \t{ \"text\" : \"a\" } \n", Documents(&[(1, "a")])),
    ("BOM", b"\xEF\xBB\xBF{\"text\":\"a\"}\n", Documents(&[(1, "a")])),
    ("BOM alone", b"\xEF\xBB\xBF", Documents(&[])),
    ("BOM in the middle", b"{\"text\":\"a\"}\n\xEF\xBB\xBF{\"text\":\"b\"}\n", BadLine(2)),
    ("two BOMs", b"\xEF\xBB\xBF\xEF\xBB\xBF{\"text\":\"a\"}\n", BadLine(1)),
    ("BOM within a text", b"{\"text\":\"a\xEF\xBB\xBFb\"}\n", Documents(&[(1, "a\u{FEFF}b")])),
    ("U+2028 and U+0085", "{\"text\":\"a\u{2028}b\u{85}c\"}\n".as_bytes(), Documents(&[(1, "a\u{2028}b\u{85}c")])),
    ("form feed in a text", b"{\"text\":\"a\\fb\"}\n", Documents(&[(1, "a\u{c}b")])),
    ("escapes", br#"{"text":"\"\\\/\b\n\r\t\u00e9\ud83d\ude00\u0000"}"#, Documents(&[(1, "\"\\/\u{8}\n\r\té😀\0")])),
    ("an escaped key", b"{\"te\\u0078t\":\"a\"}\n", Documents(&[(1, "a")])),
    ("other values", b"{\"n\":[1,-0.5e+3,{}],\"t\":true,\"x\":null,\"text\":\"a\"}\n", Documents(&[(1, "a")])),
    (
        "a number no computer has",
        b"{\"n\":1e999,\"m\":123456789012345678901234567890,\"text\":\"a\"}\n",
        Documents(&[(1, "a")]),
    ),
    ("another key twice", b"{\"n\":1,\"n\":2,\"text\":\"a\"}\n", Documents(&[(1, "a")])),
    ("text deeper down", b"{\"meta\":{\"text\":\"b\",\"text\":\"c\"},\"text\":\"a\"}\n", Documents(&[(1, "a")])),
    ("NaN", b"{\"text\":\"a\"}\n{\"n\":NaN,\"text\":\"a\"}\n", BadLine(2)),
    ("Infinity", b"{\"n\":-Infinity,\"text\":\"a\"}\n", BadLine(1)),
    ("text twice", b"{\"text\":\"a\",\"text\":\"a\"}\n", BadLine(1)),
    ("text twice, once escaped", b"{\"text\":\"a\",\"te\\u0078t\":\"b\"}\n", BadLine(1)),
    ("a lone surrogate", b"{\"text\":\"\\ud83d\"}\n", BadLine(1)),
    ("a surrogate before a letter", b"{\"text\":\"\\ud800b\"}\n", BadLine(1)),
    ("a low surrogate first", b"{\"text\":\"\\udc00\\ud800\"}\n", BadLine(1)),
    ("a lone surrogate elsewhere", b"{\"n\":\"\\udfff\",\"text\":\"a\"}\n", BadLine(1)),
    ("a lone surrogate in a key", b"{\"\\ud800\":1,\"text\":\"a\"}\n", BadLine(1)),
    ("no UTF-8 in the text", b"{\"text\":\"\xFF\"}\n", BadLine(1)),
    ("no UTF-8 in another field", b"{\"text\":\"a\"}\n{\"n\":\"\xC3(\",\"text\":\"a\"}\n", BadLine(2)),
    ("no UTF-8 in a key", b"{\"\xFF\":1,\"text\":\"a\"}\n", BadLine(1)),
    ("UTF-8 of a surrogate", b"{\"text\":\"\xED\xA0\x80\"}\n", BadLine(1)),
    ("overlong UTF-8", b"{\"text\":\"\xC0\xAF\"}\n", BadLine(1)),
    ("a raw control character", b"{\"text\":\"a\x01b\"}\n", BadLine(1)),
    ("a raw NUL", b"{\"text\":\"a\x00b\"}\n", BadLine(1)),
    ("a raw tab in a text", b"{\"text\":\"a\tb\"}\n", BadLine(1)),
    ("trailing garbage", b"{\"text\":\"a\"}\n{\"text\":\"b\"} x\n", BadLine(2)),
    ("two objects in a line", b"{\"text\":\"a\"}{\"text\":\"b\"}\n", BadLine(1)),
    ("a CR in the middle", b"{\"text\":\"a\"}\r{\"text\":\"b\"}\n", BadLine(1)),
    ("an object over two lines", b"{\"text\":\n\"a\"}\n", BadLine(1)),
    ("a truncated last line", b"{\"text\":\"a\"}\n{\"text\":\"b", BadLine(2)),
    ("a trailing comma", b"{\"text\":\"a\",}\n", BadLine(1)),
    ("single quotes", b"{'text':'a'}\n", BadLine(1)),
    ("a comment", b"{\"text\":\"a\"} // b\n", BadLine(1)),
    ("a leading zero", b"{\"n\":01,\"text\":\"a\"}\n", BadLine(1)),
    ("a plus sign", b"{\"n\":+1,\"text\":\"a\"}\n", BadLine(1)),
    ("a bad escape", b"{\"text\":\"\\x41\"}\n", BadLine(1)),
    ("a bad escape elsewhere", b"{\"n\":\"\\u12G4\",\"text\":\"a\"}\n", BadLine(1)),
    ("an array", b"[\"text\",\"a\"]\n", BadLine(1)),
    ("a string", b"\"text\"\n", BadLine(1)),
    ("null", b"null\n", BadLine(1)),
    ("no text", b"{\"title\":\"a\"}\n", BadLine(1)),
    ("another case", b"{\"Text\":\"a\"}\n", BadLine(1)),
    ("a null text", b"{\"text\":null}\n", BadLine(1)),
    ("a number as text", b"{\"text\":1}\n", BadLine(1)),
    ("a list as text", b"{\"text\":[\"a\"]}\n", BadLine(1)),
];

#[test]
fn every_line_is_a_document_or_named() {
    let lab = Lab::new();
    let id = |row: usize| format!("row-{row}");
    let sources: Vec<SourceToml> = TABLE
        .iter()
        .enumerate()
        .map(|(row, (_, bytes, _))| {
            let name = format!("{}.jsonl", id(row));
            lab.work.place(&name, bytes);
            SourceToml::new(&id(row), &name, bytes)
        })
        .collect();
    lab.work.configure(sources);
    let run = lab.fetch().args(["--keep-going"]).run().exits(65);
    for (row, (name, _, becomes)) in TABLE.iter().enumerate() {
        let (id, entry) = (id(row), run.entry(&id(row)));
        match becomes {
            Documents(expected) => {
                assert_eq!(entry.status, Status::Fetched, "{name}: {:?}", entry.error);
                let documents = lab.work.raw_documents(&id);
                let found: Vec<(String, String)> = documents.into_iter().map(|raw| (raw.url, raw.text)).collect();
                let expected: Vec<(String, String)> =
                    expected.iter().map(|(line, text)| (format!("{id}.jsonl#{line}"), (*text).to_owned())).collect();
                assert_eq!(found, expected, "{name}");
                assert_eq!(lab.work.raw_parts(&id, "20260101").len(), 1, "{name}: one part, also of none");
            }
            BadLine(line) => {
                assert_eq!(entry.status, Status::Failed, "{name}");
                let message = entry.error.unwrap().message;
                assert!(message.contains(&format!("line {line}")), "{name}: {message}");
                assert!(!message.contains(&format!("line {line}0")), "{name}: {message}");
            }
        }
    }
}

#[test]
fn deep_nesting_is_read_or_refused_and_never_a_crash() {
    let nested = |depth: usize| format!("{{\"n\":{}{},\"text\":\"a\"}}\n", "[".repeat(depth), "]".repeat(depth));
    let lab = Lab::new();
    let (shallow, deep) = (nested(50), nested(1_000_000));
    lab.work.place("shallow.jsonl", &shallow);
    lab.work.place("deep.jsonl", &deep);
    let sources = [("shallow", &shallow), ("deep", &deep)];
    lab.work.configure(sources.map(|(id, bytes)| SourceToml::new(id, &format!("{id}.jsonl"), bytes.as_bytes())));
    let run = lab.fetch().args(["--keep-going"]).run();
    assert_eq!(run.entry("shallow").status, Status::Fetched);
    match run.entry("deep").status {
        Status::Fetched => assert_eq!(lab.work.texts("deep"), ["a"]),
        Status::Failed => assert!(run.error("deep").message.contains("line 1"), "{:?}", run.error("deep")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_field_can_be_the_text_and_further_ones_the_meta() {
    let line =
        "{\"id\":12345678901234567890123,\"body\":\"b\",\"text\":7,\"tags\":[\"x\",{\"y\": 1.0}],\"left\":\"out\"}\n";
    let bytes = format!("{line}{{\"body\":\"c\",\"title\":\"é\"}}\n");
    let lab = Lab::new();
    lab.work.place("data.jsonl", &bytes);
    let source = SourceToml::new("data", "data.jsonl", bytes.as_bytes()).with("text_field", "body");
    let run = lab.fetch_config(source.with("meta_fields", vec!["id", "tags", "title"])).exits(0);
    assert_eq!(run.entry("data").n_docs, 2);
    let lines = lab.work.raw_parts("data", "20260101").concat();
    let ends: Vec<&str> = lines.lines().map(|line| line.split_once("\"text\":").unwrap().1).collect();
    assert!(ends[0].starts_with("\"b\",\"meta\":{"), "meta stands at the end: {lines}");
    assert!(ends[0].contains("\"id\":12345678901234567890123"), "numbers stay as written: {lines}");
    let meta = |line: usize| serde_json::from_str::<serde_json::Value>(lines.lines().nth(line).unwrap()).unwrap();
    assert_eq!(meta(0)["meta"]["tags"], serde_json::json!(["x", { "y": 1.0 }]));
    assert_eq!(meta(1)["meta"], serde_json::json!({ "title": "é" }));
    lab.assert_rerun_is_free();
}

#[test]
fn bad_documents_can_be_dropped_and_are_counted() {
    let bytes = "{\"text\":\"a\"}\nnonsense\n{\"text\":1}\n\n{\"text\":\"b\"}\n{\"text\":\"torn";
    let lab = Lab::new();
    lab.work.place("data.jsonl", bytes);
    let source = SourceToml::new("data", "data.jsonl", bytes.as_bytes()).with("on_bad_document", "drop");
    let run = lab.fetch_config(source).exits(0);
    assert_eq!((run.entry("data").status, run.entry("data").n_docs), (Status::Fetched, 2));
    let urls: Vec<String> = lab.work.raw_documents("data").into_iter().map(|raw| raw.url).collect();
    assert_eq!(urls, ["data.jsonl#1", "data.jsonl#5"], "lines keep their numbers");
    let receipt = lab.work.receipt("data", "20260101");
    assert_eq!((receipt.n_docs, receipt.dropped.values().sum::<u64>()), (2, 3), "{receipt:?}");
    let row = lab.work.rows().remove(0);
    assert_eq!((row.n_docs, row.kept, row.dropped), (2, 2, 0), "a row counts what later stages drop");
    lab.assert_rerun_is_free();
}

#[test]
fn a_line_has_a_bound() {
    let line = |bytes: usize| format!("{{\"text\":\"{}\"}}", "x".repeat(bytes - 11));
    assert_eq!(line(100).len(), 100);
    for (length, code) in [(100, 0), (101, 65)] {
        let lab = Lab::new();
        let bytes = format!("{{\"text\":\"a\"}}\n{}\r\n", line(length));
        lab.work.place("data.jsonl", &bytes);
        let source = SourceToml::new("data", "data.jsonl", bytes.as_bytes()).with("max_line_bytes", 100);
        let run = lab.fetch_config(source).exits(code);
        if code == 65 {
            let message = run.error("data").message;
            assert!(message.contains("line 2") && message.contains("max_line_bytes"), "{message}");
        }
    }
}
