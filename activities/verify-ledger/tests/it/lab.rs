//! An artifacts directory made by hand: ledger, receipts, raw parts, extract records, and a staged dataset.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use corpora_contracts::config::{Config, ShardFormat, parse_toml, validate};
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::{Manifest, Shard, SourceCount, SplitName};
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::receipt::{Part, Receipt, SplitSettings};
use corpora_contracts::record::{OutputFile, StageRecord};
use corpora_contracts::summary::{StageEntry, StageStatus, StageSummary};
use corpora_stage::{Clock, Context, Outcome, Progress};
use corpora_verify_ledger::Options;
use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const CONFIG: &str = r#"
dataset = "small"
version = "v1"
[[sources]]
id = "a"
url = "https://host/a.jsonl"
sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
license_spdx = "CC-BY-4.0"
[[sources]]
id = "b"
url = "b.txt"
sha256 = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
license_spdx = "CC0-1.0"
format = "text"
[store]
shard_rows = 3
val_permille = 200
"#;

/// A row of a shard.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) source_id: String,
    pub(crate) url: String,
    pub(crate) license_spdx: String,
    pub(crate) text: String,
    pub(crate) split: String,
}

/// An artifacts directory and the config it belongs to.
pub(crate) struct Lab {
    pub(crate) root: TempDir,
    pub(crate) layout: Layout,
    pub(crate) config: Config,
}

impl Lab {
    /// Fetched and extracted; nothing is stored yet.
    pub(crate) fn new() -> Self {
        Self::of(CONFIG)
    }

    pub(crate) fn of(toml: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let lab = Self { layout: Layout::new(root.path()), config: config(toml), root };
        for source in &lab.config.sources {
            let receipt = lab.fetch(&source.id);
            lab.append_rows(&[Row::of(source, &receipt)]);
            lab.extract(&source.id);
        }
        lab
    }

    /// The lab with a staged dataset.
    pub(crate) fn staged() -> Self {
        let lab = Self::new();
        lab.stage();
        lab
    }

    /// The lab with a published dataset, and nothing staged.
    pub(crate) fn published() -> Self {
        let lab = Self::staged();
        assert_eq!(lab.run().exit, ExitCode::Success);
        lab
    }

    pub(crate) fn source(&self, id: &str) -> &corpora_contracts::config::Source {
        self.config.sources.iter().find(|source| source.id.as_str() == id).unwrap()
    }

    pub(crate) fn staged_dir(&self) -> PathBuf {
        self.layout.staged(&self.config.dataset, &self.config.version)
    }

    pub(crate) fn published_dir(&self) -> PathBuf {
        self.layout.dataset(&self.config.dataset, &self.config.version)
    }

    /// Documents of a source: 5 of `a`, 3 of `b`, some of each held out.
    pub(crate) fn documents(&self, id: &str) -> Vec<Document> {
        let source = self.source(id);
        let count = if id == "a" { 5 } else { 3 };
        let document = |k: usize| {
            let text = format!("Text {k} of {id}.");
            Document {
                id: format!("{id}:{k}"),
                source_id: id.to_owned(),
                url: format!("{}#{}", source.url, k + 1),
                license_spdx: source.license_spdx.clone(),
                split: SplitName::of(&Digest::of(text.as_bytes()), 200).as_str().to_owned(),
                text,
            }
        };
        (0..count).map(document).collect()
    }

    /// Documents of every source that the ledger does not revoke, in config order.
    pub(crate) fn all_documents(&self) -> Vec<Document> {
        let ledger = corpora_stage::ledger::read(&self.layout).unwrap();
        let ids = self.config.sources.iter().map(|source| &source.id).filter(|id| !ledger.revoked(id));
        ids.flat_map(|id| self.documents(id.as_str())).collect()
    }

