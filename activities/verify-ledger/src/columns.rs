//! The columns of a shard that trace its rows, and by which one is looked up; the texts are not decoded.

pub(crate) mod jsonl;
pub(crate) mod parquet;

use std::io;

/// The columns of strings, in the order of [`crate::tally::TracedRow`].
pub(crate) const STRINGS: [&str; 6] = ["id", "source_id", "url", "license_spdx", "lang", "split"];

/// The column of code points.
pub(crate) const N_CHARS: &str = "n_chars";

/// The column of digests.
pub(crate) const SHA256: &str = "sha256";

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
