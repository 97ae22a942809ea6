//! The pages of a crawl as they were stored, found by canonical URL.
//!
//! The objects are read once, and where each page is stands in an index on the disk: memory stays flat, however many pages
//! there are. A URL that has several lines, since a crash came between an object and its rows, has the last one.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use corpora_contracts::message::{self, StorageMessage};
use corpora_contracts::outcome::Disposition;
use futures::TryStreamExt as _;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Deserialize;

use crate::storage::PREFIX;

/// Why pages cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PagesError {
    /// An object was not read.
    #[error("read the object `{key}`")]
    Object {
        /// Its key.
        key: String,
        /// What the store said.
        source: object_store::Error,
    },
    /// A line of an object is no page: the file was changed or damaged.
    #[error("read the object `{key}`: what starts at byte {at} is no page")]
    Line {
        /// Its key.
        key: String,
        /// Where the line starts.
        at: u64,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// The index failed.
    #[error("index the pages of the crawl")]
    Index {
        /// What the database says.
        #[from]
        source: rusqlite::Error,
    },
}

impl PagesError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Object { .. } | Self::Index { .. } => Disposition::Retry,
            Self::Line { .. } => Disposition::Fail,
        }
    }
}

/// The stored pages of a crawl.
#[derive(Debug)]
pub struct Pages {
    objects: Arc<dyn ObjectStore>,
    index: Mutex<Connection>,
}

/// What the index needs of a line; the rest is passed over.
#[derive(Deserialize)]
struct Head {
    crawl_id: String,
    url: String,
}

impl Pages {
    /// Reads every object below [`PREFIX`]. Pages of other crawls than this one are passed over.
    ///
    /// # Errors
    /// [`PagesError`].
    pub async fn read(objects: Arc<dyn ObjectStore>, crawl_id: &str) -> Result<Self, PagesError> {
        // An empty name is a file of SQLite's own, gone with the connection.
        let connection = Connection::open("")?;
        connection.execute_batch(
            "PRAGMA synchronous = OFF;
             PRAGMA journal_mode = OFF;
             CREATE TABLE objects (id INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT;
             CREATE TABLE pages (url TEXT PRIMARY KEY, object INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL)
                 STRICT, WITHOUT ROWID;",
        )?;
        let pages = Self { objects, index: Mutex::new(connection) };
        for key in pages.keys().await? {
            let object = pages.objects.get(&key).await;
            let bytes = match object {
                Ok(object) => object.bytes().await,
                Err(error) => Err(error),
            };
            let bytes = bytes.map_err(|source| PagesError::Object { key: key.to_string(), source })?;
            pages.add(key.as_ref(), &bytes, crawl_id)?;
        }
        Ok(pages)
    }

    /// The line of a page, a [`StorageMessage`]; none when no such page is stored.
    ///
    /// # Errors
    /// [`PagesError`].
    pub async fn line(&self, url: &str) -> Result<Option<bytes::Bytes>, PagesError> {
        let Some((key, range)) = self.place(url)? else { return Ok(None) };
        let line = self.objects.get_range(&Key::from(key.as_str()), range).await;
        line.map(Some).map_err(|source| PagesError::Object { key, source })
    }

    /// A page; none when no such page is stored.
    ///
    /// # Errors
    /// [`PagesError`].
    pub async fn page(&self, url: &str) -> Result<Option<StorageMessage>, PagesError> {
        let Some(line) = self.line(url).await? else { return Ok(None) };
        let place = |source| PagesError::Line { key: url.to_owned(), at: 0, source };
        message::read(&line).map(Some).map_err(place)
    }

    /// The keys of all objects, in the order in which a worker writes them.
    async fn keys(&self) -> Result<Vec<Key>, PagesError> {
        let listed = self.objects.list(Some(&Key::from(PREFIX))).map_ok(|meta| meta.location).try_collect().await;
        let mut keys: Vec<Key> = listed.map_err(|source| PagesError::Object { key: PREFIX.to_owned(), source })?;
        keys.sort_unstable();
        Ok(keys)
    }

    fn add(&self, key: &str, bytes: &[u8], crawl_id: &str) -> Result<(), PagesError> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = index.transaction()?;
        transaction.execute("INSERT INTO objects (key) VALUES (?1)", [key])?;
        let object = transaction.last_insert_rowid();
        {
            let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO pages VALUES (?1, ?2, ?3, ?4)")?;
            let mut start = 0;
            while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
                let line = &rest[..memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)];
                let head: Head = serde_json::from_slice(line).map_err(|source| PagesError::Line {
                    key: key.to_owned(),
                    at: start as u64,
                    source,
                })?;
                if head.crawl_id == crawl_id {
                    let length = line.trim_ascii_end().len();
                    insert.execute(params![head.url, object, start as i64, length as i64])?;
                }
                start += line.len();
            }
        }
        Ok(transaction.commit()?)
    }

    /// Where the line of a page is: the key of its object, and the bytes of it; none when no such page is stored.
    ///
    /// # Errors
    /// [`PagesError`].
    pub fn place(&self, url: &str) -> Result<Option<(String, Range<u64>)>, PagesError> {
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut find = index.prepare_cached(
            "SELECT key, start, length FROM pages JOIN objects ON objects.id = pages.object WHERE url = ?1",
        )?;
        let place = find.query_row([url], |row| {
            let (start, length) = (row.get::<_, i64>(1)?.unsigned_abs(), row.get::<_, i64>(2)?.unsigned_abs());
            Ok((row.get(0)?, start..start + length))
        });
        Ok(place.optional()?)
    }
}

/// A page for tests.
#[cfg(test)]
pub(crate) fn sample(url: &str, html: &str) -> StorageMessage {
    use corpora_contracts::ids::Digest;
    use corpora_contracts::message::{Document, Metadata};

    let metadata = Metadata {
        content_type: Some("text/html".to_owned()),
        body_sha256: Some(Digest::of(html.as_bytes())),
        charset: Some("UTF-8".to_owned()),
        ..Metadata::default()
    };
    StorageMessage {
        v: None,
        crawl_id: "docs.1".to_owned(),
        url: url.to_owned(),
        status_code: 200,
        depth: 1,
        document: Document { html: html.to_owned(), metadata, ..Document::default() },
        fetched_at: corpora_contracts::time::Timestamp::EPOCH,
        processing_time_ms: 3,
    }
}
