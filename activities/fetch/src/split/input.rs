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
        Self::with_buffer(reader, BUFFER)
    }

    /// Buffers so many bytes of `reader`, at least four.
    fn with_buffer(reader: &'a mut dyn Read, size: usize) -> Self {
        Self { reader: Some(reader), buffer: vec![0; size], start: 0, end: 0, taken: 0, failed: false }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_ahead_leaves_everything_unread() {
        let bytes: Vec<u8> = (1..=50).collect();
        for (size, most) in [(4, 1), (4, 4), (5, 3), (7, 2), (64, 9)] {
            let mut source = bytes
                .chunks(most)
                .fold(Box::new(io::empty()) as Box<dyn Read>, |all, chunk| Box::new(all.chain(chunk)) as Box<dyn Read>);
            let mut input = Input::with_buffer(&mut source, size);
            let mut read = Vec::new();
            while let [first, ..] = *input.peek(4).unwrap() {
                assert_eq!(input.peek(4).unwrap().len(), (bytes.len() - read.len()).min(4));
                let mut out = [0; 3];
                let count = input.read(&mut out).unwrap();
                assert_eq!(out[0], first);
                read.extend_from_slice(&out[..count]);
            }
            assert_eq!((read, input.taken(), input.has_failed()), (bytes.clone(), 50, false), "{size} {most}");
        }
    }

    #[test]
    fn zeros_are_skipped_up_to_the_first_other_byte() {
        for (bytes, left) in
            [(&b""[..], &b""[..]), (b"\0\0\0\0\0\0", b""), (b"\0\0\0\0\0a\0", b"a\0"), (b"a\0", b"a\0")]
        {
            let mut source = bytes;
            let mut input = Input::with_buffer(&mut source, 4);
            input.skip_zeros().unwrap();
            let mut rest = Vec::new();
            input.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, left, "{bytes:?}");
        }
    }
}
