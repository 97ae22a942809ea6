//! The content of a file that has no lines: read ahead in one buffer, counted, and given up as it is taken.

use memchr::memchr;

use super::Watch;
use super::error::SplitError;
use super::unpack::Content;

/// Bytes read ahead.
const BUFFER: usize = 128 * 1024;

/// Progress is told about this often, in bytes of content.
const REPORT_BYTES: u64 = 1024 * 1024;

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// With LF, which is not part of it.
    Newline,
    /// The file ends before the line does.
    File,
    /// The line is longer than was asked for.
    TooLong,
}

/// Unpacked bytes.
pub(super) struct Stream<'a> {
    content: Content<'a>,
    watch: &'a dyn Watch,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where `start` is in the unpacked file.
    position: u64,
    unreported: u64,
    n_docs: u64,
}

impl<'a> Stream<'a> {
    /// Reads `content` and tells `watch`.
    pub(super) fn open(content: Content<'a>, watch: &'a dyn Watch) -> Self {
        Self::with_buffer(content, watch, BUFFER)
    }

    /// Reads so many bytes ahead.
    fn with_buffer(content: Content<'a>, watch: &'a dyn Watch, size: usize) -> Self {
        Self { content, watch, buffer: vec![0; size], start: 0, end: 0, position: 0, unreported: 0, n_docs: 0 }
    }

    /// Bytes taken so far, unpacked.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Bytes of the file read so far, packed as they are.
    pub(super) fn input_bytes(&self) -> u64 {
        self.content.input_bytes()
    }

    /// Notes the number of documents so far, for the progress.
    pub(super) fn count(&mut self, n_docs: u64) {
        self.n_docs = n_docs;
    }

    /// The next bytes, at least one of them unless the file has ended; they stay until they are taken.
    pub(super) fn ahead(&mut self) -> Result<&[u8], SplitError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.end = self.content.read(&mut self.buffer)?;
            self.report(self.end as u64)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Takes bytes that are ahead.
    pub(super) fn take(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.position += count as u64;
    }

    /// Appends the next `count` bytes, fewer only at the end of the file; how many.
    pub(super) fn read(&mut self, count: u64, out: &mut Vec<u8>) -> Result<u64, SplitError> {
        self.pass(count, |bytes| out.extend_from_slice(bytes))
    }

    /// Skips the next `count` bytes, fewer only at the end of the file; how many.
    pub(super) fn skip(&mut self, count: u64) -> Result<u64, SplitError> {
        self.pass(count, |_| {})
    }

    /// Appends a line of at most `limit` bytes. Of a longer one the start is appended, and the rest stays.
    pub(super) fn line(&mut self, limit: usize, out: &mut Vec<u8>) -> Result<LineEnd, SplitError> {
        let most = out.len() + limit;
        loop {
            let room = most - out.len();
            let ahead = self.ahead()?;
            if ahead.is_empty() {
                return Ok(LineEnd::File);
            }
            let within = &ahead[..ahead.len().min(room + 1)];
            let found = memchr(b'\n', within);
            let (length, taken) = found.map_or((within.len().min(room), within.len().min(room)), |at| (at, at + 1));
            out.extend_from_slice(&within[..length]);
            let is_over = found.is_none() && within.len() > room;
            self.take(taken);
            match (found, is_over) {
                (Some(_), _) => return Ok(LineEnd::Newline),
                (None, true) => return Ok(LineEnd::TooLong),
                (None, false) => {}
            }
        }
    }

    fn pass(&mut self, count: u64, mut see: impl FnMut(&[u8])) -> Result<u64, SplitError> {
        let mut left = count;
        while left > 0 {
            let ahead = self.ahead()?;
            if ahead.is_empty() {
                break;
            }
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(ahead.len());
            see(&ahead[..taken]);
            self.take(taken);
            left -= taken as u64;
        }
        Ok(count - left)
    }

    fn report(&mut self, read: u64) -> Result<(), SplitError> {
        self.unreported += read;
        if self.unreported >= REPORT_BYTES || self.position == 0 {
            if self.watch.cancelled() {
                return Err(SplitError::Cancelled);
            }
            self.unreported = 0;
            self.watch.progress(self.content.input_bytes(), self.n_docs);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Unwatched;
    use super::*;

    /// Calls `look` with streams over `bytes` that read so many bytes ahead.
    fn streams(bytes: &[u8], mut look: impl FnMut(Stream<'_>)) {
        for size in [1, 2, 3, 5, 64] {
            let mut reader = bytes;
            let content = Content::open(&mut reader, "f").unwrap();
            look(Stream::with_buffer(content, &Unwatched, size));
        }
    }

    #[test]
    fn bytes_are_taken_skipped_and_counted_whatever_the_buffer() {
        streams(b"abcdefgh", |mut stream| {
            let mut out = Vec::new();
            assert_eq!(stream.read(3, &mut out).unwrap(), 3);
            assert_eq!((out.as_slice(), stream.position()), (&b"abc"[..], 3));
            assert_eq!(stream.skip(2).unwrap(), 2);
            assert_eq!(stream.ahead().unwrap()[0], b'f');
            assert_eq!((stream.read(9, &mut out).unwrap(), stream.position()), (3, 8));
            assert_eq!((out.as_slice(), stream.skip(1).unwrap()), (&b"abcfgh"[..], 0));
            assert!(stream.ahead().unwrap().is_empty());
        });
    }

    #[test]
    fn lines_end_at_lf_at_the_limit_and_with_the_file() {
        streams(b"ab\r\n\nlonger\nend", |mut stream| {
            let mut line = |limit| {
                let mut out = Vec::new();
                let end = stream.line(limit, &mut out).unwrap();
                (String::from_utf8(out).unwrap(), end)
            };
            assert_eq!(line(3), ("ab\r".to_owned(), LineEnd::Newline));
            assert_eq!(line(0), (String::new(), LineEnd::Newline));
            assert_eq!(line(4), ("long".to_owned(), LineEnd::TooLong));
            assert_eq!(line(2), ("er".to_owned(), LineEnd::Newline));
            assert_eq!(line(9), ("end".to_owned(), LineEnd::File));
            assert_eq!(line(9), (String::new(), LineEnd::File));
        });
    }
}
