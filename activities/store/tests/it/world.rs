//! An artifacts directory with extracted documents, made without the stages that make it otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use corpora_contracts::config::{Config, parse_toml, validate};
use corpora_contracts::document::Document;
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::{Layout, part_name};
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::Manifest;
use corpora_contracts::receipt::{Receipt, SplitSettings};
use corpora_contracts::record::{OutputFile, StageRecord};
use corpora_contracts::summary::{StageEntry, StageStatus, StageSummary};
use corpora_stage::{Clock, Context, Outcome, Progress, record};
use corpora_store::Options;
use tokio_util::sync::CancellationToken;

/// The texts of one source, by part, and what extract dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source {
    pub(crate) id: String,
    pub(crate) parts: Vec<Vec<String>>,
    pub(crate) dropped: u64,
    /// Told apart by this in the pinned digest.
    pub(crate) edition: u32,
}

/// A source of one part.
pub(crate) fn source(id: &str, texts: &[&str]) -> Source {
    let part = texts.iter().map(|text| (*text).to_owned()).collect();
    Source { id: id.to_owned(), parts: vec![part], ..Source::default() }
}

/// A source of so many short documents.
pub(crate) fn many(id: &str, n_docs: usize) -> Source {
    let texts = (0..n_docs).map(|k| format!("{id} number {k}")).collect();
    Source { id: id.to_owned(), parts: vec![texts], ..Source::default() }
}

/// An artifacts directory.
pub(crate) struct World {
    _folder: Option<tempfile::TempDir>,
    pub(crate) layout: Layout,
    pub(crate) config: Config,
    pub(crate) cancel: CancellationToken,
}

impl World {
    /// A world in which these sources were fetched and extracted; `store` is the `[store]` table.
    pub(crate) fn new(sources: &[Source], store: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path().join("artifacts"));
        let config = config(sources, store);
        let world = Self { _folder: Some(folder), layout, config, cancel: CancellationToken::new() };
        sources.iter().for_each(|source| world.extract(source));
        world
    }

    /// The world that another process made at these artifacts.
    #[cfg(feature = "faults")]
    pub(crate) fn standing_at(artifacts: &Path, sources: &[Source], store: &str) -> Self {
        let config = config(sources, store);
        Self { _folder: None, layout: Layout::new(artifacts), config, cancel: CancellationToken::new() }
    }

    /// Another config over the same artifacts; its sources are extracted already.
    pub(crate) fn reconfigure(&mut self, sources: &[Source], store: &str) {
        self.config = config(sources, store);
    }

    /// Writes what fetch and extract leave of a source.
    pub(crate) fn extract(&self, source: &Source) {
        let (row, receipt) = (row(source), self.receipt(source));
        let path = self.layout.receipt(&row.source_id, &"20260101".parse().unwrap());
        write(&path, receipt.to_line().unwrap().as_bytes());
        self.append(&row);
        let folder = self.layout.extracted(&self.config.dataset, &self.config.version, &row.source_id);
        let mut outputs = Vec::new();
        let mut k = 0;
        for (index, texts) in source.parts.iter().enumerate() {
            let lines: String = texts.iter().zip(k..).map(|(text, k)| line(source, k, text)).collect();
            k += texts.len();
            let path = folder.join(part_name(index));
            let bytes = zstd::encode_all(lines.as_bytes(), 3).unwrap();
            write(&path, &bytes);
            let (path, sha256) = (self.layout.relative(&path), Digest::of(&bytes));
            outputs.push(OutputFile { path, sha256, bytes: bytes.len() as u64, n_docs: texts.len() as u64 });
        }
        let raw = self.layout.raw_dir(&row.source_id, &"20260101".parse().unwrap()).join(part_name(0));
        write(&raw, b"raw");
        let dropped = Some(("empty_text".to_owned(), source.dropped)).into_iter().filter(|(_, count)| *count > 0);
        let record = StageRecord {
            stage: "extract".to_owned(),
            keys: BTreeMap::new(),
            inputs: vec![record::file_state(&self.layout, &raw, None).unwrap()],
            kept: k as u64,
            dropped: dropped.collect(),
            cut: BTreeMap::new(),
            outputs,
        };
        record::write(&folder, &record, None).unwrap();
    }

    /// Rewrites the first part of a source, and what extract recorded of it.
    pub(crate) fn rewrite(&self, id: &str, change: impl Fn(String) -> String) {
        let folder = self.layout.extracted(&self.config.dataset, &self.config.version, &id.parse().unwrap());
        let path = folder.join(part_name(0));
        let text = String::from_utf8(zstd::decode_all(fs::File::open(&path).unwrap()).unwrap()).unwrap();
        let bytes = zstd::encode_all(change(text).as_bytes(), 3).unwrap();
        write(&path, &bytes);
        let mut record = record::read(&folder).unwrap().unwrap();
        (record.outputs[0].sha256, record.outputs[0].bytes) = (Digest::of(&bytes), bytes.len() as u64);
        record::write(&folder, &record, None).unwrap();
    }

    /// Adds a row to the ledger.
    pub(crate) fn append(&self, row: &Row) {
        let mut ledger = fs::read_to_string(self.layout.ledger()).unwrap_or_default();
        ledger.push_str(&row.to_line().unwrap());
        write(&self.layout.ledger(), ledger.as_bytes());
    }

    fn receipt(&self, source: &Source) -> Receipt {
        let row = row(source);
        let configured = self.config.sources.iter().find(|configured| configured.id == row.source_id).unwrap();
        Receipt {
            source_id: row.source_id,
            sha256: row.sha256,
            bytes: 1,
            retrieved_at: row.retrieved_at,
            n_docs: row.n_docs,
            dropped: BTreeMap::new(),
            split: SplitSettings { documents: configured.split.clone(), part_docs: 100_000 },
            parts: Vec::new(),
            crawl: None,
        }
    }

    /// Runs the stage.
    pub(crate) fn run(&self, jobs: usize) -> Outcome<StageSummary> {
        let context = Context {
            layout: self.layout.clone(),
            clock: Clock::System,
            cancel: self.cancel.clone(),
            progress: Progress::default(),
        };
        let options = Options { jobs, lock_timeout: Duration::ZERO };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(corpora_store::run(&self.config, &options, &context))
    }

    /// Runs the stage, which must succeed with this status.
    pub(crate) fn store(&self, jobs: usize, status: StageStatus) -> StageEntry {
        let outcome = self.run(jobs);
        let entry = outcome.summary.entries.into_iter().next().unwrap();
        assert_eq!((outcome.exit.code(), entry.status), (0, status), "{entry:?}");
        entry
    }

    pub(crate) fn staged(&self) -> PathBuf {
        self.layout.staged(&self.config.dataset, &self.config.version)
    }

    pub(crate) fn published(&self) -> PathBuf {
        self.layout.dataset(&self.config.dataset, &self.config.version)
    }

    pub(crate) fn manifest(&self) -> Manifest {
        serde_json::from_slice(&fs::read(self.staged().join("_MANIFEST.json")).unwrap()).unwrap()
    }

    pub(crate) fn record(&self) -> StageRecord {
        let folder = self.layout.stage("store", &self.config.dataset, &self.config.version);
        record::read(&folder).unwrap().unwrap()
    }
}

