//! `corpora gc`: frees what no config, ledger state or manifest rests on, after asking.

use std::collections::HashSet;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::Layout;
use corpora_contracts::manifest::Manifest;
use corpora_contracts::outcome::ExitCode;
use corpora_crawl::runs;
use corpora_stage::durable::{self, FileError};
use corpora_stage::holdings::{self, Holding, HoldingsError};
use corpora_stage::lock::{Lock, LockError};
use corpora_stage::pinned;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::check;
use crate::cli::GcArguments;
use crate::environment;
use crate::output::{self, Output};
use crate::stage::Failure;

/// What the command prints.
#[derive(Debug, Serialize)]
struct Swept {
    /// Whether the items were removed.
    freed: bool,
    bytes: u64,
    items: Vec<Item>,
}

/// Something that can be freed.
#[derive(Debug, Serialize)]
struct Item {
    /// Relative to the artifacts root.
    path: String,
    bytes: u64,
    why: &'static str,
    /// The source whose lock is held while it is removed.
    #[serde(skip)]
    source: Option<Name>,
    /// What is removed: a raw directory goes with its receipt.
    #[serde(skip)]
    targets: Vec<PathBuf>,
}

/// Why nothing was freed.
#[derive(Debug, thiserror::Error)]
enum GcError {
    #[error(transparent)]
    Holdings(#[from] HoldingsError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A manifest that cannot be read may rest on anything.
    #[error("read manifest `{}`; restore or remove its dataset first", path.display())]
    BadManifest { path: PathBuf, source: serde_json::Error },
}

impl GcError {
    fn exit(&self) -> ExitCode {
        match self {
            Self::Holdings(error) => error.disposition().into(),
            Self::File(error) => error.disposition().into(),
            Self::Lock(error) => error.disposition().into(),
            Self::BadManifest { .. } => ExitCode::Data,
        }
    }
}

pub(crate) async fn run(arguments: &GcArguments, output: Output) -> ExitCode {
    let swept = match check::load(&arguments.config) {
        Ok(loaded) => sweep(&loaded.config, arguments).await.map_err(|error| Failure::new(error.exit(), &error)),
        Err(error) => Err(Failure::from(error)),
    };
    match swept {
        Ok(swept) => output.result(&swept, || for_people(&swept)),
        Err(failure) => failure.report(),
    }
}

async fn sweep(config: &Config, arguments: &GcArguments) -> Result<Swept, GcError> {
    let layout = environment::layout(arguments.artifacts.as_ref());
    let items = candidates(config, &layout)?;
    let bytes = items.iter().map(|item| item.bytes).sum();
    let freed = !items.is_empty() && (arguments.yes || is_confirmed(&items, bytes));
    if freed {
        for item in &items {
            remove(&layout, item, arguments.lock_timeout).await?;
        }
    }
    Ok(Swept { freed, bytes, items })
}

/// Everything that can be freed. It is found without a lock and removed under the source's: a fetch that runs meanwhile
/// makes new raw versions and never needs an old one, and its downloads are waited for.
fn candidates(config: &Config, layout: &Layout) -> Result<Vec<Item>, GcError> {
    let rested_on = manifests(layout)?;
    let mut items = Vec::new();
    for source in pinned::resolve(config, layout)?.pinned() {
        let held = holdings::read(layout, &source.id)?;
        let current = holdings::newest(&held, &source.sha256, |receipt| receipt.split.documents == source.split);
        let is_needed = |holding: &&Holding| {
            Some(*holding) == current || rested_on.contains(&(source.id.clone(), holding.receipt.sha256))
        };
        let old = held.iter().filter(|holding| !is_needed(holding));
        items.extend(old.map(|holding| raw_version(layout, &source.id, holding)));
        let folders = [
            (layout.quarantine(&source.id), "quarantined bytes"),
            (layout.downloads(&source.id), "a download that is not finished or was kept"),
        ];
        let present = folders.into_iter().filter(|(folder, _)| folder.is_dir());
        items.extend(present.map(|(folder, why)| folder_item(layout, folder, why, Some(source.id.clone()))));
    }
    for crawl in &config.crawls {
        // The newest run of this key is what a refresh asks about; runs of other settings are of no use.
        let old = runs::read(layout, &crawl.id)?.into_iter().filter(|run| run.note.key != crawl.key);
        let why = "the state of a crawl with other settings";
        items.extend(old.map(|run| folder_item(layout, run.folder, why, Some(crawl.id.clone()))));
    }
    items.extend(finished_activities(layout)?);
    Ok(items)
}

/// The source versions that the manifests under this root rest on, published or staged.
fn manifests(layout: &Layout) -> Result<HashSet<(Name, Digest)>, GcError> {
    let datasets = layout.root().join("corpus/datasets");
    let mut rested_on = HashSet::new();
    for dataset in durable::names_in(&datasets)? {
        for version in durable::names_in(&datasets.join(&dataset))? {
            let path = datasets.join(&dataset).join(version).join("_MANIFEST.json");
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let manifest: Manifest =
                serde_json::from_slice(&bytes).map_err(|source| GcError::BadManifest { path, source })?;
            rested_on.extend(manifest.ledger.into_iter().map(|row| (row.source_id, row.sha256)));
        }
    }
    Ok(rested_on)
}

fn raw_version(layout: &Layout, id: &Name, holding: &Holding) -> Item {
    let (raw, receipt) = (layout.raw_dir(id, &holding.version), layout.receipt(id, &holding.version));
    let bytes = holding.receipt.parts.iter().map(|part| part.bytes).sum();
    let (path, why) = (layout.relative(&raw), "an old raw version");
    Item { path, bytes, why, source: Some(id.clone()), targets: vec![raw, receipt] }
}

fn folder_item(layout: &Layout, folder: PathBuf, why: &'static str, source: Option<Name>) -> Item {
    Item { path: layout.relative(&folder), bytes: size_of(&folder), why, source, targets: vec![folder] }
}

/// Folders of activities that ended well; one that is running or will be tried again has no `DONE.json`.
fn finished_activities(layout: &Layout) -> Result<Vec<Item>, GcError> {
    let mut found = Vec::new();
    let mut open = vec![layout.root().join("activities")];
    while let Some(folder) = open.pop() {
        if folder.join("DONE.json").is_file() {
            found.push(folder_item(layout, folder, "a finished activity", None));
            continue;
        }
        let names = durable::names_in(&folder)?;
        open.extend(names.into_iter().map(|name| folder.join(name)).filter(|path| path.is_dir()));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Bytes of all files below a folder; what vanishes meanwhile counts nothing.
fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(file) if file.is_dir() => size_of(&entry.path()),
        Ok(file) => file.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn is_confirmed(items: &[Item], bytes: u64) -> bool {
    let mut stderr = io::stderr().lock();
    if !io::stdin().is_terminal() || !stderr.is_terminal() {
        tracing::warn!("nothing freed: pass --yes, or answer the question on a terminal");
        return false;
    }
    let asked = writeln!(stderr, "{}", rows(items))
        .and_then(|()| write!(stderr, "Free {} in {} items? [y/N] ", output::size(bytes), items.len()))
        .and_then(|()| stderr.flush());
    let mut answer = String::new();
    let answered = asked.and_then(|()| io::stdin().lock().read_line(&mut answer));
    answered.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

async fn remove(layout: &Layout, item: &Item, lock_timeout: Duration) -> Result<(), GcError> {
    let _lock = match &item.source {
        Some(id) => {
            let path = layout.source_lock(id);
            Some(Lock::acquire(&path, lock_timeout, &CancellationToken::new()).await?)
        }
        None => None,
    };
    for target in &item.targets {
        let removed = if target.is_dir() { durable::remove_tree(target) } else { durable::remove_file(target) };
        removed?;
        if let Some(folder) = target.parent() {
            durable::remove_folder_if_empty(folder);
        }
    }
    Ok(())
}

fn for_people(swept: &Swept) -> String {
    if swept.items.is_empty() {
        return "nothing to free".to_owned();
    }
    let verb = if swept.freed { "freed" } else { "can be freed" };
    format!("{}\n{} {verb}", rows(&swept.items), output::size(swept.bytes))
}

fn rows(items: &[Item]) -> String {
    let cells = items.iter().map(|item| [item.path.clone(), output::size(item.bytes), item.why.to_owned()]);
    output::table(["PATH", "SIZE", "WHY"], cells)
}
