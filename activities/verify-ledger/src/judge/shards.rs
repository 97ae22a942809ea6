//! The set of shards, their names, and what their rows say.

use std::collections::{BTreeMap, BTreeSet};

use corpora_contracts::config::{Config, ShardFormat};
use corpora_contracts::manifest::{Manifest, SplitName};

use crate::problem::{CountProblem, FileProblem, Problem, list, shown};
use crate::scan::{NamedShard, Scan};
use crate::shard_name::ShardName;
use crate::tally::Expected;

/// The shards whose names are safe and told apart.
pub(crate) fn named(manifest: &Manifest) -> Vec<NamedShard<'_>> {
    let mut seen = BTreeSet::new();
    let named =
        manifest.shards.iter().filter_map(|shard| Some(NamedShard { name: ShardName::parse(&shard.name)?, shard }));
    named.filter(|named| seen.insert(&named.shard.name)).collect()
}

/// What is wrong with the manifest's list of shards: names, splits, gaps, order.
pub(crate) fn of_manifest(manifest: &Manifest) -> Vec<Problem> {
    let mut problems: Vec<FileProblem> = Vec::new();
    let mut seen = BTreeSet::new();
    for shard in &manifest.shards {
        let path = || shown(&shard.name);
        match ShardName::parse(&shard.name) {
            None => problems.push(FileProblem::ShardName { name: path() }),
            Some(_) if !seen.insert(&shard.name) => problems.push(FileProblem::ShardTwice { path: path() }),
            Some(name) if name.split != shard.split => {
                problems.push(FileProblem::ShardSplit { path: path(), found: shard.split.as_str() });
            }
            Some(_) => {}
        }
    }
    // A set with a name that says nothing has a gap, too: that is one problem, not two.
    if problems.is_empty() {
        problems.extend(sets(manifest));
        problems.extend(order(manifest));
    }
    problems.into_iter().map(Problem::from).collect()
}

/// What the config would have otherwise.
pub(crate) fn of_config(config: &Config, shards: &[NamedShard<'_>]) -> Vec<Problem> {
    let found: BTreeSet<ShardFormat> = shards.iter().map(|shard| shard.name.format).collect();
    let expected: BTreeSet<ShardFormat> = config.store.formats.iter().copied().collect();
    let mut problems = Vec::new();
    // Without any shard the set is told as incomplete.
    if !found.is_empty() && found != expected {
        problems.push(FileProblem::Formats { found: list(found), expected: list(expected) }.into());
    }
    let limit = config.store.shard_rows;
    let large = shards.iter().map(|named| named.shard).filter(|shard| shard.rows > limit);
    problems.extend(
        large.map(|shard| CountProblem::ShardRows { path: shard.name.clone(), found: shard.rows, limit }.into()),
    );
    problems
}

/// What is wrong with the files and rows that were read.
pub(crate) fn of_scans(shards: &[NamedShard<'_>], scans: &[Scan], expected: &Expected) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (named, scan) in shards.iter().zip(scans) {
        let (path, rows) = (&named.shard.name, named.shard.rows);
        match scan {
            Err(problem) => problems.push(problem.clone().into()),
            Ok(tally) => {
                problems.extend(tally.problems(path, expected).into_iter().map(Problem::from));
                if tally.rows != rows {
                    let path = path.clone();
                    problems.push(CountProblem::Rows { path, found: tally.rows, expected: rows }.into());
                }
            }
        }
    }
    problems
}

/// Shards of one format and split are numbered from 0 up to the one total that all of them name.
fn sets(manifest: &Manifest) -> Vec<FileProblem> {
    let mut sets: BTreeMap<(ShardFormat, SplitName), Vec<ShardName>> = BTreeMap::new();
    for name in manifest.shards.iter().filter_map(|shard| ShardName::parse(&shard.name)) {
        sets.entry((name.format, name.split)).or_default().push(name);
    }
    let formats: BTreeSet<ShardFormat> = sets.keys().map(|(format, _)| *format).collect();
    let is_whole = |names: &[ShardName]| {
        let numbers: BTreeSet<u64> = names.iter().map(|name| name.index).collect();
        let total = names.len() as u64;
        numbers.into_iter().eq(0..total) && names.iter().all(|name| name.of == total)
    };
    let incomplete = sets.iter().filter(|(_, names)| !is_whole(names));
    let problem = |format: ShardFormat, split: SplitName, found: String| FileProblem::ShardSet {
        format: format.as_str(),
        split: split.as_str(),
        found,
    };
    let mut problems: Vec<_> =
        incomplete.map(|((format, split), names)| problem(*format, *split, list(names))).collect();
    if manifest.shards.is_empty() {
        problems.push(problem(ShardFormat::Parquet, SplitName::Train, list::<&str>([])));
    }
    // The same documents stand in every format, so their splits are the same.
    for split in [SplitName::Train, SplitName::Val] {
        let having: Vec<_> = formats.iter().filter(|format| sets.contains_key(&(**format, split))).collect();
        if !having.is_empty() && having.len() != formats.len() {
            let lacking = formats.iter().filter(|format| !having.contains(format));
            problems.extend(lacking.map(|format| problem(*format, split, list::<&str>([]))));
        }
    }
    problems
}

/// Parquet first, then JSON Lines; `train` before `val`; by number.
fn order(manifest: &Manifest) -> Option<FileProblem> {
    let key = |name: &str| ShardName::parse(name).map(|name| (name.format, name.split, name.index));
    let late = manifest.shards.windows(2).find(|pair| key(&pair[0].name) > key(&pair[1].name))?;
    Some(FileProblem::ShardOrder { path: late[1].name.clone() })
}
