//! One SQLite file, opened in the way that all adapters here need.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use corpora_ports::PortError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// How long a writer waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(30);

/// An open database; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    path: PathBuf,
    connection: Arc<Mutex<Connection>>,
}

impl Database {
    /// Opens the file, making it when it is not there, and runs the statements of `schema`, which may have run before.
    pub(crate) fn open(path: &Path, schema: &str) -> Result<Self, PortError> {
        let prepared = Connection::open(path).and_then(|connection| {
            connection.busy_timeout(BUSY)?;
            // Readers go on while one writes; a commit is on the disk when it returns.
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.execute_batch(schema)?;
            Ok(connection)
        });
        let connection = prepared.map_err(PortError::service("open", &path.display().to_string()))?;
        Ok(Self { path: path.to_owned(), connection: Arc::new(Mutex::new(connection)) })
    }

    /// Does work in one transaction, on a thread that may block: all of it is kept, or none.
    pub(crate) async fn transact<T: Send + 'static>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, PortError> {
        let connection = Arc::clone(&self.connection);
        let task = tokio::task::spawn_blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
        let done: rusqlite::Result<T> =
            task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        done.map_err(PortError::service(action, &self.name()))
    }

    /// What the database is called in messages.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }
}
