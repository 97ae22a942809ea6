//! An artifacts directory with raw documents in it, made of the contract's types.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use corpora_contracts::config::{Config, parse_toml, validate};
use corpora_contracts::document::Document;
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::{Layout, RawVersion, part_name};
use corpora_contracts::ledger::Row;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::raw::RawDocument;
use corpora_contracts::receipt::{Part, Receipt, SplitSettings};
use corpora_contracts::summary::{StageStatus, StageSummary};
use corpora_contracts::time::Timestamp;
use corpora_extract::Options;
use corpora_stage::{Clock, Context, Outcome, Progress};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct World {
    folder: TempDir,
    pub(crate) config: Config,
    pub(crate) layout: Layout,
}

impl World {
    /// A config of these sources; nothing is fetched yet.
    pub(crate) fn new(ids: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        Self { folder, config: config(ids, ""), layout }
    }

    /// A source of pages; nothing is fetched yet.
    pub(crate) fn of_pages(id: &str) -> Self {
        Self { config: config(&[id], "format = \"warc\"\n"), ..Self::new(&[id]) }
    }

    /// As [`Self::new`], over an artifacts directory that another process made.
    #[cfg(feature = "faults")]
    pub(crate) fn at(root: &Path, ids: &[&str]) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), config: config(ids, ""), layout: Layout::new(root) }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Raw parts of these texts, their receipt, and the ledger row.
    pub(crate) fn fetched(&self, id: &str, parts: &[&[&str]]) {
        let mut line = 0;
        let raw = |text: &&str| {
            line += 1;
            raw_line(id, line, text)
        };
        let mut raw = raw;
        let parts: Vec<Vec<String>> = parts.iter().map(|part| part.iter().map(&mut raw).collect()).collect();
        self.fetched_lines(id, &parts);
        self.row(id, |_| {});
    }

    /// Raw parts of these lines, and their receipt.
    pub(crate) fn fetched_lines(&self, id: &str, parts: &[Vec<String>]) {
        let source = self.config.sources.iter().find(|source| source.id.as_str() == id).unwrap();
        let folder = self.raw_dir(id);
        fs::create_dir_all(&folder).unwrap();
        let part = |(index, lines): (usize, &Vec<String>)| {
            let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let packed = zstd::encode_all(content.as_bytes(), 3).unwrap();
            fs::write(folder.join(part_name(index)), &packed).unwrap();
            let (sha256, bytes) = (Digest::of(&packed), packed.len() as u64);
            Part { name: part_name(index), sha256, bytes, n_docs: lines.len() as u64 }
        };
        let parts: Vec<Part> = parts.iter().enumerate().map(part).collect();
        let receipt = Receipt {
            source_id: source.id.clone(),
            sha256: source.sha256,
            bytes: 1,
            retrieved_at: time(),
            n_docs: parts.iter().map(|part| part.n_docs).sum(),
            dropped: BTreeMap::new(),
            split: SplitSettings { documents: source.split.clone(), part_docs: 100_000 },
            parts,
            crawl: None,
        };
        let path = self.layout.receipt(&source.id, &version());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, receipt.to_line().unwrap()).unwrap();
    }

    /// Appends the source's ledger row, changed.
    pub(crate) fn row(&self, id: &str, change: impl FnOnce(&mut Row)) {
        let source = self.config.sources.iter().find(|source| source.id.as_str() == id).unwrap();
        let receipt = fs::read(self.layout.receipt(&source.id, &version())).unwrap();
        let mut row = Row::of(source, &serde_json::from_slice(&receipt).unwrap());
        change(&mut row);
        let mut ledger = fs::read_to_string(self.layout.ledger()).unwrap_or_default();
        ledger.push_str(&row.to_line().unwrap());
        fs::write(self.layout.ledger(), ledger).unwrap();
    }

    pub(crate) async fn run(&self) -> Outcome<StageSummary> {
        self.run_with(&Options::default(), &CancellationToken::new()).await
    }

    pub(crate) async fn run_with(&self, options: &Options, cancel: &CancellationToken) -> Outcome<StageSummary> {
        corpora_extract::run(&self.config, options, &self.context(Progress::default(), cancel)).await
    }

    pub(crate) fn context(&self, progress: Progress, cancel: &CancellationToken) -> Context {
        Context { layout: self.layout.clone(), clock: Clock::Fixed(time()), cancel: cancel.clone(), progress }
    }

    /// Runs, and expects every source to end so.
    pub(crate) async fn expect(&self, statuses: &[StageStatus]) {
        let outcome = self.run().await;
        assert_eq!(status(&outcome), statuses, "{:?}", outcome.summary);
        assert_eq!((outcome.exit, outcome.summary.ok), (ExitCode::Success, true));
    }

    pub(crate) fn raw_dir(&self, id: &str) -> PathBuf {
        self.layout.raw_dir(&name(id), &version())
    }

    pub(crate) fn folder(&self, id: &str) -> PathBuf {
        self.layout.extracted(&self.config.dataset, &self.config.version, &name(id))
    }

    /// The documents of each part.
    pub(crate) fn parts(&self, id: &str) -> Vec<Vec<Document>> {
        let lines = |path: PathBuf| {
            let text = zstd::decode_all(File::open(path).unwrap()).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.is_empty() || text.ends_with('\n'));
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let names = names(&self.folder(id)).into_iter().filter(|name| name.starts_with("part-"));
        names.map(|name| lines(self.folder(id).join(name))).collect()
    }

    pub(crate) fn documents(&self, id: &str) -> Vec<Document> {
        self.parts(id).concat()
    }

    /// Every file below `corpus/extract` with its bytes; records without the times, which are of this machine.
    pub(crate) fn extracted(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.root().join("corpus/extract"), &mut |path| {
            let mut bytes = fs::read(path).unwrap();
            if path.ends_with("_STAGE.json") {
                let mut record: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
                record["inputs"].as_array_mut().unwrap().iter_mut().for_each(|input| input["mtime_ns"] = 0.into());
                bytes = record.to_string().into_bytes();
            }
            files.insert(self.layout.relative(path), bytes);
        });
        files
    }
}

