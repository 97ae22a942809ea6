//! Whether the dataset that a plan asks for stands already: staged, or published since by verify-ledger.

use std::fs;
use std::path::{Path, PathBuf};

use corpora_contracts::config::Config;
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::manifest::Manifest;
use corpora_contracts::record::StageRecord;
use corpora_stage::record;

use crate::STAGE;
use crate::build::MANIFEST;
use crate::error::StoreError;
use crate::metadata;
use crate::plan::Plan;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Action {
    /// Nothing.
    Cached(Box<Standing>),
    /// The dataset is to be made, for these reasons.
    Store(Vec<String>),
}

/// A dataset that stands and is what the plan asks for.
#[derive(Debug)]
pub(crate) struct Standing {
    /// The staged folder or the published one.
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    /// The record as it should be now, when only times of files changed.
    pub(crate) refreshed: Option<StageRecord>,
    /// Whether something else is staged, which verify-ledger must not take for this.
    pub(crate) is_hidden: bool,
}

/// Decides what is to be done; reads documents only when the times of their files changed.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn decide(config: &Config, plan: &Plan, layout: &Layout) -> Result<Action, StoreError> {
    let Some(mut record) = record::read(&layout.stage(STAGE, &config.dataset, &config.version))? else {
        return Ok(Action::Store(vec!["never stored".to_owned()]));
    };
    let mut reasons = changes(plan, &record);
    let found = find(config, layout, &record);
    if found.is_none() {
        reasons.push("its folder is missing or damaged".to_owned());
    }
    let Some((folder, manifest, is_hidden)) = found.filter(|_| reasons.is_empty()) else {
        return Ok(Action::Store(reasons));
    };
    let states = record.inputs.iter().map(|input| {
        let path = layout.root().join(&input.path);
        record::file_state(layout, &path, Some(input))
    });
    let states = states.collect::<Result<Vec<_>, _>>()?;
    if !states.iter().map(|state| state.sha256).eq(record.inputs.iter().map(|input| input.sha256)) {
        return Ok(Action::Store(vec!["documents changed".to_owned()]));
    }
    let is_refreshed = states != record.inputs;
    record.inputs = states;
    let refreshed = is_refreshed.then_some(record);
    Ok(Action::Cached(Box::new(Standing { folder, manifest, refreshed, is_hidden })))
}

/// A file of a dataset folder as the record names it: where store put it, wherever verify-ledger took it since.
pub(crate) fn output(layout: &Layout, config: &Config, name: &str) -> String {
    layout.relative(&layout.staged(&config.dataset, &config.version).join(name))
}

/// What a run would make otherwise than the record says.
fn changes(plan: &Plan, record: &StageRecord) -> Vec<String> {
    let mut reasons = Vec::new();
    let names = plan.keys.keys().chain(record.keys.keys().filter(|name| !plan.keys.contains_key(*name)));
    let changed = names.filter(|name| plan.keys.get(*name) != record.keys.get(*name));
    reasons.extend(changed.map(|name| format!("{name} changed")));
    let expected = plan.inputs.iter().flat_map(|input| &input.record.outputs).map(|part| (&part.path, part.sha256));
    if record.stage != STAGE || !expected.eq(record.inputs.iter().map(|input| (&input.path, input.sha256))) {
        reasons.push("documents changed".to_owned());
    }
    reasons
}

/// The folder that the record speaks of, its manifest, and whether something else is staged.
fn find(config: &Config, layout: &Layout, record: &StageRecord) -> Option<(PathBuf, Manifest, bool)> {
    let staged = layout.staged(&config.dataset, &config.version);
    if let Some(manifest) = stands(&staged, &staged, layout, record) {
        return Some((staged, manifest, false));
    }
    let published = layout.dataset(&config.dataset, &config.version);
    let manifest = stands(&published, &staged, layout, record)?;
    Some((published, manifest, staged.exists()))
}

/// The manifest in `folder`, if it is the recorded one and every file stands in its size.
fn stands(folder: &Path, staged: &Path, layout: &Layout, record: &StageRecord) -> Option<Manifest> {
    let bytes = fs::read(folder.join(MANIFEST)).ok()?;
    let sha256 = Digest::of(&bytes);
    let manifest = layout.relative(&staged.join(MANIFEST));
    let is_recorded = record.outputs.iter().any(|output| output.path == manifest && output.sha256 == sha256);
    let stands = |path: &str, size| {
        let name = layout.root().join(path).strip_prefix(staged).ok().map(|name| folder.join(name));
        name.and_then(|path| fs::metadata(path).ok()).is_some_and(|file| file.len() == size)
    };
    let all_stand = record.outputs.iter().all(|output| stands(&output.path, output.bytes));
    let is_whole = is_recorded && all_stand && folder.join(metadata::FILE).is_file();
    serde_json::from_slice(&bytes).ok().filter(|_| is_whole)
}
