//! Row groups: what the rows are cut into, and what every writer is handed.

use std::sync::Arc;

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::manifest::SplitName;

use crate::columns::FrozenRows;

/// At most so many rows a group. Part of what a Parquet shard's bytes depend on, as is [`MAX_TEXT_BYTES`].
pub(crate) const MAX_ROWS: usize = 16 * 1024;

/// At most so many bytes of text a group, unless one text alone is longer; of split `val` a quarter, since its few texts
/// are gathered from a large part of the corpus. Memory holds some ten groups.
pub(crate) const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// [`MAX_TEXT_BYTES`] of a split.
pub(crate) fn max_text_bytes(split: SplitName) -> usize {
    match split {
        SplitName::Train => MAX_TEXT_BYTES,
        SplitName::Val => MAX_TEXT_BYTES / 4,
    }
}

/// Consecutive rows of one shard.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) split: SplitName,
    /// The shard's number in its split, from 0.
    pub(crate) shard: u64,
    /// The number of the first row in the shard, from 0.
    pub(crate) first_row: u64,
    /// None only in the one shard of an empty dataset.
    pub(crate) rows: FrozenRows,
    /// Whether the shard ends with this group.
    pub(crate) ends_shard: bool,
}

/// A group that several writers read.
pub(crate) type SharedGroup = Arc<Group>;

/// What all rows of a source have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) source_id: Name,
    pub(crate) license_spdx: String,
    /// What the url of each document starts with, where the source's format says so.
    pub(crate) url_prefix: Option<String>,
}

/// A shard that is on the disk, under a name that does not yet say of how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenShard {
    pub(crate) split: SplitName,
    pub(crate) index: u64,
    pub(crate) sha256: Digest,
    pub(crate) bytes: u64,
    pub(crate) rows: u64,
}
