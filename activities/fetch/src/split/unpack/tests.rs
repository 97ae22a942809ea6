use std::io::Write as _;

use corpora_contracts::config::Format;
use corpora_contracts::outcome::Disposition;
use flate2::{Compression, GzBuilder};

use super::super::tests::{Dribble, dropping, split_reader};
use super::*;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder =
        GzBuilder::new().filename("name").comment("comment").extra("extra").write(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// RFC 8878 section 3.1.2.
fn skippable(content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&b"\x5a\x2a\x4d\x18"[..], &size, content].concat()
}

/// A frame with one empty block and this window descriptor (RFC 8878 section 3.1.1.1.2).
fn frame_with_window(descriptor: u8) -> Vec<u8> {
    [&ZSTD_MAGIC[..], &[0, descriptor, 1, 0, 0]].concat()
}

/// All of the content, at most `most` bytes of the file a read and `room` bytes of the content a call.
fn drain(name: &str, file: &[u8], most: usize, room: usize) -> Result<Vec<u8>, SplitError> {
    let mut source = Dribble { bytes: file, most };
    let mut content = Content::open(&mut source, name)?;
    let mut all = Vec::new();
    let mut out = vec![0; room];
    loop {
        match content.read(&mut out)? {
            0 => break,
            count => all.extend_from_slice(&out[..count]),
        }
    }
    assert_eq!(content.read(&mut out)?, 0, "the end stays the end");
    assert_eq!(content.input_bytes(), file.len() as u64, "all of the file was read");
    Ok(all)
}

/// All of the content, which the sizes of the reads do not change.
fn unpack(name: &str, file: &[u8]) -> Result<Vec<u8>, SplitError> {
    let whole = drain(name, file, usize::MAX, 256 * 1024);
    for (most, room) in [(1, 1), (1, 256 * 1024), (usize::MAX, 1), (3, 7)] {
        match (&whole, drain(name, file, most, room)) {
            (Ok(whole), Ok(other)) => assert!(whole == &other, "{most} {room}"),
            (Err(whole), Err(other)) => {
                assert_eq!(mem::discriminant(whole), mem::discriminant(&other), "{most} {room}");
            }
            (whole, other) => panic!("{most} {room}: {whole:?} {other:?}"),
        }
    }
    whole
}

#[test]
fn suffix_and_magic_decide() {
    let (plain, gz, zst) = (b"plain".to_vec(), gzip(b"gz"), zstd(b"zst"));
    let content =
        |name: &str, file: &[u8]| unpack(name, file).map(|all| String::from_utf8_lossy(&all).into_owned()).ok();
    for (name, file, expected) in [
        ("a.jsonl", &plain, Some("plain")),
        ("a.jsonl.gz", &gz, Some("gz")),
        ("a.jsonl.GZ", &gz, Some("gz")),
        ("a.jsonl.zst", &zst, Some("zst")),
        ("download", &gz, Some("gz")),
        ("download", &zst, Some("zst")),
        ("gz", &plain, Some("plain")),
        ("a.jsonl.gz", &plain, None),
        ("a.jsonl.zst", &plain, None),
        ("a.jsonl.gz", &zst, None),
        ("a.jsonl.zst", &gz, None),
        ("a.gz", &Vec::new(), None),
        ("a.zst", &Vec::new(), None),
        ("a", &Vec::new(), Some("")),
        // The magic number of a skippable frame is text, where zstd is not promised.
        ("a", &b"P*M\x18".to_vec(), Some("P*M\x18")),
    ] {
        assert_eq!(content(name, file).as_deref(), expected, "{name} {file:?}");
        if expected.is_none() {
            let error = unpack(name, file).unwrap_err();
            assert!(matches!(error, SplitError::NotAnArchive { .. }), "{error:?}");
            assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
            assert_eq!(error.disposition(), Disposition::Fail);
        }
    }
}

