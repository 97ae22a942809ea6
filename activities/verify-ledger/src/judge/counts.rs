//! Whether everybody who counted documents counted the same.

use std::collections::BTreeMap;

use corpora_contracts::config::{Config, ShardFormat, Source};
use corpora_contracts::ledger::Ledger;
use corpora_contracts::manifest::{Manifest, SourceCount, SplitName};
use corpora_contracts::record::StageRecord;

use crate::by_source;
use crate::evidence::Evidence;
use crate::problem::{CountProblem, Problem, TermsProblem};
use crate::scan::{NamedShard, Scan};

/// Documents by reason.
type Reasons = BTreeMap<String, u64>;

/// The counts of each source and the totals of the manifest; with a config and its evidence, also what fetch and
/// extract recorded.
pub(crate) fn of_sources(
    manifest: &Manifest,
    shards: &[NamedShard<'_>],
    scans: &[Scan],
    recorded: Option<(&Config, &Evidence)>,
) -> Vec<Problem> {
    let whole: Vec<_> = [ShardFormat::Parquet, ShardFormat::Jsonl]
        .into_iter()
        .filter_map(|format| Some((format, Rows::of(format, manifest, shards, scans)?)))
        .collect();
    let ledger = recorded.and_then(|(_, evidence)| evidence.ledger.as_ref().ok());
    let sources = recorded.map(|(config, _)| by_source::sources(config)).unwrap_or_default();
    let mut problems = Vec::new();
    for (at, source) in manifest.sources.iter().enumerate() {
        let record = recorded.and_then(|(_, evidence)| evidence.extracts.get(&source.source_id)?.as_ref());
        let of_source = of_source(source, at, &whole, record);
        // Where these do not agree, neither do the numbers that lead to them: that was told.
        if let (Some((_, evidence)), Some(configured), true) =
            (recorded, sources.get(&source.source_id), of_source.is_empty())
        {
            problems.extend(fetched(configured, ledger, evidence));
        }
        problems.extend(of_source.into_iter().map(Problem::from));
    }
    if !problems.iter().any(|problem| matches!(problem, Problem::Count(_))) {
        problems.extend(totals(manifest).into_iter().map(Problem::from));
    }
    problems
}

/// What the manifest, the shards and extract say about a source.
fn of_source(
    source: &SourceCount,
    at: usize,
    whole: &[(ShardFormat, Rows)],
    record: Option<&StageRecord>,
) -> Vec<CountProblem> {
    let figures = |of_manifest: u64, counted: fn(&Rows) -> &Vec<u64>, kept: Option<u64>| {
        let mut figures = vec![(of_manifest, "by the manifest")];
        figures.extend(whole.iter().map(|(format, rows)| (counted(rows)[at], in_shards(*format))));
        figures.extend(kept.map(|kept| (kept, "kept by extract")));
        disagreement(&figures)
    };
    let source_id = || source.source_id.clone();
    let mut problems = Vec::new();
    let all = figures(source.n_docs, |rows| &rows.all, record.map(|record| record.kept));
    problems.extend(all.map(|figures| CountProblem::Documents { source_id: source_id(), figures }));
    let val = figures(source.n_val, |rows| &rows.val, None);
    problems.extend(val.map(|figures| CountProblem::HeldOut { source_id: source_id(), figures }));
    let dropped = record.filter(|record| record.dropped != source.dropped);
    problems.extend(dropped.map(|record| CountProblem::Dropped {
        source_id: source_id(),
        figures: format!("{} by the manifest, {} by extract", reasons(&source.dropped), reasons(&record.dropped)),
    }));
    problems
}

/// What fetch, the ledger and extract say about a source, unless the ledger revokes it.
fn fetched(source: &Source, ledger: Option<&Ledger>, evidence: &Evidence) -> Vec<Problem> {
    let id = &source.id;
    if ledger.is_some_and(|ledger| ledger.revoked(id)) {
        return Vec::new();
    }
    let record = evidence.extracts.get(id).and_then(Option::as_ref);
    let mut problems: Vec<Problem> = Vec::new();
    if record.is_none() {
        problems.push(CountProblem::NoRecord { source_id: id.clone(), path: evidence.record_path(id) }.into());
    }
    let mut figures = Vec::new();
    let dropped_by_fetch = evidence.receipt_of(source).map_or(0, |receipt| total(receipt.dropped.values()));
    match evidence.receipt_of(source) {
        Some(receipt) => figures.push((receipt.n_docs, "by the receipt")),
        None if evidence.has_bad_receipt(id) => {}
        None => problems.push(TermsProblem::NoReceipt { source_id: id.clone() }.into()),
    }
    let row = ledger.and_then(|ledger| ledger.last(id, &source.sha256));
    figures.extend(row.map(|row| (row.n_docs, "by the ledger")));
    // Extract's record carries what fetch dropped, too; receipt and ledger count what fetch kept.
    let extracted = |record: &StageRecord| {
        total(record.dropped.values()).saturating_add(record.kept).saturating_sub(dropped_by_fetch)
    };
    figures.extend(record.map(|record| (extracted(record), "kept or dropped by extract")));
    let disagreement = disagreement(&figures).map(|figures| CountProblem::Fetched { source_id: id.clone(), figures });
    problems.extend(disagreement.map(Problem::from));
    problems
}

/// The rows of each source in the shards of one format, by the index of the source.
struct Rows {
    all: Vec<u64>,
    val: Vec<u64>,
}

impl Rows {
    /// None where the format has no shards, or not all of its rows could be counted: that was told.
    fn of(format: ShardFormat, manifest: &Manifest, shards: &[NamedShard<'_>], scans: &[Scan]) -> Option<Self> {
        let of_format: Vec<_> = shards.iter().zip(scans).filter(|(named, _)| named.name.format == format).collect();
        // A shard whose name says nothing may be one of this format.
        if of_format.is_empty() || shards.len() != manifest.shards.len() {
            return None;
        }
        let none = || vec![0; manifest.sources.len()];
        let mut rows = Self { all: none(), val: none() };
        for (named, scan) in of_format {
            let tally = scan.as_ref().ok().filter(|tally| !tally.has_strangers)?;
            for (at, count) in tally.per_source.iter().enumerate() {
                rows.all[at] += count;
                rows.val[at] += if named.name.split == SplitName::Val { *count } else { 0 };
            }
        }
        Some(rows)
    }
}

fn totals(manifest: &Manifest) -> Vec<CountProblem> {
    let sources = &manifest.sources;
    let documents = total(sources.iter().map(|source| &source.n_docs));
    let mut problems = Vec::new();
    let mut check = |key, found: String, expected: String| {
        if found != expected {
            problems.push(CountProblem::Total { key, found, expected });
        }
    };
    check("n_docs", manifest.n_docs.to_string(), documents.to_string());
    check("n_shards", manifest.n_shards.to_string(), manifest.shards.len().to_string());
    check("dropped", reasons(&manifest.dropped), reasons(&summed(sources)));
    problems
}

fn summed(sources: &[SourceCount]) -> Reasons {
    let mut sum = Reasons::new();
    for (reason, count) in sources.iter().flat_map(|source| &source.dropped) {
        let total = sum.entry(reason.clone()).or_default();
        *total = total.saturating_add(*count);
    }
    sum
}

/// The figures as a sentence when they are not all the same.
fn disagreement(figures: &[(u64, &str)]) -> Option<String> {
    let (first, _) = figures.first()?;
    let agree = figures.iter().all(|(figure, _)| figure == first);
    let told = || figures.iter().map(|(figure, who)| format!("{figure} {who}")).collect::<Vec<_>>().join(", ");
    (!agree).then(told)
}

fn in_shards(format: ShardFormat) -> &'static str {
    match format {
        ShardFormat::Parquet => "in the Parquet shards",
        ShardFormat::Jsonl => "in the JSON Lines shards",
    }
}

fn reasons(dropped: &Reasons) -> String {
    let told: Vec<String> = dropped.iter().map(|(reason, count)| format!("{count} `{reason}`")).collect();
    if told.is_empty() { "none".to_owned() } else { told.join(" and ") }
}

/// Saturating, since the numbers come from a file.
fn total<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.fold(0, |sum, count| sum.saturating_add(*count))
}
