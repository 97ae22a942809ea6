//! Raw parts that are not what their receipt says, ledgers that cannot be read, and runs that are stopped.

use std::fs;

use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_contracts::receipt::Receipt;
use corpora_contracts::summary::StageStatus;
use corpora_extract::Options;
use corpora_extract::error::SourceError;
use corpora_stage::durable::FileError;
use tokio_util::sync::CancellationToken;

use super::world::{World, name, names, only_error, options, raw_line, status};

const PART: &str = "part-00000.jsonl.zst";

/// Other bytes of the same size: a valid zstd file when `valid`.
fn corrupt(world: &World, id: &str, valid: bool) {
    let path = world.raw_dir(id).join(PART);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[if valid { last } else { 0 }] ^= 1;
    fs::write(&path, bytes).unwrap();
}

#[tokio::test]
async fn a_raw_part_that_changed_is_named_before_and_after_its_documents_were_made() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text."]]);
    let whole = fs::read(world.raw_dir("tiny").join(PART)).unwrap();
    for (extracted, valid) in [(false, false), (false, true), (true, false)] {
        fs::write(world.raw_dir("tiny").join(PART), &whole).unwrap();
        if extracted {
            world.expect(&[StageStatus::Done]).await;
        }
        corrupt(&world, "tiny", valid);
        let outcome = world.run().await;
        assert_eq!(outcome.exit, ExitCode::Data);
        let (kind, message) = only_error(&outcome);
        assert_eq!(kind, "raw_part_changed");
        assert!(
            message.starts_with("read `corpus/raw/tiny/20260101/part-00000.jsonl.zst`: raw part changed"),
            "{message}"
        );
        assert_eq!(world.folder("tiny").exists(), extracted, "what is published stays");
        assert!(!world.layout.extracted_tmp(&name("small"), &name("v1"), &name("tiny")).exists());
    }
}

/// The digest is named, and never the line that is wrong because of it.
#[tokio::test]
async fn a_wrong_digest_outweighs_a_bad_line() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text."]]);
    let path = world.raw_dir("tiny").join(PART);
    let size = fs::metadata(&path).unwrap().len();
    let mut other = (0..500).map(|letters| zstd::encode_all("x".repeat(letters).as_bytes(), 3).unwrap());
    let mut other = other.rfind(|packed| packed.len() as u64 <= size - 8).unwrap();
    // A skippable frame (RFC 8878 section 3.1.2) makes up for the size.
    let missing = usize::try_from(size).unwrap() - other.len();
    other.extend_from_slice(&0x184d_2a50_u32.to_le_bytes());
    other.extend_from_slice(&u32::try_from(missing - 8).unwrap().to_le_bytes());
    other.resize(usize::try_from(size).unwrap(), 0);
    fs::write(&path, other).unwrap();
    assert_eq!(only_error(&world.run().await).0, "raw_part_changed");
}

#[tokio::test]
async fn a_bad_line_is_named_with_its_part_the_first_one_first() {
    let world = World::new(&["tiny"]);
    let good = |line| raw_line("tiny", line, "text");
    let bad = |line| good(line).replace("https:", "\\x");
    let many: Vec<String> = (1..5000).map(good).collect();
    world.fetched_lines("tiny", &[many, vec![good(1), bad(2), good(3), bad(4)], vec![bad(1)]]);
    world.row("tiny", |_| {});
    for jobs in [1, 2, 4] {
        let outcome = world.run_with(&options(jobs), &CancellationToken::new()).await;
        let (kind, message) = only_error(&outcome);
        let expected = "read line 2 of `corpus/raw/tiny/20260101/part-00001.jsonl.zst`: not a raw document";
        assert!(jobs > 1 || message.starts_with(expected), "{message}");
        assert!(kind == "document" && message.starts_with("read line "), "{message}");
        assert_eq!(outcome.exit, ExitCode::Data);
        assert!(!world.root().join("corpus/extract/small/v1").exists(), "nothing is left");
    }
}

