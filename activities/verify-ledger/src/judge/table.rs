//! Whether the table to look documents up says what the shards say.

use std::collections::HashSet;

use corpora_contracts::manifest::Manifest;

use crate::problem::{Problem, TableProblem};
use crate::scan::{NamedShard, Scan};
use crate::table::Table;

/// How the table contradicts the shards; only to be asked where nothing is wrong with these, which was told.
pub(crate) fn of_table(manifest: &Manifest, shards: &[NamedShard<'_>], scans: &[Scan], table: &Table) -> Vec<Problem> {
    let (found, expected) = (table.rows, manifest.n_docs);
    let mut problems = Vec::new();
    if found != expected {
        problems.push(TableProblem::Rows { found, expected });
    }
    problems.extend(table.stranger.iter().map(|id| TableProblem::Place { id: id.clone() }));
    if let Some((id, found)) = table.domain.clone() {
        problems.push(TableProblem::Domain { id, found });
    }
    // Who misses a row knows why a shard is not whole.
    if problems.is_empty() {
        let differs = |(named, scan): &(&NamedShard<'_>, &Scan)| {
            let of_table = table.shards.get(&(named.name.split, named.name.index));
            scan.as_ref().is_ok_and(|tally| of_table != Some(&tally.placed))
        };
        // The shards of all formats hold the same rows: one of them is told.
        let mut told = HashSet::new();
        let is_first = |(named, _): &(&NamedShard<'_>, &Scan)| told.insert((named.name.split, named.name.index));
        let differing = shards.iter().zip(scans).filter(differs).filter(is_first);
        problems.extend(differing.map(|(named, _)| TableProblem::Shard { path: named.shard.name.clone() }));
    }
    problems.into_iter().map(Problem::from).collect()
}