#[test]
fn every_member_and_every_frame_is_read() {
    let gz = |parts: &[&[u8]]| unpack("f.gz", &parts.concat());
    let (one, two, none) = (gzip(b"one"), gzip(b"two"), gzip(b""));
    assert_eq!(gz(&[&one, &two]).unwrap(), b"onetwo");
    assert_eq!(gz(&[&none, &one, &none, &none, &two, &none]).unwrap(), b"onetwo");
    assert_eq!(gz(&[&one, &[0; 1000]]).unwrap(), b"one", "padding to a tape block");
    assert_eq!(gz(&[&one, &[0; 200_000], &two, &[0]]).unwrap(), b"onetwo");

    let zst = |parts: &[&[u8]]| unpack("f.zst", &parts.concat());
    let (one, two, none, skip) = (zstd(b"one"), zstd(b"two"), zstd(b""), skippable(&[7; 300]));
    assert_eq!(zst(&[&one, &two]).unwrap(), b"onetwo");
    assert_eq!(zst(&[&none, &one, &none, &two, &none]).unwrap(), b"onetwo");
    assert_eq!(zst(&[&skip, &one, &skip, &skippable(b""), &two, &skip]).unwrap(), b"onetwo");
    assert_eq!(zst(&[&skip]).unwrap(), b"");
}

#[test]
fn anything_else_behind_the_archive_is_an_error() {
    for garbage in [&b"x"[..], b"\0x", b"\x1f\x8c", b"garbage garbage garbage"] {
        let error = unpack("f.gz", &[&gzip(b"one")[..], garbage].concat()).unwrap_err();
        assert!(
            matches!(error, SplitError::CorruptArchive { packing: Packing::Gzip, unpacked_bytes: 3, .. }),
            "{error:?}"
        );
    }
    for garbage in [&b"garbage"[..], b"\0\0\0\0", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"] {
        let error = unpack("f.zst", &[&zstd(b"one")[..], garbage].concat()).unwrap_err();
        assert!(
            matches!(error, SplitError::CorruptArchive { packing: Packing::Zstd, unpacked_bytes: 3, .. }),
            "{error:?}"
        );
        assert_eq!(error.disposition(), Disposition::Fail);
    }
}

#[test]
fn a_cut_anywhere_is_never_a_success() {
    let content = (0..500_u32).map(|number| format!("{{\"text\":\"{}\"}}\n", number.wrapping_mul(2_654_435_761)));
    let content = content.collect::<String>().into_bytes();
    let skip = skippable(b"abc");
    for (name, file) in
        [("f.gz", gzip(&content)), ("f.zst", zstd(&content)), ("f.zst", [&skip[..], &zstd(&content)].concat())]
    {
        assert_eq!(unpack(name, &file).unwrap(), content);
        // Behind a whole skippable frame the file is complete.
        for cut in (0..file.len()).filter(|&cut| !(cut == skip.len() && file.starts_with(&skip))) {
            let Err(error) = drain(name, &file[..cut], usize::MAX, 1000) else { panic!("{name} {cut}") };
            let torn = matches!(error, SplitError::TornArchive { .. });
            assert!(torn || cut < 4 && matches!(error, SplitError::NotAnArchive { .. }), "{name} {cut}: {error:?}");
            assert_eq!(error.disposition(), Disposition::Fail);
        }
        // The second piece is as whole as the first.
        let double = [&file[..], &file].concat();
        let len = file.len();
        for cut in [len + 1, len + 2, len + 3, len + 20, double.len() - 9, double.len() - 1] {
            let error = unpack(name, &double[..cut]).unwrap_err();
            assert!(matches!(error, SplitError::TornArchive { .. }), "{name} {cut}: {error:?}");
        }
        // What is torn is no bad document: it cannot be dropped.
        let error = split_reader(&mut &file[..file.len() - 1], name, &dropping(Format::Jsonl)).err().unwrap();
        assert!(matches!(error, SplitError::TornArchive { .. }), "{error:?}");
    }
}

#[test]
fn a_damaged_archive_is_told_from_a_torn_one() {
    let content = b"some words to pack, some words to pack".repeat(50);
    for (name, mut file, at) in [("f.gz", gzip(&content), 5), ("f.gz", gzip(&content), 1), ("f.zst", zstd(&content), 1)]
    {
        let last = file.len() - at;
        file[last] ^= 1;
        let error = unpack(name, &file).unwrap_err();
        assert!(matches!(error, SplitError::CorruptArchive { .. }), "{error:?}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[test]
fn a_window_has_a_limit() {
    let log = |log: u8| (log - 10) << 3;
    assert_eq!(unpack("f.zst", &frame_with_window(log(27))).unwrap(), b"");
    for descriptor in [log(27) + 1, log(28), log(31)] {
        let error = unpack("f.zst", &frame_with_window(descriptor)).unwrap_err();
        assert!(matches!(error, SplitError::WindowTooLarge { limit: 0x0800_0000 }), "{error:?}");
        assert!(error.to_string().contains("134217728"), "{error}");
        assert_eq!(error.disposition(), Disposition::Fail);
    }
}
