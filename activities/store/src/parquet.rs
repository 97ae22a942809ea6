//! Parquet shards. Groups are encoded on several threads, each into memory; one thread puts them behind each other.
//!
//! The properties are fixed, and `created_by` has the release: same rows and release, same bytes.

mod encode;
mod writer;

use std::sync::Arc;

use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::{ColumnPath, SchemaDescPtr, SchemaDescriptor, TypePtr};

pub(crate) use encode::{EncodedGroup, encode};
pub(crate) use writer::write;

use crate::columns::COLUMNS;

/// The compression level of pages.
const LEVEL: i32 = 3;

/// Bytes of values a page, before compression: twice the window of zstd at its level, so that little of it is lost where
/// one page ends and the next begins.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The columns of a shard; none is ever null.
const SCHEMA: &str = "message schema {
    REQUIRED BYTE_ARRAY id (STRING);
    REQUIRED BYTE_ARRAY text (STRING);
    REQUIRED BYTE_ARRAY source_id (STRING);
    REQUIRED BYTE_ARRAY url (STRING);
    REQUIRED BYTE_ARRAY license_spdx (STRING);
    REQUIRED BYTE_ARRAY lang (STRING);
    REQUIRED BYTE_ARRAY title (STRING);
    REQUIRED INT32 n_chars;
    REQUIRED FIXED_LEN_BYTE_ARRAY (32) sha256;
    REQUIRED BYTE_ARRAY split (STRING);
}";

/// Columns of few distinct values, which are written once each.
const WITH_DICTIONARY: [&str; 4] = ["source_id", "license_spdx", "lang", "split"];

/// Columns whose smallest and largest value let a reader skip a group. Those of texts, urls, titles and digests say
/// nothing.
const WITH_STATISTICS: [&str; 6] = ["id", "source_id", "license_spdx", "lang", "n_chars", "split"];

/// What every shard has in common.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    schema: TypePtr,
    columns: SchemaDescPtr,
    properties: WriterPropertiesPtr,
}

impl Form {
    /// The form of this release.
    ///
    /// # Errors
    /// Never for the schema and the level above; the library's error is passed on all the same.
    pub(crate) fn new() -> Result<Self, ParquetError> {
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let columns = Arc::new(SchemaDescriptor::new(Arc::clone(&schema)));
        // Readers look for `<program> version <number>`.
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("corpora version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_data_page_size_limit(PAGE_BYTES)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?));
        for name in COLUMNS {
            let path = ColumnPath::from(name);
            let statistics =
                if WITH_STATISTICS.contains(&name) { EnabledStatistics::Chunk } else { EnabledStatistics::None };
            properties = properties
                .set_column_dictionary_enabled(path.clone(), WITH_DICTIONARY.contains(&name))
                .set_column_statistics_enabled(path, statistics);
        }
        Ok(Self { schema, columns, properties: Arc::new(properties.build()) })
    }
}
