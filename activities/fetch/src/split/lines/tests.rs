use proptest::prelude::*;

use super::super::tests::{Dribble, Unwatched};
use super::*;

/// All lines of `bytes` with their numbers, a line too long as none.
fn lines_of(bytes: &[u8], limit: u64, most: usize, chunk: usize) -> Vec<(u64, Option<Vec<u8>>)> {
    let mut source = Dribble { bytes, most };
    let content = Content::open(&mut source, "file").unwrap();
    let mut lines = Lines::with_chunk(content, limit, &Unwatched, chunk).unwrap();
    let mut all = Vec::new();
    loop {
        lines.release();
        let step = lines.next(0).unwrap();
        let line = match step {
            Step::End => {
                assert_eq!(lines.input_bytes(), bytes.len() as u64);
                return all;
            }
            Step::Line(range) => Some(lines.held()[range].to_vec()),
            Step::TooLong => None,
        };
        all.push((lines.number(), line));
    }
}

/// The same by definition.
fn model(bytes: &[u8], limit: usize) -> Vec<(u64, Option<Vec<u8>>)> {
    let bytes = bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes);
    let mut rest = bytes.split_inclusive(|&byte| byte == b'\n');
    let line = |raw: &[u8]| match raw.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line).to_vec(),
        None => raw.to_vec(),
    };
    (1..).zip(rest.by_ref().map(line)).map(|(number, line)| (number, (line.len() <= limit).then_some(line))).collect()
}

#[test]
fn lines_end_at_lf_alone() {
    let table: [(&[u8], &[&str]); 10] = [
        (b"", &[]),
        (b"\n", &[""]),
        (b"a", &["a"]),
        (b"a\n", &["a"]),
        (b"a\n\nb", &["a", "", "b"]),
        (b"a\r\nb\r\n", &["a", "b"]),
        (b"a\r\r\n\r\n", &["a\r", ""]),
        (b"a\rb\nc\r", &["a\rb", "c\r"]),
        ("a\u{2028}b\u{85}c\u{b}d\u{c}e\n".as_bytes(), &["a\u{2028}b\u{85}c\u{b}d\u{c}e"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", &["a", "\u{feff}b"]),
    ];
    for (bytes, expected) in table {
        let found = lines_of(bytes, 100, usize::MAX, CHUNK);
        let found: Vec<_> = found.into_iter().map(|(_, line)| String::from_utf8(line.unwrap()).unwrap()).collect();
        assert_eq!(found, expected, "{bytes:?}");
    }
}

#[test]
fn the_limit_counts_neither_lf_nor_its_cr_nor_the_byte_order_mark() {
    for bytes in [&b"abcd"[..], b"abcd\n", b"abcd\r\n", b"abc\r", b"\xef\xbb\xbfabcd\n"] {
        for chunk in [4, 5, 6, 7, CHUNK] {
            assert!(lines_of(bytes, 4, 1, chunk)[0].1.is_some(), "{bytes:?}");
            assert_eq!(lines_of(bytes, 3, 1, chunk), [(1, None)], "{bytes:?}");
        }
    }
    assert_eq!(lines_of(b"abc\r\n", u64::MAX, 1, 4), [(1, Some(b"abc".to_vec()))]);
}

#[test]
fn a_line_too_long_is_never_held() {
    let bytes = [&b"a\n"[..], &vec![b'x'; 5_000_000], b"\nb\n"].concat();
    let mut source = &bytes[..];
    let content = Content::open(&mut source, "file").unwrap();
    let mut lines = Lines::open(content, 1000, &Unwatched).unwrap();
    let mut steps = Vec::new();
    while steps.last() != Some(&Step::End) {
        lines.release();
        steps.push(lines.next(0).unwrap());
        assert!(lines.buffer.capacity() <= 2 * CHUNK);
    }
    assert!(matches!(&steps[..], [Step::Line(_), Step::TooLong, Step::Line(_), Step::End]), "{steps:?}");
    assert_eq!(lines.number(), 3);
}

#[test]
fn memory_is_the_longest_line_and_given_back_to_short_ones() {
    let bytes = [vec![b'x'; 1_000_000], b"\n".to_vec(), b"short\n".repeat(100_000)].concat();
    let mut source = &bytes[..];
    let content = Content::open(&mut source, "file").unwrap();
    let mut lines = Lines::open(content, 10_000_000, &Unwatched).unwrap();
    assert_eq!(lines.next(0).unwrap(), Step::Line(0..1_000_000));
    assert!(lines.buffer.len() <= 1_000_000 + 2 * CHUNK, "{}", lines.buffer.len());
    loop {
        lines.release();
        if lines.next(0).unwrap() == Step::End {
            break;
        }
    }
    assert!(lines.buffer.len() <= 2 * CHUNK, "{}", lines.buffer.len());
}

/// A block is held whole until it is released, whatever moves meanwhile.
#[test]
fn what_is_held_stays_one_slice() {
    let bytes: Vec<u8> = (0..2000).flat_map(|number| format!("line {number}\r\n").into_bytes()).collect();
    for chunk in [4, 7, 64, CHUNK] {
        let mut source = &bytes[..];
        let content = Content::open(&mut source, "file").unwrap();
        let mut lines = Lines::with_chunk(content, 20_000, &Unwatched, chunk).unwrap();
        for block in 0..20 {
            let mut whole = 0..0;
            for _ in 0..100 {
                let Step::Line(range) = lines.next(0).unwrap() else { panic!("{block}") };
                whole.end = range.end;
            }
            let expected: Vec<_> = (block * 100..block * 100 + 100).map(|number| format!("line {number}")).collect();
            assert_eq!(std::str::from_utf8(&lines.held()[whole]).unwrap(), expected.join("\r\n"));
            lines.release();
        }
        assert_eq!(lines.next(0).unwrap(), Step::End);
    }
}

proptest! {
    #[test]
    fn lines_are_those_of_the_model_whatever_the_reads(
        bytes in prop::collection::vec(prop::sample::select(&b"\n\n\r\rab\xef\xbb\xbf\xff"[..]), 0..200),
        limit in 0_u64..12,
        most in 1_usize..9,
        chunk in 4_usize..20,
    ) {
        prop_assert_eq!(lines_of(&bytes, limit, most, chunk), model(&bytes, usize::try_from(limit).unwrap()));
    }
}
