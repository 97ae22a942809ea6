//! The content of a source file, unpacked as it is read.
//!
//! Every gzip member and every zstd frame counts, since `cat a.gz b.gz` is one file to all tools that make such files;
//! a decoder that stops after the first would lose documents silently. Bytes that end early or mean nothing are errors
//! for the same reason.

use std::io::{self, BufRead as _, Read};
use std::mem;

use flate2::bufread::GzDecoder;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

use super::error::{Packing, SplitError};
use super::input::Input;

/// The largest window of a zstd frame, as a power of two: 128 MiB, the default of the `zstd` tool.
const WINDOW_LOG_MAX: u32 = 27;

/// RFC 1952 section 2.3.1.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// RFC 8878 section 3.1.1, little-endian 0xFD2FB528.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The content of a source file.
pub(super) struct Content<'a> {
    state: State<'a>,
    unpacked_bytes: u64,
}

enum State<'a> {
    Plain(Input<'a>),
    Gzip(Box<Gzip<'a>>),
    Zstd(Zstd<'a>),
}

impl<'a> Content<'a> {
    /// Starts unpacking the file `name`, whose bytes `reader` gives.
    ///
    /// A suffix `.gz` or `.zst` is a promise that the first bytes must keep; without one the first bytes decide.
    pub(super) fn open(reader: &'a mut dyn Read, name: &str) -> Result<Self, SplitError> {
        let mut input = Input::new(reader);
        let promised = promised_packing(name);
        let found = packing_of(input.peek(4).map_err(SplitError::Read)?, promised);
        if let Some(packing) = promised
            && found != promised
        {
            return Err(SplitError::NotAnArchive { name: name.to_owned(), packing });
        }
        let state = match found {
            None => State::Plain(input),
            Some(Packing::Gzip) => State::Gzip(Box::new(Gzip { decoder: GzDecoder::new(input), done: false })),
            Some(Packing::Zstd) => State::Zstd(Zstd::new(input)?),
        };
        Ok(Self { state, unpacked_bytes: 0 })
    }

    /// Fills a part of `out`, which is not empty; 0 means the end of the content, and of the file.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, SplitError> {
        let read = match &mut self.state {
            State::Plain(input) => input.read(out).map_err(Failure::Read),
            State::Gzip(gzip) => gzip.read(out),
            State::Zstd(zstd) => zstd.read(out),
        };
        let count = read.map_err(|failure| self.error(failure))?;
        self.unpacked_bytes += count as u64;
        Ok(count)
    }

    /// How many bytes of the file were read so far.
    pub(super) fn input_bytes(&self) -> u64 {
        match &self.state {
            State::Plain(input) => input.taken(),
            State::Gzip(gzip) => gzip.decoder.get_ref().taken(),
            State::Zstd(zstd) => zstd.input.taken(),
        }
    }

    fn error(&self, failure: Failure) -> SplitError {
        let packing = if matches!(self.state, State::Zstd(_)) { Packing::Zstd } else { Packing::Gzip };
        match failure {
            Failure::Read(source) => SplitError::Read(source),
            Failure::Torn => SplitError::TornArchive { packing },
            Failure::Corrupt(source) => {
                SplitError::CorruptArchive { packing, unpacked_bytes: self.unpacked_bytes, source }
            }
            Failure::WindowTooLarge => SplitError::WindowTooLarge { limit: 1 << WINDOW_LOG_MAX },
        }
    }
}

/// Why a decoder stopped.
enum Failure {
    Read(io::Error),
    Torn,
    Corrupt(io::Error),
    WindowTooLarge,
}

/// What the suffix of a name says about its content.
fn promised_packing(name: &str) -> Option<Packing> {
    let (_, suffix) = name.rsplit_once('.')?;
    if suffix.eq_ignore_ascii_case("gz") {
        Some(Packing::Gzip)
    } else if suffix.eq_ignore_ascii_case("zst") {
        Some(Packing::Zstd)
    } else {
        None
    }
}

/// What the first bytes say.
///
/// A zstd file may start with a skippable frame (RFC 8878 section 3.1.2). Its magic number is four ASCII characters,
/// which a text may start with, so only a name that promises zstd lets it count.
fn packing_of(head: &[u8], promised: Option<Packing>) -> Option<Packing> {
    if head.starts_with(&GZIP_MAGIC) {
        return Some(Packing::Gzip);
    }
    let skippable = matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18]) && promised == Some(Packing::Zstd);
    (skippable || head == ZSTD_MAGIC).then_some(Packing::Zstd)
}

