//! A raw part as batches of whole lines, and the digest of its file beside.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::mem;
use std::path::Path;

use corpora_contracts::ids::Digest;
use corpora_stage::durable::{self, FileError};
use memchr::{memchr_iter, memrchr};
use sha2::{Digest as _, Sha256};
use zstd::stream::read::Decoder;

/// About so many bytes make a batch; a longer line makes one alone.
const BATCH_BYTES: u64 = 256 * 1024;

/// Bytes read from the file at once.
const READ_BYTES: usize = 128 * 1024;

/// Whole lines of a part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// The 0-based position of the first line in its part.
    pub(crate) first: u64,
}

/// Why a part is read no further.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The file cannot be read.
    File(FileError),
    /// Its bytes are no zstd frames.
    Unpack(io::Error),
}

/// The lines of one raw part.
pub(crate) struct Lines<'p> {
    path: &'p Path,
    decoder: Decoder<'static, BufReader<Hashed>>,
    /// The start of a line whose end is not unpacked yet.
    rest: Vec<u8>,
    lines: u64,
}

impl<'p> Lines<'p> {
    pub(crate) fn open(path: &'p Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| ReadError::File(durable::on("read", path)(error)))?;
        let hashed = Hashed { file, hasher: Sha256::new(), failed: false };
        let decoder = Decoder::with_buffer(BufReader::with_capacity(READ_BYTES, hashed)).map_err(ReadError::Unpack)?;
        Ok(Self { path, decoder, rest: Vec::new(), lines: 0 })
    }

    /// The next lines; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>, ReadError> {
        let mut bytes = mem::take(&mut self.rest);
        loop {
            let read = self.decoder.by_ref().take(BATCH_BYTES).read_to_end(&mut bytes);
            let read = read.map_err(|error| self.failure(error))?;
            let added = bytes.len() - read;
            if let Some(end) = memrchr(b'\n', &bytes[added..]) {
                self.rest = bytes.split_off(added + end + 1);
                break;
            }
            if read == 0 {
                break;
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let first = self.lines;
        let torn = u64::from(!bytes.ends_with(b"\n"));
        self.lines += memchr_iter(b'\n', &bytes).count() as u64 + torn;
        Ok(Some(Batch { bytes, first }))
    }

    /// Lines handed out so far.
    pub(crate) fn count(&self) -> u64 {
        self.lines
    }

    /// The digest of the whole file, of which what was not read yet is read now; none when asked to stop.
    pub(crate) fn digest(self, stopped: impl Fn() -> bool) -> Result<Option<Digest>, ReadError> {
        let mut hashed = self.decoder.finish().into_inner();
        let mut buffer = vec![0; READ_BYTES];
        while !stopped() {
            let read = hashed.read(&mut buffer);
            if read.map_err(|error| ReadError::File(durable::on("read", self.path)(error)))? == 0 {
                return Ok(Some(Digest::from_bytes(hashed.hasher.finalize().into())));
            }
        }
        Ok(None)
    }

    /// The decoder passes on errors of the file and adds its own.
    fn failure(&self, error: io::Error) -> ReadError {
        if self.decoder.get_ref().get_ref().failed {
            return ReadError::File(durable::on("read", self.path)(error));
        }
        ReadError::Unpack(error)
    }
}

/// A file that is hashed as it is read.
struct Hashed {
    file: File,
    hasher: Sha256,
    failed: bool,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer);
        match &read {
            Ok(count) => self.hasher.update(&buffer[..*count]),
            Err(error) => self.failed = error.kind() != io::ErrorKind::Interrupted,
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(content: &[u8]) -> (Vec<Batch>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part");
        let packed = zstd::encode_all(content, 3).unwrap();
        std::fs::write(&path, &packed).unwrap();
        let mut lines = Lines::open(&path).unwrap();
        let batches: Vec<Batch> = std::iter::from_fn(|| lines.next().unwrap()).collect();
        let count = lines.count();
        assert_eq!(lines.digest(|| false).unwrap(), Some(Digest::of(&packed)));
        (batches, count)
    }

    #[test]
    fn lines_are_never_cut_and_are_counted() {
        assert_eq!(batches(b""), (vec![], 0));
        let batch = |bytes: &[u8], first| Batch { bytes: bytes.to_vec(), first };
        assert_eq!(batches(b"a\nb\nc"), (vec![batch(b"a\nb\n", 0), batch(b"c", 2)], 3));
        let long = "x".repeat(3 * BATCH_BYTES as usize);
        let content = format!("{}{long}\n{}", "short\n".repeat(100_000), "end\n".repeat(3));
        let (batches, count) = batches(content.as_bytes());
        assert_eq!(count, 100_004);
        assert!(batches.len() > 3 && batches.iter().all(|batch| batch.bytes.ends_with(b"\n")));
        let mut first = 0;
        for batch in &batches {
            assert_eq!(batch.first, first);
            first += memchr_iter(b'\n', &batch.bytes).count() as u64;
        }
        assert!(batches.iter().flat_map(|batch| &batch.bytes).eq(content.as_bytes()));
    }

    #[test]
    fn bytes_that_are_no_frames_are_told_with_their_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part");
        let mut packed = zstd::encode_all(&b"line\n".repeat(100)[..], 3).unwrap();
        packed.extend_from_slice(b"something else");
        std::fs::write(&path, &packed).unwrap();
        let mut lines = Lines::open(&path).unwrap();
        let failed = std::iter::from_fn(|| lines.next().transpose()).find(Result::is_err);
        assert!(matches!(failed, Some(Err(ReadError::Unpack(_)))));
        assert_eq!(lines.digest(|| false).unwrap(), Some(Digest::of(&packed)));
        assert!(matches!(Lines::open(folder.path()).and_then(|mut lines| lines.next()), Err(ReadError::File(_))));
    }
}
