//! The lines of a file, in memory that the longest permitted line bounds.
//!
//! A line ends at LF only, and one CR before it is not part of it; U+2028, U+0085 and the like are characters. The bytes
//! from the last [`Lines::release`] on stay in place, so that a block of lines is one slice without being copied; how much
//! is held is the caller's to bound.

use std::ops::Range;

use memchr::memchr;

use super::Watch;
use super::error::{Problem, SplitError};
use super::unpack::Content;

/// Bytes asked for at a time.
const CHUNK: usize = 128 * 1024;

/// Progress is told about this often, in bytes of content.
const REPORT_BYTES: u64 = 1024 * 1024;

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// What [`Lines::next`] finds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A line: where it is among [`Lines::held`], without its end.
    Line(Range<usize>),
    /// A line beyond the limit; what was held is gone.
    TooLong,
    /// The end of the file.
    End,
}

/// A line as text.
pub(super) fn utf8(line: &[u8]) -> Result<&str, Problem> {
    simdutf8::compat::from_utf8(line).map_err(|error| Problem::NotUtf8 { column: error.valid_up_to() + 1 })
}

/// Reads lines.
pub(super) struct Lines<'a> {
    content: Content<'a>,
    watch: &'a dyn Watch,
    limit: usize,
    chunk: usize,
    buffer: Vec<u8>,
    /// Bytes before this one are done with.
    held: usize,
    /// Where the next line starts.
    next: usize,
    /// Where the bytes read end.
    end: usize,
    number: u64,
    /// The rest of a line that is too long is still to be skipped.
    skipping: bool,
    unreported: u64,
}

impl<'a> Lines<'a> {
    /// Lines of at most `limit` bytes, their ends not counted. A byte order mark at the start is skipped.
    pub(super) fn open(content: Content<'a>, limit: u64, watch: &'a dyn Watch) -> Result<Self, SplitError> {
        Self::with_chunk(content, limit, watch, CHUNK)
    }

    /// Reads so many bytes at a time.
    fn with_chunk(content: Content<'a>, limit: u64, watch: &'a dyn Watch, chunk: usize) -> Result<Self, SplitError> {
        // The two line end bytes must not overflow.
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(usize::MAX - 2);
        let mut lines = Self {
            content,
            watch,
            limit,
            chunk,
            buffer: vec![0; 2 * chunk],
            held: 0,
            next: 0,
            end: 0,
            number: 0,
            skipping: false,
            unreported: 0,
        };
        while lines.end < UTF8_BOM.len() && lines.fill(0)? > 0 {}
        if lines.buffer[..lines.end].starts_with(UTF8_BOM) {
            lines.next = UTF8_BOM.len();
            lines.release();
        }
        Ok(lines)
    }

    /// The 1-based number of the line found last.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The bytes since the last release.
    pub(super) fn held(&self) -> &[u8] {
        &self.buffer[self.held..self.end]
    }

    /// Gives up the lines found so far.
    pub(super) fn release(&mut self) {
        self.held = self.next;
    }

    /// Bytes of the file read so far, packed as they are.
    pub(super) fn input_bytes(&self) -> u64 {
        self.content.input_bytes()
    }

    /// Finds the next line; `n_docs` is the number of documents so far, for the progress.
    pub(super) fn next(&mut self, n_docs: u64) -> Result<Step, SplitError> {
        if self.skipping {
            self.skip_rest(n_docs)?;
        }
        // Relative to `held`, which moves when the buffer is filled.
        let mut searched = self.next - self.held;
        loop {
            let from = self.held + searched;
            if let Some(found) = memchr(b'\n', &self.buffer[from..self.end]) {
                return Ok(self.line(from + found, from + found + 1));
            }
            // Two more bytes than permitted cannot become a permitted line by its end, which may still be CR LF.
            if self.end - self.next > self.limit + 1 {
                self.number += 1;
                self.skipping = true;
                return Ok(Step::TooLong);
            }
            searched = self.end - self.held;
            if self.fill(n_docs)? == 0 {
                let rest = self.end > self.next;
                return Ok(if rest { self.line(self.end, self.end) } else { Step::End });
            }
        }
    }

    /// The line that ends before `end`, after which the next one starts.
    fn line(&mut self, end: usize, next: usize) -> Step {
        let start = self.next;
        let has_cr = next > end && end > start && self.buffer[end - 1] == b'\r';
        let end = if has_cr { end - 1 } else { end };
        self.next = next;
        self.number += 1;
        if end - start > self.limit {
            self.release();
            return Step::TooLong;
        }
        Step::Line(start - self.held..end - self.held)
    }

    /// Skips the rest of a line that is too long.
    fn skip_rest(&mut self, n_docs: u64) -> Result<(), SplitError> {
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[self.next..self.end]) {
                self.next += found + 1;
                break;
            }
            self.next = self.end;
            self.release();
            if self.fill(n_docs)? == 0 {
                break;
            }
        }
        self.release();
        self.skipping = false;
        Ok(())
    }

    /// Reads more behind what is held; 0 at the end of the file.
    fn fill(&mut self, n_docs: u64) -> Result<usize, SplitError> {
        if self.watch.cancelled() {
            return Err(SplitError::Cancelled);
        }
        self.make_room();
        let stop = self.buffer.len().min(self.end + self.chunk);
        let read = self.content.read(&mut self.buffer[self.end..stop])?;
        self.end += read;
        self.unreported += read as u64;
        if self.unreported >= REPORT_BYTES {
            self.unreported = 0;
            self.watch.progress(self.content.input_bytes(), n_docs);
        }
        Ok(read)
    }

    /// Makes room for a chunk behind what is held: by moving that to the front, or by growing when it is long.
    fn make_room(&mut self) {
        if self.held == self.end {
            // A buffer that a long line made large would be walked through end to end, past every cache.
            self.buffer.truncate(2 * self.chunk);
            (self.held, self.next, self.end) = (0, 0, 0);
        }
        if self.buffer.len() - self.end >= self.chunk {
            return;
        }
        // Moving less than was given up since the last move costs constant time a byte.
        if self.held > self.buffer.len() / 2 {
            self.buffer.copy_within(self.held..self.end, 0);
            (self.next, self.end) = (self.next - self.held, self.end - self.held);
            self.held = 0;
        } else {
            self.buffer.resize(self.end + self.chunk, 0);
        }
    }
}

#[cfg(test)]
mod tests;
