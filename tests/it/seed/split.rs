//! Fetch seed, sections 2.1 and 4: bytes become documents.

use std::fs;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Setup, SourceToml, documents};
use corpora_tests::servers::Answer;

/// Any zstd reader and any JSON reader can read the parts.
pub(crate) fn raw_parts_are_zstd_json_lines(setup: &Setup) {
    let lab = setup.lab();
    let bytes = "{\"text\":\"L’été — 雪 \\u96ea \\n\\\"\\\\/ \\u0007\"}\n{\"n\":1,\"text\":\"\"}\n".as_bytes();
    lab.server.serve("/tiny.jsonl", Answer::object(bytes));
    let _ = lab.fetch_config(lab.source("tiny", bytes)).exits(0);
    let packed = fs::read(lab.work.path("corpus/raw/tiny/20260101/part-00000.jsonl.zst")).unwrap();
    assert_eq!(packed[..4], [0x28, 0xB5, 0x2F, 0xFD], "the magic number of RFC 8878 section 3.1.1");
    let lines = String::from_utf8(zstd::decode_all(&*packed).unwrap()).unwrap();
    let url = lab.server.url("/tiny.jsonl");
    let head = |line: u8| {
        format!(
            "{{\"url\":\"{url}#{line}\",\"fetched_at\":\"2026-01-01T00:00:00Z\",\"license_spdx\":\"CC-BY-4.0\",\"text\":"
        )
    };
    let expected = [head(1), "\"L’été — 雪 雪 \\n\\\"\\\\/ \\u0007\"}\n".to_owned(), head(2), "\"\"}\n".to_owned()];
    assert_eq!(lines, expected.concat(), "keys in order, compact, UTF-8 unescaped, an empty text is a document");
    lab.assert_rerun_is_free();
}

/// Blocks of lines; a line of white space only is blank.
pub(crate) fn text_blocks(setup: &Setup) {
    let lab = setup.lab();
    let book = "\n  \nCall me Ishmael.\nSome years ago\n \t \n\nnever mind\n\n\n\nhow long  \n";
    lab.server.serve("/book.txt", Answer::object(book));
    let url = lab.server.url("/book.txt");
    let source = SourceToml::new("book", &url, book.as_bytes()).with("format", "text");
    let run = lab.fetch_config(source).exits(0);
    let documents = lab.work.raw_documents("book");
    let found: Vec<(&str, &str)> =
        documents.iter().map(|document| (document.url.strip_prefix(&url).unwrap(), document.text.as_str())).collect();
    assert_eq!(found, [("#3", "Call me Ishmael.\nSome years ago"), ("#7", "never mind"), ("#11", "how long  ")]);
    assert_eq!(run.entry("book").n_docs, 3);
    lab.assert_rerun_is_free();
}

/// A bad line is the data's fault, and has a number.
pub(crate) fn bad_lines_are_named(setup: &Setup) {
    let good = "{\"text\":\"fine\"}\n";
    for bad in ["not json", "{\"text\": 3}", "{\"no\": \"text\"}", "[\"text\"]", "{\"text\":\"torn"] {
        let lab = setup.lab();
        let bytes = format!("{good}\n{good}{bad}\n{good}");
        lab.server.serve("/tiny.jsonl", Answer::object(&bytes));
        let run = lab.fetch_config(lab.source("tiny", bytes.as_bytes())).exits(65);
        assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Failed, 1), "{bad}");
        let message = run.error("tiny").message;
        assert!(message.contains("line 4"), "{bad}: {message}");
        assert_eq!(lab.work.versions("tiny"), [""; 0], "nothing of it is published");
        assert_eq!(lab.work.ledger(), "");
    }
}

/// Five documents, two a part: three parts, in order.
pub(crate) fn parts_are_bounded(setup: &Setup) {
    let lab = setup.lab();
    let five = documents("five", 5);
    lab.server.serve("/tiny.jsonl", Answer::object(&five));
    lab.work.configure(lab.source("tiny", &five));
    let fetch = || lab.fetch().args(["--part-docs", "2"]).run().exits(0);
    let _ = fetch();
    let parts = lab.work.raw_parts("tiny", "20260101");
    let counts: Vec<usize> = parts.iter().map(|part| part.lines().count()).collect();
    assert_eq!(counts, [2, 2, 1]);
    let lines: Vec<String> = lab.work.raw_documents("tiny").into_iter().map(|document| document.url).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5].map(|line| lab.server.url(&format!("/tiny.jsonl#{line}"))));
    let receipt = lab.work.receipt("tiny", "20260101");
    assert_eq!(receipt.parts.iter().map(|part| part.n_docs).collect::<Vec<_>>(), [2, 2, 1]);

    let before = lab.work.tree();
    assert_eq!(fetch().entry("tiny").status, Status::Cached);
    assert_eq!(lab.work.tree(), before);
}
