//! The folders of one test, and what the program left in them.

use std::fs;
use std::path::{Path, PathBuf};

use corpora_contracts::document::Document;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::Manifest;
use corpora_contracts::raw::RawDocument;
use corpora_contracts::receipt::Receipt;
use serde_json::{Value, json};

use super::config::ConfigToml;
use super::tree::Tree;

/// Where the dataset of [`ConfigToml::new`] is published.
pub const PUBLISHED: &str = "corpus/datasets/small/v1";

/// A temporary folder with a config, an artifacts directory and a home.
#[derive(Debug)]
pub struct Workspace {
    root: tempfile::TempDir,
    artifacts: PathBuf,
}

impl Workspace {
    /// Empty folders.
    #[must_use]
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let artifacts = root.path().join("artifacts");
        let workspace = Self { root, artifacts };
        for folder in [workspace.home(), workspace.config_folder()] {
            fs::create_dir(folder).unwrap();
        }
        workspace
    }

    /// The same world with its artifacts somewhere else.
    #[must_use]
    pub fn with_artifacts(mut self, artifacts: impl Into<PathBuf>) -> Self {
        self.artifacts = artifacts.into();
        self
    }

    /// The whole world.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// What `HOME` is.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The folder that relative urls start from.
    #[must_use]
    pub fn config_folder(&self) -> PathBuf {
        self.root().join("config")
    }

    /// The config's file.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config_folder().join("corpus.toml")
    }

    /// The artifacts directory; the program makes it.
    #[must_use]
    pub fn artifacts(&self) -> &Path {
        &self.artifacts
    }

    /// A path below the artifacts directory.
    #[must_use]
    pub fn path(&self, relative: &str) -> PathBuf {
        self.artifacts.join(relative)
    }

    /// Writes the config, in place of an earlier one.
    pub fn configure(&self, config: impl Into<ConfigToml>) {
        fs::write(self.config_file(), config.into().to_toml()).unwrap();
    }

    /// Writes a file beside the config and gives its path.
    pub fn place(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        write(&self.config_folder().join(name), bytes.as_ref())
    }

    /// Writes a file below the artifacts directory, as an earlier run or a person would have left it.
    pub fn plant(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        write(&self.path(relative), bytes.as_ref())
    }

    /// Writes `spec.json` for this config into the folder of a subprocess activity, and gives that folder.
    pub fn activity(&self, key: &str, config: impl Into<ConfigToml>) -> PathBuf {
        let mut spec = config.into().to_json();
        spec.insert("base".to_owned(), json!(self.config_folder()));
        let spec = serde_json::to_vec(&Value::Object(spec)).unwrap();
        let file = self.plant(&format!("activities/{key}/spec.json"), spec);
        file.parent().unwrap().to_owned()
    }

    /// The bytes of a file below the artifacts directory; none when it is not there.
    #[must_use]
    pub fn read(&self, relative: &str) -> Option<Vec<u8>> {
        fs::read(self.path(relative)).ok()
    }

    /// The text of the ledger; empty when there is none.
    #[must_use]
    pub fn ledger(&self) -> String {
        String::from_utf8(self.read("corpus/LEDGER.jsonl").unwrap_or_default()).unwrap()
    }

    /// The ledger's rows.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        self.ledger().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The ids of the ledger's rows, in order.
    #[must_use]
    pub fn ledger_ids(&self) -> Vec<String> {
        self.rows().into_iter().map(|row| row.source_id.to_string()).collect()
    }

    /// The names of a source's raw directories, oldest first.
    #[must_use]
    pub fn versions(&self, id: &str) -> Vec<String> {
        names(&self.path(&format!("corpus/raw/{id}")))
    }

    /// The names of a source's receipts.
    #[must_use]
    pub fn receipts(&self, id: &str) -> Vec<String> {
        names(&self.path(&format!("corpus/receipts/{id}")))
    }

    /// One receipt.
    #[must_use]
    pub fn receipt(&self, id: &str, version: &str) -> Receipt {
        let bytes = self.read(&format!("corpus/receipts/{id}/{version}.json")).expect("the receipt is there");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The part files of a raw directory, each unpacked by the zstd library itself.
    #[must_use]
    pub fn raw_parts(&self, id: &str, version: &str) -> Vec<String> {
        let folder = self.path(&format!("corpus/raw/{id}/{version}"));
        let unpack =
            |name: String| String::from_utf8(zstd::decode_all(&*fs::read(folder.join(name)).unwrap()).unwrap());
        names(&folder).into_iter().map(|name| unpack(name).unwrap()).collect()
    }

    /// The raw documents of the only raw directory of a source.
    ///
    /// # Panics
    /// When there is none or more than one.
    #[must_use]
    pub fn raw_documents(&self, id: &str) -> Vec<RawDocument> {
        let versions = self.versions(id);
        assert_eq!(versions.len(), 1, "one raw directory of `{id}`: {versions:?}");
        let lines = self.raw_parts(id, &versions[0]).concat();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The texts of the only raw directory of a source.
    #[must_use]
    pub fn texts(&self, id: &str) -> Vec<String> {
        self.raw_documents(id).into_iter().map(|document| document.text).collect()
    }

    /// The manifest of the published dataset `small/v1`; none when nothing is published.
    ///
    /// # Panics
    /// When it is not of the contract's form.
    #[must_use]
    pub fn manifest(&self) -> Option<Manifest> {
        let bytes = self.read(&format!("{PUBLISHED}/_MANIFEST.json"))?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    /// The rows of the JSON Lines shards of the published dataset, in order.
    #[must_use]
    pub fn shard_rows(&self) -> Vec<Value> {
        let shards = self.manifest().into_iter().flat_map(|manifest| manifest.shards).map(|shard| shard.name);
        let unpacked = shards.filter(|name| name.starts_with("jsonl/")).map(|name| {
            let packed = self.read(&format!("{PUBLISHED}/{name}")).expect("the shard is there");
            String::from_utf8(zstd::decode_all(&*packed).unwrap()).unwrap()
        });
        let all: String = unpacked.collect();
        all.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The documents that extract made of a source of `small/v1`.
    #[must_use]
    pub fn documents(&self, id: &str) -> Vec<Document> {
        let folder = self.path(&format!("corpus/extract/small/v1/{id}"));
        let parts = names(&folder).into_iter().filter(|name| name.starts_with("part-"));
        let unpack = |name: String| zstd::decode_all(&*fs::read(folder.join(name)).unwrap()).unwrap();
        let all: String = parts.map(|name| String::from_utf8(unpack(name)).unwrap()).collect();
        all.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Everything below the artifacts directory.
    #[must_use]
    pub fn tree(&self) -> Tree {
        Tree::of(&self.artifacts)
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

fn write(path: &Path, bytes: &[u8]) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    path.to_owned()
}

/// The names in a folder in order; none when it is not there.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
