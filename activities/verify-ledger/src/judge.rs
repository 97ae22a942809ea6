//! The judgement over a dataset: pure, values in, every problem out.

pub(crate) mod counts;
pub(crate) mod shards;
pub(crate) mod table;
pub(crate) mod terms;

use corpora_contracts::config::Config;
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::ledger::{Ledger, Row};
use corpora_contracts::manifest::Manifest;
use corpora_license::Policy;

use crate::by_source;
use crate::evidence::Evidence;
use crate::folder::Folder;
use crate::problem::{Problem, TermsProblem};
use crate::scan::{NamedShard, Scan};
use crate::tally::{Address, Expected, ExpectedSource};

/// What a dataset must be of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standard<'a> {
    pub(crate) config: &'a Config,
    pub(crate) config_sha256: Digest,
    pub(crate) policy: &'a Policy,
}

/// Everything that is wrong with the terms of a dataset: whose it is, and what it rests on.
pub(crate) fn of_terms(standard: Standard<'_>, ledger: &Ledger, folder: &Folder) -> Vec<Problem> {
    let manifest = &folder.manifest;
    let mut problems = terms::identity(standard, manifest);
    problems.extend(terms::ledger_rows(ledger));
    problems.extend(terms::sources(standard.config, ledger, manifest));
    problems.extend(terms::manifest_rows(manifest));
    problems.extend(terms::of_rows(standard, ledger, manifest));
    problems.extend(terms::rows_file(manifest, &folder.rows, &terms::truth(standard.config, ledger, manifest)));
    problems.into_iter().map(Problem::from).collect()
}

/// Everything that is wrong with a dataset.
pub(crate) fn of_dataset(
    standard: Standard<'_>,
    evidence: &Evidence,
    folder: &Folder,
    shards: &[NamedShard<'_>],
    scans: &[Scan],
    expected: &Expected,
) -> Vec<Problem> {
    let manifest = &folder.manifest;
    let mut problems = match &evidence.ledger {
        Ok(ledger) => of_terms(standard, ledger, folder),
        Err(reason) => vec![TermsProblem::Ledger { reason: reason.clone() }.into()],
    };
    problems.extend(evidence.problems.iter().cloned());
    problems.extend(shards::of_manifest(manifest));
    problems.extend(shards::of_config(standard.config, shards));
    problems.extend(folder.unexpected());
    problems.extend(shards::of_scans(shards, scans, expected));
    problems.extend(counts::of_sources(manifest, shards, scans, Some((standard.config, evidence))));
    problems
}

/// Everything that is wrong with a dataset folder on its own.
pub(crate) fn of_folder(
    folder: &Folder,
    shards: &[NamedShard<'_>],
    scans: &[Scan],
    expected: &Expected,
) -> Vec<Problem> {
    let manifest = &folder.manifest;
    let mut problems: Vec<Problem> = terms::manifest_rows(manifest).into_iter().map(Problem::from).collect();
    problems.extend(terms::expressions(manifest).into_iter().map(Problem::from));
    problems.extend(terms::rows_file(manifest, &folder.rows, &[]).into_iter().map(Problem::from));
    problems.extend(shards::of_manifest(manifest));
    problems.extend(folder.unexpected());
    problems.extend(shards::of_scans(shards, scans, expected));
    problems.extend(counts::of_sources(manifest, shards, scans, None));
    problems
}

/// What the rows of the shards must say: what the manifest's ledger rows do, as far as the ledger has them.
pub(crate) fn expected(manifest: &Manifest, config: Option<&Config>, ledger: Option<&Ledger>) -> Expected {
    let (rows, sources) = (by_source::rows(manifest), config.map(by_source::sources).unwrap_or_default());
    let of_source = |id: &Name| {
        let (source, row) = (sources.get(id), rows.get(id).copied());
        let is_known = |row: &&Row| ledger.is_none_or(|ledger| ledger.contains(row));
        let last = || ledger.zip(source).and_then(|(ledger, source)| ledger.last(id, &source.sha256));
        let row = row.filter(is_known).or_else(last).or(row);
        let address = |url: String| match &source?.split {
            split if split.format.has_lines() => Some(Address::Line(url)),
            split if split.is_one_page() => Some(Address::Whole(url)),
            _ => None,
        };
        ExpectedSource {
            id: id.clone(),
            license_spdx: row.map(|row| row.license_spdx.clone()).unwrap_or_default(),
            url: row.and_then(|row| address(row.url.clone())),
        }
    };
    let sources = manifest.sources.iter().map(|source| of_source(&source.source_id)).collect();
    Expected::new(sources, config.map(|config| config.store.val_permille))
}
