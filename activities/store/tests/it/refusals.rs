//! What store refuses, and that it then leaves what stands as it is.

use std::fs;

use corpora_contracts::config::MetadataKind;
use corpora_contracts::layout::part_name;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::{EntryError, StageStatus};

use crate::world::{Source, World, many, row, snapshot};

/// Runs the stage, which must fail, and leave every file but locks as it was.
fn refused(world: &World) -> (ExitCode, EntryError) {
    let datasets = world.layout.datasets(&world.config.dataset);
    let before = snapshot(&datasets);
    let outcome = world.run(2);
    let entry = outcome.summary.entries.into_iter().next().unwrap();
    assert_eq!((outcome.summary.ok, entry.id.as_str(), entry.path.as_str()), (false, "d/v1", ""));
    assert_eq!(snapshot(&datasets), before);
    assert_eq!(outcome.outputs, [""; 0]);
    (outcome.exit, entry.error.unwrap())
}

fn assert_refused(world: &World, kind: &str, words: &[&str]) {
    let (exit, error) = refused(world);
    assert_eq!((exit, error.kind.as_str()), (ExitCode::Data, kind), "{}", error.message);
    for word in words {
        assert!(error.message.contains(word), "`{word}` is not in: {}", error.message);
    }
}

#[test]
fn a_source_that_is_not_ready_is_named_with_what_to_do() {
    let sources = [many("a", 10), many("b", 2)];
    let world = World::new(&sources, "");
    world.store(2, StageStatus::Done);
    let folder = world.layout.extracted(&world.config.dataset, &world.config.version, &"b".parse().unwrap());
    fs::remove_file(folder.join("_STAGE.json")).unwrap();
    assert_refused(&world, "not_extracted", &["source `b`", "`corpus/extract/d/v1/b`", "corpora extract"]);
    fs::remove_file(world.layout.ledger()).unwrap();
    assert_refused(&world, "not_fetched", &["source `a`", "corpora fetch"]);
}

#[test]
fn documents_of_other_bytes_fields_or_counts_are_stale() {
    let mut world = World::new(&[many("a", 10)], "");
    let edition = Source { edition: 1, ..many("a", 10) };
    world.append(&row(&edition));
    world.reconfigure(&[edition], "");
    assert_refused(&world, "stale", &["source `a`", "of the bytes", "corpora extract"]);

    let mut world = World::new(&[many("a", 10)], "");
    world.config.sources[0].split.text_field = "body".to_owned();
    assert_refused(&world, "stale", &["source `a`", "fields"]);

    let world = World::new(&[many("a", 10)], "");
    world.append(&row(&many("a", 11)));
    assert_refused(&world, "stale", &["source `a`", "10 documents", "11"]);

    let world = World::new(&[many("a", 10)], "");
    fs::remove_dir_all(world.layout.receipts(&"a".parse().unwrap())).unwrap();
    assert_refused(&world, "stale", &["source `a`", "receipt"]);
}

#[test]
fn documents_under_other_terms_are_stale() {
    for change in [
        |row: &mut corpora_contracts::ledger::Row| row.license_spdx = "CC0-1.0".to_owned(),
        |row: &mut corpora_contracts::ledger::Row| row.url = "https://moved.example/x.jsonl".to_owned(),
    ] {
        let world = World::new(&[many("a", 10)], "");
        let mut changed = row(&many("a", 10));
        change(&mut changed);
        world.append(&changed);
        assert_refused(&world, "stale", &["source `a`", "document `a:0`", "corpora extract"]);
    }
}

#[test]
fn a_damaged_part_is_found() {
    let sources = [Source { parts: vec![vec!["x".to_owned(); 50], vec!["y".repeat(5000); 50]], ..many("a", 0) }];
    for (name, damage) in [
        ("cut", (|bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2)) as fn(&mut Vec<u8>)),
        ("flipped", |bytes| *bytes.last_mut().unwrap() ^= 1),
        ("longer", |bytes| bytes.extend_from_slice(&zstd::encode_all(&b""[..], 3).unwrap())),
        ("empty", Vec::clear),
    ] {
        let world = World::new(&sources, "");
        let folder = world.layout.extracted(&world.config.dataset, &world.config.version, &"a".parse().unwrap());
        let path = folder.join(part_name(1));
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let (exit, error) = refused(&world);
        assert_eq!((exit, error.kind.as_str()), (ExitCode::Data, "damaged"), "{name}: {}", error.message);
        assert!(error.message.contains("part-00001.jsonl.zst"), "{name}: {}", error.message);
    }
}

#[test]
fn a_line_that_is_no_document_is_named() {
    let world = World::new(&[many("a", 3)], "");
    world.rewrite("a", |text| text.replacen("\"id\":\"a:1\",", "", 1));
    assert_refused(&world, "document", &["part-00000.jsonl.zst`: line 2", "missing field `id`"]);
}

#[test]
fn what_is_not_built_is_refused_by_name() {
    let mut world = World::new(&[many("a", 3)], "");
    world.config.store.target = "s3://bucket/prefix".to_owned();
    assert_refused(&world, "not_built", &["target = \"s3://bucket/prefix\"", "artifacts"]);
    world.config.store.target = "artifacts".to_owned();
    world.config.store.metadata = MetadataKind::Postgres;
    assert_refused(&world, "not_built", &["metadata = \"postgres\"", "sqlite"]);
}

#[test]
fn two_documents_of_one_id_are_refused() {
    let world = World::new(&[many("a", 3)], "");
    world.rewrite("a", |text| text.replacen("\"id\":\"a:1\",", "\"id\":\"a:0\",", 1));
    let (exit, error) = refused(&world);
    assert_eq!((exit, error.kind.as_str()), (ExitCode::Data, "metadata"), "{}", error.message);
}

#[test]
fn a_cancelled_run_leaves_what_stands() {
    let world = World::new(&[many("a", 3)], "");
    world.store(2, StageStatus::Done);
    world.append(&{
        let mut changed = row(&many("a", 3));
        changed.notes = "so that there is work".to_owned();
        changed
    });
    world.cancel.cancel();
    let (exit, error) = refused(&world);
    assert_eq!((exit, error.kind.as_str()), (ExitCode::Cancelled, "cancelled"));
}

#[test]
fn a_second_run_at_the_same_time_is_told_who_holds_the_lock() {
    let world = World::new(&[many("a", 3)], "");
    let path = world.layout.dataset_lock(&world.config.dataset, &world.config.version);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(&path).unwrap();
    file.try_lock().unwrap();
    let (exit, error) = refused(&world);
    assert_eq!((exit, error.kind.as_str()), (ExitCode::Retry, "lock_held"));
}
