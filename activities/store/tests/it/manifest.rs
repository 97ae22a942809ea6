//! The manifest agrees with itself and with the shards.

use std::collections::BTreeSet;
use std::fs;

use corpora_contracts::ids::Digest;
use corpora_contracts::manifest::SplitName;
use corpora_contracts::summary::StageStatus;
use proptest::prelude::*;

use crate::readers::shard_rows;
use crate::world::{Source, World, many, row, source};

fn sources() -> impl Strategy<Value = Vec<Source>> {
    let text = prop_oneof!["[a-c]{0,2}", ".{0,40}"];
    let part = proptest::collection::vec(text, 0..12);
    let source = (proptest::collection::vec(part, 1..4), 0_u64..4);
    proptest::collection::vec(source, 1..4).prop_map(|sources| {
        let named = sources.into_iter().zip(["a", "b.tmp", "c"]);
        named.map(|((parts, dropped), id)| Source { parts, dropped, ..source_named(id) }).collect()
    })
}

fn source_named(id: &str) -> Source {
    source(id, &[])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_counted_once(sources in sources(), shard_rows_at_most in 1_u64..9, permille in 0_u32..=1000, jobs in 1_usize..4) {
        let world = World::new(&sources, &format!("shard_rows = {shard_rows_at_most}\nval_permille = {permille}"));
        let entry = world.store(jobs, StageStatus::Done);
        let manifest = world.manifest();
        let texts: Vec<&String> = sources.iter().flat_map(|source| source.parts.iter().flatten()).collect();
        prop_assert_eq!(manifest.n_docs, texts.len() as u64);
        prop_assert_eq!(entry.n_docs, manifest.n_docs);
        prop_assert_eq!(manifest.n_shards, manifest.shards.len() as u64);
        prop_assert_eq!(manifest.sources.iter().map(|source| source.n_docs).sum::<u64>(), manifest.n_docs);
        let distinct: BTreeSet<&String> = texts.iter().copied().collect();
        prop_assert_eq!(manifest.exact_duplicates, (texts.len() - distinct.len()) as u64);
        prop_assert_eq!(manifest.dropped.values().sum::<u64>(), sources.iter().map(|source| source.dropped).sum::<u64>());
        prop_assert_eq!(&entry.dropped, &manifest.dropped);

        let n_val: u64 = manifest.sources.iter().map(|source| source.n_val).sum();
        for suffix in [".parquet", ".zst"] {
            let of = |split| manifest.shards.iter().filter(move |shard| shard.split == split && shard.name.ends_with(suffix));
            prop_assert_eq!(of(SplitName::Val).map(|shard| shard.rows).sum::<u64>(), n_val);
            prop_assert_eq!(of(SplitName::Train).map(|shard| shard.rows).sum::<u64>(), manifest.n_docs - n_val);
        }
        for shard in &manifest.shards {
            let path = world.staged().join(&shard.name);
            let bytes = fs::read(&path).unwrap();
            prop_assert_eq!((Digest::of(&bytes), bytes.len() as u64), (shard.sha256, shard.bytes));
            prop_assert_eq!(shard_rows(&path).len() as u64, shard.rows);
            prop_assert!(shard.rows <= shard_rows_at_most);
        }
    }
}

#[test]
fn it_names_what_it_rests_on() {
    let sources = [Source { dropped: 2, ..many("a", 3) }, many("b", 2)];
    let world = World::new(&sources, "");
    world.store(2, StageStatus::Done);
    let manifest = world.manifest();
    assert_eq!(manifest.config_sha256, world.config.digest().unwrap());
    assert_eq!(manifest.ledger, [row(&sources[0]), row(&sources[1])]);
    let rows: String = sources.iter().map(|source| row(source).to_line().unwrap()).collect();
    assert_eq!(fs::read_to_string(world.staged().join("ledger.jsonl")).unwrap(), rows);
    let text = fs::read_to_string(world.staged().join("_MANIFEST.json")).unwrap();
    assert_eq!(text, manifest.to_line().unwrap(), "compact, one line");
    let names = corpora_stage::durable::names_in(&world.staged()).unwrap();
    assert_eq!(
        names,
        ["_MANIFEST.json", "jsonl", "ledger.jsonl", "metadata.sqlite", "train-00000-of-00001.parquet"],
        "nothing else is in the folder"
    );
}

#[test]
fn the_terms_are_those_of_the_last_row_and_revoked_sources_are_left_out() {
    let sources = [many("a", 3), many("b", 2)];
    let world = World::new(&sources, "");
    let mut revoked = row(&sources[1]);
    revoked.revoked = Some(true);
    world.append(&revoked);
    let mut changed = row(&sources[0]);
    changed.notes = "reviewed again".to_owned();
    world.append(&changed);
    let entry = world.store(2, StageStatus::Done);
    assert_eq!((entry.n_docs, world.manifest().ledger), (3, vec![changed]));
}

#[test]
fn what_differs_between_two_manifests_is_told() {
    let world = World::new(&[many("a", 3), many("b", 2)], "val_permille = 0");
    world.store(2, StageStatus::Done);
    let old = world.manifest();
    assert_eq!(old.difference(&old), [""; 0]);
    let edition = Source { edition: 1, dropped: 1, ..many("a", 4) };
    let world = World::new(&[many("c", 1), edition], "val_permille = 0\nshard_rows = 4\nformats = [\"parquet\"]");
    world.store(2, StageStatus::Done);
    let mut new = world.manifest();
    new.ledger[1].license_spdx = "CC0-1.0".to_owned();
    let (before, after) = (old.ledger[0].sha256, new.ledger[1].sha256);
    assert_eq!(
        old.difference(&new),
        [
            "source `b`: removed, with 2 documents".to_owned(),
            "source `c`: added, with 1 documents".to_owned(),
            format!("source `a`: bytes `{before}` → `{after}`"),
            "source `a`: license_spdx `CC-BY-4.0` → `CC0-1.0`".to_owned(),
            "source `a`: documents 3 → 4".to_owned(),
            "source `a`: dropped as `empty_text` 0 → 1".to_owned(),
            "shards: 2 added, 0 changed, 2 removed".to_owned(),
        ]
    );
}
