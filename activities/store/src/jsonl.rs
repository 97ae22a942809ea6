//! JSON Lines shards: compact JSON with the columns as keys, one zstd frame a file.

use std::path::Path;

use corpora_contracts::config::ShardFormat;
use corpora_contracts::manifest::SplitName;
use corpora_stage::durable::{self, FileError};
use corpora_stage::fault;
use corpora_stage::parts::PartWriter;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use crate::error::StoreError;
use crate::group::{Group, Origin, SharedGroup, WrittenShard};
use crate::shard;

/// Bytes of lines that are handed to the compressor at once.
const BATCH_BYTES: usize = 256 * 1024;

/// One line; the keys are [`crate::columns::COLUMNS`].
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    text: &'a str,
    source_id: &'a str,
    url: &'a str,
    license_spdx: &'a str,
    lang: &'a str,
    title: &'a str,
    n_chars: i32,
    #[serde(serialize_with = "hex")]
    sha256: &'a [u8; 32],
    split: SplitName,
}

/// Writes the shards of all groups into `folder`, with so many threads for the compression.
///
/// # Errors
/// When a shard cannot be written.
pub(crate) fn write(
    folder: &Path,
    origins: &[Origin],
    jobs: usize,
    groups: impl IntoIterator<Item = SharedGroup>,
) -> Result<Vec<WrittenShard>, StoreError> {
    let mut writers = [None, None];
    let mut written = Vec::new();
    let mut lines = Vec::with_capacity(2 * BATCH_BYTES);
    for group in groups {
        // Held-out texts come slowly: one thread is enough for them, and each holds some 8 MiB.
        let threads = if group.split == SplitName::Val { 1 } else { jobs };
        let writer = writer(&mut writers[usize::from(group.split == SplitName::Val)], folder, threads)?;
        if !writer.is_open() {
            let name = shard::unfinished_name(ShardFormat::Jsonl, group.split, group.shard);
            writer.open(folder.join(name))?;
        }
        put(writer, &group, origins, &mut lines, folder)?;
        let Some(file) = (if group.ends_shard { writer.finish()? } else { None }) else { continue };
        fault::point("store-shard.after");
        written.push(WrittenShard {
            split: group.split,
            index: group.shard,
            sha256: file.sha256,
            bytes: file.bytes,
            rows: group.first_row + group.rows.len() as u64,
        });
    }
    Ok(written)
}

/// The writer of a split, which is made for its first group.
fn writer<'a>(place: &'a mut Option<PartWriter>, folder: &Path, jobs: usize) -> Result<&'a mut PartWriter, FileError> {
    let writer = match place.take() {
        Some(writer) => writer,
        None => PartWriter::new(u32::try_from(jobs).unwrap_or(u32::MAX)).map_err(durable::on("write", folder))?,
    };
    Ok(place.insert(writer))
}

fn put(
    writer: &mut PartWriter,
    group: &Group,
    origins: &[Origin],
    lines: &mut Vec<u8>,
    folder: &Path,
) -> Result<(), FileError> {
    let rows = &group.rows;
    for at in 0..rows.len() {
        let origin = &origins[rows.source[at]];
        let line = Line {
            id: rows.id.get(at),
            text: rows.text.get(at),
            source_id: origin.source_id.as_str(),
            url: rows.url.get(at),
            license_spdx: &origin.license_spdx,
            lang: rows.lang.get(at),
            title: rows.title.get(at),
            n_chars: rows.n_chars[at],
            sha256: &rows.sha256[at],
            split: group.split,
        };
        // Strings and numbers, written to memory: the serializer has nothing to fail at.
        serde_json::to_writer(&mut *lines, &line).map_err(|error| durable::on("write", folder)(error.into()))?;
        lines.push(b'\n');
        if lines.len() >= BATCH_BYTES {
            writer.put(lines)?;
            lines.clear();
        }
    }
    writer.put(lines)?;
    lines.clear();
    Ok(())
}

/// As a [`corpora_contracts::ids::Digest`] is written, without the formatting that took a tenth of the time of short
/// documents.
fn hex<S: Serializer>(sha256: &&[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(*sha256) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    serializer.serialize_str(str::from_utf8(&text).map_err(S::Error::custom)?)
}
