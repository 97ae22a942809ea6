//! The pages that a refresh asks about.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use corpora_contracts::message::{self, StorageMessage};
use corpora_crawl::collect::CollectError;
use corpora_crawl::coordinator;
use corpora_crawl::pages::Pages;
use corpora_crawl::runs::Run;
use corpora_crawl::storage;
use corpora_crawl::worker::Earlier;
use corpora_local::frontier::SqliteFrontier;
use corpora_web::url::CanonicalUrl;

use crate::error::SourceError;

/// The pages of an earlier run.
#[derive(Debug)]
struct EarlierPages {
    pages: Pages,
    folder: PathBuf,
}

/// Opens the pages of an earlier run.
///
/// # Errors
/// When they cannot be read.
pub(super) async fn open(run: &Run) -> Result<Arc<dyn Earlier>, SourceError> {
    let mut frontier = SqliteFrontier::open(&run.frontier()).map_err(CollectError::from)?;
    let crawl_id = coordinator::crawl_id(&mut frontier).map_err(CollectError::from)?.unwrap_or_default();
    let pages = Pages::read(storage::local_objects(&run.folder)?, &crawl_id).await.map_err(CollectError::from)?;
    Ok(Arc::new(EarlierPages { pages, folder: run.folder.clone() }))
}

impl Earlier for EarlierPages {
    fn page(&self, url: &CanonicalUrl) -> Option<StorageMessage> {
        let (key, range) = self.pages.place(url.as_str()).ok().flatten()?;
        let mut line = vec![0; usize::try_from(range.end - range.start).ok()?];
        // What cannot be read is asked for without a condition.
        File::open(self.folder.join(key)).ok()?.read_exact_at(&mut line, range.start).ok()?;
        message::read(&line).ok()
    }
}
