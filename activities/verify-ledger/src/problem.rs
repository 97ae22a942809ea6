//! What can be wrong with a dataset and the evidence it rests on; each names its source, file or row.

use corpora_contracts::config::redact;
use corpora_contracts::ids::{Digest, Name};

/// A value longer than this is cut in messages, in characters.
const SHOWN: usize = 120;

/// One thing that is wrong. Files of the dataset are named relative to its folder, all others relative to the artifacts
/// directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Something about the ledger or the terms of a source.
    #[error(transparent)]
    Terms(#[from] TermsProblem),
    /// Something about a file.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// Something about the rows of a shard.
    #[error(transparent)]
    Row(#[from] RowProblem),
    /// Numbers that do not agree.
    #[error(transparent)]
    Count(#[from] CountProblem),
    /// Something about the table to look documents up.
    #[error(transparent)]
    Table(#[from] TableProblem),
}

/// What can be wrong with the ledger and the terms of a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TermsProblem {
    /// The ledger's file cannot be read as rows.
    #[error("the ledger is damaged; restore the line, or the file from a backup: {reason}")]
    Ledger {
        /// Which line, and what the parser says.
        reason: String,
    },
    /// A row that no commit writes.
    #[error("line {line} of the ledger (source `{source_id}`): {fault}; restore the line, or the file from a backup")]
    LedgerRow {
        /// 1-based.
        line: usize,
        /// The row's source.
        source_id: Name,
        /// What is wrong with it.
        fault: String,
    },
    /// A receipt that cannot be read, or that contradicts itself.
    #[error("receipt `{path}`: {fault}; restore it, or remove it together with its raw directory and fetch again")]
    Receipt {
        /// Relative to the artifacts directory.
        path: String,
        /// What is wrong with it.
        fault: String,
    },
    /// No receipt vouches for the pinned bytes and the configured fields.
    #[error("source `{source_id}`: no receipt of the pinned digest and the configured format; run fetch")]
    NoReceipt {
        /// The source.
        source_id: Name,
    },
    /// The ledger has no row of the pinned bytes.
    #[error("source `{source_id}`: the ledger has no row of the pinned digest `{sha256}`; run fetch")]
    NoRow {
        /// The source.
        source_id: Name,
        /// The pinned digest.
        sha256: Digest,
    },
    /// The ledger revokes a source that the dataset holds.
    #[error(
        "source `{source_id}`: the ledger revokes it, and the dataset holds it; run store again, which leaves it out"
    )]
    Revoked {
        /// The source.
        source_id: Name,
    },
    /// The config and the ledger state different terms.
    #[error(
        "source `{source_id}`: the config and the ledger's last row differ: {differences}; run fetch with --commit, then extract and store"
    )]
    Config {
        /// The source.
        source_id: Name,
        /// What differs.
        differences: String,
    },
    /// The dataset rests on a row that is not the last one of its version.
    #[error(
        "source `{source_id}`: the manifest's row is not the ledger's last one: {differences}; run extract and store again"
    )]
    Superseded {
        /// The source.
        source_id: Name,
        /// What differs.
        differences: String,
    },
    /// The dataset rests on a row that the ledger never had.
    #[error(
        "source `{source_id}`: the manifest's row is not in the ledger; it differs from the last one: {differences}"
    )]
    Foreign {
        /// The source.
        source_id: Name,
        /// How it differs from the last row.
        differences: String,
    },
    /// What is claimed is not permitted.
    #[error("source `{source_id}`: {refusal}")]
    License {
        /// The source.
        source_id: Name,
        /// The expression, and what the policy says about it.
        refusal: String,
    },
    /// The config lists a source that the manifest does not.
    #[error("source `{source_id}`: the config lists it, the manifest does not; run store again")]
    NotStored {
        /// The source.
        source_id: Name,
    },
    /// The manifest lists a source that the config does not.
    #[error("source `{source_id}`: the manifest lists it, the config does not; run store again")]
    NotConfigured {
        /// The source.
        source_id: Name,
    },
    /// The manifest's sources stand in another order than the config's, or one stands twice.
    #[error("`_MANIFEST.json` lists the sources {found}, expected are {expected}")]
    Sources {
        /// As the manifest has them.
        found: String,
        /// As they should be.
        expected: String,
    },
    /// The manifest's rows are not those of its sources.
    #[error("`_MANIFEST.json` has ledger rows of {found}, expected one of each of its sources: {expected}")]
    ManifestRows {
        /// Whose rows it has.
        found: String,
        /// Its sources.
        expected: String,
    },
    /// `ledger.jsonl` is not what the manifest says.
    #[error("`ledger.jsonl` does not hold the ledger rows of `_MANIFEST.json`: line {line} differs")]
    RowsFile {
        /// The first line that differs, 1-based.
        line: usize,
    },
    /// The dataset is another one.
    #[error("`_MANIFEST.json` is of dataset `{found}`, expected `{expected}`")]
    Dataset {
        /// `<dataset>/<version>` as the manifest has it.
        found: String,
        /// As the config has it.
        expected: String,
    },
    /// The dataset was made with another config.
    #[error("`_MANIFEST.json` is of the config `{found}`, expected `{expected}`; run store again")]
    ConfigDigest {
        /// The digest that the manifest names.
        found: Digest,
        /// The config's.
        expected: Digest,
    },
    /// The dataset was accepted under another policy.
    #[error("`_VERIFIED.json` is of the licence policy `{found}`, expected `{expected}`")]
    PolicyDigest {
        /// The digest that it names.
        found: Digest,
        /// The current policy's.
        expected: Digest,
    },
}

