//! Splitting a verified source file into raw parts.
//!
//! file → [`unpack`] → [`lines`] → [`jsonl`] or [`text`] → [`documents`] → [`parts`]
//!
//! Everything streams: memory is bounded by the longest permitted line (`max_line_bytes`), a zstd window and a few
//! buffers a core, whatever the size of the file. The same bytes and settings give the same parts, byte for byte, on any
//! machine.

mod documents;
mod error;
mod input;
mod json_string;
mod jsonl;
mod lines;
mod parts;
mod text;
mod unpack;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use corpora_contracts::config::Format;
use corpora_contracts::receipt::{Part, SplitSettings};
use corpora_contracts::time::Timestamp;
use corpora_stage::parts::workers;

pub use error::{Packing, Problem, SplitError};

use documents::Documents;
use lines::Lines;
use parts::Parts;
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
    /// Malformed documents left out, by [`Problem::reason`].
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
    let splitter = match settings.format {
        Format::Jsonl => jsonl::split,
        Format::Text => text::split,
        format => return Err(SplitError::UnsupportedFormat { format }),
    };
    let content = Content::open(input, job.name)?;
    let mut lines = Lines::open(content, settings.max_line_bytes, watch)?;
    let parts = Parts::new(job.out_dir, job.settings.part_docs, workers)?;
    let mut documents = Documents::new(job, parts)?;
    splitter(&mut lines, settings, &mut documents)?;
    let outcome = documents.finish()?;
    watch.progress(lines.input_bytes(), outcome.n_docs);
    Ok(outcome)
}

#[cfg(test)]
mod tests;
