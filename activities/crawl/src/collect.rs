//! A finished crawl's pages in the order of their canonical URLs, each once, and the digest over them.
//!
//! Which pages there are, and how deep each is, is the frontier's to say: a page that was kept before the coordinator said
//! so, and was refused then, is none; and a shorter path may have been found after a page was kept.

use std::sync::Arc;

use bytes::Bytes;
use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::Disposition;
use corpora_contracts::time::Timestamp;
use corpora_ports::frontier::{FrontierStore, FrontierStoreError, StoredPage};
use object_store::ObjectStore;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::coordinator::{self, rights_note};
use crate::pages::{Pages, PagesError};

/// URLs read from the frontier at a time.
const BATCH: usize = 500;

/// Why the pages cannot be collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The objects cannot be read.
    #[error(transparent)]
    Pages(#[from] PagesError),
    /// The frontier cannot be read.
    #[error(transparent)]
    Frontier(#[from] FrontierStoreError),
    /// The frontier names a page that no object has.
    #[error(
        "find the page `{url}`, which the state of the crawl has as stored; remove the crawl's folder and crawl again"
    )]
    Lost {
        /// Its canonical URL.
        url: String,
    },
    /// A page is not as the storage worker writes it.
    #[error("read the stored page `{url}`")]
    Page {
        /// Its canonical URL.
        url: String,
        /// What the parser says.
        source: serde_json::Error,
    },
}

impl CollectError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Pages(error) => error.disposition(),
            Self::Frontier(error) => error.disposition,
            Self::Lost { .. } | Self::Page { .. } => Disposition::Fail,
        }
    }
}

/// The pages of a crawl, one after the other.
#[derive(Debug)]
pub struct Collection<S> {
    frontier: S,
    pages: Pages,
    batch: std::vec::IntoIter<StoredPage>,
    after: Option<String>,
    hasher: Sha256,
    count: u64,
}

/// A page as it was collected.
#[derive(Debug)]
pub struct Collected {
    /// Its canonical URL.
    pub url: String,
    /// Links on the shortest path from a seed.
    pub depth: u32,
    line: Bytes,
    /// What its host states of its use and the page itself does not say, with what it says.
    rights: Option<Box<RawValue>>,
}

/// What is needed of a stored page; its source stays as it is written, so that it is not unescaped and escaped again.
#[derive(Debug, Deserialize)]
pub struct Content<'a> {
    /// The answer's status.
    pub status_code: u16,
    /// When the answer was here.
    pub fetched_at: Timestamp,
    /// The page.
    #[serde(borrow)]
    pub document: ContentDocument<'a>,
}

/// The page within [`Content`].
#[derive(Debug, Deserialize)]
pub struct ContentDocument<'a> {
    /// The source of the page, as a JSON string.
    #[serde(borrow)]
    pub html: &'a RawValue,
    /// What else is known.
    #[serde(borrow)]
    pub metadata: ContentMetadata<'a>,
}

/// The metadata within [`Content`].
#[derive(Debug, Deserialize)]
pub struct ContentMetadata<'a> {
    /// The media type.
    pub content_type: Option<String>,
    /// The digest of the body.
    pub body_sha256: Option<Digest>,
    /// The encoding.
    pub charset: Option<String>,
    /// The signals about the page's use, as a JSON object.
    #[serde(borrow)]
    pub rights: Option<&'a RawValue>,
}

impl<S: FrontierStore> Collection<S> {
    /// Begins to collect what this frontier has as stored.
    ///
    /// # Errors
    /// [`CollectError`].
    pub async fn begin(mut frontier: S, objects: Arc<dyn ObjectStore>) -> Result<Self, CollectError> {
        let crawl_id = coordinator::crawl_id(&mut frontier)?.unwrap_or_default();
        let pages = Pages::read(objects, &crawl_id).await?;
        Ok(Self { frontier, pages, batch: Vec::new().into_iter(), after: None, hasher: Sha256::new(), count: 0 })
    }

