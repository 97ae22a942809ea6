//! A dataset folder as it stands: manifest, rows, and the names that are in it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use corpora_contracts::ids::Digest;
use corpora_contracts::manifest::{Manifest, Verified};
use corpora_stage::durable::{self, FileError};
use serde::de::DeserializeOwned;

use crate::files;
use crate::problem::{FileProblem, Problem};
use crate::shard_name::JSONL_FOLDER;

/// The name of the manifest.
pub(crate) const MANIFEST: &str = "_MANIFEST.json";
/// The name of the ledger rows that a dataset rests on.
pub(crate) const ROWS: &str = "ledger.jsonl";
/// The name of what verify-ledger writes.
pub(crate) const VERIFIED: &str = "_VERIFIED.json";
/// The name of the metadata table, of which no other file has a digest.
pub(crate) const METADATA: &str = "metadata.sqlite";
/// What SQLite keeps beside it while somebody reads it, and what else may belong to a dataset.
const OTHERS: [&str; 7] = [
    METADATA,
    "metadata.sqlite-journal",
    "metadata.sqlite-shm",
    "metadata.sqlite-wal",
    "croissant.json",
    "README.md",
    "DATASHEET.md",
];

/// A dataset folder whose manifest and rows could be read.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) manifest_sha256: Digest,
    /// The bytes of `ledger.jsonl`.
    pub(crate) rows: Vec<u8>,
    /// Every name in the folder, and `jsonl/<name>` of those in that one; sorted.
    pub(crate) names: Vec<String>,
}

impl Folder {
    /// Reads a folder, or what stands in the way of it.
    ///
    /// # Errors
    /// When the system does not let us.
    pub(crate) fn read(path: &Path) -> Result<Result<Self, Vec<Problem>>, FileError> {
        let (manifest, rows) = (regular(path, MANIFEST)?, regular(path, ROWS)?);
        let parsed = manifest.and_then(|bytes| Ok((parse::<Manifest>(&bytes, MANIFEST)?, Digest::of(&bytes))));
        Ok(match (parsed, rows) {
            (Ok((manifest, manifest_sha256)), Ok(rows)) => {
                Ok(Self { path: path.to_owned(), manifest, manifest_sha256, rows, names: names(path)? })
            }
            (manifest, rows) => Err(manifest.err().into_iter().chain(rows.err()).map(Problem::from).collect()),
        })
    }

    /// `_VERIFIED.json`: none where there is none, or what stands in the way of it.
    ///
    /// # Errors
    /// When the system does not let us read it.
    pub(crate) fn verified(&self) -> Result<Option<Result<Verified, FileProblem>>, FileError> {
        if !self.names.iter().any(|name| name == VERIFIED) {
            return Ok(None);
        }
        Ok(Some(regular(&self.path, VERIFIED)?.and_then(|bytes| parse(&bytes, VERIFIED))))
    }

    /// Names that no dataset has: of no shard of the manifest, of no file of the contract.
    pub(crate) fn unexpected(&self) -> Vec<Problem> {
        let shards: HashSet<&str> = self.manifest.shards.iter().map(|shard| shard.name.as_str()).collect();
        let is_known =
            |name: &str| [MANIFEST, ROWS, VERIFIED].contains(&name) || OTHERS.contains(&name) || shards.contains(name);
        let unexpected = self.names.iter().filter(|name| !is_known(name));
        unexpected.map(|name| FileProblem::Unexpected { path: crate::problem::shown(name) }.into()).collect()
    }

    /// How `_VERIFIED.json` contradicts the folder it stands in.
    pub(crate) fn contradictions(&self, verified: &Verified) -> Vec<Problem> {
        let rows = Digest::of(&self.rows);
        let pairs = [(MANIFEST, self.manifest_sha256, verified.manifest_sha256), (ROWS, rows, verified.rows_sha256)];
        let differ = pairs.into_iter().filter(|(_, found, expected)| found != expected);
        let problem =
            |(path, found, expected): (&str, _, _)| FileProblem::Digest { path: path.to_owned(), found, expected };
        differ.map(|pair| problem(pair).into()).collect()
    }
}

/// Names in the folder and in its folder of JSON Lines shards; links are not followed.
fn names(path: &Path) -> Result<Vec<String>, FileError> {
    let mut names = durable::names_in(path)?;
    let inside = path.join(JSONL_FOLDER);
    if fs::symlink_metadata(&inside).is_ok_and(|found| found.is_dir()) {
        names.retain(|name| name != JSONL_FOLDER);
        names.extend(durable::names_in(&inside)?.iter().map(|name| format!("{JSONL_FOLDER}/{name}")));
    }
    Ok(names)
}

/// The bytes of a regular file, or what stands in the way of them.
fn regular(folder: &Path, name: &str) -> Result<Result<Vec<u8>, FileProblem>, FileError> {
    let path = folder.join(name);
    match fs::symlink_metadata(&path) {
        Ok(found) if !found.is_file() => Ok(Err(FileProblem::NotRegular { path: name.to_owned() })),
        Err(error) if files::is_absent(&error) => Ok(Err(FileProblem::Missing { path: name.to_owned() })),
        _ => fs::read(&path).map(Ok).map_err(durable::on("read", &path)),
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8], name: &str) -> Result<T, FileProblem> {
    let unreadable =
        |error: serde_json::Error| FileProblem::Unreadable { path: name.to_owned(), reason: error.to_string() };
    serde_json::from_slice(bytes).map_err(unreadable)
}
