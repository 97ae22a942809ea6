//! The queues between the roles of a crawl that run apart.

use std::path::{Path, PathBuf};

use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;
use corpora_local::SqliteQueue;
use corpora_stage::durable;

use crate::error::SourceError;

/// Jobs, from the coordinator to the workers.
pub const CRAWL: &str = "crawl";
/// Pages, from the workers to the storage worker.
pub const STORAGE: &str = "storage";
/// What came of jobs, from the workers to the coordinator.
pub const DISCOVERY: &str = "discovery";

/// The table of pages in the storage worker's folder.
pub const METADATA: &str = "metadata.sqlite";

/// A message that was received so often and never deleted is a dead letter.
const MOST_RECEIVES: u32 = 5;

/// Opens a queue of a crawl, and makes it where it is not.
///
/// # Errors
/// When it cannot be opened.
pub fn open(layout: &Layout, id: &Name, queue: &str) -> Result<SqliteQueue, SourceError> {
    let path = layout.crawl_queue(id, queue);
    durable::create_folder(path.parent().unwrap_or(Path::new("")))?;
    Ok(SqliteQueue::open(&path, MOST_RECEIVES)?)
}

/// The folder in which the storage worker keeps pages, which is made where it is not.
///
/// # Errors
/// When it cannot be made.
pub fn store(layout: &Layout, id: &Name) -> Result<PathBuf, SourceError> {
    let folder = layout.crawl_store(id);
    durable::create_folder(&folder)?;
    Ok(folder)
}
