//! The rows of the metadata table for what is not stored: a crawl that has ended says of every URL what became of it.

use corpora_contracts::document::Domains;
use corpora_ports::frontier::{FrontierStore, State, UrlRecord};
use corpora_ports::metadata::{MetadataStore, PageRow, PageStatus};

use crate::coordinator::{CoordinatorError, crawl_id, reason};
use crate::embedded::CrawlError;
use crate::role::KeepError;
use crate::storage::StorageError;

/// URLs looked at, and rows written, at a time.
const BATCH: usize = 500;

/// Writes a row for each URL that is not stored. Stored pages have theirs from the storage worker.
///
/// # Errors
/// [`CrawlError`]; rows may be written again.
pub async fn tell_the_rest(frontier: &mut impl FrontierStore, metadata: &impl MetadataStore) -> Result<(), CrawlError> {
    let crawl_id = crawl_id(frontier).map_err(CoordinatorError::from)?.unwrap_or_default();
    let (mut domains, mut after) = (Domains::default(), None);
    loop {
        let urls = frontier.list(after, BATCH).map_err(CoordinatorError::from)?;
        let Some(last) = urls.last() else { return Ok(()) };
        after = Some(last.id);
        let rows: Vec<PageRow> = urls.into_iter().filter_map(|url| row(&crawl_id, url, &mut domains)).collect();
        metadata.put(&rows).await.map_err(StorageError::from).map_err(KeepError::from)?;
    }
}

fn row(crawl_id: &str, url: UrlRecord, domains: &mut Domains) -> Option<PageRow> {
    let status_code = url.reason.strip_prefix("http_").and_then(|status| status.parse().ok());
    let status = match url.state {
        State::Queued | State::InFlight | State::Stored => return None,
        State::Failed => PageStatus::Failed,
        State::Left if url.reason == reason::REDIRECT => PageStatus::Redirect,
        State::Left if reason::is_failed_answer(&url.reason) => PageStatus::Failed,
        State::Left => PageStatus::Refused,
    };
    let domain = domains.of(&url.key).to_owned();
    Some(PageRow {
        crawl_id: crawl_id.to_owned(),
        url: url.key,
        domain,
        depth: url.depth,
        status_code,
        s3_key: None,
        status,
    })
}

#[cfg(test)]
mod tests {
    use corpora_ports::frontier::{MemoryFrontier, NewUrl};
    use corpora_ports::metadata::MemoryMetadata;

    use super::*;
    use crate::coordinator::CRAWL_ID;

    #[tokio::test]
    async fn what_became_of_each_url_that_is_not_stored_stands_in_the_table() {
        let mut frontier = MemoryFrontier::default();
        let host = frontier.host("http://a.example").unwrap();
        let urls = [
            ("stored", State::Stored, "", None),
            ("gone", State::Left, "http_404", Some((PageStatus::Failed, Some(404)))),
            ("slow", State::Left, "page_timeout", Some((PageStatus::Failed, None))),
            ("moved", State::Left, "redirect", Some((PageStatus::Redirect, None))),
            ("private", State::Left, "robots", Some((PageStatus::Refused, None))),
            ("large", State::Left, "page_bytes", Some((PageStatus::Refused, None))),
            ("down", State::Failed, "http_503", Some((PageStatus::Failed, Some(503)))),
            ("silent", State::Failed, "timeout", Some((PageStatus::Failed, None))),
            ("waiting", State::Queued, "", None),
        ];
        for (path, state, reason, _) in urls {
            let key = format!("http://a.example/{path}");
            let new = NewUrl { key: &key, address: &key, host, depth: 3, state, reason, parent: None, found: 0 };
            frontier.add(&new).unwrap();
        }
        frontier.put_note(CRAWL_ID, "crawl").unwrap();
        let metadata = MemoryMetadata::default();
        for _again in 0..2 {
            tell_the_rest(&mut frontier, &metadata).await.unwrap();
        }
        for (path, _, _, expected) in urls {
            let url = format!("http://a.example/{path}");
            let row = metadata.get("crawl", &[&url]).await.unwrap().pop().flatten();
            assert_eq!(row.as_ref().map(|row| (row.status, row.status_code)), expected, "{path}");
            let beside = row.map(|row| (row.domain, row.depth, row.s3_key));
            assert_eq!(beside, expected.map(|_| ("a.example".to_owned(), 3, None)));
        }
        assert_eq!(metadata.count("crawl").await.unwrap().values().sum::<u64>(), 7);
    }
}
