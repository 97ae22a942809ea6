//! The runs of a crawl on disk: a folder for each, whose `crawl.json` says what it is a run of and how far it came.
//!
//! A run that was killed is gone on with. A refresh is a run of its own beside the one whose pages it asks about, so that
//! one that fails leaves what was there.

use std::io;
use std::path::PathBuf;

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::{Layout, RawVersion};
use corpora_contracts::line::to_line;
use corpora_contracts::receipt::CrawlReport;
use corpora_contracts::time::Timestamp;
use corpora_stage::durable::{self, FileError};
use serde::{Deserialize, Serialize};

/// What says that a folder is a run.
const NOTE: &str = "crawl.json";

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Counted from 1.
    pub number: u32,
    /// Where its state and its pages are.
    pub folder: PathBuf,
    /// What it is a run of.
    pub note: Note,
}

/// What is known of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The crawl's key: a run of another one is not gone on with.
    pub key: Digest,
    /// The run whose pages it asks about, of a refresh.
    pub refreshes: Option<u32>,
    /// How it ended; none while it may go on.
    pub ended: Option<Ending>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// When: `retrieved_at` of the receipt.
    pub at: Timestamp,
    /// What the crawl came to.
    pub report: CrawlReport,
    /// The raw directory that holds its pages, once that is known.
    pub raw: Option<RawVersion>,
}

impl Run {
    /// Makes the folder of a new run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(layout: &Layout, id: &Name, number: u32, note: Note) -> Result<Self, FileError> {
        let folder = layout.crawl_run(id, number);
        durable::create_folder(&folder)?;
        let run = Self { number, folder, note };
        run.save()?;
        Ok(run)
    }

    /// Keeps what the note says now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<(), FileError> {
        let path = self.folder.join(NOTE);
        let text = to_line(&self.note).map_err(io::Error::from).map_err(durable::on("write", &path))?;
        durable::write_atomic(&path, text.as_bytes(), None)
    }

    /// The state of its frontier.
    #[must_use]
    pub fn frontier(&self) -> PathBuf {
        self.folder.join("frontier.sqlite")
    }

    /// The metadata table of its pages.
    #[must_use]
    pub fn metadata(&self) -> PathBuf {
        self.folder.join("metadata.sqlite")
    }

    /// Removes it with all that it has.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self) -> Result<(), FileError> {
        durable::remove_tree(&self.folder)
    }
}

/// The runs of a crawl, oldest first; a folder without a note that can be read is the work of a crash, and no run.
///
/// # Errors
/// When the folder cannot be read.
pub fn read(layout: &Layout, id: &Name) -> Result<Vec<Run>, FileError> {
    let mut runs: Vec<Run> = Vec::new();
    for number in durable::names_in(&layout.crawl(id))?.iter().filter_map(|name| name.parse().ok()) {
        let folder = layout.crawl_run(id, number);
        let note = std::fs::read(folder.join(NOTE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        runs.extend(note.map(|note| Run { number, folder, note }));
    }
    runs.sort_by_key(|run| run.number);
    Ok(runs)
}

/// The run that tells how a crawl stands: the newest one of its key.
///
/// # Errors
/// When the folder cannot be read.
pub fn newest(layout: &Layout, id: &Name, key: &Digest) -> Result<Option<Run>, FileError> {
    Ok(read(layout, id)?.into_iter().rev().find(|run| run.note.key == *key))
}