    /// The next page; none behind the last one.
    ///
    /// # Errors
    /// [`CollectError`].
    pub async fn next(&mut self) -> Result<Option<Collected>, CollectError> {
        if self.batch.len() == 0 {
            self.batch = self.frontier.stored(self.after.as_deref(), BATCH)?.into_iter();
        }
        let Some(StoredPage { key: url, depth }) = self.batch.next() else { return Ok(None) };
        self.after = Some(url.clone());
        let line = self.pages.line(&url).await?.ok_or_else(|| CollectError::Lost { url: url.clone() })?;
        let rights = self.frontier.note(&rights_note(&url))?;
        let rights = rights.and_then(|rights| RawValue::from_string(rights).ok());
        Ok(Some(Collected { url, depth, line, rights }))
    }

    /// What is in a page, which then counts for the digest: to be asked once for each, in their order.
    ///
    /// # Errors
    /// [`CollectError`].
    pub fn open<'c>(&mut self, page: &'c Collected) -> Result<Content<'c>, CollectError> {
        let content: Result<Content<'_>, _> = serde_json::from_slice(&page.line);
        let mut content = content.map_err(|source| CollectError::Page { url: page.url.clone(), source })?;
        if let Some(rights) = &page.rights {
            content.document.metadata.rights = Some(rights);
        }
        let sha256 = content.document.metadata.body_sha256;
        let sha256 = sha256.ok_or_else(|| CollectError::Lost { url: page.url.clone() })?;
        self.hasher.update(format!("{}\t{sha256}\n", page.url));
        self.count += 1;
        Ok(content)
    }

    /// The digest over the pages that were opened, as the ledger has it: SHA-256 of the sorted lines
    /// `<canonical url>\t<sha256 of the body>\n`; and how many they are.
    #[must_use]
    pub fn digest(self) -> (Digest, u64) {
        (Digest::from_bytes(self.hasher.finalize().into()), self.count)
    }
}

#[cfg(test)]
mod tests {
    use corpora_contracts::message::StorageMessage;
    use corpora_ports::frontier::{MemoryFrontier, NewUrl, State};
    use corpora_ports::metadata::MemoryMetadata;
    use corpora_stage::Clock;
    use object_store::memory::InMemory;

    use super::*;
    use crate::pages::sample;
    use crate::storage::StorageWorker;

    /// A frontier that has these URLs as stored, in this order of discovery.
    fn frontier(urls: &[(&str, u32)]) -> MemoryFrontier {
        let mut frontier = MemoryFrontier::default();
        let host = frontier.host("http://a.example").unwrap();
        for (url, depth) in urls {
            let state = State::Stored;
            let new = NewUrl { key: url, address: url, host, depth: *depth, state, reason: "", parent: None, found: 0 };
            frontier.add(&new).unwrap();
        }
        frontier.put_note(coordinator::CRAWL_ID, &sample("", "").crawl_id).unwrap();
        frontier.commit().unwrap();
        frontier
    }