    pub(crate) fn append_rows(&self, rows: &[Row]) {
        let path = self.layout.ledger();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).unwrap_or_default();
        let lines: String = rows.iter().map(|row| row.to_line().unwrap()).collect();
        fs::write(path, before + &lines).unwrap();
    }

    pub(crate) fn last_row(&self, id: &str) -> Row {
        let source = self.source(id);
        corpora_stage::ledger::read(&self.layout).unwrap().last(&source.id, &source.sha256).unwrap().clone()
    }

    /// What store does: the staged folder of what the ledger says now.
    pub(crate) fn stage(&self) {
        self.stage_documents(&self.all_documents());
    }

    /// The staged folder of these documents, consistent in all but what the documents say.
    pub(crate) fn stage_documents(&self, documents: &[Document]) {
        let folder = self.staged_dir();
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let mut shards = Vec::new();
        for format in &self.config.store.formats {
            for split in [SplitName::Train, SplitName::Val] {
                shards.extend(self.write_shards(&folder, *format, split, documents));
            }
        }
        let ledger = corpora_stage::ledger::read(&self.layout).unwrap();
        let kept: Vec<&Name> =
            self.config.sources.iter().map(|source| &source.id).filter(|id| !ledger.revoked(id)).collect();
        let count = |id: &Name| {
            let of_source: Vec<_> = documents.iter().filter(|document| document.source_id == id.as_str()).collect();
            let n_val = of_source.iter().filter(|document| document.split == "val").count() as u64;
            let dropped = BTreeMap::from([("empty".to_owned(), 1)]);
            SourceCount { source_id: id.clone(), n_docs: of_source.len() as u64, n_val, dropped }
        };
        let manifest = Manifest {
            dataset: self.config.dataset.clone(),
            version: self.config.version.clone(),
            n_docs: documents.len() as u64,
            n_shards: shards.len() as u64,
            shards,
            sources: kept.iter().map(|id| count(id)).collect(),
            dropped: BTreeMap::from([("empty".to_owned(), kept.len() as u64)]),
            exact_duplicates: 0,
            config_sha256: self.config.digest().unwrap(),
            ledger: kept.iter().map(|id| self.last_row(id.as_str())).collect(),
        };
        let rows: String = manifest.ledger.iter().map(|row| row.to_line().unwrap()).collect();
        fs::write(folder.join("ledger.jsonl"), rows).unwrap();
        fs::write(folder.join("_MANIFEST.json"), serde_json::to_string(&manifest).unwrap() + "\n").unwrap();
        self.write_table(&folder.join("metadata.sqlite"), documents);
    }

    pub(crate) fn run(&self) -> Outcome<StageSummary> {
        self.run_cancelled_by(CancellationToken::new())
    }

    pub(crate) fn run_cancelled_by(&self, cancel: CancellationToken) -> Outcome<StageSummary> {
        run(&self.config, &self.layout, cancel)
    }

    /// Runs and expects this status.
    pub(crate) fn expect(&self, status: StageStatus) -> StageEntry {
        let outcome = self.run();
        let [entry] = outcome.summary.entries.as_slice() else { panic!("one entry") };
        assert_eq!(entry.status, status, "{entry:?}");
        let code = if status.is_ok() { ExitCode::Success } else { ExitCode::Data };
        assert_eq!((outcome.summary.ok, outcome.exit), (status.is_ok(), code));
        entry.clone()
    }

    /// Changes the JSON of a file of the artifacts directory.
    pub(crate) fn patch(&self, path: &Path, patch: impl FnOnce(&mut Value)) {
        let mut value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        patch(&mut value);
        fs::write(path, value.to_string() + "\n").unwrap();
    }

    pub(crate) fn patch_manifest(&self, patch: impl FnOnce(&mut Value)) {
        self.patch(&self.staged_dir().join("_MANIFEST.json"), patch);
    }

    /// Writes the shards again, with these documents, and puts their digests and rows into the manifest as it stands.
    pub(crate) fn rewrite_shards(&self, format: ShardFormat, documents: &[Document]) {
        let folder = self.staged_dir();
        let mut shards = Vec::new();
        for split in [SplitName::Train, SplitName::Val] {
            shards.extend(self.write_shards(&folder, format, split, documents));
        }
        self.patch_manifest(|manifest| {
            for shard in manifest["shards"].as_array_mut().unwrap() {
                if let Some(new) = shards.iter().find(|new| new.name == shard["name"].as_str().unwrap()) {
                    *shard = json!(new);
                }
            }
        });
    }

    pub(crate) fn receipt_path(&self, id: &str) -> PathBuf {
        self.layout.receipt(&id.parse().unwrap(), &"20260101".parse().unwrap())
    }

    pub(crate) fn record_path(&self, id: &str) -> PathBuf {
        let Config { dataset, version, .. } = &self.config;
        self.layout.extracted(dataset, version, &id.parse().unwrap()).join("_STAGE.json")
    }

    fn fetch(&self, id: &Name) -> Receipt {
        let source = self.source(id.as_str());
        let version = "20260101".parse().unwrap();
        let folder = self.layout.raw_dir(id, &version);
        fs::create_dir_all(&folder).unwrap();
        let bytes = format!("raw part of {id}");
        fs::write(folder.join("part-00000.jsonl.zst"), &bytes).unwrap();
        // One more document than extract keeps: it drops an empty one.
        let n_docs = self.documents(id.as_str()).len() as u64 + 1;
        let part = Part {
            name: "part-00000.jsonl.zst".into(),
            sha256: Digest::of(bytes.as_bytes()),
            bytes: bytes.len() as u64,
            n_docs,
        };
        let receipt = Receipt {
            source_id: id.clone(),
            sha256: source.sha256,
            bytes: 100,
            retrieved_at: "2026-01-01T00:00:00Z".parse().unwrap(),
            n_docs,
            dropped: BTreeMap::new(),
            split: SplitSettings { documents: source.split.clone(), part_docs: 100_000 },
            parts: vec![part],
            crawl: None,
        };
        let path = self.layout.receipt(id, &version);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, receipt.to_line().unwrap()).unwrap();
        receipt
    }

    fn extract(&self, id: &Name) {
        let path = self.record_path(id.as_str());
        let folder = path.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        let (part, bytes) = (folder.join("part-00000.jsonl.zst"), format!("documents of {id}"));
        fs::write(&part, &bytes).unwrap();
        let n_docs = self.documents(id.as_str()).len() as u64;
        let output = OutputFile {
            path: self.layout.relative(&part),
            sha256: Digest::of(bytes.as_bytes()),
            bytes: bytes.len() as u64,
            n_docs,
        };
        let record = StageRecord {
            stage: "extract".into(),
            keys: BTreeMap::new(),
            inputs: vec![],
            kept: n_docs,
            dropped: BTreeMap::from([("empty".to_owned(), 1)]),
            cut: BTreeMap::new(),
            outputs: vec![output],
        };
        fs::write(path, serde_json::to_string(&record).unwrap() + "\n").unwrap();
    }

    fn write_shards(&self, folder: &Path, format: ShardFormat, split: SplitName, documents: &[Document]) -> Vec<Shard> {
        let mut of_split: Vec<Document> = self.documents_of(split, documents);
        let rows = usize::try_from(self.config.store.shard_rows).unwrap();
        let total = of_split.len().div_ceil(rows);
        let mut shards = Vec::new();
        for index in 0..total {
            let rest = of_split.split_off(rows.min(of_split.len()));
            let (name, bytes) = match format {
                ShardFormat::Parquet => {
                    (format!("{}-{index:05}-of-{total:05}.parquet", split.as_str()), parquet(&of_split))
                }
                ShardFormat::Jsonl => {
                    fs::create_dir_all(folder.join("jsonl")).unwrap();
                    (format!("jsonl/{}-{index:05}-of-{total:05}.jsonl.zst", split.as_str()), jsonl(&of_split))
                }
            };
            fs::write(folder.join(&name), &bytes).unwrap();
            let (sha256, bytes) = (Digest::of(&bytes), bytes.len() as u64);
            shards.push(Shard { name, sha256, bytes, rows: of_split.len() as u64, split });
            of_split = rest;
        }
        shards
    }

    /// The table of these documents, where the shards have them.
    fn write_table(&self, path: &Path, documents: &[Document]) {
        let table = Connection::open(path).unwrap();
        table
            .execute_batch(
                "CREATE TABLE documents (id TEXT NOT NULL PRIMARY KEY, source_id TEXT NOT NULL, url TEXT NOT NULL,
                domain TEXT NOT NULL, lang TEXT NOT NULL, n_chars INTEGER NOT NULL, sha256 BLOB NOT NULL,
                shard INTEGER NOT NULL, row INTEGER NOT NULL, split TEXT NOT NULL);
                CREATE INDEX documents_domain ON documents (domain);",
            )
            .unwrap();
        let rows = usize::try_from(self.config.store.shard_rows).unwrap();
        for split in [SplitName::Train, SplitName::Val] {
            for (at, it) in self.documents_of(split, documents).iter().enumerate() {
                let (n_chars, sha256) = (it.text.chars().count(), Digest::of(it.text.as_bytes()));
                let domain = if it.url.starts_with("https://host/") { "host" } else { "" };
                let values = params![
                    it.id,
                    it.source_id,
                    it.url,
                    domain,
                    "en",
                    i64::try_from(n_chars).unwrap(),
                    &sha256.as_bytes()[..],
                    i64::try_from(at / rows).unwrap(),
                    i64::try_from(at % rows).unwrap(),
                    split.as_str(),
                ];
                table
                    .execute("INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", values)
                    .unwrap();
            }
        }
    }

    /// By the split that the text has, whatever the document says.
    fn documents_of(&self, split: SplitName, documents: &[Document]) -> Vec<Document> {
        let permille = self.config.store.val_permille;
        let is_of = |document: &&Document| SplitName::of(&Digest::of(document.text.as_bytes()), permille) == split;
        documents.iter().filter(is_of).cloned().collect()
    }
}

