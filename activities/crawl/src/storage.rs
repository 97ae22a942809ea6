//! The storage worker: pages become lines of objects, and rows of the metadata table that say where they are.
//!
//! An object is `raw/<yyyy-mm-dd>/worker-<name>/<…>.jsonl`, each line a [`StorageMessage`], written whole and never changed.
//! Delivery is at least once: a page that the table knows is not written again. A crash between the object and its rows
//! leaves lines that no row names; the page comes again, and whoever reads objects takes the last line of a URL.

mod queued;
mod rest;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use corpora_contracts::document::Domains;
use corpora_contracts::message::StorageMessage;
use corpora_contracts::outcome::Disposition;
use corpora_ports::PortError;
use corpora_ports::metadata::{MetadataStore, PageRow, PageStatus};
use corpora_stage::{Clock, durable};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, PutMode, PutOptions, PutPayload};

use crate::role::{KeepError, Keeper};

pub use queued::{Handled, run};
pub use rest::tell_the_rest;

/// The folder that objects of pages lie in.
pub const PREFIX: &str = "raw";

/// An object ends when it has so many bytes; one page more may be in it.
const OBJECT_BYTES: usize = 8 << 20;

/// Why pages are not stored.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// An object was not written.
    #[error("write the object `{key}`")]
    Object {
        /// Its key.
        key: String,
        /// What the store said.
        source: object_store::Error,
    },
    /// The metadata table was not read or written.
    #[error(transparent)]
    Metadata(#[from] PortError),
    /// A page is no JSON.
    #[error("write the page `{url}`")]
    Encode {
        /// The page.
        url: String,
        /// What the serializer says.
        source: serde_json::Error,
    },
}

impl StorageError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Object { .. } => Disposition::Retry,
            Self::Metadata(error) => error.disposition(),
            Self::Encode { .. } => Disposition::Fail,
        }
    }
}

/// Objects in a folder of this machine; what was put survives a power cut.
///
/// # Errors
/// When the folder is not there.
pub fn local_objects(folder: &Path) -> Result<Arc<dyn ObjectStore>, StorageError> {
    let store = LocalFileSystem::new_with_prefix(folder);
    let store = store.map_err(|source| StorageError::Object { key: folder.display().to_string(), source })?;
    Ok(Arc::new(store.with_fsync(true)))
}

/// Stores pages.
#[derive(Debug)]
pub struct StorageWorker<M> {
    objects: Arc<dyn ObjectStore>,
    metadata: M,
    name: String,
    clock: Clock,
    domains: Domains,
    /// Objects written so far, for their names.
    written: u64,
}

impl<M: MetadataStore> StorageWorker<M> {
    /// A storage worker with a name of its own among those that write to these objects; the clock gives the date of keys.
    pub fn new(objects: Arc<dyn ObjectStore>, metadata: M, name: impl Into<String>, clock: Clock) -> Self {
        Self { objects, metadata, name: name.into(), clock, domains: Domains::default(), written: 0 }
    }

    /// Stores pages of one crawl or several. When it returns they are as durable as objects and table are.
    ///
    /// # Errors
    /// [`StorageError`]; some of the pages may be stored then, and all may be given again.
    pub async fn store(&mut self, pages: &[StorageMessage]) -> Result<(), StorageError> {
        let fresh = self.unknown(pages).await?;
        let mut rest = fresh.as_slice();
        while !rest.is_empty() {
            let (lines, taken) = lines(rest)?;
            let (these, others) = rest.split_at(taken);
            let key = self.put(lines).await?;
            let rows: Vec<PageRow> = these.iter().map(|page| self.row(page, &key)).collect();
            self.metadata.put(&rows).await?;
            rest = others;
        }
        Ok(())
    }

    /// Those that the table does not have as stored, each once.
    async fn unknown<'a>(&self, pages: &'a [StorageMessage]) -> Result<Vec<&'a StorageMessage>, StorageError> {
        let mut fresh: Vec<&StorageMessage> = Vec::new();
        for of_crawl in pages.chunk_by(|one, other| one.crawl_id == other.crawl_id) {
            let urls: Vec<&str> = of_crawl.iter().map(|page| page.url.as_str()).collect();
            let rows = self.metadata.get(&of_crawl[0].crawl_id, &urls).await?;
            for (page, row) in of_crawl.iter().zip(rows) {
                let is_stored = row.is_some_and(|row| row.status == PageStatus::Success);
                let is_double = |other: &&StorageMessage| (&other.crawl_id, &other.url) == (&page.crawl_id, &page.url);
                if !is_stored && !fresh.iter().any(is_double) {
                    fresh.push(page);
                }
            }
        }
        Ok(fresh)
    }

    /// Writes one object under a name that none has; its key.
    async fn put(&mut self, lines: Vec<u8>) -> Result<String, StorageError> {
        let payload = PutPayload::from(lines);
        loop {
            let key = self.next_key();
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            match self.objects.put_opts(&Key::from(key.as_str()), payload.clone(), options).await {
                Ok(_) => return Ok(key),
                Err(object_store::Error::AlreadyExists { .. }) => {}
                Err(source) => return Err(StorageError::Object { key, source }),
            }
        }
    }

    /// Later objects of a worker have names that sort behind its earlier ones.
    fn next_key(&mut self) -> String {
        self.written += 1;
        let stamp = self.clock.now().date_stamp();
        let (year, month, day) = (&stamp[..4], &stamp[4..6], &stamp[6..]);
        let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let number = self.written;
        format!("{PREFIX}/{year}-{month}-{day}/worker-{}/{real:015}-{number:06}.jsonl", self.name)
    }

    fn row(&mut self, page: &StorageMessage, key: &str) -> PageRow {
        PageRow {
            crawl_id: page.crawl_id.clone(),
            url: page.url.clone(),
            domain: self.domains.of(&page.url).to_owned(),
            depth: page.depth,
            status_code: Some(page.status_code),
            s3_key: Some(key.to_owned()),
            status: PageStatus::Success,
        }
    }
}

/// The lines of one object, and how many pages they are.
fn lines(pages: &[&StorageMessage]) -> Result<(Vec<u8>, usize), StorageError> {
    // What JSON adds to a source is a tenth of it, or thereabouts.
    let likely: usize = pages.iter().map(|page| page.document.html.len() / 8 * 9 + 1024).sum();
    let (mut lines, mut taken) = (Vec::with_capacity(likely.min(OBJECT_BYTES)), 0);
    for page in pages {
        if lines.len() >= OBJECT_BYTES {
            break;
        }
        let encoded = serde_json::to_writer(&mut lines, page);
        encoded.map_err(|source| StorageError::Encode { url: page.url.clone(), source })?;
        lines.push(b'\n');
        taken += 1;
    }
    Ok((lines, taken))
}

impl<M: MetadataStore> Keeper for StorageWorker<M> {
    async fn keep(&mut self, pages: Vec<StorageMessage>) -> Result<(), KeepError> {
        Ok(self.store(&pages).await?)
    }
}

impl From<StorageError> for KeepError {
    fn from(error: StorageError) -> Self {
        let (disposition, is_disk_full) = (error.disposition(), is_disk_full(&error));
        Self { disposition, is_disk_full, source: Box::new(error) }
    }
}

/// Whether a full disk stands somewhere among the causes.
fn is_disk_full(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(current) = cause {
        let is_io = current.downcast_ref::<std::io::Error>().is_some_and(durable::is_disk_full);
        let code = current.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
        if is_io || code == Some(rusqlite::ErrorCode::DiskFull) {
            return true;
        }
        cause = current.source();
    }
    false
}

#[cfg(test)]
mod tests;
