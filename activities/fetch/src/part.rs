//! A download in progress: `<name>.part`, and beside it `<name>.part.json`, which says what its bytes are part of.
//!
//! The side file is published before the first byte of a body, after the old bytes are gone: a crash between the two
//! leaves a note without bytes, never bytes under another object's note. Bytes are hashed as they are written.
//!
//! Neither file is followed when it is a symbolic link, which would have us write over a file elsewhere.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use corpora_contracts::ids::Digest;
use corpora_stage::durable::{self, FileError};
use corpora_stage::fault;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::CancellationToken;

/// How many chunks may wait for the disk; with chunks of at most about 400 KiB this bounds the memory of a download.
/// With 16 it was no faster (`bench/README.md`).
const CHUNKS_IN_FLIGHT: usize = 4;

/// What the bytes of a part are part of; the side file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The configured url, or mirror, that the bytes came from.
    pub url: String,
    /// The digest pinned when the download began.
    pub sha256: Digest,
    /// The answer's `ETag`, as sent.
    pub etag: Option<String>,
    /// The answer's `Last-Modified`, as sent.
    pub last_modified: Option<String>,
    /// The whole object's size in bytes.
    pub total: Option<u64>,
    /// The answer's `Content-Encoding`, as sent.
    pub coding: Option<String>,
}

/// The bytes on disk, their running digest, and their note.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    note: Option<Note>,
    content: Content,
    inherited: bool,
}

/// How many bytes are on disk, and their digest so far; none until what an earlier run left has been read.
#[derive(Debug, Default)]
struct Content {
    bytes: u64,
    hasher: Option<Sha256>,
}

/// A thread that appends chunks to a part and hashes them.
#[derive(Debug)]
pub struct Writer {
    chunks: mpsc::Sender<Bytes>,
    thread: JoinHandle<(Content, Result<(), FileError>)>,
}

impl Part {
    /// The part at this path, with whatever an earlier run left there. What is no regular file is removed.
    ///
    /// # Errors
    /// When the files are there and can be neither read nor removed.
    pub fn open(path: PathBuf) -> Result<Self, FileError> {
        let side = side_path(&path);
        let bytes = size_of_regular(&path)?.unwrap_or(0);
        // A note that cannot be read is no note: the pin decides about the bytes.
        let text = size_of_regular(&side)?.and_then(|_| std::fs::read(&side).ok());
        let note = text.and_then(|text| serde_json::from_slice(&text).ok());
        let hasher = (bytes == 0).then(Sha256::new);
        Ok(Self { path, note, content: Content { bytes, hasher }, inherited: bytes > 0 })
    }

    /// Where the bytes are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes are on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.content.bytes
    }

    /// What the bytes are part of, when that is known.
    #[must_use]
    pub fn note(&self) -> Option<&Note> {
        self.note.as_ref()
    }

    /// Whether an earlier run wrote some of the bytes.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// Whether the bytes may be continued from this url under this pin. Bytes without a note may: the pin decides.
    #[must_use]
    pub fn belongs_to(&self, url: &str, sha256: &Digest) -> bool {
        self.note.as_ref().is_none_or(|note| note.url == url && note.sha256 == *sha256)
    }

    /// Drops the bytes and their note.
    ///
    /// # Errors
    /// When the files cannot be removed.
    pub fn discard(&mut self) -> Result<(), FileError> {
        durable::remove_file(&self.path)?;
        durable::remove_file(&side_path(&self.path))?;
        self.content = Content { bytes: 0, hasher: Some(Sha256::new()) };
        (self.note, self.inherited) = (None, false);
        Ok(())
    }

    /// Drops the bytes and begins anew with this note.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn begin(&mut self, note: Note) -> Result<(), FileError> {
        self.discard()?;
        let side = side_path(&self.path);
        let text = serde_json::to_vec(&note).map_err(io::Error::from).map_err(durable::on("write", &side))?;
        durable::write_atomic(&side, &text, Some(["part-meta.before", "part-meta.after"]))?;
        self.note = Some(note);
        Ok(())
    }

    /// Notes the object's size, once a ranged answer has told it.
    pub fn learn_total(&mut self, total: u64) {
        if let Some(note) = &mut self.note {
            note.total.get_or_insert(total);
        }
    }

    /// Starts a thread that appends chunks; [`Writer::finish`] gives the part its content back.
    pub fn writer(&mut self) -> Writer {
        let (chunks, receiver) = mpsc::channel(CHUNKS_IN_FLIGHT);
        let (path, content) = (self.path.clone(), std::mem::take(&mut self.content));
        Writer { chunks, thread: spawn_blocking(move || content.append_all(&path, receiver)) }
    }

    /// The digest of all bytes, once they are complete and synced; none when `cancel` came first.
    ///
    /// # Errors
    /// When the bytes cannot be read or synced.
    pub async fn seal(&mut self, cancel: &CancellationToken) -> Result<Option<Digest>, FileError> {
        let (path, mut content) = (self.path.clone(), std::mem::take(&mut self.content));
        let cancel = cancel.clone();
        let sealing = spawn_blocking(move || {
            let sealed = content.catch_up(&path, &cancel).and_then(|()| content.sync(&path));
            (content, sealed)
        });
        let (content, sealed) = returned(sealing).await;
        let hasher = content.hasher.clone();
        self.content = content;
        sealed.map(|()| hasher.map(|hasher| Digest::from_bytes(hasher.finalize().into())))
    }

    /// Reads and hashes what an earlier run left, once; stops early when `cancel` comes.
    ///
    /// # Errors
    /// When the bytes cannot be read.
    pub async fn catch_up(&mut self, cancel: &CancellationToken) -> Result<(), FileError> {
        let (path, mut content) = (self.path.clone(), std::mem::take(&mut self.content));
        let cancel = cancel.clone();
        let reading = spawn_blocking(move || {
            let result = content.catch_up(&path, &cancel);
            (content, result)
        });
        let (content, result) = returned(reading).await;
        self.content = content;
        result
    }

    /// Publishes the sealed bytes under another name and drops the note.
    ///
    /// # Errors
    /// When the files cannot be renamed or removed.
    pub fn rename_to(&self, target: &Path) -> Result<(), FileError> {
        if let Some(folder) = target.parent() {
            durable::create_folder(folder)?;
        }
        durable::rename(&self.path, target)?;
        durable::remove_file(&side_path(&self.path))
    }
}

