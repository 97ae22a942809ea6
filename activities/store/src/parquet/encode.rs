//! A group as column chunks in memory.

use std::sync::Arc;

use ::parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use bytes::Bytes;
use corpora_contracts::manifest::SplitName;

use super::Form;
use crate::columns::FrozenStrings;
use crate::group::{Group, Origin, SharedGroup};

/// A group that only needs its place in a file.
#[derive(Debug)]
pub(crate) struct EncodedGroup {
    pub(super) split: SplitName,
    pub(super) shard: u64,
    /// Rows of the shard up to the end of this group.
    pub(super) rows_so_far: u64,
    pub(super) ends_shard: bool,
    /// In the order of the schema; none for a group without rows.
    pub(super) columns: Vec<(Bytes, ColumnCloseResult)>,
}

/// Encodes and compresses a group.
///
/// # Errors
/// For a page that is too large for the format, 2 GiB.
pub(crate) fn encode(form: &Form, origins: &[Origin], group: &SharedGroup) -> Result<EncodedGroup, ParquetError> {
    let Group { split, shard, first_row, rows, ends_shard } = &**group;
    let columns = if rows.len() == 0 { Vec::new() } else { columns(form, origins, group)? };
    let rows_so_far = first_row + rows.len() as u64;
    Ok(EncodedGroup { split: *split, shard: *shard, rows_so_far, ends_shard: *ends_shard, columns })
}

/// The columns in the order of [`crate::columns::COLUMNS`].
fn columns(form: &Form, origins: &[Origin], group: &Group) -> Result<Vec<(Bytes, ColumnCloseResult)>, ParquetError> {
    let rows = &group.rows;
    let mut encoder = Encoder { form, columns: Vec::with_capacity(form.columns.num_columns()) };
    encoder.strings(&rows.id)?;
    encoder.strings(&rows.text)?;
    encoder.add::<ByteArrayType>(&of_source(group, origins, |origin| origin.source_id.as_str()))?;
    encoder.strings(&rows.url)?;
    encoder.add::<ByteArrayType>(&of_source(group, origins, |origin| &origin.license_spdx))?;
    encoder.strings(&rows.lang)?;
    encoder.strings(&rows.title)?;
    encoder.add::<Int32Type>(&rows.n_chars)?;
    let digests = rows.sha256.iter().map(|sha256| FixedLenByteArray::from(sha256.to_vec()));
    encoder.add::<FixedLenByteArrayType>(&digests.collect::<Vec<_>>())?;
    encoder.add::<ByteArrayType>(&vec![ByteArray::from(group.split.as_str()); rows.len()])?;
    Ok(encoder.columns)
}

/// A column that follows from the source of each row.
fn of_source<'a>(group: &Group, origins: &'a [Origin], value: impl Fn(&'a Origin) -> &'a str) -> Vec<ByteArray> {
    let values: Vec<ByteArray> = origins.iter().map(|origin| ByteArray::from(value(origin))).collect();
    group.rows.source.iter().map(|source| values[*source].clone()).collect()
}

struct Encoder<'a> {
    form: &'a Form,
    columns: Vec<(Bytes, ColumnCloseResult)>,
}

impl Encoder<'_> {
    fn strings(&mut self, strings: &FrozenStrings) -> Result<(), ParquetError> {
        self.add::<ByteArrayType>(&strings.shared().map(ByteArray::from).collect::<Vec<_>>())
    }

    /// Encodes the next column.
    fn add<T: DataType>(&mut self, values: &[T::T]) -> Result<(), ParquetError> {
        let description = self.form.columns.column(self.columns.len());
        let mut chunk = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut chunk));
        let mut writer = ColumnWriterImpl::<T>::new(description, Arc::clone(&self.form.properties), pages);
        writer.write_batch(values, None, None)?;
        let closed = writer.close()?;
        self.columns.push((chunk.into_inner()?.into(), closed));
        Ok(())
    }
}
