//! Splitting a verified source file into raw parts.
//!
//! file → [`unpack`] → [`lines`] → [`jsonl`] or [`text`] → [`documents`] → [`parts`]; of formats with pages
//! file → [`unpack`] → [`stream`] → [`records`] → [`pages`] → [`documents`] → [`parts`]
//!
//! Everything streams: memory is bounded by the longest permitted line or page (`max_line_bytes`, `page_bytes`), a zstd
//! window and a few buffers a core, whatever the size of the file. The same bytes and settings give the same parts, byte for byte, on any
//! machine.

mod documents;
mod error;
mod fields;
mod http;
mod input;
mod json_string;
mod jsonl;
mod left_out;
mod lines;
mod pages;
mod parts;
mod records;
mod stream;
mod text;
mod unpack;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use corpora_contracts::config::{Format, Split};
use corpora_contracts::receipt::{Part, SplitSettings};
use corpora_contracts::time::Timestamp;
use corpora_stage::parts::workers;

pub use error::{Packing, Problem, RecordProblem, SplitError};

use documents::Documents;
use json_string::Put as _;
use lines::Lines;
use parts::Parts;
use records::Records;
use stream::Stream;
use unpack::Content;

/// One source file to split, and where its parts go.
#[derive(Debug, Clone, Copy)]
pub struct SplitJob<'a> {
    /// The file's name, whose suffix `.gz` or `.zst` says how it is packed.
    pub name: &'a str,
    /// The source's url as configured; a document's is `<url>#<line>`.
    pub url: &'a str,
    /// When the bytes were verified.
    pub fetched_at: Timestamp,
    /// The SPDX expression captured then.
    pub license_spdx: &'a str,
    /// What decides which parts the bytes become.
    pub settings: &'a SplitSettings,
    /// An existing, empty directory.
    pub out_dir: &'a Path,
}

/// Whoever waits for a split. Both methods are called once in a MiB or more often, so they should be cheap.
pub trait Watch {
    /// Whether to stop.
    fn cancelled(&self) -> bool;

    /// So many bytes of the file (packed, if it is packed) are read, and so many documents are written.
    fn progress(&self, input_bytes: u64, docs: u64);
}

/// What a file was split into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Documents in all parts.
    pub n_docs: u64,
    /// What was left out, by reason: malformed documents, and records that are no pages.
    pub dropped: BTreeMap<String, u64>,
    /// The parts in order; at least one.
    pub parts: Vec<Part>,
}

/// Splits the file that `input` reads into parts in `job.out_dir`, each of them synced when this returns.
///
/// The directory itself is not synced, and after an error it is left with the parts written so far.
///
/// # Errors
///
/// See [`SplitError`]; [`SplitError::disposition`] says which of them a later attempt may not meet.
pub fn split(mut input: impl Read, job: &SplitJob<'_>, watch: &dyn Watch) -> Result<Outcome, SplitError> {
    split_with(&mut input, job, watch, workers())
}

/// Splits with a given number of compression workers.
fn split_with(
    input: &mut dyn Read,
    job: &SplitJob<'_>,
    watch: &dyn Watch,
    workers: u32,
) -> Result<Outcome, SplitError> {
    let settings = &job.settings.documents;
    let content = Content::open(input, job.name)?;
    let parts = Parts::new(job.out_dir, job.settings.part_docs, workers)?;
    let mut documents = Documents::new(job, parts)?;
    let input_bytes = split_content(content, settings, job.url, watch, &mut documents)?;
    let outcome = documents.finish()?;
    watch.progress(input_bytes, outcome.n_docs);
    Ok(outcome)
}

/// Splits by format; how many bytes of the file were read.
fn split_content<'a>(
    content: Content<'a>,
    settings: &Split,
    url: &str,
    watch: &'a dyn Watch,
    documents: &mut Documents<'_>,
) -> Result<u64, SplitError> {
    match settings.format {
        Format::Jsonl | Format::Text => {
            let splitter = if settings.format == Format::Text { text::split } else { jsonl::split };
            let mut lines = Lines::open(content, settings.max_line_bytes, watch)?;
            splitter(&mut lines, settings, documents)?;
            Ok(lines.input_bytes())
        }
        Format::Html => {
            let mut stream = Stream::open(content, watch);
            pages::html(&mut stream, settings, url, documents)?;
            Ok(stream.input_bytes())
        }
        Format::Warc | Format::Wet => {
            let splitter = if settings.format == Format::Warc { pages::warc } else { pages::wet };
            let mut records = Records::new(Stream::open(content, watch));
            splitter(&mut records, settings, documents)?;
            Ok(records.input_bytes())
        }
        format @ Format::Parquet => Err(SplitError::UnsupportedFormat { format }),
    }
}

/// Writes raw documents that are whole lines already: the pages of a crawl.
pub(crate) struct PageWriter<'a> {
    parts: Parts<'a>,
    n_docs: u64,
}

impl<'a> PageWriter<'a> {
    /// Parts of at most `part_docs` documents in the empty directory `dir`.
    pub(crate) fn new(dir: &'a Path, part_docs: u64) -> Result<Self, SplitError> {
        Ok(Self { parts: Parts::new(dir, part_docs, workers())?, n_docs: 0 })
    }

    /// Writes one document: a line that ends with LF.
    pub(crate) fn put(&mut self, line: &[u8]) -> Result<(), SplitError> {
        self.parts.begin_document()?;
        self.parts.put(line)?;
        self.n_docs += 1;
        self.parts.end_document()
    }

    /// Completes the last part.
    pub(crate) fn finish(self) -> Result<Outcome, SplitError> {
        Ok(Outcome { n_docs: self.n_docs, dropped: BTreeMap::new(), parts: self.parts.finish()? })
    }
}

#[cfg(test)]
mod tests;
