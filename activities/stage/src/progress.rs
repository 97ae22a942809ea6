//! Progress lines for the orchestrator, and the same events for a bar.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use corpora_contracts::progress::{Event, Kind};

use crate::durable::{self, FileError};

/// Sees every event as it happens: a bar on a terminal.
pub type Observer = Arc<dyn Fn(&Kind) + Send + Sync>;

/// Where progress goes; cheap to clone, and silent by default.
#[derive(Clone, Default)]
pub struct Progress {
    file: Option<Arc<Mutex<File>>>,
    observer: Option<Observer>,
    attempt: u32,
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress").field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

impl Progress {
    /// Progress that also appends to the activity's `progress.jsonl`.
    ///
    /// A last line without its newline, torn by a crash, is ended first and never cut: a reader may stand behind it.
    ///
    /// # Errors
    /// When the file cannot be opened for append.
    pub fn to_file(self, path: &Path, attempt: u32) -> Result<Self, FileError> {
        let mut file =
            OpenOptions::new().create(true).append(true).read(true).open(path).map_err(durable::on("open", path))?;
        end_last_line(&mut file).map_err(durable::on("append to", path))?;
        Ok(Self { file: Some(Arc::new(Mutex::new(file))), attempt, ..self })
    }

    /// Progress that an observer sees too.
    #[must_use]
    pub fn observed_by(self, observer: Observer) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Reports one event: a single flushed line.
    pub fn emit(&self, kind: Kind) {
        if let Some(observer) = &self.observer {
            observer(&kind);
        }
        let Some(file) = &self.file else { return };
        let ts = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let Ok(mut line) = serde_json::to_vec(&Event { ts, attempt: self.attempt, kind }) else { return };
        line.push(b'\n');
        // One write per line, so that a reader never sees two halves. Progress that cannot be written (a full disk)
        // is lost; the stage's own writes say so.
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(&line);
    }
}

fn end_last_line(file: &mut File) -> std::io::Result<()> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_ended_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress.jsonl");
        std::fs::write(&path, "{\"ts\":1,\"att").unwrap();
        let seen = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&seen);
        let progress = Progress::default().observed_by(Arc::new(move |_| *counter.lock().unwrap() += 1));
        let progress = progress.to_file(&path, 2).unwrap();
        progress.emit(Kind::Done { outputs: vec!["corpus/LEDGER.jsonl".to_owned()] });
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "{\"ts\":1,\"att");
        let event: Event = serde_json::from_str(lines[1]).unwrap();
        assert_eq!(event.attempt, 2);
        assert!(lines[1].contains("\"kind\":\"done\""), "{}", lines[1]);
        assert_eq!(*seen.lock().unwrap(), 1);
    }
}
