//! `_MANIFEST.json` and `_VERIFIED.json` of a dataset folder.

mod difference;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{Digest, Name};
use crate::ledger::Row;
use crate::line::to_line;

/// Where a document is held out or not: `train` or `val`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitName {
    /// For training.
    Train,
    /// Held out for validation.
    Val,
}

impl SplitName {
    /// `train` or `val`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Val => "val",
        }
    }

    /// The split of a text: `val` when the first 8 bytes of its digest, big-endian, mod 1000 are below `val_permille`.
    ///
    /// Equal texts are always in the same split, whatever source they come from.
    #[must_use]
    pub fn of(text_sha256: &Digest, val_permille: u32) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&text_sha256.as_bytes()[..8]);
        if u64::from_be_bytes(first) % 1000 < u64::from(val_permille) { Self::Val } else { Self::Train }
    }
}

/// What a dataset folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The dataset.
    pub dataset: Name,
    /// Its version.
    pub version: Name,
    /// Documents, which are the rows of the shards of one format.
    pub n_docs: u64,
    /// Shards of all formats.
    pub n_shards: u64,
    /// Every shard: Parquet first, then JSON Lines, `train` before `val`.
    pub shards: Vec<Shard>,
    /// Every source in config order, revoked ones left out.
    pub sources: Vec<SourceCount>,
    /// Documents left out by earlier stages, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Documents whose text an earlier document has too, to the byte: counted, not removed.
    pub exact_duplicates: u64,
    /// The digest of the config.
    pub config_sha256: Digest,
    /// The ledger rows it rests on, in the order of `sources`; the same rows stand in `ledger.jsonl`.
    pub ledger: Vec<Row>,
}

impl Manifest {
    /// The manifest as stored: compact JSON and a newline.
    ///
    /// # Errors
    /// Never for a manifest built by these types; the serializer's error is passed on all the same.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        to_line(self)
    }
}

/// One shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// `train-00000-of-00003.parquet`, `jsonl/train-00000-of-00003.jsonl.zst`: relative to the dataset folder.
    pub name: String,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// Its split.
    pub split: SplitName,
}

/// What a source gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceCount {
    /// The source.
    pub source_id: Name,
    /// Its documents in the dataset.
    pub n_docs: u64,
    /// Those of them that are `val`.
    pub n_val: u64,
    /// Documents left out by earlier stages, by reason.
    pub dropped: BTreeMap<String, u64>,
}

/// `_VERIFIED.json`: what verify-ledger accepted. A folder under a published name has one, or is not ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// The digest of `_MANIFEST.json`.
    pub manifest_sha256: Digest,
    /// The digest of `ledger.jsonl`.
    pub rows_sha256: Digest,
    /// The digest of the licence policy that was applied.
    pub policy_sha256: Digest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_follows_from_the_digest_alone() {
        let digest = |first: u64| {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&first.to_be_bytes());
            Digest::from_bytes(bytes)
        };
        for (first, permille, expected) in [
            (0, 0, SplitName::Train),
            (0, 1, SplitName::Val),
            (4, 5, SplitName::Val),
            (5, 5, SplitName::Train),
            (1_004, 5, SplitName::Val),
            (u64::MAX, 1000, SplitName::Val),
        ] {
            assert_eq!(SplitName::of(&digest(first), permille), expected, "{first} {permille}");
        }
    }
}
