//! The metadata table in an SQLite file.

use std::collections::BTreeMap;
use std::path::Path;

use corpora_ports::PortError;
use corpora_ports::metadata::{MetadataStore, PageRow, PageStatus};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use crate::database::Database;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS pages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        crawl_id TEXT NOT NULL,
        url TEXT NOT NULL,
        domain TEXT NOT NULL,
        depth INTEGER NOT NULL,
        status_code INTEGER,
        s3_key TEXT,
        status TEXT NOT NULL,
        UNIQUE (crawl_id, url)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS pages_by_domain ON pages (crawl_id, domain);
";

/// The columns of [`PageRow`] behind the id.
const COLUMNS: &str = "id, crawl_id, url, domain, depth, status_code, s3_key, status";

/// A metadata table in an SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteMetadata {
    database: Database,
}

impl SqliteMetadata {
    /// Opens the table of this file.
    ///
    /// # Errors
    /// [`PortError`].
    pub fn open(path: &Path) -> Result<Self, PortError> {
        Ok(Self { database: Database::open(path, SCHEMA)? })
    }
}

impl MetadataStore for SqliteMetadata {
    async fn put(&self, rows: &[PageRow]) -> Result<(), PortError> {
        let rows = rows.to_vec();
        let work = move |transaction: &Transaction<'_>| {
            let mut put = transaction.prepare_cached(
                "INSERT INTO pages (crawl_id, url, domain, depth, status_code, s3_key, status)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (crawl_id, url) DO UPDATE SET domain = ?3, depth = ?4, status_code = ?5, s3_key = ?6, status = ?7",
            )?;
            for PageRow { crawl_id, url, domain, depth, status_code, s3_key, status } in &rows {
                put.execute(params![crawl_id, url, domain, depth, status_code, s3_key, status.as_str()])?;
            }
            Ok(())
        };
        self.database.transact("write to", work).await
    }

    async fn get(&self, crawl_id: &str, urls: &[&str]) -> Result<Vec<Option<PageRow>>, PortError> {
        let crawl_id = crawl_id.to_owned();
        let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
        let work = move |transaction: &Transaction<'_>| {
            let find = format!("SELECT {COLUMNS} FROM pages WHERE crawl_id = ?1 AND url = ?2");
            let mut find = transaction.prepare_cached(&find)?;
            let of_url = |url: &String| find.query_row([&crawl_id, url], |row| Ok(page(row)?.1)).optional();
            urls.iter().map(of_url).collect()
        };
        self.database.transact("read", work).await
    }

    async fn list(&self, crawl_id: &str, after: Option<i64>, most: usize) -> Result<Vec<(i64, PageRow)>, PortError> {
        let crawl_id = crawl_id.to_owned();
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let work = move |transaction: &Transaction<'_>| {
            let list = format!("SELECT {COLUMNS} FROM pages WHERE crawl_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
            let mut list = transaction.prepare_cached(&list)?;
            list.query_map(params![crawl_id, after.unwrap_or(i64::MIN), most], page)?.collect()
        };
        self.database.transact("read", work).await
    }

    async fn count(&self, crawl_id: &str) -> Result<BTreeMap<PageStatus, u64>, PortError> {
        let crawl_id = crawl_id.to_owned();
        let work = move |transaction: &Transaction<'_>| {
            let count = "SELECT status, count(*) FROM pages WHERE crawl_id = ?1 GROUP BY status";
            let mut count = transaction.prepare_cached(count)?;
            count.query_map([crawl_id], |row| Ok((status(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs())))?.collect()
        };
        self.database.transact("read", work).await
    }
}

/// A row of [`COLUMNS`].
fn page(row: &Row<'_>) -> rusqlite::Result<(i64, PageRow)> {
    let page = PageRow {
        crawl_id: row.get(1)?,
        url: row.get(2)?,
        domain: row.get(3)?,
        depth: row.get(4)?,
        status_code: row.get(5)?,
        s3_key: row.get(6)?,
        status: status(row, 7)?,
    };
    Ok((row.get(0)?, page))
}

fn status(row: &Row<'_>, at: usize) -> rusqlite::Result<PageStatus> {
    let word: String = row.get(at)?;
    let unknown = |error| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(error));
    word.parse().map_err(unknown)
}

#[cfg(test)]
mod tests {
    use corpora_ports::metadata::suite;

    use super::*;

    #[tokio::test]
    async fn a_table_in_a_file_is_a_metadata_table() {
        let folder = tempfile::tempdir().unwrap();
        suite::holds(async || SqliteMetadata::open(&folder.path().join("metadata.sqlite")).unwrap()).await;
    }

    #[test]
    fn the_columns_are_those_of_the_contract_and_hold_no_text_of_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metadata.sqlite");
        SqliteMetadata::open(&path).unwrap();
        let connection = rusqlite::Connection::open(&path).unwrap();
        let mut columns = connection.prepare("SELECT name FROM pragma_table_info('pages')").unwrap();
        let names: Vec<String> = columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(names.join(", "), COLUMNS);
    }
}
