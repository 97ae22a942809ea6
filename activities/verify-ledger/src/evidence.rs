//! What a dataset rests on outside its own folder: ledger, receipts, and the records of extract.

use std::collections::{BTreeMap, BTreeSet};

use corpora_contracts::config::{Config, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::Ledger;
use corpora_contracts::receipt::Receipt;
use corpora_contracts::record::StageRecord;
use corpora_stage::chain;
use corpora_stage::durable::FileError;
use corpora_stage::ledger::{self, ReadLedgerError};
use corpora_stage::record;

use crate::problem::Problem;
use crate::receipts;

/// What a dataset of a config rests on.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The ledger, or why it is damaged.
    pub(crate) ledger: Result<Ledger, String>,
    /// The sound receipts of each source, oldest first.
    receipts: BTreeMap<Name, Vec<Receipt>>,
    /// Sources some of whose receipts are not sound.
    damaged: BTreeSet<Name>,
    /// What extract recorded of each source, where it did.
    pub(crate) extracts: BTreeMap<Name, Option<StageRecord>>,
    /// What is wrong with receipts.
    pub(crate) problems: Vec<Problem>,
    record_paths: BTreeMap<Name, String>,
}

impl Evidence {
    /// Reads the evidence of a config's sources.
    ///
    /// # Errors
    /// When the system does not let us read it.
    pub(crate) fn read(layout: &Layout, config: &Config) -> Result<Self, FileError> {
        let mut evidence = Self {
            ledger: read_ledger(layout)?,
            receipts: BTreeMap::new(),
            damaged: BTreeSet::new(),
            extracts: BTreeMap::new(),
            problems: Vec::new(),
            record_paths: BTreeMap::new(),
        };
        for source in config.pinned() {
            evidence.read_source(layout, config, &source.id)?;
        }
        Ok(evidence)
    }

    /// The newest receipt of the pinned bytes and the configured fields.
    pub(crate) fn receipt_of(&self, source: &Source) -> Option<&Receipt> {
        let is_current =
            |receipt: &&Receipt| receipt.sha256 == source.sha256 && receipt.split.documents == source.split;
        self.receipts.get(&source.id)?.iter().rev().find(is_current)
    }

    /// Whether the lack of a receipt was told already.
    pub(crate) fn has_bad_receipt(&self, id: &Name) -> bool {
        self.damaged.contains(id)
    }

    /// Where extract's record of a source is, relative to the artifacts directory.
    pub(crate) fn record_path(&self, id: &Name) -> String {
        self.record_paths.get(id).cloned().unwrap_or_default()
    }

    fn read_source(&mut self, layout: &Layout, config: &Config, id: &Name) -> Result<(), FileError> {
        for found in receipts::read(layout, id)? {
            match found.receipt {
                Ok(receipt) => self.receipts.entry(id.clone()).or_default().push(receipt),
                Err(problem) => {
                    self.damaged.insert(id.clone());
                    self.problems.push(problem.into());
                }
            }
        }
        let folder = layout.extracted(&config.dataset, &config.version, id);
        self.record_paths.insert(id.clone(), layout.relative(&folder.join(record::RECORD)));
        self.extracts.insert(id.clone(), record::read(&folder)?);
        Ok(())
    }
}

/// The ledger, or why it is damaged.
///
/// # Errors
/// When the system does not let us read it.
pub(crate) fn read_ledger(layout: &Layout) -> Result<Result<Ledger, String>, FileError> {
    match ledger::read(layout) {
        Ok(ledger) => Ok(Ok(ledger)),
        Err(ReadLedgerError::File(error)) => Err(error),
        Err(ReadLedgerError::Damaged { source, .. }) => Ok(Err(chain(&source))),
    }
}