/// What can be wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// It is not there.
    #[error("`{path}` is missing")]
    Missing {
        /// The file.
        path: String,
    },
    /// Nobody lists it.
    #[error("`{path}` belongs to no dataset")]
    Unexpected {
        /// The file or folder.
        path: String,
    },
    /// It is a symbolic link, a folder or a device where a file should be.
    #[error("`{path}` is no regular file")]
    NotRegular {
        /// The file.
        path: String,
    },
    /// Its size is another one.
    #[error("`{path}` has {found} bytes, expected {expected}")]
    Size {
        /// The file.
        path: String,
        /// In bytes.
        found: u64,
        /// In bytes.
        expected: u64,
    },
    /// Its bytes are others.
    #[error("`{path}` has the digest `{found}`, expected `{expected}`")]
    Digest {
        /// The file.
        path: String,
        /// Of its bytes.
        found: Digest,
        /// As recorded.
        expected: Digest,
    },
    /// Its bytes are the recorded ones, and are not what they should be.
    #[error("`{path}` cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the reader says.
        reason: String,
    },
    /// Its name is not that of a shard.
    #[error("`_MANIFEST.json` names a shard `{name}`; expected `train-00000-of-00001.parquet` or the like")]
    ShardName {
        /// As the manifest has it.
        name: String,
    },
    /// Its name says another split than the manifest.
    #[error("shard `{path}` is of split `{found}` by the manifest")]
    ShardSplit {
        /// The shard.
        path: String,
        /// What the manifest says.
        found: &'static str,
    },
    /// A shard is listed twice.
    #[error("`_MANIFEST.json` lists shard `{path}` more than once")]
    ShardTwice {
        /// The shard.
        path: String,
    },
    /// The numbers in the names of one split's shards leave a gap or name different totals.
    #[error("`_MANIFEST.json` lists an incomplete set of {format} shards of split `{split}`: {found}")]
    ShardSet {
        /// The format.
        format: &'static str,
        /// The split.
        split: &'static str,
        /// The names that are there, or what is missing.
        found: String,
    },
    /// The shards stand in another order than the documented one.
    #[error(
        "`_MANIFEST.json` lists shard `{path}` out of order: Parquet before JSON Lines, train before val, by number"
    )]
    ShardOrder {
        /// The first shard that stands too late.
        path: String,
    },
    /// The dataset has other formats than the config asks for.
    #[error("`_MANIFEST.json` lists shards of the formats {found}, the config asks for {expected}; run store again")]
    Formats {
        /// Of the manifest.
        found: String,
        /// Of the config.
        expected: String,
    },
}

/// What can be wrong with the rows of a shard: the first such row, and how many more there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("shard `{path}`, row {row}{}: {fault}", more(*others))]
pub struct RowProblem {
    /// The shard.
    pub path: String,
    /// The first such row, 1-based.
    pub row: u64,
    /// Further rows of the shard with the same fault.
    pub others: u64,
    /// What is wrong with them.
    pub fault: RowFault,
}

