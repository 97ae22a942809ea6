//! The documents of a plan, unpacked in order and handed on in blocks of whole lines.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::mpsc::SyncSender;

use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::record::{FileState, OutputFile};
use corpora_stage::{durable, record};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use zstd::stream::read::Decoder;

use crate::error::StoreError;
use crate::plan::Plan;

/// Bytes of lines that are handed on at once, or one line where that is longer.
const BLOCK_BYTES: usize = 1024 * 1024;

/// Whole lines of one part.
#[derive(Debug)]
pub(crate) struct Block {
    /// The index of the source among those of the plan.
    pub(crate) source: usize,
    /// The index of the part among those of the source.
    pub(crate) part: usize,
    /// The number of the first line, 1-based.
    pub(crate) first_line: u64,
    pub(crate) lines: Vec<u8>,
}

/// Reads every document of the plan in order, and checks the parts against what extract recorded. Returns what the parts
/// were like, in the order read; what is missing at the end of it was not wanted any more by the receiver.
///
/// # Errors
/// [`StoreError`] of the first part that is missing or not what was recorded.
pub(crate) fn read(
    plan: &Plan,
    layout: &Layout,
    cancel: &CancellationToken,
    blocks: &SyncSender<Block>,
) -> Result<Vec<FileState>, StoreError> {
    let mut states = Vec::new();
    for (source, input) in plan.inputs.iter().enumerate() {
        for (part, recorded) in input.record.outputs.iter().enumerate() {
            let path = layout.root().join(&recorded.path);
            states.push(record::file_state_of(layout, &path, recorded.sha256)?);
            let reading = Reading { recorded, layout, cancel };
            let send = |first_line, lines| blocks.send(Block { source, part, first_line, lines }).is_ok();
            if !reading.read(send)? {
                return Ok(states);
            }
        }
    }
    Ok(states)
}

/// One part and what is known of it.
struct Reading<'a> {
    recorded: &'a OutputFile,
    layout: &'a Layout,
    cancel: &'a CancellationToken,
}

impl Reading<'_> {
    /// Hands on all blocks; false when the receiver wants no more.
    fn read(&self, mut send: impl FnMut(u64, Vec<u8>) -> bool) -> Result<bool, StoreError> {
        let path = self.layout.root().join(&self.recorded.path);
        let file = File::open(&path).map_err(durable::on("read", &path))?;
        let input = BufReader::with_capacity(128 * 1024, Hashed { file, hasher: Sha256::new(), bytes: 0 });
        let mut decoder = Decoder::with_buffer(input).map_err(|error| self.unreadable(error))?;
        let mut block = Vec::with_capacity(2 * BLOCK_BYTES);
        let mut line = 1;
        loop {
            if self.cancel.is_cancelled() {
                return Err(StoreError::Cancelled);
            }
            let wanted = BLOCK_BYTES as u64;
            let read = (&mut decoder).take(wanted).read_to_end(&mut block).map_err(|error| self.unreadable(error))?;
            let is_end = read == 0;
            let Some(rest) = split_off_rest(&mut block, is_end) else { continue };
            let first_line = line;
            line += lines_in(&block);
            if !block.is_empty() && !send(first_line, block) {
                return Ok(false);
            }
            if is_end {
                break;
            }
            block = rest;
        }
        self.check(line - 1, decoder.finish().into_inner())?;
        Ok(true)
    }

    /// Whether the part was what extract recorded.
    fn check(&self, n_docs: u64, input: Hashed) -> Result<(), StoreError> {
        let sha256 = Digest::from_bytes(input.hasher.finalize().into());
        if (sha256, input.bytes) != (self.recorded.sha256, self.recorded.bytes) {
            return Err(self.damaged("its bytes are not those that extract recorded".to_owned()));
        }
        if n_docs != self.recorded.n_docs {
            return Err(self.damaged(format!("{n_docs} documents, extract recorded {}", self.recorded.n_docs)));
        }
        Ok(())
    }

    /// A decoder's own errors carry no number of the system's.
    fn unreadable(&self, error: io::Error) -> StoreError {
        if error.raw_os_error().is_none() {
            return self.damaged(error.to_string());
        }
        durable::on("read", &self.layout.root().join(&self.recorded.path))(error).into()
    }

    fn damaged(&self, reason: String) -> StoreError {
        StoreError::Damaged { path: self.recorded.path.clone(), reason }
    }
}

/// Cuts a block after its last newline and returns what follows it; at the end the whole block is lines. None when there
/// is no whole line yet.
fn split_off_rest(block: &mut Vec<u8>, is_end: bool) -> Option<Vec<u8>> {
    if is_end {
        return Some(Vec::new());
    }
    let end = memchr::memrchr(b'\n', block)? + 1;
    let mut rest = Vec::with_capacity(block.len() - end + 2 * BLOCK_BYTES);
    rest.extend_from_slice(&block[end..]);
    block.truncate(end);
    Some(rest)
}

/// Lines, a last one without its newline among them.
fn lines_in(block: &[u8]) -> u64 {
    let ended = memchr::memchr_iter(b'\n', block).count() as u64;
    ended + u64::from(!block.is_empty() && !block.ends_with(b"\n"))
}

/// A file that is hashed as it is read.
struct Hashed {
    file: File,
    hasher: Sha256,
    bytes: u64,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}
