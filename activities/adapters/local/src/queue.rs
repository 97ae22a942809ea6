//! A queue in an SQLite file.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use corpora_ports::PortError;
use corpora_ports::queue::{BATCH, Delivery, DeliveryId, Level, Queue, check_batch};
use rusqlite::{Transaction, params};
use tokio::sync::Notify;

use crate::database::Database;

/// `delivery` is the number of the latest one, which a later delivery replaces: an earlier receiver then owns nothing.
/// `visible_at` is in milliseconds since 1970: processes that share the file share the machine's clock.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        body BLOB NOT NULL,
        visible_at INTEGER NOT NULL DEFAULT 0,
        receives INTEGER NOT NULL DEFAULT 0,
        delivery INTEGER UNIQUE,
        dead INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX IF NOT EXISTS messages_due ON messages (dead, visible_at, id);
    CREATE TABLE IF NOT EXISTS deliveries (last INTEGER NOT NULL) STRICT;
    INSERT INTO deliveries SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM deliveries);
";

/// How often a receiver looks for what another process has sent.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A queue in an SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteQueue {
    database: Database,
    most_receives: u32,
    /// Told when this process sends something.
    news: Arc<Notify>,
}

impl SqliteQueue {
    /// Opens the queue of this file, whose messages become dead letters when they would be received more often than
    /// `most_receives`.
    ///
    /// # Errors
    /// [`PortError`].
    pub fn open(path: &Path, most_receives: u32) -> Result<Self, PortError> {
        Ok(Self { database: Database::open(path, SCHEMA)?, most_receives, news: Arc::default() })
    }

    async fn take(&self, most: usize, hidden: Duration) -> Result<Vec<Delivery>, PortError> {
        let (most_receives, most) = (self.most_receives, most.min(BATCH));
        let work = move |transaction: &Transaction<'_>| {
            let now = now_ms();
            bury(transaction, now, most_receives)?;
            let due = "SELECT id, body, receives FROM messages WHERE dead = 0 AND visible_at <= ?1
                       ORDER BY visible_at, id LIMIT ?2";
            let mut due = transaction.prepare_cached(due)?;
            let rows = due.query_map(params![now, most as i64], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let rows: Vec<(i64, Vec<u8>, u32)> = rows.collect::<Result<_, _>>()?;
            let mut taken = Vec::new();
            for (id, body, receives) in rows {
                let number: i64 =
                    transaction
                        .query_row("UPDATE deliveries SET last = last + 1 RETURNING last", [], |row| row.get(0))?;
                transaction.execute(
                    "UPDATE messages SET visible_at = ?2, receives = receives + 1, delivery = ?3 WHERE id = ?1",
                    params![id, now.saturating_add(ms(hidden)), number],
                )?;
                taken.push(Delivery { id: DeliveryId(number.to_string()), body, receives: receives + 1 });
            }
            Ok(taken)
        };
        self.database.transact("receive from", work).await
    }
}