pub(crate) fn status(outcome: &Outcome<StageSummary>) -> Vec<StageStatus> {
    outcome.summary.entries.iter().map(|entry| entry.status).collect()
}

/// The kind and the message of the only entry's error.
pub(crate) fn only_error(outcome: &Outcome<StageSummary>) -> (&str, &str) {
    let [entry] = &outcome.summary.entries[..] else { panic!("{:?}", outcome.summary) };
    let error = entry.error.as_ref().unwrap();
    (&error.kind, &error.message)
}

pub(crate) fn options(jobs: usize) -> Options {
    Options { jobs, lock_timeout: Duration::ZERO, ..Options::default() }
}

pub(crate) fn name(id: &str) -> Name {
    id.parse().unwrap()
}

pub(crate) fn time() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn raw_line(id: &str, line: usize, text: &str) -> String {
    let raw = RawDocument {
        url: format!("https://h.example/{id}.jsonl#{line}"),
        fetched_at: time(),
        license_spdx: "CC-BY-4.0".to_owned(),
        text: text.to_owned(),
        content_type: None,
        meta: None,
    };
    serde_json::to_string(&raw).unwrap()
}

/// A raw page at `https://pages.example/<number>`.
pub(crate) fn raw_page(number: usize, source: &str) -> String {
    let raw = RawDocument {
        url: format!("https://pages.example/{number}"),
        fetched_at: time(),
        license_spdx: "CC-BY-4.0".to_owned(),
        text: source.to_owned(),
        content_type: Some("text/html".to_owned()),
        meta: Some([("status".to_owned(), 200.into())].into_iter().collect()),
    };
    serde_json::to_string(&raw).unwrap()
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn collect(folder: &Path, see: &mut dyn FnMut(&Path)) {
    for name in names(folder) {
        let path = folder.join(name);
        if path.is_dir() { collect(&path, see) } else { see(&path) }
    }
}

fn version() -> RawVersion {
    "20260101".parse().unwrap()
}

fn config(ids: &[&str], further: &str) -> Config {
    let mut text = "dataset = \"small\"\nversion = \"v1\"\n".to_owned();
    for id in ids {
        let sha256 = Digest::of(id.as_bytes());
        text += &format!(
            "[[sources]]\nid = \"{id}\"\nurl = \"https://h.example/{id}.jsonl\"\nsha256 = \"{sha256}\"\n\
             license_spdx = \"CC-BY-4.0\"\n{further}"
        );
    }
    let reading = validate(&parse_toml(&text).unwrap());
    reading.config.unwrap_or_else(|| panic!("{:?}", reading.problems))
}
