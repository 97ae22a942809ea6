//! Parts: files of one zstd frame each, compressed on every core, hashed as they are written, synced when they are done.
//!
//! A part is exactly one frame, since some readers (Python's `zstandard`, in its default mode) stop after the first one
//! without a word. `zstdmt` cuts a frame into jobs of a fixed size, so that its bytes depend on neither the number of
//! workers nor their timing.

use std::fs::File;
use std::io::{self, Write as _};
use std::mem;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use corpora_contracts::ids::Digest;
use sha2::{Digest as _, Sha256};
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, get_error_name};

use crate::durable::{self, FileError};

/// The compression level of parts.
pub const LEVEL: i32 = 3;

/// Bytes compressed as one job. Part of what a part's bytes depend on: another size gives other bytes.
const JOB_BYTES: u32 = 2 * 1024 * 1024;

/// Each worker holds some 6 MiB, and from here on whoever feeds them would be the bottleneck.
const MAX_WORKERS: u32 = 4;

/// Bytes gathered before they are handed to the compressor.
const BATCH_BYTES: usize = 128 * 1024;

/// Writes parts, one after the other, with one compressor.
pub struct PartWriter {
    compressor: CCtx<'static>,
    /// What the compressor does not have yet.
    batch: Vec<u8>,
    /// Room for what the compressor gives.
    packed: Vec<u8>,
    open: Option<OpenPart>,
}

/// A part that is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The digest of the file as stored (compressed).
    pub sha256: Digest,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The number of compression workers for this machine.
#[must_use]
pub fn workers() -> u32 {
    let cores = available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(MAX_WORKERS).clamp(1, MAX_WORKERS)
}

impl PartWriter {
    /// A writer with so many compression workers, at least one; no part is open.
    ///
    /// # Errors
    /// When there is no memory for a compressor.
    pub fn new(workers: u32) -> io::Result<Self> {
        let parameters = [
            CParameter::CompressionLevel(LEVEL),
            CParameter::ChecksumFlag(true),
            // Without a worker zstd cuts no jobs, and gives other bytes.
            CParameter::NbWorkers(workers.max(1)),
            CParameter::JobSize(JOB_BYTES),
        ];
        let mut compressor = CCtx::try_create().ok_or_else(|| out_of_memory("no compressor"))?;
        for parameter in parameters {
            compressor.set_parameter(parameter).map_err(|code| out_of_memory(get_error_name(code)))?;
        }
        let (batch, packed) = (Vec::with_capacity(BATCH_BYTES), vec![0; CCtx::out_size()]);
        Ok(Self { compressor, batch, packed, open: None })
    }

    /// Whether a part is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Begins the part `path`, which must not exist, in a folder that does. One that is open is dropped, unfinished.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn open(&mut self, path: PathBuf) -> Result<(), FileError> {
        let file = File::create_new(&path).map_err(durable::on("create", &path))?;
        self.start(path, file);
        Ok(())
    }

    /// Adds bytes to the open part; without one they go nowhere.
    ///
    /// # Errors
    /// When they cannot be written; [`FileError::is_disk_full`] tells a full disk from other causes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        if self.batch.len() + bytes.len() > BATCH_BYTES {
            self.compress_batch()?;
            // Long bytes are not gathered but compressed from where they are, so that they are in memory only once.
            if bytes.len() > BATCH_BYTES {
                return self.compress(bytes);
            }
        }
        self.batch.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends the frame of the open part, and returns only when the part is on the disk; the folder is the caller's to
    /// sync. None when no part is open.
    ///
    /// # Errors
    /// When the part cannot be written or synced.
    pub fn finish(&mut self) -> Result<Option<Written>, FileError> {
        self.compress_batch()?;
        let Some(mut part) = self.open.take() else { return Ok(None) };
        part.compress(&mut self.compressor, &mut self.packed, &[], ZSTD_EndDirective::ZSTD_e_end)?;
        part.file.sync_all().map_err(durable::on("sync", &part.path))?;
        let sha256 = Digest::from_bytes(part.hasher.finalize().into());
        Ok(Some(Written { sha256, bytes: part.bytes }))
    }

    fn start(&mut self, path: PathBuf, file: File) {
        self.batch.clear();
        if self.open.replace(OpenPart { path, file, hasher: Sha256::new(), bytes: 0 }).is_some() {
            // The dropped part's frame is no beginning of this one's. Resetting a session alone cannot fail.
            let _ = self.compressor.reset(zstd::zstd_safe::ResetDirective::SessionOnly);
        }
    }

    fn compress_batch(&mut self) -> Result<(), FileError> {
        let mut batch = mem::take(&mut self.batch);
        let compressed = self.compress(&batch);
        batch.clear();
        self.batch = batch;
        compressed
    }

    fn compress(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let Some(part) = &mut self.open else { return Ok(()) };
        part.compress(&mut self.compressor, &mut self.packed, bytes, ZSTD_EndDirective::ZSTD_e_continue)
    }
}

impl std::fmt::Debug for PartWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartWriter").field("open", &self.open.as_ref().map(|part| &part.path)).finish_non_exhaustive()
    }
}

/// The part that is being written.
struct OpenPart {
    path: PathBuf,
    file: File,
    hasher: Sha256,
    bytes: u64,
}

impl OpenPart {
    /// Compresses `bytes`, and writes what the compressor gives meanwhile; all that is left when `until` is the end.
    fn compress(
        &mut self,
        compressor: &mut CCtx<'_>,
        packed: &mut [u8],
        bytes: &[u8],
        until: ZSTD_EndDirective,
    ) -> Result<(), FileError> {
        let ends = matches!(until, ZSTD_EndDirective::ZSTD_e_end);
        let mut from = InBuffer::around(bytes);
        loop {
            let mut into = OutBuffer::around(&mut *packed);
            let left = compressor
                .compress_stream2(&mut into, &mut from, until)
                .map_err(|code| compression(&self.path, get_error_name(code)))?;
            let produced = into.pos();
            self.write(&packed[..produced])?;
            if if ends { left == 0 } else { from.pos() == bytes.len() } {
                return Ok(());
            }
        }
    }

