//! A rerun with nothing new does nothing, wherever the dataset is by then.

use std::fs;
use std::time::{Duration, SystemTime};

use corpora_contracts::layout::part_name;
use corpora_contracts::summary::StageStatus;

use crate::world::{Source, World, many, row, snapshot, source};

#[test]
fn the_second_run_touches_nothing() {
    let world = World::new(&[many("a", 10), source("b", &[])], "");
    let first = world.store(2, StageStatus::Done);
    let modified = |name: &str| fs::metadata(world.staged().join(name)).unwrap().modified().unwrap();
    let (files, time) = (snapshot(world.layout.root()), modified("metadata.sqlite"));
    let second = world.store(1, StageStatus::Cached);
    assert_eq!((second.path, second.n_docs), (first.path, first.n_docs));
    assert_eq!((snapshot(world.layout.root()), modified("metadata.sqlite")), (files, time));
}

#[test]
fn a_published_dataset_is_not_staged_again() {
    let world = World::new(&[many("a", 10)], "");
    world.store(2, StageStatus::Done);
    fs::rename(world.staged(), world.published()).unwrap();
    fs::write(world.published().join("_VERIFIED.json"), "{}").unwrap();
    let entry = world.store(2, StageStatus::Cached);
    assert_eq!(entry.path, "corpus/datasets/d/v1");
    assert!(!world.staged().exists());
}

#[test]
fn what_hides_a_published_dataset_is_taken_away() {
    let world = World::new(&[many("a", 10)], "");
    world.store(2, StageStatus::Done);
    fs::rename(world.staged(), world.published()).unwrap();
    // As when a run of another config was killed between folder and record.
    fs::create_dir(world.staged()).unwrap();
    fs::write(world.staged().join("_MANIFEST.json"), "{}").unwrap();
    let entry = world.store(2, StageStatus::Cached);
    assert_eq!(entry.path, "corpus/datasets/d/v1");
    assert!(!world.staged().exists(), "verify-ledger would take it for the dataset");
}

#[test]
fn whatever_changed_is_stored_again_to_the_same_bytes_as_from_nothing() {
    let old = [many("a", 10), many("b", 3)];
    let reordered = [old[1].clone(), old[0].clone()];
    let edition = [Source { edition: 1, ..many("a", 11) }, old[1].clone()];
    let cases: [(&str, &[Source], &str); 5] = [
        ("order", &reordered, "val_permille = 100"),
        ("fewer", &old[..1], "val_permille = 100"),
        ("rows", &old, "val_permille = 100\nshard_rows = 4"),
        ("formats", &old, "val_permille = 100\nformats = [\"jsonl\"]"),
        ("bytes", &edition, "val_permille = 100"),
    ];
    for (name, sources, store) in cases {
        let mut world = World::new(&old, "val_permille = 100");
        world.store(2, StageStatus::Done);
        world.reconfigure(sources, store);
        if name == "bytes" {
            world.extract(&sources[0]);
        }
        world.store(2, StageStatus::Done);
        let fresh = World::new(sources, store);
        fresh.store(1, StageStatus::Done);
        assert_eq!(snapshot(&world.staged()), snapshot(&fresh.staged()), "{name}");
        world.store(2, StageStatus::Cached);
    }
}

#[test]
fn changed_terms_are_stored_again() {
    let world = World::new(&[many("a", 10)], "");
    world.store(2, StageStatus::Done);
    let mut changed = row(&many("a", 10));
    changed.notes = "reviewed again".to_owned();
    world.append(&changed);
    world.store(2, StageStatus::Done);
    assert_eq!(world.manifest().ledger, [changed]);
}

#[test]
fn a_missing_file_or_record_is_made_again() {
    let world = World::new(&[many("a", 10)], "");
    world.store(2, StageStatus::Done);
    let files = snapshot(world.layout.root());
    let record = world.layout.stage("store", &world.config.dataset, &world.config.version).join("_STAGE.json");
    let names = ["_MANIFEST.json", "ledger.jsonl", "metadata.sqlite", "train-00000-of-00001.parquet"];
    for path in names.map(|name| world.staged().join(name)).iter().chain([&record]) {
        fs::remove_file(path).unwrap();
        world.store(2, StageStatus::Done);
        assert_eq!(snapshot(world.layout.root()), files, "{path:?}");
    }
    fs::write(world.staged().join("_MANIFEST.json"), "{}").unwrap();
    world.store(2, StageStatus::Done);
    assert_eq!(snapshot(world.layout.root()), files);
}

#[test]
fn documents_with_new_times_and_old_bytes_are_not_stored_again() {
    let world = World::new(&[many("a", 10)], "");
    world.store(2, StageStatus::Done);
    let folder = world.layout.extracted(&world.config.dataset, &world.config.version, &world.config.sources[0].id);
    let part = fs::File::options().write(true).open(folder.join(part_name(0))).unwrap();
    part.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    let before = world.record();
    world.store(2, StageStatus::Cached);
    assert_ne!(world.record().inputs, before.inputs, "so that the next run reads no bytes");
    assert_eq!(world.record().outputs, before.outputs);
}

#[test]
fn what_a_crash_left_of_this_version_goes_and_nothing_else() {
    let world = World::new(&[many("a", 10)], "");
    let datasets = world.layout.datasets(&world.config.dataset);
    for name in [".v1.staged.tmp", ".v1.staged~7.tmp", ".v1~7.tmp", ".v2.staged.tmp"] {
        fs::create_dir_all(datasets.join(name)).unwrap();
        fs::write(datasets.join(name).join("train-00000.parquet"), "half").unwrap();
    }
    world.store(2, StageStatus::Done);
    let names = corpora_stage::durable::names_in(&datasets).unwrap();
    assert_eq!(names, [".v1~7.tmp", ".v2.staged.tmp", "v1.staged"], "a swap of verify-ledger's may need `.v1~7.tmp`");
}

#[test]
fn the_forecast_says_what_a_run_does() {
    let mut world = World::new(&[many("a", 10), many("b", 1)], "");
    let forecast = |world: &World| {
        let ledger = corpora_stage::ledger::read(&world.layout).unwrap();
        corpora_store::forecast(&world.config, &ledger, &world.layout).unwrap().to_string()
    };
    assert_eq!(forecast(&world), "due: never stored");
    world.store(2, StageStatus::Done);
    assert_eq!(forecast(&world), "cached");
    world.reconfigure(&[many("a", 10), many("b", 1)], "shard_rows = 3");
    assert_eq!(forecast(&world), "due: config changed, store changed");
    let unknown = [many("a", 10), Source { edition: 2, ..many("b", 1) }];
    world.reconfigure(&unknown, "");
    assert_eq!(forecast(&world), "due: source `b` is not fetched yet");
    world.append(&row(&unknown[1]));
    assert!(forecast(&world).starts_with("due: source `b`: its documents are of the bytes "), "{}", forecast(&world));
}
