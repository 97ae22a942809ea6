//! What shards hold and where they are cut.

use std::collections::BTreeMap;
use std::fs;

use corpora_contracts::ids::Digest;
use corpora_contracts::manifest::SplitName;
use corpora_contracts::summary::StageStatus;
use parquet::basic::{Compression, Encoding, LogicalType, Type};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};

use crate::readers::{rows, shard_rows};
use crate::world::{Source, World, many, snapshot, source};

const NASTY: [&str; 6] =
    ["", "two\nlines", "quotes \" and \\", "tab\tand nul\u{0}", "U+2028 \u{2028} naïve 日本語 😀", "two\nlines"];

#[test]
fn a_row_is_its_document() {
    let world = World::new(&[source("a", &NASTY)], "val_permille = 0");
    world.store(2, StageStatus::Done);
    let expected: Vec<Value> = NASTY
        .iter()
        .enumerate()
        .map(|(k, text)| {
            json!({
                "id": format!("a:{k}"),
                "text": text,
                "source_id": "a",
                "url": format!("https://a.example/texts.jsonl#{}", k + 1),
                "license_spdx": "CC-BY-4.0",
                "lang": if k % 3 == 0 { "en" } else { "und" },
                "title": if k % 2 == 0 { String::new() } else { format!("Title \"{k}\"") },
                "n_chars": text.chars().count(),
                "sha256": Digest::of(text.as_bytes()).to_string(),
                "split": "train",
            })
        })
        .collect();
    for suffix in [".parquet", ".jsonl.zst"] {
        assert_eq!(rows(&world.staged(), &world.manifest(), suffix), expected, "{suffix}");
    }
    let line = zstd::decode_all(&fs::read(world.staged().join("jsonl/train-00000-of-00001.jsonl.zst")).unwrap()[..]);
    let line = String::from_utf8(line.unwrap()).unwrap().lines().nth(1).unwrap().to_owned();
    let digest = Digest::of(b"two\nlines");
    assert_eq!(
        line,
        format!(
            r#"{{"id":"a:1","text":"two\nlines","source_id":"a","url":"https://a.example/texts.jsonl#2","license_spdx":"CC-BY-4.0","lang":"und","title":"Title \"1\"","n_chars":9,"sha256":"{digest}","split":"train"}}"#
        ),
        "compact, keys in the order of the columns"
    );
}