    fn write(&mut self, packed: &[u8]) -> Result<(), FileError> {
        self.hasher.update(packed);
        self.bytes += packed.len() as u64;
        self.file.write_all(packed).map_err(durable::on("write", &self.path))
    }
}

/// The compressor fails only for want of memory.
fn compression(path: &Path, reason: &'static str) -> FileError {
    durable::on("compress", path)(out_of_memory(reason))
}

fn out_of_memory(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, reason)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// So many bytes of JSON lines that compress like text.
    fn corpus(bytes: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut all = Vec::with_capacity(bytes + 200);
        while all.len() < bytes {
            all.extend_from_slice(b"{\"text\":\"");
            for _ in 0..20 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                all.extend_from_slice(format!("{:x} ", (state >> 16) % 3000).as_bytes());
            }
            all.extend_from_slice(b"\"}\n");
        }
        all
    }

    /// Writes one part with so many workers, in pieces of so many bytes; what became of it, and its file.
    fn part(workers: u32, bytes: &[u8], piece: usize) -> (Written, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part");
        let mut writer = PartWriter::new(workers).unwrap();
        assert!(!writer.is_open() && writer.finish().unwrap().is_none());
        writer.open(path.clone()).unwrap();
        bytes.chunks(piece).for_each(|piece| writer.put(piece).unwrap());
        let written = writer.finish().unwrap().unwrap();
        let stored = std::fs::read(path).unwrap();
        assert_eq!((written.sha256, written.bytes), (Digest::of(&stored), stored.len() as u64));
        (written, stored)
    }

    #[test]
    fn the_bytes_depend_on_neither_workers_nor_pieces() {
        let job = JOB_BYTES as usize;
        for bytes in [0, 300, job / 3, job - 5000, 5 * job] {
            let file = corpus(bytes);
            let (one, stored) = part(1, &file, 4096);
            for (workers, piece) in [(0, 4096), (1, 1_000_000), (2, 77), (4, BATCH_BYTES + 1)] {
                assert_eq!(part(workers, &file, piece).0, one, "{bytes} bytes, {workers} workers, {piece} a piece");
            }
            assert!(zstd::decode_all(&stored[..]).unwrap() == file);
        }
    }

    #[test]
    fn later_parts_are_what_they_would_be_alone() {
        let (folder, file) = (tempfile::tempdir().unwrap(), corpus(3 * JOB_BYTES as usize));
        let (first, second) = file.split_at(file.len() / 2);
        let mut writer = PartWriter::new(2).unwrap();
        let mut write = |name: &str, bytes: &[u8]| {
            writer.open(folder.path().join(name)).unwrap();
            writer.put(bytes).unwrap();
            writer.finish().unwrap().unwrap()
        };
        assert_eq!([write("a", first), write("b", second)], [part(1, first, 9999).0, part(1, second, 9999).0]);
        writer.open(folder.path().join("dropped")).unwrap();
        writer.put(&file).unwrap();
        writer.open(folder.path().join("c")).unwrap();
        writer.put(second).unwrap();
        assert_eq!(writer.finish().unwrap().unwrap(), part(1, second, 9999).0, "after one that was dropped");
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "the test says what it leaves out")]
    fn frames_carry_a_checksum_and_stock_tools_read_them() {
        let file = corpus(3 * JOB_BYTES as usize);
        let (_, stored) = part(2, &file, 4096);
        assert_eq!(stored[..4], [0x28, 0xb5, 0x2f, 0xfd]);
        assert_eq!(stored[4] & 0b100, 0b100, "the checksum flag, RFC 8878 section 3.1.1.1.1");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part.zst");
        std::fs::write(&path, &stored).unwrap();
        match Command::new("zstd").args(["-d", "-c", "-q"]).arg(&path).output() {
            Ok(output) => assert!(output.status.success() && output.stdout == file),
            Err(error) => eprintln!("not compared with the `zstd` tool, which cannot be started: {error}"),
        }
    }

    #[test]
    fn long_bytes_are_not_gathered() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = PartWriter::new(1).unwrap();
        writer.open(folder.path().join("part")).unwrap();
        writer.put(b"head").unwrap();
        writer.put(&[b'x'; 3 * BATCH_BYTES]).unwrap();
        assert!(writer.batch.is_empty() && writer.batch.capacity() <= BATCH_BYTES);
    }

    #[test]
    fn a_part_that_exists_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part");
        std::fs::write(&path, "someone's").unwrap();
        let error = PartWriter::new(1).unwrap().open(path.clone()).unwrap_err();
        assert_eq!((error.action, error.source.kind()), ("create", io::ErrorKind::AlreadyExists));
        assert_eq!(std::fs::read_to_string(path).unwrap(), "someone's");
    }

    /// `/dev/full` fails every write as a full disk does.
    #[test]
    #[expect(clippy::print_stderr, reason = "the test says what it leaves out")]
    fn a_full_disk_is_told_as_such() {
        let path = PathBuf::from("/dev/full");
        let Ok(file) = File::options().write(true).open(&path) else {
            eprintln!("not tested: there is no /dev/full");
            return;
        };
        let mut writer = PartWriter::new(1).unwrap();
        writer.start(path, file);
        writer.put(b"line\n").unwrap();
        assert!(writer.finish().unwrap_err().is_disk_full());
    }
}
