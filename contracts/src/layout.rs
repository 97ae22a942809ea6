//! Every path under the artifacts directory, with its writer and its mutability.
//!
//! Paths are relative to the artifacts root and use `/`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::Name;

/// The name of a raw directory: a UTC date, and from the second version of that date on its number.
///
/// `20260101`, then `20260101.2`, `20260101.3`, …; they sort by age.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RawVersion {
    date: String,
    number: u32,
}

/// Why a string is not a [`RawVersion`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not the name of a raw directory")]
pub struct InvalidRawVersion {
    /// What was given.
    pub value: String,
}

impl RawVersion {
    /// The first version of this date stamp (`yyyymmdd`) whose name is not `taken`.
    #[must_use]
    pub fn first_free(date_stamp: &str, taken: &[Self]) -> Self {
        let date = date_stamp.to_owned();
        let mut candidate = Self { date, number: 1 };
        while taken.contains(&candidate) {
            candidate.number += 1;
        }
        candidate
    }
}

impl FromStr for RawVersion {
    type Err = InvalidRawVersion;

    fn from_str(value: &str) -> Result<Self, InvalidRawVersion> {
        let invalid = || InvalidRawVersion { value: value.to_owned() };
        let (date, number) = value.split_once('.').map_or((value, None), |(date, number)| (date, Some(number)));
        let number = match number {
            None => 1,
            Some(digits) => digits.parse().ok().filter(|&number: &u32| number >= 2).ok_or_else(invalid)?,
        };
        let parsed = Self { date: date.to_owned(), number };
        let well_formed = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
        if well_formed && parsed.to_string() == value { Ok(parsed) } else { Err(invalid()) }
    }
}

impl TryFrom<String> for RawVersion {
    type Error = InvalidRawVersion;

    fn try_from(value: String) -> Result<Self, InvalidRawVersion> {
        value.parse()
    }
}

impl From<RawVersion> for String {
    fn from(version: RawVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for RawVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            1 => f.write_str(&self.date),
            number => write!(f, "{}.{number}", self.date),
        }
    }
}