#[test]
fn a_parquet_shard_has_the_promised_form() {
    let world = World::new(&[source("a", &NASTY)], "val_permille = 0\nformats = [\"parquet\"]");
    world.store(1, StageStatus::Done);
    let file = fs::File::open(world.staged().join("train-00000-of-00001.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata().file_metadata();
    assert_eq!(metadata.created_by(), Some(concat!("corpora version ", env!("CARGO_PKG_VERSION"))));
    assert!(metadata.key_value_metadata().is_none());
    let columns = metadata.schema_descr().columns().to_vec();
    let names: Vec<_> = columns.iter().map(|column| column.name().to_owned()).collect();
    assert_eq!(
        names,
        ["id", "text", "source_id", "url", "license_spdx", "lang", "title", "n_chars", "sha256", "split"]
    );
    for (column, chunk) in columns.iter().zip(reader.metadata().row_group(0).columns()) {
        assert!(!column.self_type().is_optional(), "{}", column.name());
        assert!(matches!(chunk.compression(), Compression::ZSTD(_)));
        let expected = match column.name() {
            "n_chars" => (Type::INT32, None),
            "sha256" => (Type::FIXED_LEN_BYTE_ARRAY, None),
            _ => (Type::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let found = (column.physical_type(), column.logical_type_ref().cloned());
        assert_eq!(found, expected, "{}", column.name());
        let is_low = ["source_id", "license_spdx", "lang", "split"].contains(&column.name());
        let has_dictionary = chunk.encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY);
        assert_eq!(has_dictionary, is_low, "{}", column.name());
    }
    assert!(reader.metadata().row_group(0).column(1).statistics().is_none(), "texts have none");
    assert!(!world.staged().join("jsonl").exists());
}

#[test]
fn the_number_of_jobs_changes_no_byte() {
    let long = |id: &str| Source {
        parts: (0..3).map(|part| (0..400).map(|k| format!("{id} {part} {k} ").repeat(k)).collect()).collect(),
        ..source(id, &[])
    };
    let sources = [long("a"), source("b", &[]), long("c"), many("d", 20_000)];
    let store = "shard_rows = 9000\nval_permille = 30";
    let mut seen = None;
    for jobs in [1, 2, 4] {
        let world = World::new(&sources, store);
        world.store(jobs, StageStatus::Done);
        let files = snapshot(&world.staged());
        assert_eq!(seen.get_or_insert_with(|| files.clone()), &files, "{jobs}");
    }
    assert!(seen.unwrap().keys().any(|name| name.starts_with("val-")));
}

#[test]
fn shards_are_cut_at_shard_rows_of_each_split() {
    for (n_docs, shard_rows, expected) in
        [(1, 1, vec![1]), (3, 1, vec![1, 1, 1]), (6, 3, vec![3, 3]), (7, 3, vec![3, 3, 1]), (2, 3, vec![2])]
    {
        let world = World::new(&[many("a", n_docs)], &format!("val_permille = 0\nshard_rows = {shard_rows}"));
        world.store(2, StageStatus::Done);
        let manifest = world.manifest();
        let of = |suffix: &str| -> Vec<(String, u64)> {
            let shards = manifest.shards.iter().filter(|shard| shard.name.ends_with(suffix));
            shards.map(|shard| (shard.name.clone(), shard.rows)).collect()
        };
        let names = |folder: &str, suffix: &str| -> Vec<(String, u64)> {
            let of = expected.len();
            let name = |index| format!("{folder}train-{index:05}-of-{of:05}{suffix}");
            expected.iter().enumerate().map(|(index, rows)| (name(index), *rows)).collect()
        };
        assert_eq!(of(".parquet"), names("", ".parquet"), "{n_docs} by {shard_rows}");
        assert_eq!(of(".zst"), names("jsonl/", ".jsonl.zst"), "{n_docs} by {shard_rows}");
        let ids: Vec<_> = rows(&world.staged(), &manifest, ".parquet").iter().map(|row| row["id"].clone()).collect();
        assert_eq!(ids, (0..n_docs).map(|k| json!(format!("a:{k}"))).collect::<Vec<_>>());
    }
}

#[test]
fn groups_are_cut_by_rows_and_by_bytes() {
    let large = "x".repeat(9 << 20);
    let texts = [large.as_str(), "small", large.as_str(), large.as_str()];
    let world = World::new(&[source("a", &texts), many("b", 20_000)], "val_permille = 0");
    world.store(2, StageStatus::Done);
    let file = fs::File::open(world.staged().join("train-00000-of-00001.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let groups: Vec<_> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [2, 1, 16 * 1024, 20_004 - 3 - 16 * 1024]);
    assert_eq!(rows(&world.staged(), &world.manifest(), ".zst"), rows(&world.staged(), &world.manifest(), ".parquet"));
}

#[test]
fn held_out_texts_are_cut_into_smaller_groups() {
    let texts = [0, 1, 2].map(|number| number.to_string().repeat(3 << 20));
    let world = World::new(&[source("a", &texts.each_ref().map(String::as_str))], "val_permille = 1000");
    world.store(2, StageStatus::Done);
    let file = fs::File::open(world.staged().join("val-00000-of-00001.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let groups: Vec<_> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [1, 1, 1]);
}

#[test]
fn the_split_follows_the_text_alone() {
    let sources = [many("a", 500), source("b", &["a number 7", "a number 8"]), many("c", 500)];
    let world = World::new(&sources, "val_permille = 200");
    world.store(2, StageStatus::Done);
    let manifest = world.manifest();
    let mut splits = BTreeMap::new();
    for shard in &manifest.shards {
        for row in shard_rows(&world.staged().join(&shard.name)) {
            let text = row["text"].as_str().unwrap().to_owned();
            let expected = SplitName::of(&Digest::of(text.as_bytes()), 200);
            assert_eq!((shard.split, row["split"].as_str().unwrap()), (expected, expected.as_str()));
            assert_eq!(*splits.entry(text).or_insert(expected), expected, "equal texts are in one split");
        }
    }
    let n_val: u64 = manifest.sources.iter().map(|source| source.n_val).sum();
    assert!((100..300).contains(&n_val), "{n_val}");
    assert_eq!(manifest.exact_duplicates, 2);
}

#[test]
fn a_dataset_without_documents_has_one_shard_of_each_format() {
    for sources in [vec![], vec![source("a", &[]), source("b", &[])]] {
        let world = World::new(&[source("a", &[]), source("b", &[])], "");
        // A config must have a source: one whose sources are all revoked has none to store.
        if sources.is_empty() {
            for id in ["a", "b"] {
                let mut row = crate::world::row(&source(id, &[]));
                row.revoked = Some(true);
                world.append(&row);
            }
        }
        let entry = world.store(2, StageStatus::Done);
        let manifest = world.manifest();
        assert_eq!((entry.n_docs, manifest.n_docs, manifest.sources.len()), (0, 0, sources.len()));
        let names: Vec<_> = manifest.shards.iter().map(|shard| (shard.name.as_str(), shard.rows)).collect();
        assert_eq!(names, [("train-00000-of-00001.parquet", 0), ("jsonl/train-00000-of-00001.jsonl.zst", 0)]);
        assert_eq!(rows(&world.staged(), &manifest, ".parquet"), rows(&world.staged(), &manifest, ".zst"));
        world.store(2, StageStatus::Cached);
    }
}

#[test]
fn a_dataset_of_held_out_documents_alone_has_no_train_shard() {
    let world = World::new(&[many("a", 3)], "val_permille = 1000\nshard_rows = 2");
    world.store(2, StageStatus::Done);
    let names: Vec<_> = world.manifest().shards.into_iter().map(|shard| shard.name).collect();
    assert_eq!(names[..2], ["val-00000-of-00002.parquet", "val-00001-of-00002.parquet"]);
    assert_eq!(names.len(), 4);
}

#[test]
fn the_metadata_table_finds_each_document() {
    let world = World::new(&[many("a", 5), many("b", 5)], "val_permille = 300\nshard_rows = 3");
    world.store(2, StageStatus::Done);
    let manifest = world.manifest();
    let table = rusqlite::Connection::open(world.staged().join("metadata.sqlite")).unwrap();
    let count: i64 = table.query_row("SELECT count(*) FROM documents", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 10);
    for shard in manifest.shards.iter().filter(|shard| shard.name.ends_with(".parquet")) {
        for (number, expected) in (0_i64..).zip(shard_rows(&world.staged().join(&shard.name))) {
            let id = expected["id"].as_str().unwrap();
            let sql = "SELECT source_id, url, domain, lang, n_chars, lower(hex(sha256)), split, row,
                printf('%s-%05d-of-', split, shard) FROM documents WHERE id = ?1";
            let found = table.query_row(sql, [id], |row| {
                let text = |index| row.get::<_, String>(index);
                let value = json!({
                    "source_id": text(0)?, "url": text(1)?, "domain": text(2)?, "lang": text(3)?,
                    "n_chars": row.get::<_, i64>(4)?, "sha256": text(5)?, "split": text(6)?,
                });
                Ok((value, row.get::<_, i64>(7)?, text(8)?))
            });
            let (found, row, stem) = found.unwrap();
            assert!(shard.name.starts_with(&stem), "{id} is said to be in {stem}, and is in {}", shard.name);
            assert_eq!(row, number, "{id}");
            assert_eq!(found["domain"], format!("{}.example", &id[..1]));
            for key in ["source_id", "url", "lang", "n_chars", "sha256", "split"] {
                assert_eq!(found[key], expected[key], "{id} {key}");
            }
        }
    }
}