impl Writer {
    /// Hands a chunk over, waiting while the disk is behind; false once the thread has stopped on an error.
    pub async fn write(&self, chunk: Bytes) -> bool {
        self.chunks.send(chunk).await.is_ok()
    }

    /// Waits until every chunk is written and gives the part its content back.
    ///
    /// # Errors
    /// What stopped the thread; what was written before stays and counts.
    pub async fn finish(self, part: &mut Part) -> Result<(), FileError> {
        drop(self.chunks);
        let (content, result) = returned(self.thread).await;
        part.content = content;
        result
    }
}

impl Content {
    fn catch_up(&mut self, path: &Path, cancel: &CancellationToken) -> Result<(), FileError> {
        if self.hasher.is_some() || self.bytes == 0 {
            self.hasher.get_or_insert_default();
            return Ok(());
        }
        let (mut hasher, mut left) = (Sha256::new(), self.bytes);
        let mut file = unfollowed().read(true).open(path).map_err(durable::on("read", path))?;
        let mut buffer = vec![0; 1 << 20];
        while left > 0 && !cancel.is_cancelled() {
            let want = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            file.read_exact(&mut buffer[..want]).map_err(durable::on("read", path))?;
            hasher.update(&buffer[..want]);
            left -= want as u64;
        }
        self.hasher = (left == 0).then_some(hasher);
        Ok(())
    }

    fn append_all(mut self, path: &Path, mut chunks: mpsc::Receiver<Bytes>) -> (Self, Result<(), FileError>) {
        let result = self.open_at_end(path).and_then(|mut file| {
            while let Some(chunk) = chunks.blocking_recv() {
                self.append(path, &mut file, &chunk)?;
            }
            Ok(())
        });
        (self, result)
    }

    fn open_at_end(&self, path: &Path) -> Result<File, FileError> {
        let mut options = unfollowed();
        let mut file =
            options.create(true).truncate(false).write(true).open(path).map_err(durable::on("open", path))?;
        file.seek(SeekFrom::Start(self.bytes)).map_err(durable::on("write", path))?;
        Ok(file)
    }

    fn append(&mut self, path: &Path, file: &mut File, chunk: &[u8]) -> Result<(), FileError> {
        if let Err(source) = file.write_all(chunk) {
            // Some of the chunk may be on disk: what counts is what was hashed, so the rest is cut off again.
            let _ = file.set_len(self.bytes);
            return Err(durable::on("write", path)(source));
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(chunk);
        }
        self.bytes += chunk.len() as u64;
        fault::point("part.chunk");
        Ok(())
    }

    fn sync(&self, path: &Path) -> Result<(), FileError> {
        self.open_at_end(path)?.sync_all().map_err(durable::on("sync", path))
    }
}

/// How big the regular file at this path is, if there is one. Anything else there was not put there by a download, and is
/// removed: of a link only the link.
fn size_of_regular(path: &Path) -> Result<Option<u64>, FileError> {
    match std::fs::symlink_metadata(path) {
        Ok(file) if file.is_file() => Ok(Some(file.len())),
        Ok(_) => {
            tracing::warn!(path = %path.display(), "removing what is no regular file in the place of a download");
            durable::remove_file(path).map(|()| None)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(durable::on("read", path)(error)),
    }
}

/// Opens a file and no symbolic link, also one that was put there a moment ago.
fn unfollowed() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(libc::O_NOFOLLOW);
    options
}

/// What a blocking task gave back; its panic goes on in the caller.
async fn returned<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// The side file of a part.
#[must_use]
pub fn side_path(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}
