use std::io;

use corpora_contracts::config::Format;
use corpora_contracts::receipt::SplitSettings;
use tempfile::TempDir;

use super::super::tests::{settings, split_bytes, split_on};
use super::*;

/// So many bytes of JSON lines that compress like text.
fn corpus(bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut all = Vec::with_capacity(bytes + 200);
    while all.len() < bytes {
        all.extend_from_slice(b"{\"text\":\"");
        for _ in 0..20 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            all.extend_from_slice(format!("{:x} ", (state >> 16) % 3000).as_bytes());
        }
        all.extend_from_slice(b"\"}\n");
    }
    all
}

fn by_parts(part_docs: u64) -> SplitSettings {
    SplitSettings { part_docs, ..settings(Format::Text) }
}

#[test]
fn parts_hold_at_most_part_docs_documents() {
    for (docs, part_docs, expected) in
        [(0, 2, &[0][..]), (1, 2, &[1]), (2, 2, &[2]), (4, 2, &[2, 2]), (5, 2, &[2, 2, 1]), (3, 1, &[1, 1, 1])]
    {
        let done = split_bytes("doc\n\n".repeat(docs).as_bytes(), &by_parts(part_docs)).unwrap();
        let counts: Vec<_> = done.outcome.parts.iter().map(|part| part.n_docs).collect();
        assert_eq!(counts, expected, "{docs} by {part_docs}");
        let names: Vec<_> = done.outcome.parts.iter().map(|part| part.name.clone()).collect();
        assert_eq!(names, (0..counts.len()).map(part_name).collect::<Vec<_>>());
        let stored = std::fs::read_dir(done.dir.path()).unwrap();
        let mut stored: Vec<_> = stored.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        stored.sort();
        assert_eq!(stored, names, "nothing else is written");
        let lines: Vec<_> = done.documents().into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, (0..docs as u64).map(|index| 2 * index + 1).collect::<Vec<_>>(), "in order");
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_workers() {
    for bytes in [0, 300, 9 << 20] {
        let file = corpus(bytes);
        let split = |workers| split_on(workers, &mut &file[..], "f", &settings(Format::Jsonl)).unwrap();
        let one = split(1);
        for workers in [1, 2, 4] {
            assert_eq!(split(workers).outcome, one.outcome, "{bytes} bytes, {workers} workers");
        }
        assert_eq!(one.raw_lines().len(), file.iter().filter(|&&byte| byte == b'\n').count());
    }
}

#[test]
fn later_parts_are_what_they_would_be_alone() {
    let file = corpus(6 << 20);
    let docs = file.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let split = |part_docs| split_bytes(&file, &SplitSettings { part_docs, ..settings(Format::Jsonl) }).unwrap();
    let (whole, halves) = (split(docs), split(docs.div_ceil(2)));
    assert_eq!((whole.outcome.parts.len(), halves.outcome.parts.len()), (1, 2));
    assert_eq!(whole.raw_lines(), halves.raw_lines());
    let second = halves.raw_lines().split_off(usize::try_from(docs.div_ceil(2)).unwrap()).join("\n") + "\n";
    let dir = TempDir::new().unwrap();
    let mut parts = Parts::new(dir.path(), u64::MAX, 1).unwrap();
    parts.begin_document().unwrap();
    parts.put(second.as_bytes()).unwrap();
    assert_eq!(parts.finish().unwrap()[0].sha256, halves.outcome.parts[1].sha256);
}

#[test]
fn a_part_that_cannot_be_written_is_named() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(part_name(0));
    std::fs::write(&path, "someone's").unwrap();
    let error = Parts::new(dir.path(), 10, 1).unwrap().begin_document().unwrap_err();
    assert!(matches!(error, SplitError::Write { path: named, source }
        if named == path && source.kind() == io::ErrorKind::AlreadyExists));
}
