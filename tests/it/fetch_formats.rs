//! What the bytes are packed in, and the formats that are refused by name.

use std::io::Write as _;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, SourceToml, TINY, documents, noise, pack_gzip, pack_zstd};

/// One frame whose header asks for a window of 2^`log` bytes (RFC 8878 section 3.1.1.1.2).
fn pack_zstd_with_window(bytes: &[u8], log: u32) -> Vec<u8> {
    let mut packer = zstd::Encoder::new(Vec::new(), 3).unwrap();
    packer.window_log(log).unwrap();
    // Written in two steps, so that the size is not known in advance and the window cannot shrink to it.
    packer.write_all(&bytes[..1]).unwrap();
    packer.flush().unwrap();
    packer.write_all(&bytes[1..]).unwrap();
    packer.finish().unwrap()
}

#[test]
fn packed_files_are_unpacked_by_suffix_and_magic() {
    let halves = TINY.split_at(32);
    let gzip_members = [pack_gzip(halves.0), pack_gzip(b""), pack_gzip(halves.1)].concat();
    let zstd_frames = [pack_zstd(halves.0), pack_zstd(b""), pack_zstd(halves.1)].concat();
    // A skippable frame (RFC 8878 section 3.1.2) of three bytes comes first.
    let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, b'a', b'b', b'c'][..], &pack_zstd(TINY)].concat();
    let cases = [
        ("plain", "tiny.jsonl", TINY.to_vec()),
        ("gzip", "tiny.jsonl.gz", pack_gzip(TINY)),
        ("gzip-members", "members.jsonl.gz", gzip_members.clone()),
        ("gzip-magic", "tiny.bin", pack_gzip(TINY)),
        ("zstd", "tiny.jsonl.zst", pack_zstd(TINY)),
        ("zstd-frames", "frames.jsonl.zst", zstd_frames.clone()),
        ("zstd-magic", "tiny", pack_zstd(TINY)),
        ("zstd-skippable", "skippable.zst", skippable),
        ("zstd-long", "long.jsonl.zst", pack_zstd_with_window(TINY, 27)),
        ("no-suffix-members", "members", gzip_members),
    ];
    let lab = Lab::new();
    lab.work.configure(cases.clone().map(|(id, name, bytes)| {
        lab.work.place(name, &bytes);
        SourceToml::new(id, name, &bytes)
    }));
    let run = lab.fetch().args(["--keep-going"]).run();
    for (id, ..) in &cases {
        assert_eq!(run.entry(id).status, Status::Fetched, "{id}: {}", run.stdout);
        assert_eq!(lab.work.texts(id), ["Tom has a red ball.", "Mia naps."], "{id}");
    }
    let _ = run.exits(0);
    lab.assert_rerun_is_free();
}

#[test]
fn a_torn_or_broken_archive_is_a_data_error() {
    let (gzip, zstd) = (pack_gzip(&noise(3, 9000)), pack_zstd(&noise(3, 9000)));
    let flipped = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let last = bytes.len() - 6;
        bytes[last] ^= 0x55;
        bytes
    };
    let cases = [
        ("gzip-torn", "a.gz", gzip[..gzip.len() / 2].to_vec()),
        ("gzip-tail", "b.gz", gzip[..gzip.len() - 3].to_vec()),
        ("gzip-crc", "c.gz", flipped(&gzip)),
        ("gzip-second-torn", "d.gz", [&gzip[..], &gzip[..20]].concat()),
        ("gzip-trailing", "e.gz", [&gzip[..], b"trailing garbage"].concat()),
        ("zstd-torn", "a.zst", zstd[..zstd.len() / 2].to_vec()),
        ("zstd-second-torn", "b.zst", [&zstd[..], &zstd[..20]].concat()),
        ("zstd-trailing", "c.zst", [&zstd[..], b"trailing garbage"].concat()),
    ];
    let lab = Lab::new();
    lab.work.configure(cases.clone().map(|(id, name, bytes)| {
        lab.work.place(name, &bytes);
        SourceToml::new(id, name, &bytes)
    }));
    let run = lab.fetch().args(["--keep-going"]).run().exits(65);
    for (id, ..) in &cases {
        assert_eq!(run.entry(id).status, Status::Failed, "{id}: {}", run.stdout);
        assert!(lab.work.versions(id).is_empty(), "{id}: nothing of it is published");
    }
    assert_eq!(lab.work.ledger(), "");
}

#[test]
fn a_window_that_is_too_long_is_said_or_served() {
    let packed = pack_zstd_with_window(TINY, 31);
    let lab = Lab::new();
    lab.work.place("long.zst", &packed);
    let run = lab.fetch_config(SourceToml::new("long", "long.zst", &packed));
    match run.code {
        Some(0) => assert_eq!(lab.work.texts("long"), ["Tom has a red ball.", "Mia naps."]),
        _ => assert!(run.error("long").message.contains("window"), "{}", run.exits(65).stdout),
    }
}

#[test]
fn a_format_that_is_not_built_yet_is_refused_by_name() {
    for format in ["parquet", "csv"] {
        let lab = Lab::new();
        let run = lab.fetch_config(lab.tiny().with("format", format)).exits(65);
        assert!(run.stderr.contains(format) && run.stderr.contains("corpus.toml:"), "{format}: {}", run.stderr);
        assert!(lab.server.log().is_empty());
        assert!(lab.work.tree().paths().is_empty());
    }
}

#[test]
fn parts_are_bounded_in_memory_however_long_the_file() {
    let bytes = documents("some words that make a longer line, and a few more of them", 150_000);
    let lab = Lab::new();
    lab.work.place("long.jsonl", &bytes);
    lab.work.configure(SourceToml::new("long", "long.jsonl", &bytes));
    let run = lab.fetch().run().exits(0);
    assert_eq!(run.entry("long").n_docs, 150_000);
    assert_eq!(lab.work.receipt("long", "20260101").parts.len(), 2, "100,000 documents a part by default");
    assert!(run.peak_memory < 64 << 20, "{} bytes", run.peak_memory);
    lab.assert_rerun_is_free();
}
