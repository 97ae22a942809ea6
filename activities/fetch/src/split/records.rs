//! The records of a web archive (WARC 1.0 and 1.1, ISO 28500), in memory that a record's head bounds.
//!
//! A record is a version line, named fields, a blank line, a block of `Content-Length` bytes and two line ends. The
//! length is believed only as far as those two line ends follow: one that is too short or too long is found out at the
//! end of its block, and a file that ends anywhere but behind a record is an error. Blocks are read or skipped as they
//! stream by; nobody has to hold one.
//!
//! Archives that others wrote are read as they are: lines may end with LF alone, fields may be folded, and more blank
//! lines than two may stand between records.

use super::error::{RecordProblem, SplitError};
use super::fields::Fields;
use super::stream::{LineEnd, Stream};

/// The longest head of a record, in bytes. The fields that are known take some hundred, an address may be long.
const HEAD_BYTES: usize = 1 << 20;

/// The head of a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// `WARC-Type`, in lower case.
    pub(super) kind: String,
    /// The bytes of its block.
    pub(super) length: u64,
    fields: Fields,
}

impl Head {
    /// The first field of this name, which is written in lower case; none where it is empty.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.all(name).next().filter(|value| !value.is_empty())
    }
}

/// Reads records.
pub(super) struct Records<'a> {
    stream: Stream<'a>,
    /// 1-based, of the record that was begun last.
    number: u64,
    /// Where it begins in the unpacked file.
    offset: u64,
    /// Bytes of its block that are still to be read.
    left: u64,
}

impl<'a> Records<'a> {
    /// The records of a stream.
    pub(super) fn new(stream: Stream<'a>) -> Self {
        Self { stream, number: 0, offset: 0, left: 0 }
    }

    /// Bytes of the file read so far, packed as they are.
    pub(super) fn input_bytes(&self) -> u64 {
        self.stream.input_bytes()
    }

    /// The head of the next record; none at the end of the file. What was not read of a block is skipped. `n_docs` is
    /// the number of documents so far, for the progress.
    pub(super) fn next(&mut self, n_docs: u64) -> Result<Option<Head>, SplitError> {
        self.stream.count(n_docs);
        if self.number > 0 {
            self.leave()?;
        }
        while matches!(self.stream.ahead()?.first(), Some(b'\n' | b'\r')) {
            self.stream.take(1);
        }
        if self.stream.ahead()?.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        self.offset = self.stream.position();
        let head = self.head()?;
        self.left = head.length;
        Ok(Some(head))
    }

    /// Appends the next `count` bytes of the block, fewer at its end; how many.
    pub(super) fn read(&mut self, count: u64, out: &mut Vec<u8>) -> Result<u64, SplitError> {
        let wanted = count.min(self.left);
        let read = self.stream.read(wanted, out)?;
        self.left -= read;
        if read < wanted { Err(self.error(RecordProblem::Cut)) } else { Ok(read) }
    }

    /// Bytes of the block that are not read yet.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Skips the rest of the block and the two line ends behind it.
    fn leave(&mut self) -> Result<(), SplitError> {
        let skipped = self.stream.skip(self.left)?;
        if skipped < self.left {
            return Err(self.error(RecordProblem::Cut));
        }
        self.left = 0;
        // Two of one kind: a length that is wrong by one leaves half of the first.
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for line in [&mut first, &mut second] {
            match (self.stream.line(1, line)?, line.as_slice()) {
                (LineEnd::Newline, b"" | b"\r") => {}
                (LineEnd::File, b"" | b"\r") => return Err(self.error(RecordProblem::Cut)),
                _ => return Err(self.error(RecordProblem::Length)),
            }
        }
        if first == second { Ok(()) } else { Err(self.error(RecordProblem::Length)) }
    }

    fn head(&mut self) -> Result<Head, SplitError> {
        let mut room = HEAD_BYTES;
        let version = self.line(&mut room)?;
        if !is_version(&version) {
            return Err(self.error(RecordProblem::Version));
        }
        let mut fields = Fields::default();
        loop {
            let line = self.line(&mut room)?;
            if line.is_empty() {
                break;
            }
            if !fields.take(&line) {
                return Err(self.error(RecordProblem::Field));
            }
        }
        self.head_of(fields)
    }

    fn head_of(&self, fields: Fields) -> Result<Head, SplitError> {
        let mut head = Head { kind: String::new(), length: 0, fields };
        let missing = |name| self.error(RecordProblem::NoField { name });
        head.kind = head.field("warc-type").ok_or_else(|| missing("WARC-Type"))?.to_ascii_lowercase();
        let length = head.field("content-length").ok_or_else(|| missing("Content-Length"))?;
        let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
        let is_only = head.fields.all("content-length").all(|value| value == length);
        let number = length.parse().ok().filter(|_| is_number && is_only);
        head.length = number.ok_or_else(|| self.error(RecordProblem::NoLength))?;
        Ok(head)
    }

    /// A line of the head without its end; bytes that are not UTF-8 are U+FFFD.
    fn line(&mut self, room: &mut usize) -> Result<String, SplitError> {
        let mut line = Vec::new();
        match self.stream.line(*room, &mut line)? {
            LineEnd::Newline => {}
            LineEnd::File => return Err(self.error(RecordProblem::Cut)),
            LineEnd::TooLong => return Err(self.error(RecordProblem::HeadTooLong { limit: HEAD_BYTES })),
        }
        *room -= line.len();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(String::from_utf8(line).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn error(&self, problem: RecordProblem) -> SplitError {
        SplitError::Record { number: self.number, offset: self.offset, problem }
    }
}

/// `WARC/1.0`, `WARC/1.1`, and the drafts before them.
fn is_version(line: &str) -> bool {
    let Some((major, minor)) = line.strip_prefix("WARC/").and_then(|version| version.split_once('.')) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(major, "0" | "1") && is_number(minor)
}

#[cfg(test)]
mod tests;
