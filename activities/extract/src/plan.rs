//! What is to be done about a source: nothing, a fresh record, or its documents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use corpora_contracts::config::{Config, Format, Source, digest_of};
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::{Ledger, Row};
use corpora_contracts::receipt::Part;
use corpora_contracts::record::{FileState, StageRecord};
use corpora_stage::{holdings, record};
use corpora_text::page::EXTRACTOR_VERSION;

use crate::convert::{self, Shape};
use crate::error::SourceError;
use crate::page::Reader;

/// The stage's verb.
pub(crate) const STAGE: &str = "extract";

/// The form of this stage's output, to be raised with every change of the documents that it makes of the same text.
const VERSION: u32 = 1;

/// The form of what is written of pages beside their text, to be raised with every change of it.
const META_VERSION: u32 = 1;

/// What is to be done about a source.
#[derive(Debug)]
pub(crate) enum Action {
    /// Nothing: the ledger revokes it.
    Revoked,
    /// Nothing: its documents stand, and are of these raw parts and settings.
    Cached(StageRecord),
    /// Its documents stand; only the times of raw parts changed, which this record has.
    Refresh(StageRecord),
    /// Its documents are to be made, for these reasons.
    Extract(Box<Task>, Vec<String>),
}

/// What documents are made of.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// The terms.
    pub(crate) row: Row,
    /// Where the raw parts are.
    pub(crate) raw_dir: PathBuf,
    /// The raw parts in order.
    pub(crate) parts: Vec<Part>,
    /// Documents that fetch left out, by reason: they count as left out here, too.
    pub(crate) dropped: BTreeMap<String, u64>,
    /// What raw documents are.
    pub(crate) shape: Shape,
    /// How pages are read.
    pub(crate) reader: Reader,
    /// See [`StageRecord::keys`].
    pub(crate) keys: BTreeMap<String, Digest>,
}

/// Decides what is to be done about a source; reads raw parts only when their times changed.
pub(crate) fn decide(
    config: &Config,
    source: &Source,
    ledger: &Ledger,
    layout: &Layout,
) -> Result<Action, SourceError> {
    if ledger.revoked(&source.id) {
        return Ok(Action::Revoked);
    }
    let task = task(config, source, ledger, layout)?;
    let folder = layout.extracted(&config.dataset, &config.version, &source.id);
    let Some(mut record) = record::read(&folder)? else {
        return Ok(Action::Extract(Box::new(task), vec!["never extracted".to_owned()]));
    };
    let reasons = reasons(&task, &record, layout);
    if !reasons.is_empty() {
        return Ok(Action::Extract(Box::new(task), reasons));
    }
    let inputs = states(&task, &record.inputs, layout)?;
    if inputs == record.inputs {
        return Ok(Action::Cached(record));
    }
    record.inputs = inputs;
    Ok(Action::Refresh(record))
}

fn task(config: &Config, source: &Source, ledger: &Ledger, layout: &Layout) -> Result<Task, SourceError> {
    let (id, sha256) = (source.id.clone(), source.sha256);
    let shape = match source.split.format {
        Format::Jsonl | Format::Text => Shape::Lines,
        Format::Html if source.split.is_one_page() => Shape::OnePage,
        Format::Html | Format::Warc | Format::Wet => Shape::Pages,
        format @ Format::Parquet => return Err(SourceError::UnbuiltFormat { id, format }),
    };
    let held = holdings::read(layout, &source.id)?;
    let holding = holdings::newest(&held, &sha256, |receipt| receipt.split.documents == source.split);
    let Some(holding) = holding else { return Err(SourceError::NotFetched { id, sha256 }) };
    let Some(row) = ledger.last(&source.id, &sha256).cloned() else { return Err(SourceError::NoRow { id, sha256 }) };
    let keys = keys(config, &row, shape)?;
    let raw_dir = layout.raw_dir(&source.id, &holding.version);
    let (parts, dropped) = (holding.receipt.parts.clone(), holding.receipt.dropped.clone());
    let reader = Reader::of(&config.extract);
    Ok(Task { row, raw_dir, parts, dropped, shape, reader, keys })
}

/// What documents depend on beside the raw parts. Uses and PII policy stand in no document.
fn keys(config: &Config, row: &Row, shape: Shape) -> Result<BTreeMap<String, Digest>, serde_json::Error> {
    let version = format!("{VERSION} {} {}", corpora_text::normalize::VERSION, corpora_text::language::VERSION);
    let keys = [
        ("extract", digest_of(&config.extract)?),
        ("terms", digest_of(&(&row.url, &row.license_spdx))?),
        ("stage", Digest::of(version.as_bytes())),
    ];
    let extractor = format!("{META_VERSION} {EXTRACTOR_VERSION}");
    let extractor = (shape != Shape::Lines).then(|| ("extractor", Digest::of(extractor.as_bytes())));
    Ok(keys.into_iter().chain(extractor).map(|(name, digest)| (name.to_owned(), digest)).collect())
}

/// Why what stands is not what this run would make; none when it is, as far as can be told without the raw parts.
fn reasons(task: &Task, record: &StageRecord, layout: &Layout) -> Vec<String> {
    let mut reasons = Vec::new();
    let names = task.keys.keys().chain(record.keys.keys().filter(|name| !task.keys.contains_key(*name)));
    let changed = names.filter(|name| task.keys.get(*name) != record.keys.get(*name));
    reasons.extend(changed.map(|name| format!("{name} changed")));
    let expected = task.parts.iter().map(|part| (layout.relative(&task.raw_dir.join(&part.name)), part.sha256));
    if !expected.eq(record.inputs.iter().map(|input| (input.path.clone(), input.sha256))) {
        reasons.push("raw parts changed".to_owned());
    }
    if record.stage != STAGE || !record::outputs_stand(layout, record) {
        reasons.push("its documents are missing or damaged".to_owned());
    }
    reasons
}

/// The raw parts as they are now, each with its receipt's digest.
fn states(task: &Task, known: &[FileState], layout: &Layout) -> Result<Vec<FileState>, SourceError> {
    let state = |(part, known): (&Part, &FileState)| {
        let path = task.raw_dir.join(&part.name);
        let state = record::file_state(layout, &path, Some(known))?;
        if state.sha256 == part.sha256 {
            return Ok(state);
        }
        Err(SourceError::RawPartChanged { path: state.path, expected: part.sha256 })
    };
    task.parts.iter().zip(known).map(state).collect()
}

impl Task {
    /// What every document of the source has in common.
    pub(crate) fn terms(&self) -> convert::Terms<'_> {
        let Row { source_id, url, license_spdx, .. } = &self.row;
        let (shape, reader) = (self.shape, &self.reader);
        convert::Terms { source_id: source_id.as_str(), url, license_spdx, shape, reader }
    }
}
