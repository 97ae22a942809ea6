//! The ledger, the manifest's rows and the config's sources by their source: corpora have many of them.

use std::collections::HashMap;

use corpora_contracts::config::{Config, Source};
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::ledger::{Ledger, Row, Tail};
use corpora_contracts::manifest::Manifest;

/// A ledger that answers for one source without reading the rows of the others.
#[derive(Debug)]
pub(crate) struct BySource {
    ledgers: HashMap<Name, Ledger>,
}

impl BySource {
    pub(crate) fn new(ledger: &Ledger) -> Self {
        let mut ledgers: HashMap<Name, Ledger> = HashMap::new();
        for row in &ledger.rows {
            let of_source = || Ledger { rows: Vec::new(), tail: Tail::Whole };
            ledgers.entry(row.source_id.clone()).or_insert_with(of_source).rows.push(row.clone());
        }
        Self { ledgers }
    }

    /// [`Ledger::last`].
    pub(crate) fn last(&self, id: &Name, sha256: &Digest) -> Option<&Row> {
        self.ledgers.get(id)?.last(id, sha256)
    }

    /// [`Ledger::revoked`].
    pub(crate) fn revoked(&self, id: &Name) -> bool {
        self.ledgers.get(id).is_some_and(|ledger| ledger.revoked(id))
    }

    /// Whether the ledger has this very row.
    pub(crate) fn contains(&self, row: &Row) -> bool {
        self.ledgers.get(&row.source_id).is_some_and(|ledger| ledger.rows.contains(row))
    }
}

/// The manifest's ledger row of each source; the first where it has more than one.
pub(crate) fn rows(manifest: &Manifest) -> HashMap<&Name, &Row> {
    manifest.ledger.iter().rev().map(|row| (&row.source_id, row)).collect()
}

/// The config's sources.
pub(crate) fn sources(config: &Config) -> HashMap<&Name, &Source> {
    config.sources.iter().map(|source| (&source.id, source)).collect()
}
