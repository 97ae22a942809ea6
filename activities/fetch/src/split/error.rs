//! Why a source does not become raw parts.

use std::io;
use std::path::PathBuf;

use corpora_contracts::config::Format;
use corpora_contracts::outcome::Disposition;
use corpora_stage::durable::FileError;

/// How a source is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl std::fmt::Display for Packing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// Why a source was not split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// A document is malformed and `on_bad_document` is `fail`.
    #[error("split line {line}: {problem}")]
    Document {
        /// The 1-based line of the unpacked file.
        line: u64,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The file ends inside a gzip member or a zstd frame.
    #[error("unpack the {packing} file, which ends before its last {} does; its digest is the pinned one, so pin a \
             complete file", unit(*packing))]
    TornArchive {
        /// How the file is packed.
        packing: Packing,
    },
    /// The file is not what its magic number promises: damaged, or followed by something else.
    #[error(
        "unpack the {packing} file, which is damaged or followed by other bytes, after {unpacked_bytes} bytes of \
             content; its digest is the pinned one, so pin a sound file"
    )]
    CorruptArchive {
        /// How the file is packed.
        packing: Packing,
        /// Bytes of content before the damage was seen.
        unpacked_bytes: u64,
        /// What the decoder says.
        source: io::Error,
    },
    /// The name promises a packing that the first bytes do not have.
    #[error("unpack `{name}`, which does not start like a {packing} file; rename it or pin the packed file")]
    NotAnArchive {
        /// The file's name.
        name: String,
        /// What its suffix promises.
        packing: Packing,
    },
    /// A zstd frame wants more memory than any frame gets.
    #[error(
        "unpack the zstd file, which needs a window above {limit} bytes; pack it again with `zstd --long=27` or \
             less"
    )]
    WindowTooLarge {
        /// The largest window, in bytes.
        limit: u64,
    },
    /// A record of a web archive is damaged, or the file ends inside it.
    #[error(
        "read record {number}, at byte {offset} of the unpacked file: {problem}; its digest is the pinned one, so pin a \
             sound file"
    )]
    Record {
        /// The 1-based record.
        number: u64,
        /// Where it begins, in bytes of the unpacked file.
        offset: u64,
        /// What is wrong with it.
        problem: RecordProblem,
    },
    /// The format has no splitter.
    #[error("split the file, whose format {format:?} has no splitter")]
    UnsupportedFormat {
        /// The format.
        format: Format,
    },
    /// The source could not be read.
    #[error("read the source")]
    Read(#[source] io::Error),
    /// A part could not be written or synced; `source.kind()` tells a full disk (`StorageFull`) from other causes.
    #[error("write `{}`", path.display())]
    Write {
        /// The part.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// We were asked to stop.
    #[error("split the source, being asked to stop")]
    Cancelled,
}

impl SplitError {
    /// Bytes that have the pinned digest and cannot be split never can; the disk may do better next time.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Document { .. }
            | Self::TornArchive { .. }
            | Self::CorruptArchive { .. }
            | Self::NotAnArchive { .. }
            | Self::WindowTooLarge { .. }
            | Self::Record { .. }
            | Self::UnsupportedFormat { .. } => Disposition::Fail,
            Self::Read(_) | Self::Write { .. } => Disposition::Retry,
            Self::Cancelled => Disposition::Cancelled,
        }
    }
}

impl From<FileError> for SplitError {
    /// The files of a split are its parts.
    fn from(error: FileError) -> Self {
        Self::Write { path: error.path, source: error.source }
    }
}

/// What the packing calls its pieces.
fn unit(packing: Packing) -> &'static str {
    match packing {
        Packing::Gzip => "member",
        Packing::Zstd => "frame",
    }
}

/// What is wrong with a record of a web archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordProblem {
    /// It does not start with a version of WARC.
    #[error("it does not start with `WARC/1.0` or `WARC/1.1`")]
    Version,
    /// The file ends inside it.
    #[error("the file ends inside it")]
    Cut,
    /// Its head is too long to be one.
    #[error("its head is longer than {limit} bytes")]
    HeadTooLong {
        /// The longest head, in bytes.
        limit: usize,
    },
    /// A line of its head is no field.
    #[error("a line of its head is no `name: value`")]
    Field,
    /// A field that every record has is missing.
    #[error("it has no `{name}`")]
    NoField {
        /// The field.
        name: &'static str,
    },
    /// Its length is no number, or there are several.
    #[error("its `Content-Length` is not one number")]
    NoLength,
    /// Its block does not end where its length says.
    #[error("no two line ends follow the bytes that its `Content-Length` counts")]
    Length,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The line is not UTF-8.
    #[error("byte {column} is not UTF-8")]
    NotUtf8 {
        /// The 1-based byte of the line.
        column: usize,
    },
    /// The line is not JSON (RFC 8259).
    #[error("not JSON, {reason}")]
    NotJson {
        /// What the parser says, with the 1-based column.
        reason: String,
    },
    /// The line is JSON, but not an object.
    #[error("not a JSON object")]
    NotObject,
    /// The object has no such key, or no string there.
    #[error("no string at the key `{key}` (`text_field` names another key)")]
    NoText {
        /// The value of `text_field`.
        key: String,
    },
    /// The object has the text, or a field of `meta_fields`, twice.
    #[error("the key `{key}` stands twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// An escape stands for half of a surrogate pair, which is no character.
    #[error("a `\\u` escape at byte {column} is a lone surrogate")]
    LoneSurrogate {
        /// The 1-based byte of the line.
        column: usize,
    },
    /// A field of `meta_fields` is nested so deep that other readers could refuse the raw line.
    #[error("the key `{key}` nests deeper than {limit} levels")]
    TooDeep {
        /// The key.
        key: String,
        /// The deepest nesting.
        limit: usize,
    },
    /// The line is too long.
    #[error("the line is longer than {limit} bytes (raise `max_line_bytes`)")]
    LineTooLong {
        /// The value of `max_line_bytes`.
        limit: u64,
    },
    /// The block of lines that starts here is too long.
    #[error("the block of lines that starts here is longer than {limit} bytes (raise `max_line_bytes`)")]
    BlockTooLong {
        /// The value of `max_line_bytes`.
        limit: u64,
    },
    /// The page is too large.
    #[error("the page is larger than {limit} bytes (raise `page_bytes` of the source)")]
    PageTooLong {
        /// The value of `page_bytes`.
        limit: u64,
    },
}

impl Problem {
    /// The name under which dropped documents are counted in the receipt.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotUtf8 { .. } => "not_utf8",
            Self::NotJson { .. } => "not_json",
            Self::NotObject => "not_object",
            Self::NoText { .. } => "no_text",
            Self::DuplicateKey { .. } => "duplicate_key",
            Self::LoneSurrogate { .. } => "lone_surrogate",
            Self::TooDeep { .. } => "too_deep",
            Self::LineTooLong { .. } | Self::BlockTooLong { .. } => "too_long",
            Self::PageTooLong { .. } => "page_bytes",
        }
    }
}
