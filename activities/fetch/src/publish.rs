//! Verified bytes become a raw directory: split aside, receipt synced, directory renamed into place.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use corpora_contracts::config::Source;
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::{Layout, RawVersion};
use corpora_contracts::receipt::{Receipt, SplitSettings};
use corpora_contracts::time::Timestamp;
use corpora_stage::holdings::Holding;
use corpora_stage::{durable, fault};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::error::SourceError;
use crate::split::{self, SplitJob, Watch};

/// The least time between two progress events of one source.
pub const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Verified bytes and what is to be made of them.
pub struct Publication {
    /// Where to publish.
    pub layout: Layout,
    /// The source.
    pub source: Arc<Source>,
    /// What decides which parts the bytes become.
    pub settings: SplitSettings,
    /// The file with the verified bytes.
    pub path: PathBuf,
    /// Its name in the url, whose suffix says how it is packed.
    pub name: String,
    /// How many bytes it holds.
    pub bytes: u64,
    /// Whether the file is the user's, which may change while it is read, so that it is verified once more.
    pub foreign: bool,
    /// When the bytes were verified.
    pub retrieved_at: Timestamp,
    /// The raw directories that stand already.
    pub taken: Vec<RawVersion>,
    /// Stops the split.
    pub cancel: CancellationToken,
    /// Told the bytes read and the documents written.
    pub report: Box<dyn Fn(u64, u64) + Send + Sync>,
}

impl std::fmt::Debug for Publication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publication").field("source", &self.source.id).field("path", &self.path).finish_non_exhaustive()
    }
}

/// Splits and publishes; blocking.
///
/// # Errors
/// [`SourceError`]; nothing is published then, and the next run removes what was begun.
pub fn publish(publication: &Publication) -> Result<Holding, SourceError> {
    let Publication { layout, source, retrieved_at, taken, .. } = publication;
    let version = RawVersion::first_free(&retrieved_at.date_stamp(), taken);
    let aside = layout.raw_tmp(&source.id, &version);
    durable::remove_tree(&aside)?;
    durable::create_folder(&aside)?;
    let split = split_into(publication, &aside);
    if split.is_err() {
        // A full disk gets its room back; the first error is the one to report.
        let _ = durable::remove_tree(&aside);
        durable::remove_folder_if_empty(&layout.raw(&source.id));
    }
    let outcome = split?;
    durable::sync_folder(&aside)?;
    let receipt = Receipt {
        source_id: source.id.clone(),
        sha256: source.sha256,
        bytes: publication.bytes,
        retrieved_at: *retrieved_at,
        n_docs: outcome.n_docs,
        dropped: outcome.dropped,
        split: publication.settings.clone(),
        parts: outcome.parts,
        crawl: None,
    };
    let path = layout.receipt(&source.id, &version);
    let text = receipt.to_line().map_err(io::Error::from).map_err(durable::on("write", &path))?;
    durable::write_atomic(&path, text.as_bytes(), Some(["receipt.before", "receipt.after"]))?;
    fault::point("raw.before");
    durable::rename(&aside, &layout.raw_dir(&source.id, &version))?;
    fault::point("raw.after");
    Ok(Holding { version, receipt })
}

/// The digest and size of a file; none when `cancel` came first. Blocking.
///
/// # Errors
/// When the file cannot be read.
pub fn digest_file(path: &Path, cancel: &CancellationToken) -> io::Result<Option<(Digest, u64)>> {
    let mut hashed = Hashed::new(File::open(path)?);
    let mut buffer = vec![0; 1 << 20];
    while hashed.read(&mut buffer)? > 0 {
        if cancel.is_cancelled() {
            return Ok(None);
        }
    }
    Ok(Some(hashed.finish()))
}

fn split_into(publication: &Publication, aside: &Path) -> Result<split::Outcome, SourceError> {
    let Publication { source, path, .. } = publication;
    let job = SplitJob {
        name: &publication.name,
        url: &source.url,
        fetched_at: publication.retrieved_at,
        license_spdx: &source.license_spdx,
        settings: &publication.settings,
        out_dir: aside,
    };
    let watch = Watcher { publication, last: std::sync::Mutex::new(Instant::now()) };
    let unreadable = |source| SourceError::Local { path: path.clone(), source };
    let file = File::open(path).map_err(unreadable)?;
    if !publication.foreign {
        return Ok(split::split(file, &job, &watch)?);
    }
    let mut hashed = Hashed::new(file);
    let outcome = split::split(&mut hashed, &job, &watch);
    if matches!(outcome, Err(split::SplitError::Cancelled)) {
        return Err(SourceError::Cancelled);
    }
    // A split that failed may have stopped early: the rest tells whether the bytes were still the pinned ones.
    io::copy(&mut hashed, &mut io::sink()).map_err(unreadable)?;
    if hashed.finish() != (source.sha256, publication.bytes) {
        return Err(SourceError::ChangedWhileRead { path: path.clone() });
    }
    Ok(outcome?)
}

/// A reader that hashes what passes through it.
struct Hashed<R> {
    inner: R,
    hasher: Sha256,
    bytes: u64,
}

impl<R: Read> Hashed<R> {
    fn new(inner: R) -> Self {
        Self { inner, hasher: Sha256::new(), bytes: 0 }
    }

    fn finish(self) -> (Digest, u64) {
        (Digest::from_bytes(self.hasher.finalize().into()), self.bytes)
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

/// The split's view of the run.
struct Watcher<'a> {
    publication: &'a Publication,
    last: std::sync::Mutex<Instant>,
}

impl Watch for Watcher<'_> {
    fn cancelled(&self) -> bool {
        self.publication.cancel.is_cancelled()
    }

    fn progress(&self, input_bytes: u64, docs: u64) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() >= REPORT_EVERY {
            *last = Instant::now();
            (self.publication.report)(input_bytes, docs);
        }
    }
}
