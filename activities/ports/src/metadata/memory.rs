//! The twin in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{MetadataStore, PageRow, PageStatus};
use crate::PortError;

/// A metadata table in memory.
#[derive(Debug, Default)]
pub struct MemoryMetadata {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rows: BTreeMap<i64, PageRow>,
    ids: BTreeMap<(String, String), i64>,
}

impl MemoryMetadata {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MetadataStore for MemoryMetadata {
    async fn put(&self, rows: &[PageRow]) -> Result<(), PortError> {
        let mut state = self.state();
        for row in rows {
            let next = state.rows.len() as i64 + 1;
            let id = *state.ids.entry((row.crawl_id.clone(), row.url.clone())).or_insert(next);
            state.rows.insert(id, row.clone());
        }
        Ok(())
    }

    async fn get(&self, crawl_id: &str, urls: &[&str]) -> Result<Vec<Option<PageRow>>, PortError> {
        let state = self.state();
        let row = |url: &&str| {
            let id = state.ids.get(&(crawl_id.to_owned(), (*url).to_owned()))?;
            state.rows.get(id).cloned()
        };
        Ok(urls.iter().map(row).collect())
    }

    async fn list(&self, crawl_id: &str, after: Option<i64>, most: usize) -> Result<Vec<(i64, PageRow)>, PortError> {
        let state = self.state();
        let rows = state.rows.range(after.map_or(i64::MIN, |after| after.saturating_add(1))..);
        let of_crawl = rows.filter(|(_, row)| row.crawl_id == crawl_id);
        Ok(of_crawl.take(most).map(|(id, row)| (*id, row.clone())).collect())
    }

    async fn count(&self, crawl_id: &str) -> Result<BTreeMap<PageStatus, u64>, PortError> {
        let mut counts = BTreeMap::new();
        for row in self.state().rows.values().filter(|row| row.crawl_id == crawl_id) {
            *counts.entry(row.status).or_default() += 1;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::suite;

    #[tokio::test]
    async fn the_twin_in_memory_is_a_metadata_table() {
        suite::holds(async || MemoryMetadata::default()).await;
    }
}
