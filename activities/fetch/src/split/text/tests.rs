use corpora_contracts::config::Format;

use super::super::tests::{documents, dropping, limited, problem, settings, split_bytes};
use super::*;

#[test]
fn blocks_are_separated_by_blank_lines() {
    let table: [(&str, &[(u64, &str)]); 12] = [
        ("", &[]),
        ("\n \n\t\n", &[]),
        ("a", &[(1, "a")]),
        ("a\nb\n", &[(1, "a\nb")]),
        ("a\n\nb\n", &[(1, "a"), (3, "b")]),
        ("\n\na\n \t \n\n  b \nc\n\n", &[(3, "a"), (6, "  b \nc")]),
        ("a\r\nb\r\n\r\nc\r\n", &[(1, "a\nb"), (4, "c")]),
        ("a\rb\n\r\r\nc", &[(1, "a\rb"), (3, "c")]),
        ("a\u{2028}b\u{85}c", &[(1, "a\u{2028}b\u{85}c")]),
        ("a\n\u{85}\u{2028}\u{a0}\u{3000}\u{b}\u{c}\nb", &[(1, "a"), (3, "b")]),
        ("\u{feff}a\n\n\u{feff}\n", &[(1, "a"), (3, "\u{feff}")]),
        ("\u{200b}\n\n\0", &[(1, "\u{200b}"), (3, "\0")]),
    ];
    for (file, expected) in table {
        let expected: Vec<_> = expected.iter().map(|&(line, text)| (line, text.to_owned())).collect();
        assert_eq!(documents(file.as_bytes(), &settings(Format::Text)), expected, "{file:?}");
    }
}

#[test]
fn a_line_that_is_not_utf8_is_an_error_of_that_line() {
    let found = problem(b"a\nb\nc\xff\n", &settings(Format::Text));
    assert_eq!(found, (3, Problem::NotUtf8 { column: 2 }));
    // Not even a line of white space and nonsense is blank.
    assert_eq!(problem(b"a\n\n \xe2\x80", &settings(Format::Text)), (3, Problem::NotUtf8 { column: 2 }));
}

#[test]
fn lines_and_blocks_have_a_limit() {
    let limited = limited(Format::Text, 5);
    assert_eq!(documents(b"abcde\n\nab\r\nc\r\n\nfg", &limited).len(), 3);
    let line = Problem::LineTooLong { limit: 5 };
    let block = Problem::BlockTooLong { limit: 5 };
    assert_eq!(problem(b"a\n\nabcdef\n", &limited), (3, line.clone()));
    assert_eq!(problem(b"a\nabcdef\n", &limited), (2, line.clone()));
    assert_eq!(problem(b"\nab\ncde\nfg", &limited), (2, block.clone()));
    assert!(line.to_string().contains("5 bytes") && line.to_string().contains("`max_line_bytes`"));
    assert!(block.to_string().contains("5 bytes") && block.to_string().contains("`max_line_bytes`"));
}

#[test]
fn a_bad_block_is_dropped_whole_and_counted_once() {
    let mut settings = dropping(Format::Text);
    settings.documents.max_line_bytes = 8;
    let file = b"one\nt\xffo\nthr\xffee\nfour\n\nfive\n\n6666666666\nsix\n\nse\nve\nnn\nnnn\n\nei\nght\n\n\xff\n\xff\n\nnine\n88888888888888888888";
    let done = split_bytes(file, &settings).unwrap();
    assert_eq!(done.documents(), [(6, "five".to_owned()), (16, "ei\nght".to_owned())]);
    let dropped: Vec<_> = done.outcome.dropped.iter().map(|(reason, &count)| (reason.as_str(), count)).collect();
    assert_eq!(dropped, [("not_utf8", 2), ("too_long", 3)]);
    assert_eq!(done.outcome.n_docs, 2);
}
