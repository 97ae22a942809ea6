//! The child's progress as it is written: the newest event of `progress.jsonl`.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use corpora_contracts::progress::Event;
use serde_json::{Value, json};

/// An event that is longer than this, as JSON, is told by its kind alone: it travels with every heartbeat.
const MOST_BYTES: usize = 2 * 1024;

/// A reader behind the end of a progress file.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    position: u64,
    unfinished: Vec<u8>,
}

impl Tail {
    /// A reader that starts at the length found: what stands there is of earlier attempts.
    pub(crate) fn behind(path: &Path) -> Self {
        let position = path.metadata().map_or(0, |metadata| metadata.len());
        Self { path: path.to_owned(), position, unfinished: Vec::new() }
    }

    /// The last event that was written since the previous call. A last line without its newline is kept for the next
    /// call, lines that do not parse are passed over, and a file that cannot be read has nothing new.
    pub(crate) fn newest(&mut self) -> Option<Value> {
        self.read().ok()?;
        let end = self.unfinished.iter().rposition(|&byte| byte == b'\n')?;
        let lines: Vec<u8> = self.unfinished.drain(..=end).collect();
        lines.rsplit(|&byte| byte == b'\n').find_map(event)
    }

    fn read(&mut self) -> std::io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.position))?;
        self.position += u64::try_from(file.read_to_end(&mut self.unfinished)?).unwrap_or_default();
        Ok(())
    }
}

fn event(line: &[u8]) -> Option<Value> {
    let event: Event = serde_json::from_slice(line).ok()?;
    let (ts, attempt) = (event.ts, event.attempt);
    let whole = serde_json::to_value(event).ok()?;
    if line.len() <= MOST_BYTES {
        return Some(whole);
    }
    Some(json!({"ts": ts, "attempt": attempt, "kind": whole["kind"]}))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use super::*;

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn step(done: u64) -> String {
        let step = r#""kind":"step","stage":"fetch","source":"a","total":null,"unit":"bytes""#;
        format!("{{\"ts\":1.5,\"attempt\":1,{step},\"done\":{done}}}\n")
    }

    #[test]
    fn only_what_is_new_and_whole_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress.jsonl");
        let mut tail = Tail::behind(&path);
        assert_eq!(tail.newest(), None, "there is no file yet");
        append(&path, &step(1));
        append(&path, &step(2));
        assert_eq!(tail.newest().unwrap()["done"], 2);
        assert_eq!(tail.newest(), None, "nothing new");
        let torn = step(3);
        append(&path, &torn[..20]);
        assert_eq!(tail.newest(), None, "a line without its newline");
        append(&path, &torn[20..]);
        append(&path, "no event\n{\"kind\":\"step\"}\n");
        assert_eq!(tail.newest().unwrap()["done"], 3, "lines that do not parse are passed over");
    }

    #[test]
    fn an_attempt_does_not_read_what_an_earlier_one_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress.jsonl");
        let torn = step(7);
        append(&path, &(step(6) + &torn[..20]));
        let mut tail = Tail::behind(&path);
        assert_eq!(tail.newest(), None);
        // The stage ends the torn line before it writes its own.
        append(&path, &format!("\n{}", step(8)));
        assert_eq!(tail.newest().unwrap()["done"], 8);
    }

    #[test]
    fn a_long_event_travels_by_its_kind() {
        let outputs: Vec<String> = (0..200).map(|part| format!("corpus/raw/a/20260101/part-{part:05}")).collect();
        let line = json!({"ts": 2.0, "attempt": 3, "kind": "done", "outputs": outputs}).to_string();
        assert_eq!(event(line.as_bytes()), Some(json!({"ts": 2.0, "attempt": 3, "kind": "done"})));
    }
}