/// gzip members, one after the other.
struct Gzip<'a> {
    decoder: GzDecoder<Input<'a>>,
    done: bool,
}

impl Gzip<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        while !self.done {
            let count = self.decoder.read(out).map_err(|error| self.failure(error))?;
            if count > 0 {
                return Ok(count);
            }
            self.next_member()?;
        }
        Ok(0)
    }

    /// Moves on to the next member, over zero bytes: tapes and some tools pad with them (gzip manual, "Tape usage").
    fn next_member(&mut self) -> Result<(), Failure> {
        let input = self.decoder.get_mut();
        input.skip_zeros().map_err(Failure::Read)?;
        let head = input.peek(GZIP_MAGIC.len()).map_err(Failure::Read)?;
        if head.is_empty() {
            self.done = true;
        } else if GZIP_MAGIC.starts_with(head) {
            let input = mem::replace(input, Input::closed());
            self.decoder.reset(input);
        } else {
            return Err(Failure::Corrupt(io::Error::new(io::ErrorKind::InvalidData, "bytes after the last member")));
        }
        Ok(())
    }

    /// The decoder passes on errors of the input and adds its own; only its own are about the archive.
    fn failure(&self, error: io::Error) -> Failure {
        if self.decoder.get_ref().has_failed() {
            Failure::Read(error)
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            Failure::Torn
        } else {
            Failure::Corrupt(error)
        }
    }
}

/// zstd frames, one after the other, skippable ones too.
struct Zstd<'a> {
    input: Input<'a>,
    decoder: DCtx<'static>,
    /// Whether the last frame is complete and all of it was handed out.
    between_frames: bool,
}

impl<'a> Zstd<'a> {
    fn new(input: Input<'a>) -> Result<Self, SplitError> {
        let out_of_memory = || SplitError::Read(io::ErrorKind::OutOfMemory.into());
        let mut decoder = DCtx::try_create().ok_or_else(out_of_memory)?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(|_| out_of_memory())?;
        Ok(Self { input, decoder, between_frames: true })
    }

    fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        loop {
            let packed = self.input.fill_buf().map_err(Failure::Read)?;
            let ended = packed.is_empty();
            if ended && self.between_frames {
                return Ok(0);
            }
            let mut from = InBuffer::around(packed);
            let mut into = OutBuffer::around(&mut *out);
            let missing = self.decoder.decompress_stream(&mut into, &mut from).map_err(zstd_failure)?;
            let (consumed, produced) = (from.pos(), into.pos());
            self.input.consume(consumed);
            self.between_frames = missing == 0;
            if produced > 0 {
                return Ok(produced);
            }
            // Without input the decoder can only hand out what it holds; when that is nothing, the frame goes on.
            if ended && !self.between_frames {
                return Err(Failure::Torn);
            }
        }
    }
}

/// zstd returns its error codes negated.
fn zstd_failure(code: usize) -> Failure {
    let code_is = |error: ZSTD_ErrorCode| code.wrapping_neg() == error as usize;
    if code_is(ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
        Failure::WindowTooLarge
    } else if code_is(ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        Failure::Read(io::ErrorKind::OutOfMemory.into())
    } else {
        Failure::Corrupt(io::Error::new(io::ErrorKind::InvalidData, get_error_name(code)))
    }
}

#[cfg(test)]
mod tests;