/// The artifacts directory. Each method names one path of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout under this directory.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The artifacts directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path as it stands in files and results: relative to the root, with `/`.
    #[must_use]
    pub fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Append-only; written by the commit and `ledger revoke` under [`Self::ledger_lock`].
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.root.join("corpus/LEDGER.jsonl")
    }

    /// Downloads of one source; temporary, written by fetch under [`Self::source_lock`].
    #[must_use]
    pub fn downloads(&self, id: &Name) -> PathBuf {
        self.root.join("corpus/downloads").join(id.as_str())
    }

    /// Complete bytes whose digest is not the pinned one; written by fetch, for a human.
    #[must_use]
    pub fn quarantine(&self, id: &Name) -> PathBuf {
        self.root.join("corpus/quarantine").join(id.as_str())
    }

    /// All raw directories of one source.
    #[must_use]
    pub fn raw(&self, id: &Name) -> PathBuf {
        self.root.join("corpus/raw").join(id.as_str())
    }

    /// One raw directory; immutable, published by fetch with a rename from [`Self::raw_tmp`].
    #[must_use]
    pub fn raw_dir(&self, id: &Name, version: &RawVersion) -> PathBuf {
        self.raw(id).join(version.to_string())
    }

    /// A raw directory in the making.
    #[must_use]
    pub fn raw_tmp(&self, id: &Name, version: &RawVersion) -> PathBuf {
        self.raw(id).join(format!("{version}.tmp"))
    }

    /// All receipts of one source.
    #[must_use]
    pub fn receipts(&self, id: &Name) -> PathBuf {
        self.root.join("corpus/receipts").join(id.as_str())
    }

    /// What is kept of a crawl, a folder for each of its runs; written by fetch under [`Self::source_lock`].
    #[must_use]
    pub fn crawl(&self, id: &Name) -> PathBuf {
        self.root.join("corpus/crawls").join(id.as_str())
    }

    /// The durable state of one run of a crawl, counted from 1: what it is a crawl of, what it knows, and the pages it
    /// has, as `raw/<yyyy-mm-dd>/worker-<id>/….jsonl`. A refresh and a changed config are runs of their own.
    #[must_use]
    pub fn crawl_run(&self, id: &Name, run: u32) -> PathBuf {
        self.crawl(id).join(run.to_string())
    }

    /// A queue between the roles of a crawl that run apart, by its name: `crawl`, `storage`, `discovery`.
    #[must_use]
    pub fn crawl_queue(&self, id: &Name, queue: &str) -> PathBuf {
        self.crawl(id).join("queues").join(format!("{queue}.sqlite"))
    }

    /// Where the storage worker of a crawl whose roles run apart keeps the pages of all its runs, as
    /// `raw/<yyyy-mm-dd>/worker-<id>/….jsonl`, and the table of them.
    #[must_use]
    pub fn crawl_store(&self, id: &Name) -> PathBuf {
        self.crawl(id).join("store")
    }

    /// What a raw directory holds; immutable, written by fetch before the directory is published.
    #[must_use]
    pub fn receipt(&self, id: &Name, version: &RawVersion) -> PathBuf {
        self.receipts(id).join(format!("{version}.json"))
    }

    /// The documents of one source after extract, with `_STAGE.json`; immutable per input, published by a rename.
    #[must_use]
    pub fn extracted(&self, dataset: &Name, version: &Name, id: &Name) -> PathBuf {
        self.stage("extract", dataset, version).join(id.as_str())
    }

    /// The documents of one source in the making. No id starts with a dot, so no source's folder has this name.
    #[must_use]
    pub fn extracted_tmp(&self, dataset: &Name, version: &Name, id: &Name) -> PathBuf {
        self.stage("extract", dataset, version).join(format!(".{id}.tmp"))
    }

    /// What a stage keeps of a dataset version: `corpus/<stage>/<dataset>/<version>`.
    #[must_use]
    pub fn stage(&self, stage: &str, dataset: &Name, version: &Name) -> PathBuf {
        self.root.join("corpus").join(stage).join(dataset.as_str()).join(version.as_str())
    }

    /// The versions of a dataset.
    #[must_use]
    pub fn datasets(&self, dataset: &Name) -> PathBuf {
        self.root.join("corpus/datasets").join(dataset.as_str())
    }

    /// A verified dataset; replaced whole by verify-ledger.
    #[must_use]
    pub fn dataset(&self, dataset: &Name, version: &Name) -> PathBuf {
        self.datasets(dataset).join(version.as_str())
    }

    /// What store made, complete and not yet verified; replaced by store, taken away by verify-ledger.
    #[must_use]
    pub fn staged(&self, dataset: &Name, version: &Name) -> PathBuf {
        self.datasets(dataset).join(format!("{version}.staged"))
    }

    /// Which folder verify-ledger is about to swap in: a copy of its `_VERIFIED.json`. It is there only while the swap
    /// is; a later run tells by it the new folder from the one that was taken out. No version starts with a dot.
    #[must_use]
    pub fn swap(&self, dataset: &Name, version: &Name) -> PathBuf {
        self.datasets(dataset).join(format!(".{version}.swap.json"))
    }

    /// A dataset in the making, which store publishes as [`Self::staged`]. No version starts with a dot.
    #[must_use]
    pub fn staged_tmp(&self, dataset: &Name, version: &Name) -> PathBuf {
        self.datasets(dataset).join(format!(".{version}.staged.tmp"))
    }

    /// Held by the one run that makes or verifies a dataset version, or extracts for it.
    #[must_use]
    pub fn dataset_lock(&self, dataset: &Name, version: &Name) -> PathBuf {
        self.root.join("corpus/locks/datasets").join(dataset.as_str()).join(format!("{version}.lock"))
    }

    /// Held by the one run that works on a source.
    #[must_use]
    pub fn source_lock(&self, id: &Name) -> PathBuf {
        self.root.join("corpus/locks").join(format!("{id}.lock"))
    }

    /// Held, briefly, by the one writer of the ledger. No source id has capitals, so no source's lock has this name.
    #[must_use]
    pub fn ledger_lock(&self) -> PathBuf {
        self.root.join("corpus/locks/LEDGER.lock")
    }
}

/// The file name of part `index` of a raw directory or a document stage.
#[must_use]
pub fn part_name(index: usize) -> String {
    format!("part-{index:05}.jsonl.zst")
}