impl Queue for SqliteQueue {
    async fn send(&self, bodies: &[Vec<u8>]) -> Result<(), PortError> {
        check_batch(&self.database.name(), bodies)?;
        let bodies = bodies.to_vec();
        let work = move |transaction: &Transaction<'_>| {
            let mut insert = transaction.prepare_cached("INSERT INTO messages (body, visible_at) VALUES (?1, ?2)")?;
            // Behind what is there: the order of equal times is that of ids.
            bodies.iter().try_for_each(|body| insert.execute(params![body, now_ms()]).map(drop))
        };
        self.database.transact("send to", work).await?;
        self.news.notify_waiters();
        Ok(())
    }

    async fn receive(&self, most: usize, hidden: Duration, wait: Duration) -> Result<Vec<Delivery>, PortError> {
        let start = Instant::now();
        loop {
            let news = self.news.notified();
            let taken = self.take(most, hidden).await?;
            let left = wait.saturating_sub(start.elapsed());
            if !taken.is_empty() || left.is_zero() {
                return Ok(taken);
            }
            let _ = tokio::time::timeout(left.min(LOOK_EVERY), news).await;
        }
    }

    async fn delete(&self, deliveries: &[DeliveryId]) -> Result<(), PortError> {
        let numbers = numbers(deliveries);
        let work = move |transaction: &Transaction<'_>| {
            let mut delete = transaction.prepare_cached("DELETE FROM messages WHERE delivery = ?1")?;
            numbers.iter().try_for_each(|number| delete.execute([number]).map(drop))
        };
        self.database.transact("delete from", work).await
    }

    async fn hide(&self, deliveries: &[DeliveryId], hidden: Duration) -> Result<(), PortError> {
        let numbers = numbers(deliveries);
        let work = move |transaction: &Transaction<'_>| {
            let until = now_ms().saturating_add(ms(hidden));
            let mut hide = transaction.prepare_cached("UPDATE messages SET visible_at = ?2 WHERE delivery = ?1")?;
            numbers.iter().try_for_each(|number| hide.execute([*number, until]).map(drop))
        };
        self.database.transact("write to", work).await?;
        self.news.notify_waiters();
        Ok(())
    }

    async fn level(&self) -> Result<Level, PortError> {
        let most_receives = self.most_receives;
        let work = move |transaction: &Transaction<'_>| {
            let now = now_ms();
            bury(transaction, now, most_receives)?;
            let count = |condition: &str| {
                let count = format!("SELECT count(*) FROM messages WHERE {condition}");
                transaction.query_row(&count, [now], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
            };
            Ok(Level {
                ready: count("dead = 0 AND visible_at <= ?1")?,
                hidden: count("dead = 0 AND visible_at > ?1")?,
                dead: count("dead = 1 AND ?1 = ?1")?,
            })
        };
        self.database.transact("read", work).await
    }

    async fn redrive(&self) -> Result<u64, PortError> {
        let work = |transaction: &Transaction<'_>| {
            let again = "UPDATE messages SET dead = 0, receives = 0, delivery = NULL, visible_at = ?1 WHERE dead = 1";
            transaction.execute(again, [now_ms()])
        };
        let count = self.database.transact("write to", work).await?;
        self.news.notify_waiters();
        Ok(count as u64)
    }
}

/// What came back once too often is a dead letter.
fn bury(transaction: &Transaction<'_>, now: i64, most_receives: u32) -> rusqlite::Result<()> {
    let bury = "UPDATE messages SET dead = 1, delivery = NULL WHERE dead = 0 AND visible_at <= ?1 AND receives >= ?2";
    transaction.prepare_cached(bury)?.execute(params![now, most_receives]).map(drop)
}

/// The numbers of deliveries; an id that is none of ours names nothing.
fn numbers(deliveries: &[DeliveryId]) -> Vec<i64> {
    deliveries.iter().filter_map(|id| id.0.parse().ok()).collect()
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn now_ms() -> i64 {
    ms(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use corpora_ports::queue::suite;

    use super::*;

    #[tokio::test]
    async fn a_queue_in_a_file_is_a_queue() {
        let folder = tempfile::tempdir().unwrap();
        let number = std::sync::atomic::AtomicU32::new(0);
        let open = async |most_receives| {
            let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            SqliteQueue::open(&folder.path().join(format!("{number}.sqlite")), most_receives).unwrap()
        };
        suite::holds(open).await;
    }

    #[tokio::test]
    async fn what_one_process_sent_another_receives_also_after_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.sqlite");
        let first = SqliteQueue::open(&path, 9).unwrap();
        first.send(&[b"a".to_vec(), b"b".to_vec()]).await.unwrap();
        let second = SqliteQueue::open(&path, 9).unwrap();
        let long = Duration::from_secs(600);
        assert_eq!(first.receive(1, long, Duration::ZERO).await.unwrap()[0].body, b"a");
        drop(first);
        let left = second.receive(BATCH, long, Duration::ZERO).await.unwrap();
        assert_eq!(left.iter().map(|delivery| &delivery.body[..]).collect::<Vec<_>>(), [b"b"]);
        drop(second);
        let again = SqliteQueue::open(&path, 9).unwrap();
        assert_eq!(again.level().await.unwrap(), Level { ready: 0, hidden: 2, dead: 0 });
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.sqlite");
        std::fs::write(&path, "no database, and long enough to be read as the head of one: not at all. ".repeat(9))
            .unwrap();
        let error = SqliteQueue::open(&path, 9).unwrap_err();
        assert!(error.to_string().contains("queue.sqlite"), "{error}");
    }
}
