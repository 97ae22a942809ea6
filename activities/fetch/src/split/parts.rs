//! Raw parts: one zstd frame each, compressed on every core, hashed as it is written.
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

use sha2::{Digest as _, Sha256};
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, get_error_name};

use corpora_contracts::ids::Digest;
use corpora_contracts::layout::part_name;
use corpora_contracts::receipt::Part;

use super::error::SplitError;
use super::json_string::Put;

/// The compression level of raw parts.
const LEVEL: i32 = 3;

/// Bytes compressed as one job. Part of what a part's bytes depend on: another size gives other bytes.
const JOB_BYTES: u32 = 2 * 1024 * 1024;

/// Each worker holds some 6 MiB, and from here on the parser would be the bottleneck.
const MAX_WORKERS: u32 = 4;

/// Bytes gathered before they are handed to the compressor.
const BATCH_BYTES: usize = 128 * 1024;

/// Writes the parts of one raw directory.
pub(super) struct Parts<'a> {
    dir: &'a Path,
    part_docs: u64,
    compressor: CCtx<'static>,
    /// Raw lines that the compressor does not have yet.
    batch: Vec<u8>,
    /// Room for what the compressor gives.
    packed: Vec<u8>,
    open: Option<OpenPart>,
    finished: Vec<Part>,
}

/// The part that is being written.
struct OpenPart {
    name: String,
    path: PathBuf,
    file: File,
    hasher: Sha256,
    bytes: u64,
    n_docs: u64,
}

/// The number of compression workers for this machine.
pub(super) fn workers() -> u32 {
    let cores = available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(MAX_WORKERS).clamp(1, MAX_WORKERS)
}

impl<'a> Parts<'a> {
    /// Parts of at most `part_docs` documents in the empty directory `dir`.
    pub(super) fn new(dir: &'a Path, part_docs: u64, workers: u32) -> Result<Self, SplitError> {
        let parameters = [
            CParameter::CompressionLevel(LEVEL),
            CParameter::ChecksumFlag(true),
            CParameter::NbWorkers(workers),
            CParameter::JobSize(JOB_BYTES),
        ];
        let mut compressor = CCtx::try_create().ok_or_else(|| compression(dir, "out of memory"))?;
        for parameter in parameters {
            compressor.set_parameter(parameter).map_err(|code| compression(dir, get_error_name(code)))?;
        }
        Ok(Self {
            dir,
            part_docs: part_docs.max(1),
            compressor,
            batch: Vec::with_capacity(BATCH_BYTES),
            packed: vec![0; CCtx::out_size()],
            open: None,
            finished: Vec::new(),
        })
    }

    /// Opens a part for a document, unless one is open.
    pub(super) fn begin_document(&mut self) -> Result<(), SplitError> {
        if self.open.is_none() {
            self.open = Some(OpenPart::create(self.dir, self.finished.len())?);
        }
        Ok(())
    }

    /// Counts a document that is written, and completes the part when that was its last.
    pub(super) fn end_document(&mut self) -> Result<(), SplitError> {
        let Some(part) = &mut self.open else { return Ok(()) };
        part.n_docs += 1;
        if part.n_docs < self.part_docs { Ok(()) } else { self.finish_part() }
    }

    /// Completes the last part; a source without documents has one with none.
    pub(super) fn finish(mut self) -> Result<Vec<Part>, SplitError> {
        if self.finished.is_empty() {
            self.begin_document()?;
        }
        self.finish_part()?;
        Ok(self.finished)
    }

    /// Ends the frame, and returns only when the part is on the disk; the directory is the caller's to sync.
    fn finish_part(&mut self) -> Result<(), SplitError> {
        self.compress_batch()?;
        let Some(mut part) = self.open.take() else { return Ok(()) };
        part.compress(&mut self.compressor, &mut self.packed, &[], ZSTD_EndDirective::ZSTD_e_end)?;
        part.file.sync_all().map_err(|source| SplitError::Write { path: part.path.clone(), source })?;
        let sha256 = Digest::from_bytes(part.hasher.finalize().into());
        self.finished.push(Part { name: part.name, sha256, bytes: part.bytes, n_docs: part.n_docs });
        Ok(())
    }

    fn compress_batch(&mut self) -> Result<(), SplitError> {
        let mut batch = mem::take(&mut self.batch);
        self.compress(&batch)?;
        batch.clear();
        self.batch = batch;
        Ok(())
    }

    fn compress(&mut self, lines: &[u8]) -> Result<(), SplitError> {
        let Some(part) = &mut self.open else { return Ok(()) };
        part.compress(&mut self.compressor, &mut self.packed, lines, ZSTD_EndDirective::ZSTD_e_continue)
    }
}

impl Put for Parts<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), SplitError> {
        if self.batch.len() + bytes.len() > BATCH_BYTES {
            self.compress_batch()?;
            // A long text is not gathered but compressed from where it is, so that it is in memory only once.
            if bytes.len() > BATCH_BYTES {
                return self.compress(bytes);
            }
        }
        self.batch.extend_from_slice(bytes);
        Ok(())
    }
}

impl OpenPart {
    fn create(dir: &Path, index: usize) -> Result<Self, SplitError> {
        let name = part_name(index);
        let path = dir.join(&name);
        let file = File::create_new(&path).map_err(|source| SplitError::Write { path: path.clone(), source })?;
        Ok(Self { name, path, file, hasher: Sha256::new(), bytes: 0, n_docs: 0 })
    }

    /// Compresses `lines`, and writes what the compressor gives meanwhile; all that is left when `until` is the end.
    fn compress(
        &mut self,
        compressor: &mut CCtx<'_>,
        packed: &mut [u8],
        lines: &[u8],
        until: ZSTD_EndDirective,
    ) -> Result<(), SplitError> {
        let ends = matches!(until, ZSTD_EndDirective::ZSTD_e_end);
        let mut from = InBuffer::around(lines);
        loop {
            let mut into = OutBuffer::around(&mut *packed);
            let left = compressor
                .compress_stream2(&mut into, &mut from, until)
                .map_err(|code| compression(&self.path, get_error_name(code)))?;
            let produced = into.pos();
            self.write(&packed[..produced])?;
            if if ends { left == 0 } else { from.pos() == lines.len() } {
                return Ok(());
            }
        }
    }

    fn write(&mut self, packed: &[u8]) -> Result<(), SplitError> {
        self.hasher.update(packed);
        self.bytes += packed.len() as u64;
        self.file.write_all(packed).map_err(|source| SplitError::Write { path: self.path.clone(), source })
    }
}

/// The compressor fails only for want of memory.
fn compression(path: &Path, reason: &'static str) -> SplitError {
    SplitError::Write { path: path.to_owned(), source: io::Error::new(io::ErrorKind::OutOfMemory, reason) }
}

#[cfg(test)]
mod tests;
