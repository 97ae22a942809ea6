//! The manifest's rows and the config's sources by their source: corpora have many of them.

use std::collections::HashMap;

use corpora_contracts::config::{Config, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::Manifest;

/// The manifest's ledger row of each source; the first where it has more than one.
pub(crate) fn rows(manifest: &Manifest) -> HashMap<&Name, &Row> {
    manifest.ledger.iter().rev().map(|row| (&row.source_id, row)).collect()
}

/// The config's sources and what its crawls gave.
pub(crate) fn sources(config: &Config) -> HashMap<&Name, &Source> {
    config.pinned().map(|source| (&source.id, source)).collect()
}
