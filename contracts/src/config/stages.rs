//! `[extract]` and `[store]`: the settings of the later stages.

use serde::Serialize;

use super::number::Seconds;
use super::words::words;

/// How pages become text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extract {
    /// The form of the text.
    pub format: TextFormat,
    /// Which error is worse, boilerplate kept or text lost.
    pub favor: Favor,
    /// The largest page that is read, in bytes.
    pub page_bytes: u64,
    /// The deepest nesting of elements; what stands deeper counts as if it stood there.
    pub max_depth: u32,
    /// Nodes of a page's tree: elements and pieces of text; the page ends there.
    pub max_nodes: u32,
    /// The longest value of an attribute, in bytes.
    pub attribute_bytes: u32,
    /// The longest time for one page.
    pub time_budget: Seconds,
}

impl Extract {
    /// What a config that says nothing asks for.
    pub const DEFAULT: Self = Self {
        format: TextFormat::Text,
        favor: Favor::Balanced,
        page_bytes: 10 << 20,
        max_depth: 512,
        max_nodes: 1_000_000,
        attribute_bytes: 16 << 10,
        time_budget: Seconds::whole(10),
    };
}

/// How documents become a dataset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Store {
    /// At most so many rows a shard.
    pub shard_rows: u64,
    /// Of a thousand documents, about how many are held out for validation.
    pub val_permille: u32,
    /// The forms of the shards.
    pub formats: Vec<ShardFormat>,
    /// `artifacts`, or `s3://bucket/prefix`.
    pub target: String,
    /// Where the metadata table is.
    pub metadata: MetadataKind,
}

words! {
    /// The form of extracted text.
    pub enum TextFormat {
        /// Plain text.
        Text = "text",
        /// Markdown.
        Markdown = "markdown",
    }
}

words! {
    /// Which error is worse when the main content of a page is found.
    pub enum Favor {
        /// Boilerplate kept is worse.
        Precision = "precision",
        /// Text lost is worse.
        Recall = "recall",
        /// Neither.
        Balanced = "balanced",
    }
}

words! {
    /// The form of a shard.
    pub enum ShardFormat {
        /// Apache Parquet.
        Parquet = "parquet",
        /// JSON Lines in zstd, `.jsonl.zst`.
        Jsonl = "jsonl",
    }
}

words! {
    /// Where the metadata table is.
    pub enum MetadataKind {
        /// `metadata.sqlite` in the dataset's folder.
        Sqlite = "sqlite",
        /// The database of `CORPORA_DATABASE_URL`.
        Postgres = "postgres",
    }
}
