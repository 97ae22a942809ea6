//! A rerun with nothing new does nothing; one with something new does that alone.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::StageStatus;
use corpora_stage::forecast::Forecast;
use corpora_stage::lock::Lock;
use corpora_stage::{ledger, record};
use tokio_util::sync::CancellationToken;

use super::world::{World, name, names, only_error, options, status};

#[tokio::test]
async fn a_second_run_changes_nothing_and_reads_no_part() {
    let world = World::new(&["one", "two"]);
    world.fetched("one", &[&["A text.", "Another text."]]);
    world.fetched("two", &[&["Ein Text."]]);
    world.expect(&[StageStatus::Done; 2]).await;
    let first = world.extracted();
    let inode = fs::metadata(world.folder("one")).unwrap().ino();
    // A part that would be read now fails.
    let part = world.raw_dir("one").join("part-00000.jsonl.zst");
    let (bytes, modified) = (fs::metadata(&part).unwrap().len(), fs::metadata(&part).unwrap().modified().unwrap());
    fs::write(&part, vec![0; usize::try_from(bytes).unwrap()]).unwrap();
    File::options().write(true).open(&part).unwrap().set_modified(modified).unwrap();
    let outcome = world.run().await;
    assert_eq!((status(&outcome), outcome.exit), (vec![StageStatus::Cached; 2], ExitCode::Success));
    let entry = &outcome.summary.entries[0];
    assert_eq!((entry.path.as_str(), entry.n_docs), ("corpus/extract/small/v1/one", 2));
    assert_eq!(outcome.outputs, ["corpus/extract/small/v1/one", "corpus/extract/small/v1/two"]);
    assert_eq!(outcome.summary.clock.as_deref(), Some("fixed"));
    assert!(world.extracted() == first);
    assert_eq!(fs::metadata(world.folder("one")).unwrap().ino(), inode, "not replaced");
}

#[tokio::test]
async fn a_raw_part_that_was_only_touched_is_read_once() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text."]]);
    world.expect(&[StageStatus::Done]).await;
    let (first, before) = (world.extracted(), record::read(&world.folder("tiny")).unwrap().unwrap());
    let inode = fs::metadata(world.folder("tiny")).unwrap().ino();
    let part = world.raw_dir("tiny").join("part-00000.jsonl.zst");
    let later = SystemTime::now() + Duration::from_secs(100);
    File::options().write(true).open(&part).unwrap().set_modified(later).unwrap();
    world.expect(&[StageStatus::Cached]).await;
    let after = record::read(&world.folder("tiny")).unwrap().unwrap();
    assert_ne!(before.inputs[0].mtime_ns, after.inputs[0].mtime_ns, "the record is refreshed");
    assert_eq!(after.inputs[0], record::file_state(&world.layout, &part, None).unwrap());
    assert!(world.extracted() == first);
    assert_eq!(fs::metadata(world.folder("tiny")).unwrap().ino(), inode, "not replaced");
}

#[tokio::test]
async fn documents_that_are_missing_or_cut_are_made_again() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text."], &["B text."]]);
    world.expect(&[StageStatus::Done]).await;
    let first = world.extracted();
    let damages: [fn(&World); 4] = [
        |world| fs::remove_file(world.folder("tiny").join("part-00001.jsonl.zst")).unwrap(),
        |world| fs::write(world.folder("tiny").join("part-00000.jsonl.zst"), "").unwrap(),
        |world| fs::write(world.folder("tiny").join("_STAGE.json"), "{\"stage\":").unwrap(),
        |world| fs::remove_dir_all(world.folder("tiny")).unwrap(),
    ];
    for damage in damages {
        damage(&world);
        world.expect(&[StageStatus::Done]).await;
        assert!(world.extracted() == first);
    }
}

#[tokio::test]
async fn what_a_crash_left_is_removed_and_what_belongs_to_another_source_is_not() {
    let world = World::new(&["a", "a.7"]);
    world.fetched("a", &[&["A text."]]);
    world.fetched("a.7", &[&["B text."]]);
    let version = world.folder("a").parent().unwrap().to_owned();
    let leave = |name: &str| {
        fs::create_dir_all(version.join(name)).unwrap();
        fs::write(version.join(name).join("part-00000.jsonl.zst"), "half").unwrap();
    };
    leave(".a.tmp");
    leave(".a~99.tmp");
    leave(".other.tmp");
    world.expect(&[StageStatus::Done; 2]).await;
    assert_eq!(names(&version), [".other.tmp", "a", "a.7"]);
    // Also when there is nothing else to do.
    leave(".a.tmp");
    world.expect(&[StageStatus::Cached; 2]).await;
    assert_eq!(names(&version), [".other.tmp", "a", "a.7"]);
}

#[tokio::test]
async fn a_lock_that_is_held_is_waited_for_only_when_there_is_work() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text."]]);
    let (path, cancel) = (world.layout.source_lock(&name("tiny")), CancellationToken::new());
    let held = Lock::acquire(&path, Duration::ZERO, &cancel).await.unwrap();
    let outcome = world.run_with(&options(1), &cancel).await;
    assert_eq!((outcome.exit, only_error(&outcome).0), (ExitCode::Retry, "lock_held"));
    drop(held);
    world.expect(&[StageStatus::Done]).await;
    let _held = Lock::acquire(&path, Duration::ZERO, &cancel).await.unwrap();
    let outcome = world.run_with(&options(1), &cancel).await;
    assert_eq!(status(&outcome), [StageStatus::Cached]);
}

#[tokio::test]
async fn only_the_sources_asked_for_have_entries() {
    let world = World::new(&["one", "two", "three"]);
    world.fetched("three", &[&["A text."]]);
    let asked = corpora_extract::Options { only: vec![name("three")], ..options(1) };
    let outcome = world.run_with(&asked, &CancellationToken::new()).await;
    assert_eq!(outcome.summary.entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["three"]);
    assert_eq!(outcome.exit, ExitCode::Success);
}

#[tokio::test]
async fn a_forecast_says_what_a_run_would_do_and_why() {
    let mut world = World::new(&["one", "two"]);
    world.fetched("one", &[&["A text."]]);
    let forecast = |world: &World| -> Vec<String> {
        let ledger = ledger::read(&world.layout).unwrap();
        let all = corpora_extract::forecast(&world.config, &ledger, &world.layout).unwrap();
        all.into_iter().map(|(id, forecast): (_, Forecast)| format!("{id} {forecast}")).collect()
    };
    assert_eq!(forecast(&world), ["one due: never extracted", "two due: not fetched yet"]);
    world.fetched("two", &[&["B text."]]);
    world.expect(&[StageStatus::Done; 2]).await;
    assert_eq!(forecast(&world), ["one cached", "two cached"]);
    world.row("one", |row| row.license_spdx = "CC0-1.0".to_owned());
    world.row("two", |row| row.revoked = Some(true));
    assert_eq!(forecast(&world), ["one due: terms changed", "two revoked"]);
    world.config.extract.page_bytes += 1;
    assert_eq!(forecast(&world)[0], "one due: extract changed, terms changed");
    world.fetched_lines("one", &[vec![]]);
    assert_eq!(forecast(&world)[0], "one due: extract changed, terms changed, raw parts changed");
}
