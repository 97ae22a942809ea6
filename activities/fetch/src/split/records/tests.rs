use super::super::tests::Unwatched;
use super::super::unpack::Content;
use super::*;

/// A record with these fields and this block, as the standard has it.
fn record(fields: &str, block: &str) -> String {
    format!("WARC/1.0\r\n{fields}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

/// The kinds and blocks of all records, or why they cannot be read.
fn read(file: &[u8]) -> Result<Vec<(String, String)>, (u64, u64, RecordProblem)> {
    let mut reader = file;
    let content = Content::open(&mut reader, "f").unwrap();
    let mut records = Records::new(Stream::open(content, &Unwatched));
    let mut all = Vec::new();
    let mut next = || -> Result<bool, SplitError> {
        let Some(head) = records.next(0)? else { return Ok(false) };
        let mut block = Vec::new();
        // Half of it, so that the rest is skipped.
        records.read(head.length.div_ceil(2), &mut block)?;
        assert_eq!(records.left(), head.length / 2);
        all.push((head.kind, String::from_utf8(block).unwrap()));
        Ok(true)
    };
    loop {
        match next() {
            Ok(true) => {}
            Ok(false) => return Ok(all),
            Err(SplitError::Record { number, offset, problem }) => return Err((number, offset, problem)),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn records_are_read_as_the_standard_and_as_others_write_them() {
    let plain = record("WARC-Type: response", "abcd");
    let folded = record("warc-type:\r\n  response \r\nWARC-Target-URI: http://h/\r\n\tx", "abcd");
    let latin = record("WARC-Type: response\r\nX: caf\u{e9}", "abcd");
    let lf_alone = plain.replace("\r\n", "\n");
    let more_blank_lines = format!("\r\n\n{plain}\r\n\r\n");
    for file in [plain.clone(), folded, latin, lf_alone, more_blank_lines, plain.replace("1.0", "1.1")] {
        assert_eq!(read(file.as_bytes()), Ok(vec![("response".into(), "ab".into())]), "{file:?}");
    }
    assert_eq!(read(b""), Ok(vec![]));
    let many = plain.clone() + &record("WARC-Type: request", "") + &plain;
    assert_eq!(read(many.as_bytes()).unwrap().len(), 3);
    let mut reader = folded_head().into_bytes();
    reader.extend_from_slice(b"\r\n\r\n");
    let mut bytes = reader.as_slice();
    let mut records = Records::new(Stream::open(Content::open(&mut bytes, "f").unwrap(), &Unwatched));
    let head = records.next(0).unwrap().unwrap();
    assert_eq!((head.field("x"), head.field("warc-target-uri")), (Some("a b c"), Some("http://h/")));
    assert_eq!((head.field("empty"), head.field("none")), (None, None));
}

fn folded_head() -> String {
    "WARC/1.0\r\nWARC-Type: resource\r\nX: a\r\n b\r\n\tc\r\nEmpty:\r\nWARC-Target-URI: http://h/\r\nContent-Length: 0\r\n\r\n"
        .to_owned()
}

#[test]
fn a_damaged_record_is_named_with_its_place() {
    let good = record("WARC-Type: response", "abcd");
    let behind = |second: &str| read((good.clone() + second).as_bytes()).unwrap_err();
    let offset = good.len() as u64;
    let bad = |head: &str| behind(&format!("WARC/1.0\r\n{head}\r\n\r\nabcd\r\n\r\n"));
    for (found, problem) in [
        (behind("HTTP/1.1 200 OK\r\n\r\n"), RecordProblem::Version),
        (behind("WARC/2.0\r\n\r\n"), RecordProblem::Version),
        (behind("WARC/1\r\n\r\n"), RecordProblem::Version),
        (behind("WARC/1.x\r\n\r\n"), RecordProblem::Version),
        (bad("WARC-Type: response\r\nno field\r\nContent-Length: 4"), RecordProblem::Field),
        (bad(" folded: first"), RecordProblem::Field),
        (bad("Content-Length: 4"), RecordProblem::NoField { name: "WARC-Type" }),
        (bad("WARC-Type: response"), RecordProblem::NoField { name: "Content-Length" }),
        (bad("WARC-Type: response\r\nContent-Length: four"), RecordProblem::NoLength),
        (bad("WARC-Type: response\r\nContent-Length: +4"), RecordProblem::NoLength),
        (bad("WARC-Type: response\r\nContent-Length: 99999999999999999999"), RecordProblem::NoLength),
        (bad("WARC-Type: response\r\nContent-Length: 4\r\nContent-Length: 3"), RecordProblem::NoLength),
        (bad("WARC-Type: response\r\nContent-Length: 3"), RecordProblem::Length),
        (bad("WARC-Type: response\r\nContent-Length: 5"), RecordProblem::Length),
        (bad("WARC-Type: response\r\nContent-Length: 6"), RecordProblem::Cut),
        (bad("WARC-Type: response\r\nContent-Length: 4000"), RecordProblem::Cut),
        (
            behind(&format!("WARC/1.0\r\nX: {}", "x".repeat(HEAD_BYTES))),
            RecordProblem::HeadTooLong { limit: HEAD_BYTES },
        ),
    ] {
        assert_eq!(found, (2, offset, problem));
    }
    let told = SplitError::Record { number: 2, offset: 70, problem: RecordProblem::Cut }.to_string();
    assert!(told.starts_with("read record 2, at byte 70 of the unpacked file: the file ends inside it"), "{told}");
}

#[test]
fn a_file_cut_anywhere_has_the_whole_records_or_an_error() {
    let one = record("WARC-Type: response\r\nWARC-Target-URI: http://h/", "abcd\r\n\r\nefgh");
    let file = one.repeat(3);
    for end in 0..=file.len() {
        let whole = end / one.len();
        match read(&file.as_bytes()[..end]) {
            Ok(records) => {
                assert_eq!(records.len(), whole, "{end}");
                // Line ends between records belong to no record.
                assert!(end % one.len() == 0, "{end}");
            }
            Err((number, offset, problem)) => {
                assert_eq!((number, offset), (whole as u64 + 1, (whole * one.len()) as u64), "{end}");
                assert_eq!(problem, RecordProblem::Cut, "{end}");
            }
        }
    }
}
