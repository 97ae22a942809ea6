//! The swap: a judged folder takes the place of the published one, and what a crash left of a swap is put in order.
//!
//! The names in play, of version `v1`: `v1.staged` (what store made), `v1` (what is published), `.v1.swap.json` (which
//! folder is about to be swapped in) and, for moments, `.v1~<pid>.tmp` (what was taken out). The steps are
//!
//! 1. `.v1.swap.json` gets the bytes that `_VERIFIED.json` will have; 2. `v1.staged/_VERIFIED.json` gets them;
//! 3. the two folders exchange their names (where the file system cannot: `v1` moves to `.v1~<pid>.tmp`, then `v1.staged`
//!    to `v1`); 4. what was taken out is removed; 5. `.v1.swap.json` is removed.
//!
//! A folder that is published has been judged, whatever crashes: only step 3 gives the name, and it follows the judgement
//! under the dataset's lock. [`recover`] looks at what stands and undoes or finishes:
//!
//! | what stands | what it is | what is done |
//! |---|---|---|
//! | no `v1`, a verified `.v1~<pid>.tmp` | a crash in the middle of step 3 | it is published again |
//! | `v1`, any `.v1~<pid>.tmp` | a crash in step 4 | it is removed |
//! | `v1.staged` with the `_VERIFIED.json` of `.v1.swap.json` | a crash before step 3 | its `_VERIFIED.json` is removed: it is judged again |
//! | `v1.staged` with another `_VERIFIED.json`, and `v1` | what step 3 took out | it is removed, never judged again |
//! | `v1.staged` without `_VERIFIED.json` | what store made, perhaps since the crash | nothing |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::Layout;
use corpora_contracts::line::to_line;
use corpora_contracts::manifest::Verified;
use corpora_stage::durable::{self, FileError};
use corpora_stage::fault;

use crate::folder::{MANIFEST, VERIFIED};

/// The names of one dataset version that a swap deals with.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    folder: PathBuf,
    version: Name,
    pub(crate) staged: PathBuf,
    pub(crate) published: PathBuf,
    journal: PathBuf,
}

impl Places {
    pub(crate) fn of(layout: &Layout, dataset: &Name, version: &Name) -> Self {
        Self {
            folder: layout.datasets(dataset),
            version: version.clone(),
            staged: layout.staged(dataset, version),
            published: layout.dataset(dataset, version),
            journal: layout.swap(dataset, version),
        }
    }

    fn journal_name(&self) -> String {
        self.journal.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Puts in order what a crash left; only under the dataset's lock.
///
/// # Errors
/// When a file operation fails; the next run goes on from there.
pub(crate) fn recover(places: &Places) -> Result<(), FileError> {
    restore(places)?;
    // What an interrupted write of the journal, and of `_VERIFIED.json`, left.
    for temporary in temporaries(places, &places.journal_name())? {
        durable::remove_file(&temporary)?;
    }
    durable::clean_temporaries(&places.staged)?;
    durable::clean_temporaries(&places.published)?;
    settle_staged(places)?;
    durable::remove_file(&places.journal)
}

/// Whether no crash left anything that [`recover`] would put in order.
///
/// # Errors
/// When the system does not let us look.
pub(crate) fn is_settled(places: &Places) -> Result<bool, FileError> {
    let journal = places.journal_name();
    let left = [temporaries(places, places.version.as_str())?, temporaries(places, &journal)?];
    let inside = durable::names_in(&places.published)?;
    let is_clean = left.iter().all(Vec::is_empty) && inside.iter().all(|name| durable::temporary_of(name).is_none());
    Ok(is_clean && !places.journal.exists())
}

/// Publishes the staged folder, which was judged and found right; only under the dataset's lock.
///
/// # Errors
/// When a file operation fails; the next run's [`recover`] goes on from there.
pub(crate) fn publish(places: &Places, verified: &Verified) -> Result<(), FileError> {
    durable::write_atomic(&places.journal, &bytes_of(verified, &places.journal)?, None)?;
    accept(&places.staged, verified)?;
    fault::point("swap.before");
    durable::replace_folder(&places.staged, &places.published)?;
    fault::point("swap.after");
    durable::remove_file(&places.journal)
}

/// Writes `_VERIFIED.json` into a folder that was judged and found right; only under the dataset's lock.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn accept(folder: &Path, verified: &Verified) -> Result<(), FileError> {
    let path = folder.join(VERIFIED);
    durable::write_atomic(&path, &bytes_of(verified, &path)?, Some(["verified.before", "verified.after"]))
}

/// What `_VERIFIED.json` holds: compact JSON and a newline.
fn bytes_of(verified: &Verified, path: &Path) -> Result<Vec<u8>, FileError> {
    Ok(to_line(verified).map_err(io::Error::from).map_err(durable::on("write", path))?.into_bytes())
}

/// A swap that could not exchange two names in one step may have left the published one free.
fn restore(places: &Places) -> Result<(), FileError> {
    for aside in temporaries(places, places.version.as_str())? {
        if !places.published.exists() && is_verified(&aside) {
            tracing::warn!(dataset = %places.published.display(), "a swap was interrupted: the published dataset is put back");
            durable::rename(&aside, &places.published)?;
        } else {
            durable::remove_tree(&aside)?;
        }
    }
    Ok(())
}

fn settle_staged(places: &Places) -> Result<(), FileError> {
    let path = places.staged.join(VERIFIED);
    let Some(verified) = read(&path)? else { return Ok(()) };
    let is_new = read(&places.journal)?.is_some_and(|journal| journal == verified);
    if is_new || !places.published.exists() {
        durable::remove_file(&path)?;
        // Before the journal goes: a folder with a `_VERIFIED.json` and no journal counts as taken out.
        return durable::sync_folder(&places.staged);
    }
    tracing::info!(folder = %places.staged.display(), "removing the dataset that an interrupted swap took out");
    // Out of sight first, so that no half of it is ever taken for a staged dataset.
    let aside = places.folder.join(format!(".{}~{}.tmp", places.version, std::process::id()));
    durable::rename(&places.staged, &aside)?;
    durable::remove_tree(&aside)
}

/// What crashed runs left of `name`, and of no other version.
fn temporaries(places: &Places, name: &str) -> Result<Vec<PathBuf>, FileError> {
    let names = durable::names_in(&places.folder)?;
    let ours = names.iter().filter(|temporary| durable::temporary_of(temporary) == Some(name));
    Ok(ours.map(|temporary| places.folder.join(temporary)).collect())
}

/// Whether a folder has a `_VERIFIED.json` of its own manifest.
fn is_verified(folder: &Path) -> bool {
    let verified =
        fs::read(folder.join(VERIFIED)).ok().and_then(|bytes| serde_json::from_slice::<Verified>(&bytes).ok());
    let manifest = fs::read(folder.join(MANIFEST)).ok();
    verified.zip(manifest).is_some_and(|(verified, manifest)| verified.manifest_sha256 == Digest::of(&manifest))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if crate::files::is_absent(&error) => Ok(None),
        Err(error) => Err(durable::on("read", path)(error)),
    }
}
