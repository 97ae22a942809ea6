//! The metadata table of a crawl: where each page is, and what became of it. Never a text.

mod memory;
pub mod suite;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub use memory::MemoryMetadata;

use crate::PortError;

/// The metadata table.
pub trait MetadataStore: Send + Sync {
    /// Writes rows, all of them or none. A row of the same `crawl_id` and `url` is replaced and keeps its id.
    ///
    /// # Errors
    /// [`PortError`].
    fn put(&self, rows: &[PageRow]) -> impl Future<Output = Result<(), PortError>> + Send;

    /// The row of each url, in the order asked; none where there is none.
    ///
    /// # Errors
    /// [`PortError`].
    fn get(
        &self,
        crawl_id: &str,
        urls: &[&str],
    ) -> impl Future<Output = Result<Vec<Option<PageRow>>, PortError>> + Send;

    /// Rows of a crawl in the order of their ids, from behind `after` on, at most so many, each with its id.
    ///
    /// # Errors
    /// [`PortError`].
    fn list(
        &self,
        crawl_id: &str,
        after: Option<i64>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<(i64, PageRow)>, PortError>> + Send;

    /// How many rows of a crawl have which status.
    ///
    /// # Errors
    /// [`PortError`].
    fn count(&self, crawl_id: &str) -> impl Future<Output = Result<BTreeMap<PageStatus, u64>, PortError>> + Send;
}

/// What is known of one URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// The crawl.
    pub crawl_id: String,
    /// The canonical URL.
    pub url: String,
    /// Its host.
    pub domain: String,
    /// Links from a seed to here.
    pub depth: u32,
    /// The last answer's status; none when there was no answer.
    pub status_code: Option<u16>,
    /// The object that holds the page; none when it is not stored.
    pub s3_key: Option<String>,
    /// What became of it.
    pub status: PageStatus,
}

/// What became of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageStatus {
    /// The page is stored.
    Success,
    /// It leads elsewhere.
    Redirect,
    /// It was not asked for, or not kept: robots.txt, scope, budgets, rights.
    Refused,
    /// It gave no page.
    Failed,
}

impl PageStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Success, Self::Redirect, Self::Refused, Self::Failed];

    /// The word that stands in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Redirect => "REDIRECT",
            Self::Refused => "REFUSED",
            Self::Failed => "FAILED",
        }
    }
}

impl fmt::Display for PageStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a word is no [`PageStatus`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no status of a page")]
pub struct InvalidStatus {
    /// What was given.
    pub word: String,
}

impl FromStr for PageStatus {
    type Err = InvalidStatus;

    fn from_str(word: &str) -> Result<Self, InvalidStatus> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == word);
        found.ok_or_else(|| InvalidStatus { word: word.to_owned() })
    }
}
