//! Text: blocks of lines, and what a line is.

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, SourceToml};

type Blocks = &'static [(u64, &'static str)];

const TABLE: &[(&str, &[u8], Result<Blocks, u64>)] = &[
    ("one block", b"a\nb\n", Ok(&[(1, "a\nb")])),
    ("no last newline", b"a\n\nb", Ok(&[(1, "a"), (3, "b")])),
    ("blank lines of white space", b" \t\na\n \t \nb\n  ", Ok(&[(2, "a"), (4, "b")])),
    ("CRLF", b"a\r\nb\r\n\r\nc\r\n", Ok(&[(1, "a\nb"), (4, "c")])),
    ("a CR elsewhere", b"a\rb\nc\n", Ok(&[(1, "a\rb\nc")])),
    ("white space at the ends", b"  a \n\tb\t\n", Ok(&[(1, "  a \n\tb\t")])),
    ("nothing", b"", Ok(&[])),
    ("only blank lines", b"\n \n\n", Ok(&[])),
    ("BOM", b"\xEF\xBB\xBFa\n", Ok(&[(1, "a")])),
    ("BOM on a blank line", b"\xEF\xBB\xBF\na\n", Ok(&[(2, "a")])),
    (
        "other separators are characters",
        "a\u{2028}b\u{85}c\u{b}d\u{c}e\n".as_bytes(),
        Ok(&[(1, "a\u{2028}b\u{85}c\u{b}d\u{c}e")]),
    ),
    ("NUL", b"a\x00b\n", Ok(&[(1, "a\0b")])),
    ("no UTF-8", b"a\n\nb\n\xFF\n", Err(4)),
    ("torn UTF-8 at the end", b"a\n\xE2\x82", Err(2)),
];

#[test]
fn every_block_is_a_document() {
    let lab = Lab::new();
    let id = |row: usize| format!("row-{row}");
    let sources: Vec<SourceToml> = TABLE
        .iter()
        .enumerate()
        .map(|(row, (_, bytes, _))| {
            let name = format!("{}.txt", id(row));
            lab.work.place(&name, bytes);
            SourceToml::new(&id(row), &name, bytes).with("format", "text")
        })
        .collect();
    lab.work.configure(sources);
    let run = lab.fetch().args(["--keep-going"]).run().exits(65);
    for (row, (name, _, expected)) in TABLE.iter().enumerate() {
        let (id, entry) = (id(row), run.entry(&id(row)));
        match expected {
            Ok(blocks) => {
                assert_eq!(entry.status, Status::Fetched, "{name}: {:?}", entry.error);
                let documents = lab.work.raw_documents(&id);
                let found: Vec<(String, String)> = documents.into_iter().map(|raw| (raw.url, raw.text)).collect();
                let blocks: Vec<(String, String)> =
                    blocks.iter().map(|(line, text)| (format!("{id}.txt#{line}"), (*text).to_owned())).collect();
                assert_eq!(found, blocks, "{name}");
            }
            Err(line) => {
                let message = entry.error.unwrap().message;
                assert!(message.contains(&format!("line {line}")), "{name}: {message}");
            }
        }
    }
}

#[test]
fn a_block_has_a_bound() {
    // Blocks are counted as they are joined: 49 + LF + 50 bytes.
    for (second, code) in [(50, 0), (51, 65)] {
        let lab = Lab::new();
        let bytes = format!("a\n\n{}\n{}\n", "x".repeat(49), "y".repeat(second));
        lab.work.place("data.txt", &bytes);
        let source = SourceToml::new("data", "data.txt", bytes.as_bytes()).with("format", "text");
        let run = lab.fetch_config(source.with("max_line_bytes", 100)).exits(code);
        if code == 65 {
            let message = run.error("data").message;
            assert!(message.contains("line ") && message.contains("max_line_bytes"), "{message}");
        }
    }
}
