//! Shards, opened again: what is in them.

use std::fs::File;
use std::path::Path;

use corpora_contracts::manifest::Manifest;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Value, json};

/// Every row of one format as JSON, in the manifest's order of shards.
pub(crate) fn rows(folder: &Path, manifest: &Manifest, suffix: &str) -> Vec<Value> {
    let shards = manifest.shards.iter().filter(|shard| shard.name.ends_with(suffix));
    shards.flat_map(|shard| shard_rows(&folder.join(&shard.name))).collect()
}

/// Every row of a shard as JSON.
pub(crate) fn shard_rows(path: &Path) -> Vec<Value> {
    let file = File::open(path).unwrap();
    if path.extension().unwrap() == "parquet" {
        let reader = SerializedFileReader::new(file).unwrap();
        return reader.get_row_iter(None).unwrap().map(|row| of_parquet(&row.unwrap())).collect();
    }
    let text = String::from_utf8(zstd::decode_all(file).unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_parquet(row: &Row) -> Value {
    let value = |field: &Field| match field {
        Field::Str(text) => json!(text),
        Field::Int(number) => json!(number),
        Field::Bytes(bytes) => json!(bytes.data().iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        other => panic!("{other:?}"),
    };
    row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
}
