//! `corpora ledger verify`: the evidence of a config's sources, and with `--full` every byte that rests on it.

use std::path::{Component, PathBuf};

use corpora_contracts::config::{Config, Source};
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::{Layout, RawVersion};
use corpora_contracts::ledger::{Ledger, Tail};
use corpora_contracts::receipt::Receipt;
use corpora_license::Policy;
use corpora_stage::{durable, record};

use crate::evidence::read_ledger;
use crate::files::{self, CheckError, Recorded};
use crate::judge::terms;
use crate::problem::{Problem, TermsProblem};
use crate::receipts::Found;
use crate::report::Report;
use crate::watch::Watch;
use crate::{cores, receipts, verify_folder};

/// A file, and what is recorded of it.
struct Record {
    path: PathBuf,
    name: String,
    bytes: u64,
    sha256: Digest,
}

/// Holds the ledger, receipts and raw directories of a config's sources against each other.
pub(crate) fn verify(layout: &Layout, config: &Config, full: bool) -> Report {
    let mut report = Report::of(layout.relative(&layout.ledger()));
    if let Err(error) = check(layout, config, full, &mut report) {
        report.fail(&error);
    }
    report
}

fn check(layout: &Layout, config: &Config, full: bool, report: &mut Report) -> Result<(), CheckError> {
    let config = &receipts::resolve(layout, config)?;
    let ledger = read_ledger(layout)?;
    match &ledger {
        Ok(ledger) => check_ledger(ledger, config, report),
        Err(reason) => report.refuse([TermsProblem::Ledger { reason: reason.clone() }]),
    }
    let mut files = Vec::new();
    for source in config.pinned() {
        files.extend(check_source(layout, source, ledger.as_ref().ok(), report)?);
    }
    if full {
        for source in config.pinned() {
            files.extend(extracted(layout, config, source, report)?);
        }
    }
    check_files(&files, full, report)?;
    if full {
        check_datasets(layout, config, report);
    }
    Ok(())
}

fn check_ledger(ledger: &Ledger, config: &Config, report: &mut Report) {
    report.refuse(terms::ledger_rows(ledger));
    match ledger.tail {
        Tail::Whole | Tail::NoNewline => {}
        Tail::Torn { start } => report.warnings.push(format!(
            "the ledger's last line, from byte {start} on, was torn by a crash; it counts for nothing, and the next commit cuts it off"
        )),
    }
    let policy = match Policy::new(&config.licenses) {
        Ok(policy) => policy,
        Err(error) => return report.refuse([format!("`[licenses]`: {error}")]),
    };
    for source in config.pinned() {
        if ledger.revoked(&source.id) {
            report.warnings.push(format!("source `{}`: the ledger revokes it", source.id));
            continue;
        }
        report.refuse(terms::of_source(source, ledger));
        let last = ledger.last(&source.id, &source.sha256);
        report.refuse(last.and_then(|row| terms::refusal(row, &policy)));
        report.n_docs = report.n_docs.saturating_add(last.map_or(0, |row| row.n_docs));
    }
}

/// The receipts of a source and its raw directories; returns the parts that should stand.
fn check_source(
    layout: &Layout,
    source: &Source,
    ledger: Option<&Ledger>,
    report: &mut Report,
) -> Result<Vec<Record>, CheckError> {
    let (mut parts, mut versions, mut current) = (Vec::new(), Vec::new(), None);
    let id = &source.id;
    for Found { version, receipt } in receipts::read(layout, id)? {
        match receipt {
            Err(problem) => report.refuse([problem]),
            Ok(receipt) => {
                parts.extend(parts_of(layout, &version, &receipt));
                let is_current = receipt.sha256 == source.sha256 && receipt.split.documents == source.split;
                current = if is_current { Some(receipt) } else { current };
            }
        }
        versions.push(version);
    }
    for name in durable::names_in(&layout.raw(id))? {
        if !name.parse().is_ok_and(|version| versions.contains(&version)) {
            let folder = layout.relative(&layout.raw(id).join(name));
            report.warnings.push(format!("`{folder}` has no receipt; the next fetch of source `{id}` removes it"));
        }
    }
    let row = ledger.and_then(|ledger| ledger.last(id, &source.sha256));
    match (row, current) {
        (Some(row), Some(receipt)) if row.n_docs != receipt.n_docs => report.refuse([format!(
            "source `{id}`: the ledger's last row has {} documents, the newest receipt {}; run fetch with --commit",
            row.n_docs, receipt.n_docs
        )]),
        (Some(_), None) if ledger.is_some_and(|ledger| !ledger.revoked(id)) && versions.is_empty() => {
            report.refuse([TermsProblem::NoReceipt { source_id: id.clone() }]);
        }
        _ => {}
    }
    Ok(parts)
}

fn parts_of(layout: &Layout, version: &RawVersion, receipt: &Receipt) -> Vec<Record> {
    let folder = layout.raw_dir(&receipt.source_id, version);
    let record = |part: &corpora_contracts::receipt::Part| {
        let path = folder.join(&part.name);
        Record { name: layout.relative(&path), path, bytes: part.bytes, sha256: part.sha256 }
    };
    receipt.parts.iter().map(record).collect()
}

/// The documents of a source, as extract recorded them.
fn extracted(
    layout: &Layout,
    config: &Config,
    source: &Source,
    report: &mut Report,
) -> Result<Vec<Record>, CheckError> {
    let folder = layout.extracted(&config.dataset, &config.version, &source.id);
    let Some(recorded) = record::read(&folder)? else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for output in recorded.outputs {
        let path = layout.root().join(&output.path);
        let is_inside = path.starts_with(&folder) && !path.components().any(|part| part == Component::ParentDir);
        if is_inside {
            files.push(Record { path, name: output.path, bytes: output.bytes, sha256: output.sha256 });
        } else {
            let record = layout.relative(&folder.join(record::RECORD));
            report.refuse([format!(
                "`{record}` names an output outside its folder: `{}`",
                crate::problem::shown(&output.path)
            )]);
        }
    }
    Ok(files)
}

fn check_files(files: &[Record], full: bool, report: &mut Report) -> Result<(), CheckError> {
    let watch = Watch::silent();
    let found = cores::try_map(files, |file| {
        let recorded = Recorded { name: &file.name, bytes: file.bytes, sha256: &file.sha256 };
        if full { files::is_recorded(&file.path, recorded, &watch) } else { Ok(files::stands(&file.path, recorded)?) }
    })?;
    report.files = report.files.saturating_add(files.len() as u64);
    report.bytes = report.bytes.saturating_add(watch.done());
    report.refuse(found.into_iter().flatten().map(Problem::from));
    Ok(())
}

/// The dataset folders of the config, published and staged, each on its own.
fn check_datasets(layout: &Layout, config: &Config, report: &mut Report) {
    let (dataset, version) = (&config.dataset, &config.version);
    let folders = [layout.dataset(dataset, version), layout.staged(dataset, version)];
    for folder in folders.iter().filter(|folder| folder.exists()) {
        let of_folder = verify_folder::verify(folder);
        report.files = report.files.saturating_add(of_folder.files);
        report.bytes = report.bytes.saturating_add(of_folder.bytes);
        let name = layout.relative(folder);
        if of_folder.problems.is_empty() {
            continue;
        }
        report.exit = report.exit.worse(of_folder.exit);
        report.refuse(of_folder.problems.iter().map(|problem| format!("`{name}`: {problem}")));
    }
}
