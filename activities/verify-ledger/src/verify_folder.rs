//! `corpora verify DIR`: a dataset folder on its own, anywhere, without config and ledger; every byte is read.

use std::path::Path;

use corpora_contracts::outcome::ExitCode;

use crate::files::CheckError;
use crate::folder::Folder;
use crate::judge::table::of_table;
use crate::judge::{self, shards};
use crate::problem::Problem;
use crate::report::{Report, Verdict};
use crate::scan::{self, NamedShard, Scan};
use crate::table;
use crate::watch::Watch;

/// Holds a dataset folder against itself.
pub(crate) fn verify(folder: &Path) -> Report {
    let mut report = Report::of(folder.display().to_string());
    if !folder.is_dir() {
        report.refuse([format!("`{}` is no folder", folder.display())]);
        return report;
    }
    match check(folder, &mut report) {
        Err(error) => report.fail(&error),
        Ok(problems) => report.refuse(problems),
    }
    report
}

/// What is wrong with the table to look documents up; what it says is compared only with shards that are right.
pub(crate) fn metadata(
    folder: &Folder,
    shards: &[NamedShard<'_>],
    scans: &[Scan],
    is_right: bool,
    watch: &Watch,
) -> Result<Vec<Problem>, CheckError> {
    let places = shards.iter().map(|named| (named.name.split, named.name.index));
    Ok(match table::read(&folder.path, places, watch)? {
        Err(problem) => vec![problem.into()],
        Ok(table) if is_right => of_table(&folder.manifest, shards, scans, &table),
        Ok(_) => Vec::new(),
    })
}

fn check(path: &Path, report: &mut Report) -> Result<Vec<Problem>, CheckError> {
    let folder = match Folder::read(path)? {
        Ok(folder) => folder,
        Err(problems) => return Ok(problems),
    };
    let named = shards::named(&folder.manifest);
    let expected = judge::expected(&folder.manifest, None, None);
    let watch = Watch::silent();
    let scans = scan::scan(path, &named, &expected, &watch)?;
    let mut problems = judge::of_folder(&folder, &named, &scans, &expected);
    // Every dataset has the table: where it may be elsewhere is not built yet.
    problems.extend(metadata(&folder, &named, &scans, problems.is_empty(), &watch)?);
    match folder.verified()? {
        None => report.end(Verdict::Staged, ExitCode::Data),
        Some(Err(problem)) => problems.push(problem.into()),
        Some(Ok(verified)) => problems.extend(folder.contradictions(&verified)),
    }
    (report.files, report.bytes, report.n_docs) = (named.len() as u64, watch.done(), folder.manifest.n_docs);
    Ok(problems)
}