    /// Objects of these pages, each batch an object, as a worker that dies behind each object leaves them.
    async fn objects(batches: &[&[StorageMessage]]) -> Arc<dyn ObjectStore> {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        for batch in batches {
            let clock = Clock::Fixed(Timestamp::EPOCH);
            let mut worker = StorageWorker::new(Arc::clone(&objects), MemoryMetadata::default(), "1", clock);
            worker.store(batch).await.unwrap();
            // The next one's names sort behind.
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        objects
    }

    async fn collect(frontier: MemoryFrontier, objects: Arc<dyn ObjectStore>) -> (Vec<(String, u32, String)>, Digest) {
        let mut collection = Collection::begin(frontier, objects).await.unwrap();
        let mut pages = Vec::new();
        while let Some(page) = collection.next().await.unwrap() {
            let html = serde_json::from_str(collection.open(&page).unwrap().document.html.get()).unwrap();
            pages.push((page.url.clone(), page.depth, html));
        }
        let (digest, count) = collection.digest();
        assert_eq!(count, pages.len() as u64);
        (pages, digest)
    }

    #[tokio::test]
    async fn pages_come_in_the_order_of_their_urls_whatever_the_order_of_their_arrival() {
        let page = |path: &str| sample(&format!("http://a.example/{path}"), &format!("<p>\"{path}\"\n"));
        let (a, b, long) = (page("a"), page("b"), page("a/b"));
        let urls = [("http://a.example/b", 2), ("http://a.example/a/b", 1), ("http://a.example/a", 0)];
        let mut back = urls;
        back.reverse();
        let one =
            collect(frontier(&urls), objects(&[std::slice::from_ref(&b), &[long.clone(), a.clone()]]).await).await;
        let other = collect(frontier(&back), objects(&[&[a, b, long]]).await).await;
        assert_eq!(one, other);
        let told = |path: &str, depth| (format!("http://a.example/{path}"), depth, format!("<p>\"{path}\"\n"));
        assert_eq!(one.0, [told("a", 0), told("a/b", 1), told("b", 2)]);
        let lines: String = ["a", "a/b", "b"]
            .map(|path| format!("http://a.example/{path}\t{}\n", Digest::of(format!("<p>\"{path}\"\n").as_bytes())))
            .concat();
        assert_eq!(one.1, Digest::of(lines.as_bytes()));
    }

    #[tokio::test]
    async fn a_page_that_was_kept_twice_is_one_and_a_page_that_the_frontier_does_not_have_is_none() {
        let (old, new) = (sample("http://a.example/", "old"), sample("http://a.example/", "new"));
        let refused = sample("http://a.example/refused", "x");
        let objects = objects(&[&[old, refused], &[new]]).await;
        let (pages, _) = collect(frontier(&[("http://a.example/", 0)]), objects).await;
        assert_eq!(pages, [("http://a.example/".to_owned(), 0, "new".to_owned())]);
    }

    #[tokio::test]
    async fn a_page_of_another_crawl_is_passed_over_and_what_a_host_states_is_added() {
        let old = StorageMessage { crawl_id: "docs.0".to_owned(), ..sample("http://a.example/", "old") };
        let mut frontier = frontier(&[("http://a.example/", 0)]);
        frontier.put_note(&rights_note("http://a.example/"), r#"{"content_signal":["ai-train=yes"]}"#).unwrap();
        frontier.commit().unwrap();
        let objects = objects(&[&[sample("http://a.example/", "new")], &[old]]).await;
        let mut collection = Collection::begin(frontier, objects).await.unwrap();
        let page = collection.next().await.unwrap().unwrap();
        let document = collection.open(&page).unwrap().document;
        assert_eq!(document.html.get(), "\"new\"");
        assert_eq!(document.metadata.rights.unwrap().get(), r#"{"content_signal":["ai-train=yes"]}"#);
    }

    #[tokio::test]
    async fn a_crawl_without_pages_has_the_digest_of_nothing() {
        let (pages, digest) = collect(frontier(&[]), objects(&[]).await).await;
        assert_eq!((pages.len(), digest), (0, Digest::of(b"")));
    }

    #[tokio::test]
    async fn what_is_lost_or_damaged_is_named() {
        let frontier = || frontier(&[("http://a.example/gone", 0)]);
        let mut lost = Collection::begin(frontier(), objects(&[]).await).await.unwrap();
        let error = lost.next().await.unwrap_err();
        assert!(error.to_string().contains("http://a.example/gone"), "{error}");
        let objects = objects(&[]).await;
        let key = object_store::path::Path::from("raw/2026-01-01/worker-1/x.jsonl");
        object_store::ObjectStoreExt::put(&*objects, &key, "{\"crawl_id\":\"c\",\"url\":\"u\"}\nno page\n".into())
            .await
            .unwrap();
        let error = Collection::begin(frontier(), objects).await.unwrap_err();
        assert!(error.to_string().contains("x.jsonl") && error.to_string().contains("byte 27"), "{error}");
    }
}