pub(crate) fn run(config: &Config, layout: &Layout, cancel: CancellationToken) -> Outcome<StageSummary> {
    let context = Context { layout: layout.clone(), clock: Clock::System, cancel, progress: Progress::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(corpora_verify_ledger::run(config, &Options { lock_timeout: Duration::ZERO }, &context))
}

pub(crate) fn config(toml: &str) -> Config {
    let reading = validate(&parse_toml(toml).unwrap());
    assert_eq!(reading.problems, []);
    reading.config.unwrap()
}

/// Every file under a folder with its bytes; links as where they lead.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            match fs::symlink_metadata(&path).unwrap() {
                found if found.is_dir() => folders.push(path),
                found if found.is_symlink() => {
                    files.insert(name, fs::read_link(&path).unwrap().to_string_lossy().into_owned().into_bytes());
                }
                _ => {
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    files
}

const SCHEMA: &str = "message row {
    required binary id (STRING); required binary text (STRING); required binary source_id (STRING);
    required binary url (STRING); required binary license_spdx (STRING); required binary lang (STRING);
    required binary title (STRING); required int32 n_chars; required fixed_len_byte_array(32) sha256;
    required binary split (STRING);
}";

/// A Parquet file of these rows, in row groups of two.
pub(crate) fn parquet(documents: &[Document]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::builder().build())).unwrap();
    for documents in documents.chunks(2) {
        let mut group = writer.next_row_group().unwrap();
        let strings =
            |of: fn(&Document) -> &str| documents.iter().map(|it| ByteArray::from(of(it))).collect::<Vec<_>>();
        let columns: [fn(&Document) -> &str; 7] =
            [|it| &it.id, |it| &it.text, |it| &it.source_id, |it| &it.url, |it| &it.license_spdx, |_| "en", |_| ""];
        for column in columns {
            let mut writer = group.next_column().unwrap().unwrap();
            writer.typed::<ByteArrayType>().write_batch(&strings(column), None, None).unwrap();
            writer.close().unwrap();
        }
        let chars: Vec<i32> = documents.iter().map(|it| i32::try_from(it.text.chars().count()).unwrap()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&chars, None, None).unwrap();
        column.close().unwrap();
        let digest = |it: &Document| FixedLenByteArray::from(Digest::of(it.text.as_bytes()).as_bytes().to_vec());
        let digests: Vec<_> = documents.iter().map(digest).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<FixedLenByteArrayType>().write_batch(&digests, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&strings(|it| &it.split), None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// A JSON Lines shard of these rows.
pub(crate) fn jsonl(documents: &[Document]) -> Vec<u8> {
    let line = |it: &Document| {
        let row = json!({
            "id": it.id, "text": it.text, "source_id": it.source_id, "url": it.url, "license_spdx": it.license_spdx,
            "lang": "en", "title": "", "n_chars": it.text.chars().count(),
            "sha256": Digest::of(it.text.as_bytes()), "split": it.split,
        });
        row.to_string() + "\n"
    };
    let text: String = documents.iter().map(line).collect();
    zstd::encode_all(text.as_bytes(), 3).unwrap()
}
