//! The columns of a shard that trace its rows: `source_id`, `url`, `license_spdx`, `split`; the texts are not decoded.

pub(crate) mod jsonl;
pub(crate) mod parquet;

use std::io;

/// The columns, in the order of [`crate::tally::TracedRow`].
pub(crate) const COLUMNS: [&str; 4] = ["source_id", "url", "license_spdx", "split"];

/// Why the columns of a shard were not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ColumnsError {
    /// The file is not what its name says, or lacks a column.
    #[error("{0}")]
    Malformed(String),
    /// The system failed us; a later attempt may succeed.
    #[error("read the shard")]
    Io(#[from] io::Error),
    /// We were asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl ColumnsError {
    /// What a decoder says about bytes that it cannot read, or about a system that fails.
    fn of_decoder(error: io::Error) -> Self {
        // A decoder's own errors carry no number of the system's.
        if error.raw_os_error().is_some() { Self::Io(error) } else { Self::Malformed(error.to_string()) }
    }
}
