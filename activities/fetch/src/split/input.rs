//! The bytes of a source file behind one buffer, with what the decoders of the standard kind do not offer: looking ahead,
//! counting, and telling an error of the file from an error of the archive.

use std::io::{self, BufRead, Read};

/// Bytes asked for at a time: large enough for a disk, small enough for the second-level cache.
const BUFFER: usize = 128 * 1024;

/// A buffered reader of a source file.
pub(super) struct Input<'a> {
    reader: Option<&'a mut dyn Read>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    taken: u64,
    failed: bool,
}

impl<'a> Input<'a> {
    /// Buffers `reader`.
    pub(super) fn new(reader: &'a mut dyn Read) -> Self {
        Self { reader: Some(reader), buffer: vec![0; BUFFER], start: 0, end: 0, taken: 0, failed: false }
    }

    /// An input without bytes.
    pub(super) fn closed() -> Self {
        Self { reader: None, buffer: Vec::new(), start: 0, end: 0, taken: 0, failed: false }
    }

    /// Bytes read from the file so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether reading the file has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// The next `count` bytes, fewer only at the end of the file; they stay unread.
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < count {
            let Some(room) = self.buffer.get_mut(self.end..).filter(|room| !room.is_empty()) else { break };
            match fetch(&mut self.reader, room, &mut self.failed)? {
                0 => break,
                read => {
                    self.end += read;
                    self.taken += read as u64;
                }
            }
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// Skips zero bytes.
    pub(super) fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let ahead = self.fill_buf()?;
            let zeros = ahead.iter().take_while(|&&byte| byte == 0).count();
            let done = zeros < ahead.len() || ahead.is_empty();
            self.consume(zeros);
            if done {
                return Ok(());
            }
        }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && out.len() >= self.buffer.len() {
            let read = fetch(&mut self.reader, out, &mut self.failed)?;
            self.taken += read as u64;
            return Ok(read);
        }
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.end = fetch(&mut self.reader, &mut self.buffer, &mut self.failed)?;
            self.taken += self.end as u64;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }
}

/// Reads once, again when a signal interrupts, and notes a failure.
fn fetch(reader: &mut Option<&mut dyn Read>, out: &mut [u8], failed: &mut bool) -> io::Result<usize> {
    let Some(reader) = reader else { return Ok(0) };
    loop {
        match reader.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                *failed = true;
                return Err(error);
            }
            read => return read,
        }
    }
}
