//! The names of shards: `<split>-<iiiii>-of-<nnnnn>.parquet` beside the manifest, `.jsonl.zst` under `jsonl/`.

use corpora_contracts::config::ShardFormat;
use corpora_contracts::manifest::SplitName;

/// The folder of JSON Lines shards.
pub(crate) const JSONL_FOLDER: &str = "jsonl";

/// What a shard's name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShardName {
    pub(crate) format: ShardFormat,
    pub(crate) split: SplitName,
    /// 0-based.
    pub(crate) index: u64,
    /// How many shards the split has.
    pub(crate) of: u64,
}

impl ShardName {
    /// Reads a name; none for any other spelling, so that a name that is read is a safe path, too.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (stem, format) = match name.strip_prefix("jsonl/") {
            Some(inside) => (inside.strip_suffix(".jsonl.zst")?, ShardFormat::Jsonl),
            None => (name.strip_suffix(".parquet")?, ShardFormat::Parquet),
        };
        let (split, numbers) = stem.split_once('-')?;
        let (index, of) = numbers.split_once("-of-")?;
        let split = [SplitName::Train, SplitName::Val].into_iter().find(|it| it.as_str() == split)?;
        let parsed = Self { format, split, index: index.parse().ok()?, of: of.parse().ok()? };
        (parsed.to_string() == name).then_some(parsed)
    }
}

impl std::fmt::Display for ShardName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { format, split, index, of } = self;
        let (folder, suffix) = match format {
            ShardFormat::Parquet => ("", "parquet"),
            ShardFormat::Jsonl => ("jsonl/", "jsonl.zst"),
        };
        write!(f, "{folder}{}-{index:05}-of-{of:05}.{suffix}", split.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_in_its_one_spelling() {
        let name = ShardName::parse("val-00002-of-00010.parquet").unwrap();
        assert_eq!((name.format, name.split, name.index, name.of), (ShardFormat::Parquet, SplitName::Val, 2, 10));
        for good in ["jsonl/train-00000-of-00001.jsonl.zst", "train-123456-of-234567.parquet"] {
            assert_eq!(ShardName::parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "",
            "train-0-of-1.parquet",
            "train-000000-of-00001.parquet",
            "train-+0000-of-00001.parquet",
            "test-00000-of-00001.parquet",
            "../train-00000-of-00001.parquet",
            "./train-00000-of-00001.parquet",
            "/train-00000-of-00001.parquet",
            "jsonl/train-00000-of-00001.parquet",
            "jsonl/../train-00000-of-00001.jsonl.zst",
            "train-00000-of-00001.jsonl.zst",
            "train-00000-of-00001.parquet\n",
            "train-00000-of-00001",
        ] {
            assert_eq!(ShardName::parse(bad), None, "{bad:?}");
        }
    }
}