#[tokio::test]
async fn a_receipt_that_counts_otherwise_is_told() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["a", "b"]]);
    let path = world.layout.receipt(&name("tiny"), &"20260101".parse().unwrap());
    let mut receipt: Receipt = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    receipt.parts[0].n_docs = 3;
    fs::write(&path, receipt.to_line().unwrap()).unwrap();
    let outcome = world.run().await;
    let (kind, message) = only_error(&outcome);
    assert!(kind == "raw_part" && message.contains("has 2 lines where its receipt counts 3"), "{message}");
}

#[tokio::test]
async fn one_failure_stops_the_others_unless_they_keep_going() {
    let world = World::new(&["one", "two", "three"]);
    world.fetched("one", &[&["A text."]]);
    world.fetched("three", &[&["C text."]]);
    let outcome = world.run().await;
    assert_eq!(status(&outcome), [StageStatus::Done, StageStatus::Failed, StageStatus::Cancelled]);
    assert_eq!((outcome.exit, outcome.summary.ok), (ExitCode::Data, false));
    assert_eq!(outcome.outputs, ["corpus/extract/small/v1/one"]);
    let going = Options { keep_going: true, ..options(1) };
    let outcome = world.run_with(&going, &CancellationToken::new()).await;
    assert_eq!(status(&outcome), [StageStatus::Cached, StageStatus::Failed, StageStatus::Done]);
    assert_eq!(outcome.exit, ExitCode::Data);
}

#[tokio::test]
async fn a_cancel_keeps_what_is_published_and_nothing_half_made() {
    let world = World::new(&["one", "two"]);
    world.fetched("one", &[&["A text."]]);
    let many: Vec<String> = (0..30_000).map(|line| format!("Text number {line} of many.")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    world.fetched("two", &[&many[..15_000], &many[15_000..]]);
    let cancel = CancellationToken::new();
    let (done, stop) = (world.folder("one").join("_STAGE.json"), cancel.clone());
    let aside = world.layout.extracted_tmp(&name("small"), &name("v1"), &name("two"));
    let watch = std::thread::spawn(move || {
        while !(done.exists() && aside.join(PART).exists()) {
            std::thread::yield_now();
        }
        stop.cancel();
    });
    let outcome = world.run_with(&options(2), &cancel).await;
    watch.join().unwrap();
    assert_eq!(status(&outcome), [StageStatus::Done, StageStatus::Cancelled]);
    assert_eq!(outcome.exit, ExitCode::Cancelled);
    assert_eq!(names(world.folder("one").parent().unwrap()), ["one"]);
    world.expect(&[StageStatus::Cached, StageStatus::Done]).await;
    assert_eq!(world.documents("two").len(), 30_000);
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_fails_every_source() {
    let world = World::new(&["one", "two"]);
    world.fetched("one", &[&["A text."]]);
    fs::write(world.layout.ledger(), "no row\n").unwrap();
    let outcome = world.run().await;
    assert_eq!((status(&outcome), outcome.exit), (vec![StageStatus::Failed; 2], ExitCode::Data));
    let message = &outcome.summary.entries[0].error.as_ref().unwrap().message;
    assert!(message.contains("line 1 of the ledger"), "{message}");
}

#[tokio::test]
async fn a_path_that_leads_through_a_file_is_told() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text."]]);
    fs::write(world.root().join("corpus/extract"), "a file").unwrap();
    let outcome = world.run().await;
    assert_eq!((outcome.exit, only_error(&outcome).0), (ExitCode::Data, "io"));
}

#[test]
fn a_full_disk_has_its_own_kind() {
    let source = std::io::Error::from_raw_os_error(28);
    let error = SourceError::from(FileError { action: "write", path: PART.into(), source });
    assert_eq!((error.kind(), error.disposition()), ("disk_full", Disposition::Retry));
    let changed = SourceError::RawPartChanged { path: PART.to_owned(), expected: Digest::of(b"") };
    assert_eq!(changed.disposition(), Disposition::Fail);
}
