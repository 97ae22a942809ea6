//! Encoded groups behind each other in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use ::parquet::file::writer::SerializedFileWriter;
use corpora_contracts::config::ShardFormat;
use corpora_contracts::ids::Digest;
use corpora_contracts::manifest::SplitName;
use corpora_stage::fault;

use super::{EncodedGroup, Form};
use crate::error::{StoreError, of_parquet};
use crate::group::WrittenShard;
use crate::shard::{self, HashedFile};

/// Writes the shards of all groups into `folder`.
///
/// # Errors
/// When a group could not be encoded or a shard cannot be written.
pub(crate) fn write(
    folder: &Path,
    form: &Form,
    groups: impl IntoIterator<Item = Result<EncodedGroup, ParquetError>>,
) -> Result<Vec<WrittenShard>, StoreError> {
    let mut open = [None, None];
    let mut written = Vec::new();
    for group in groups {
        let group = group.map_err(|error| of_parquet(folder, error))?;
        let (split, index, rows, ends_shard) = (group.split, group.shard, group.rows_so_far, group.ends_shard);
        let place = &mut open[usize::from(split == SplitName::Val)];
        let mut shard = match place.take() {
            Some(shard) => shard,
            None => OpenShard::create(folder, form, split, index)?,
        };
        shard.append(group)?;
        if !ends_shard {
            *place = Some(shard);
            continue;
        }
        let (sha256, bytes) = shard.finish()?;
        fault::point("store-shard.after");
        written.push(WrittenShard { split, index, sha256, bytes, rows });
    }
    Ok(written)
}

/// A shard that is being written.
struct OpenShard {
    path: PathBuf,
    writer: SerializedFileWriter<HashedFile>,
}

impl OpenShard {
    fn create(folder: &Path, form: &Form, split: SplitName, index: u64) -> Result<Self, StoreError> {
        let path = folder.join(shard::unfinished_name(ShardFormat::Parquet, split, index));
        let file = HashedFile::create(&path)?;
        let writer = SerializedFileWriter::new(file, Arc::clone(&form.schema), Arc::clone(&form.properties));
        let writer = writer.map_err(|error| of_parquet(&path, error))?;
        Ok(Self { path, writer })
    }

    fn append(&mut self, group: EncodedGroup) -> Result<(), StoreError> {
        if group.columns.is_empty() {
            return Ok(());
        }
        append(&mut self.writer, group).map_err(|error| of_parquet(&self.path, error))
    }

    fn finish(self) -> Result<(Digest, u64), StoreError> {
        let Self { path, writer } = self;
        match writer.into_inner() {
            Ok(file) => Ok(file.finish(&path)?),
            Err(error) => Err(of_parquet(&path, error)),
        }
    }
}

fn append(writer: &mut SerializedFileWriter<HashedFile>, group: EncodedGroup) -> Result<(), ParquetError> {
    let mut place = writer.next_row_group()?;
    for (chunk, closed) in group.columns {
        place.append_column(&chunk, closed)?;
    }
    place.close()?;
    Ok(())
}
