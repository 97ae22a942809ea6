//! What a dataset is made of: the sources that are not revoked, their terms, and what extract recorded of them.

use std::collections::BTreeMap;

use corpora_contracts::config::{Config, MetadataKind, Source, digest_of};
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::{Layout, RawVersion};
use corpora_contracts::ledger::{Ledger, Row};
use corpora_contracts::receipt::Receipt;
use corpora_contracts::record::StageRecord;
use corpora_stage::{holdings, pinned, record};

use crate::error::StoreError;
use crate::group::Origin;

/// The form of this stage's output, to be raised with every change of the files that it makes of the same documents.
const VERSION: u32 = 2;

/// What a dataset is made of.
#[derive(Debug)]
pub(crate) struct Plan {
    /// In config order.
    pub(crate) inputs: Vec<Input>,
    /// See [`StageRecord::keys`].
    pub(crate) keys: BTreeMap<String, Digest>,
    pub(crate) config_sha256: Digest,
}

/// One source's part in it.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its terms: the ledger's last row of the pinned bytes.
    pub(crate) row: Row,
    /// What extract made of it.
    pub(crate) record: StageRecord,
    pub(crate) origin: Origin,
}

impl Plan {
    /// Documents of all sources.
    pub(crate) fn n_docs(&self) -> u64 {
        self.inputs.iter().map(|input| input.record.kept).sum()
    }

    /// `ledger.jsonl`: the rows that the dataset rests on.
    pub(crate) fn rows_file(&self) -> Result<String, serde_json::Error> {
        self.inputs.iter().map(|input| input.row.to_line()).collect()
    }
}

/// Plans the dataset of a config, or says what is missing for it. Reads no documents.
///
/// # Errors
/// [`StoreError`] of the first source that is not ready.
pub(crate) fn plan(config: &Config, ledger: &Ledger, layout: &Layout) -> Result<Plan, StoreError> {
    refuse_unbuilt(config)?;
    let config = &pinned::resolve(config, layout)?;
    let wanted = config.pinned().filter(|source| !ledger.revoked(&source.id));
    let inputs = wanted.map(|source| input(config, source, ledger, layout)).collect::<Result<Vec<_>, _>>()?;
    let config_sha256 = config.digest().map_err(StoreError::Digest)?;
    let keys = keys(config, config_sha256, &inputs).map_err(StoreError::Digest)?;
    Ok(Plan { inputs, keys, config_sha256 })
}

/// What is valid in a config, and not built yet.
fn refuse_unbuilt(config: &Config) -> Result<(), StoreError> {
    let store = &config.store;
    if store.target != "artifacts" {
        let (value, instead) = (store.target.clone(), "write `target = \"artifacts\"`");
        return Err(StoreError::NotBuilt { key: "target", value, instead });
    }
    if store.metadata != MetadataKind::Sqlite {
        let (value, instead) = (store.metadata.as_str().to_owned(), "write `metadata = \"sqlite\"`");
        return Err(StoreError::NotBuilt { key: "metadata", value, instead });
    }
    Ok(())
}

fn input(config: &Config, source: &Source, ledger: &Ledger, layout: &Layout) -> Result<Input, StoreError> {
    let source_id = || source.id.clone();
    let row = ledger.last(&source.id, &source.sha256).cloned();
    let row = row.ok_or_else(|| StoreError::NotFetched { source_id: source_id() })?;
    let folder = layout.extracted(&config.dataset, &config.version, &source.id);
    let not_extracted = || StoreError::NotExtracted { source_id: source_id(), folder: layout.relative(&folder) };
    let record = record::read(&folder)?.ok_or_else(not_extracted)?;
    if let Some(reason) = staleness(source, &row, &record, layout)? {
        return Err(StoreError::Stale { source_id: source_id(), reason });
    }
    let origin = Origin {
        source_id: source_id(),
        license_spdx: row.license_spdx.clone(),
        url_prefix: source.split.format.has_lines().then(|| format!("{}#", row.url)),
    };
    Ok(Input { row, record, origin })
}

/// How the record tells that the documents are not of what the config pins, if it does.
fn staleness(source: &Source, row: &Row, record: &StageRecord, layout: &Layout) -> Result<Option<String>, StoreError> {
    let Some(receipt) = receipt_of(&source.id, record, layout)? else {
        return Ok(Some("the raw directory of its documents has no receipt".to_owned()));
    };
    if receipt.sha256 != source.sha256 {
        return Ok(Some(format!(
            "its documents are of the bytes {}, not the pinned {}",
            receipt.sha256, source.sha256
        )));
    }
    if receipt.split.documents != source.split {
        return Ok(Some("its documents are of another format or other fields than the config's".to_owned()));
    }
    // Extract's record carries what fetch dropped, too; the ledger counts what fetch kept.
    let sum =
        |start: u64, dropped: &BTreeMap<String, u64>| dropped.values().fold(start, |sum, n| sum.saturating_add(*n));
    let (counted, held) = (sum(record.kept, &record.dropped), sum(row.n_docs, &receipt.dropped));
    let differ = counted != held;
    Ok(differ.then(|| format!("extract kept or dropped {counted} documents, fetch {held}")))
}

/// The receipt of the raw directory that the documents were made of.
fn receipt_of(id: &Name, record: &StageRecord, layout: &Layout) -> Result<Option<Receipt>, StoreError> {
    let raw = format!("{}/", layout.relative(&layout.raw(id)));
    let first = record.inputs.first().and_then(|input| input.path.strip_prefix(&raw));
    let version = first.and_then(|path| path.split_once('/')).map(|(version, _part)| version);
    let version: Option<RawVersion> = version.and_then(|version| version.parse().ok());
    match version {
        Some(version) => Ok(holdings::read_receipt(layout, id, &version)?),
        None => Ok(None),
    }
}

/// What the dataset depends on beside the documents' bytes.
fn keys(
    config: &Config,
    config_sha256: Digest,
    inputs: &[Input],
) -> Result<BTreeMap<String, Digest>, serde_json::Error> {
    let sources: Vec<&Name> = inputs.iter().map(|input| &input.row.source_id).collect();
    let rows: Vec<&Row> = inputs.iter().map(|input| &input.row).collect();
    let counts: Vec<_> = inputs.iter().map(|input| (input.record.kept, &input.record.dropped)).collect();
    let stage = format!("{VERSION} {}", env!("CARGO_PKG_VERSION"));
    let keys = [
        ("config", config_sha256),
        ("counts", digest_of(&counts)?),
        ("dataset", digest_of(&(&config.dataset, &config.version, sources))?),
        ("stage", Digest::of(stage.as_bytes())),
        ("store", digest_of(&config.store)?),
        ("terms", digest_of(&rows)?),
    ];
    Ok(keys.map(|(name, digest)| (name.to_owned(), digest)).into())
}