/// What can be wrong with a row of a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// It traces to no ledger row.
    #[error("source `{found}` is none of the manifest's")]
    Source {
        /// Its source.
        found: String,
    },
    /// Its licence is not that of its ledger row.
    #[error("source `{source_id}`: licence `{found}`, expected the ledger row's `{expected}`")]
    License {
        /// Its source.
        source_id: Name,
        /// Its licence.
        found: String,
        /// The ledger row's.
        expected: String,
    },
    /// Its url is not made of that of its ledger row.
    #[error("source `{source_id}`: url `{found}`, expected `{expected}` as in the ledger row")]
    Url {
        /// Its source.
        source_id: Name,
        /// Its url.
        found: String,
        /// What the ledger row's makes of it.
        expected: String,
    },
    /// It is in a shard of the other split.
    #[error("split `{found}`")]
    Split {
        /// What the row says.
        found: String,
    },
    /// Its text belongs to the other split.
    #[error("its text belongs to split `{expected}`, by its digest and the config's `val_permille`")]
    Digest {
        /// The split that the digest of the text says.
        expected: &'static str,
    },
    /// More kinds of faults than are listed.
    #[error("further faults of other kinds")]
    Further,
}

/// Numbers that do not agree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountProblem {
    /// The documents of a source.
    #[error("source `{source_id}`: documents do not agree: {figures}")]
    Documents {
        /// The source.
        source_id: Name,
        /// What each of those who know says.
        figures: String,
    },
    /// The held-out documents of a source.
    #[error("source `{source_id}`: documents of split `val` do not agree: {figures}")]
    HeldOut {
        /// The source.
        source_id: Name,
        /// What each of those who know says.
        figures: String,
    },
    /// What a source lost on the way.
    #[error("source `{source_id}`: dropped documents do not agree: {figures}")]
    Dropped {
        /// The source.
        source_id: Name,
        /// What each of those who know says.
        figures: String,
    },
    /// What fetch counted, and what extract kept and dropped.
    #[error("source `{source_id}`: fetched documents do not agree: {figures}")]
    Fetched {
        /// The source.
        source_id: Name,
        /// What each of those who know says.
        figures: String,
    },
    /// Extract left no record.
    #[error("source `{source_id}`: extract has no record `{path}`; run extract and store again")]
    NoRecord {
        /// The source.
        source_id: Name,
        /// Relative to the artifacts directory.
        path: String,
    },
    /// The rows of a shard.
    #[error("shard `{path}` has {found} rows, expected {expected} by the manifest")]
    Rows {
        /// The shard.
        path: String,
        /// In the shard.
        found: u64,
        /// In the manifest.
        expected: u64,
    },
    /// A shard larger than the config allows.
    #[error("shard `{path}` has {found} rows, the config allows {limit}; run store again")]
    ShardRows {
        /// The shard.
        path: String,
        /// In the shard.
        found: u64,
        /// `shard_rows`.
        limit: u64,
    },
    /// A total of the manifest.
    #[error("`_MANIFEST.json`: `{key}` is {found}, its parts add up to {expected}")]
    Total {
        /// The key.
        key: &'static str,
        /// What it says.
        found: String,
        /// What its parts add up to.
        expected: String,
    },
}

/// What can be wrong with a `metadata.sqlite` that is sound in itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableProblem {
    /// The number of its rows.
    #[error("`metadata.sqlite` has {found} documents, expected {expected} by the manifest")]
    Rows {
        /// In the table.
        found: u64,
        /// In the manifest.
        expected: u64,
    },
    /// A document where none is.
    #[error("`metadata.sqlite` places document `{id}` in a shard that the manifest does not list")]
    Place {
        /// The first such document.
        id: String,
    },
    /// A domain that is not the host of the document's url.
    #[error("`metadata.sqlite` says of document `{id}` the domain `{found}`, which is not the host of its url")]
    Domain {
        /// The first such document.
        id: String,
        /// What the table says.
        found: String,
    },
    /// Other documents, or the same in other places, than a shard holds.
    #[error("`metadata.sqlite` does not say of the rows of shard `{path}` what the shard does")]
    Shard {
        /// The shard.
        path: String,
    },
}

/// A value for a message: without credentials, on one line, not too long.
pub(crate) fn shown(value: &str) -> String {
    let value = redact(value);
    let mut short: String = value.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if value.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

/// Names for a message: `` `a`, `b` ``.
pub(crate) fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = items.into_iter().map(|item| format!("`{item}`")).collect();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}

fn more(others: u64) -> String {
    if others == 0 { String::new() } else { format!(" and {others} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_on_one_line_without_secrets() {
        assert_eq!(shown("https://me:secret@host/a\nb"), "https://***@host/a\\nb");
        assert_eq!(shown(&"x".repeat(200)).chars().count(), SHOWN + 1);
        let fault = RowFault::Split { found: "val".into() };
        let problem = RowProblem { path: "train-00000-of-00001.parquet".into(), row: 7, others: 2, fault };
        assert_eq!(problem.to_string(), "shard `train-00000-of-00001.parquet`, row 7 and 2 more: split `val`");
    }
}
