//! What a child says: the end of its stdout and stderr, in bounded memory.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long the ends of the pipes are waited for when the child has ended: only a process that left the child's group
/// can still hold them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The end of a stream that is read as long as it lasts.
#[derive(Debug)]
pub(crate) struct Capture {
    end: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

/// Where a stream also goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    /// Nowhere.
    No,
    /// To the worker's own stderr: it is the log of all that runs here.
    ToStderr,
}

impl Capture {
    /// Starts to read a stream, of which the last `most` bytes are kept.
    pub(crate) fn start(stream: impl AsyncRead + Unpin + Send + 'static, most: usize, copied: Copied) -> Self {
        let end = Arc::new(Mutex::new(Vec::new()));
        let reading = tokio::spawn(read(stream, Arc::clone(&end), most, copied));
        Self { end, reading }
    }

    /// The end of the stream, once it has ended.
    pub(crate) async fn finish(self) -> Vec<u8> {
        self.finish_within(PATIENCE).await
    }

    async fn finish_within(mut self, patience: Duration) -> Vec<u8> {
        if timeout(patience, &mut self.reading).await.is_err() {
            self.reading.abort();
        }
        std::mem::take(&mut self.end.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn read(mut stream: impl AsyncRead + Unpin, end: Arc<Mutex<Vec<u8>>>, most: usize, copied: Copied) {
    let mut chunk = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut chunk).await {
        if copied == Copied::ToStderr {
            // A log that cannot be written is no reason to end a stage.
            let _ = std::io::stderr().write_all(&chunk[..length]);
        }
        let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
        end.extend_from_slice(&chunk[..length]);
        let surplus = end.len().saturating_sub(most);
        end.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_stream_is_kept() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let capture = Capture::start(reader, 10, Copied::No);
        for line in 0..1000 {
            writer.write_all(format!("line {line}\n").as_bytes()).await.unwrap();
        }
        drop(writer);
        assert_eq!(capture.finish().await, b"\nline 999\n");
    }

    #[tokio::test]
    async fn a_stream_that_stays_open_is_not_waited_for() {
        let (mut writer, reader) = tokio::io::duplex(1);
        let capture = Capture::start(reader, 100, Copied::No);
        writer.write_all(b"said\n").await.unwrap();
        // The writer has come back, so all but the last byte has been read; it is held until the reader is given up.
        assert!(capture.finish_within(Duration::from_millis(50)).await.starts_with(b"said"));
        drop(writer);
    }
}
