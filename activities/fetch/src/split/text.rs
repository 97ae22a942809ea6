//! Plain text: a document is a block of lines that are not blank, joined by LF.
//!
//! `max_line_bytes` also bounds a block, from its first byte in the file to its last: memory stays flat only if a file
//! without a blank line is refused. A block and the line that would make it too long are held at once.

use std::mem;

use memchr::memchr;

use corpora_contracts::config::Split;

use super::documents::Documents;
use super::error::{Problem, SplitError};
use super::json_string::{Put as _, escape};
use super::lines::{Lines, Step, utf8};

/// Splits plain text.
pub(super) fn split(lines: &mut Lines<'_>, settings: &Split, documents: &mut Documents<'_>) -> Result<(), SplitError> {
    let limit = settings.max_line_bytes;
    let mut block = Block::None;
    loop {
        let step = lines.next(documents.n_docs())?;
        let number = lines.number();
        let (first, problem) = match step {
            Step::End => return block.write(lines, documents),
            Step::TooLong => (number, Problem::LineTooLong { limit }),
            Step::Line(range) => match utf8(&lines.held()[range.clone()]) {
                Err(problem) => (number, problem),
                Ok(line) if line.trim_start().is_empty() => {
                    mem::replace(&mut block, Block::None).write(lines, documents)?;
                    lines.release();
                    continue;
                }
                Ok(_) if matches!(block, Block::Rejected) => {
                    lines.release();
                    continue;
                }
                Ok(_) => {
                    let first = block.first_line().unwrap_or(number);
                    block = Block::Open { first, end: range.end };
                    if range.end as u64 <= limit {
                        continue;
                    }
                    (first, Problem::BlockTooLong { limit })
                }
            },
        };
        // A block is one document, however many of its lines are bad.
        if !matches!(block, Block::Rejected) {
            documents.reject(first, problem)?;
            block = Block::Rejected;
        }
        lines.release();
    }
}

/// The block of lines that is being read.
enum Block {
    /// The last line was blank.
    None,
    /// It is held by the lines up to `end`.
    Open { first: u64, end: usize },
    /// It is malformed: the rest of it is passed over.
    Rejected,
}

impl Block {
    fn first_line(&self) -> Option<u64> {
        if let Self::Open { first, .. } = self { Some(*first) } else { None }
    }

    /// Writes the block, if there is one, as a raw document.
    fn write(self, lines: &Lines<'_>, documents: &mut Documents<'_>) -> Result<(), SplitError> {
        let Self::Open { first, end } = self else { return Ok(()) };
        documents.begin(first)?;
        let mut rest = &lines.held()[..end];
        while let Some(at) = memchr(b'\n', rest) {
            let line = &rest[..at];
            escape(line.strip_suffix(b"\r").unwrap_or(line), documents)?;
            documents.put(b"\\n")?;
            rest = &rest[at + 1..];
        }
        escape(rest, documents)?;
        documents.end(b"\"}\n")
    }
}

#[cfg(test)]
mod tests;
