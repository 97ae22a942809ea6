//! Raw parts: so many documents each, named by their position, listed for the receipt.

use std::path::{Path, PathBuf};

use corpora_contracts::layout::part_name;
use corpora_contracts::receipt::Part;
use corpora_stage::fault;
use corpora_stage::parts::PartWriter;

use super::error::SplitError;
use super::json_string::Put;

/// Writes the parts of one raw directory.
pub(super) struct Parts<'a> {
    dir: &'a Path,
    part_docs: u64,
    writer: PartWriter,
    /// Documents in the open part.
    n_docs: u64,
    finished: Vec<Part>,
}

impl<'a> Parts<'a> {
    /// Parts of at most `part_docs` documents in the empty directory `dir`.
    pub(super) fn new(dir: &'a Path, part_docs: u64, workers: u32) -> Result<Self, SplitError> {
        let no_writer = |source| SplitError::Write { path: dir.to_owned(), source };
        let writer = PartWriter::new(workers).map_err(no_writer)?;
        Ok(Self { dir, part_docs: part_docs.max(1), writer, n_docs: 0, finished: Vec::new() })
    }

    /// Opens a part for a document, unless one is open.
    pub(super) fn begin_document(&mut self) -> Result<(), SplitError> {
        if !self.writer.is_open() {
            self.writer.open(self.open_path())?;
        }
        Ok(())
    }

    /// Counts a document that is written, and completes the part when that was its last.
    pub(super) fn end_document(&mut self) -> Result<(), SplitError> {
        self.n_docs += 1;
        if self.n_docs < self.part_docs { Ok(()) } else { self.finish_part() }
    }

    /// Completes the last part; a source without documents has one with none.
    pub(super) fn finish(mut self) -> Result<Vec<Part>, SplitError> {
        if self.finished.is_empty() {
            self.begin_document()?;
        }
        self.finish_part()?;
        Ok(self.finished)
    }

    fn finish_part(&mut self) -> Result<(), SplitError> {
        let Some(written) = self.writer.finish()? else { return Ok(()) };
        let name = part_name(self.finished.len());
        let n_docs = std::mem::take(&mut self.n_docs);
        self.finished.push(Part { name, sha256: written.sha256, bytes: written.bytes, n_docs });
        fault::point("raw-part.after");
        Ok(())
    }

    fn open_path(&self) -> PathBuf {
        self.dir.join(part_name(self.finished.len()))
    }
}

impl Put for Parts<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), SplitError> {
        Ok(self.writer.put(bytes)?)
    }
}

#[cfg(test)]
mod tests;