/// The row of a source, as the commit writes it.
pub(crate) fn row(source: &Source) -> Row {
    let n_docs = source.parts.iter().map(|part| part.len() as u64).sum::<u64>() + source.dropped;
    let text = format!(
        r#"{{"source_id":"{id}","url":"{url}","license_spdx":"CC-BY-4.0","retrieved_at":"2026-01-01T00:00:00Z","sha256":"{sha256}","n_docs":{n_docs},"allowed_uses":["train","eval"],"pii_policy":"scrub","filters_applied":[],"kept":{n_docs},"dropped":0,"notes":""}}"#,
        id = source.id,
        url = url(source),
        sha256 = sha256(source),
    );
    serde_json::from_str(&text).unwrap()
}

/// Every file of a folder but the metadata table, with its bytes.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in corpora_stage::durable::names_in(folder).unwrap() {
        let path = folder.join(&name);
        if path.is_dir() {
            let inside = snapshot(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes));
            files.extend(inside);
        } else if name != "metadata.sqlite" {
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

fn config(sources: &[Source], store: &str) -> Config {
    let mut text = "dataset = \"d\"\nversion = \"v1\"\n".to_owned();
    for source in sources {
        let (id, url, sha256) = (&source.id, url(source), sha256(source));
        text.push_str(&format!(
            "[[sources]]\nid = \"{id}\"\nurl = \"{url}\"\nsha256 = \"{sha256}\"\nlicense_spdx = \"CC-BY-4.0\"\n"
        ));
    }
    text.push_str(&format!("[store]\n{store}"));
    let reading = validate(&parse_toml(&text).unwrap());
    reading.config.unwrap_or_else(|| panic!("{:?}", reading.problems))
}

fn url(source: &Source) -> String {
    format!("https://{}.example/texts.jsonl", source.id)
}

fn sha256(source: &Source) -> Digest {
    Digest::of(format!("{} {}", source.id, source.edition).as_bytes())
}

fn line(source: &Source, k: usize, text: &str) -> String {
    let document = Document {
        id: format!("{}:{k}", source.id),
        source_id: source.id.parse::<Name>().unwrap(),
        url: format!("{}#{}", url(source), k + 1),
        fetched_at: "2026-01-01T00:00:00Z".parse().unwrap(),
        license_spdx: "CC-BY-4.0".to_owned(),
        lang: if k.is_multiple_of(3) { "en" } else { "und" }.to_owned(),
        title: if k.is_multiple_of(2) { String::new() } else { format!("Title \"{k}\"") },
        text: text.to_owned(),
        meta: serde_json::Map::new(),
    };
    serde_json::to_string(&document).unwrap() + "\n"
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
