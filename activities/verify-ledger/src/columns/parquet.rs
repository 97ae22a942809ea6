//! Parquet: only the pages of the columns that are asked for are read and unpacked.

use std::fs::File;
use std::io;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};

use super::{COLUMNS, ColumnsError};
use crate::tally::TracedRow;

/// Rows that are decoded at a time.
const BATCH: usize = 4096;

/// Hands every row to `each`, in order, until `cancelled` says so.
///
/// # Errors
/// [`ColumnsError`].
pub(crate) fn read(
    file: File,
    cancelled: &dyn Fn() -> bool,
    mut each: impl FnMut(TracedRow<'_>),
) -> Result<(), ColumnsError> {
    let reader = SerializedFileReader::new(file)?;
    let columns = places(&reader)?;
    for group in 0..reader.num_row_groups() {
        read_group(reader.get_row_group(group)?.as_ref(), columns, cancelled, &mut each)?;
    }
    Ok(())
}

/// Where the columns stand in the schema.
fn places(reader: &SerializedFileReader<File>) -> Result<[usize; 4], ColumnsError> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let mut places = [0; 4];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        let found = schema.columns().iter().position(|column| column.path().parts() == [name]);
        *place = found.ok_or_else(|| malformed(format!("it has no column `{name}`")))?;
    }
    Ok(places)
}

fn read_group(
    group: &dyn RowGroupReader,
    columns: [usize; 4],
    cancelled: &dyn Fn() -> bool,
    each: &mut impl FnMut(TracedRow<'_>),
) -> Result<(), ColumnsError> {
    let mut readers = Vec::with_capacity(columns.len());
    for column in columns {
        readers.push(Strings::new(group, column)?);
    }
    let mut rows = 0;
    loop {
        if cancelled() {
            return Err(ColumnsError::Cancelled);
        }
        let mut counts = [0; 4];
        for (count, reader) in counts.iter_mut().zip(&mut readers) {
            *count = reader.fill()?;
        }
        let [source_id, url, license_spdx, split] = readers.as_slice() else { return Ok(()) };
        if counts.iter().any(|count| *count != counts[0]) {
            return Err(malformed("its columns are of different lengths"));
        }
        if counts[0] == 0 {
            break;
        }
        rows += counts[0] as u64;
        let columns = source_id.values.iter().zip(&url.values).zip(&license_spdx.values).zip(&split.values);
        for (((source_id, url), license_spdx), split) in columns {
            each(TracedRow {
                source_id: source_id.data(),
                url: url.data(),
                license_spdx: license_spdx.data(),
                split: split.data(),
            });
        }
    }
    let expected = u64::try_from(group.metadata().num_rows()).unwrap_or_default();
    if rows == expected { Ok(()) } else { Err(malformed(format!("a row group has {rows} rows and claims {expected}"))) }
}

/// One column of strings, a batch at a time.
struct Strings {
    reader: ColumnReaderImpl<ByteArrayType>,
    values: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl Strings {
    fn new(group: &dyn RowGroupReader, column: usize) -> Result<Self, ColumnsError> {
        match group.get_column_reader(column)? {
            ColumnReader::ByteArrayColumnReader(reader) => {
                Ok(Self { reader, values: Vec::with_capacity(BATCH), levels: Vec::new() })
            }
            _ => Err(malformed(format!("column {column} holds no strings"))),
        }
    }

    /// Reads the next batch and returns its length, 0 at the end of the row group.
    fn fill(&mut self) -> Result<usize, ColumnsError> {
        self.values.clear();
        self.levels.clear();
        let (records, values, _) = self.reader.read_records(BATCH, Some(&mut self.levels), None, &mut self.values)?;
        if values == records { Ok(records) } else { Err(malformed("a column that traces its rows has nulls")) }
    }
}

fn malformed(reason: impl Into<String>) -> ColumnsError {
    ColumnsError::Malformed(reason.into())
}

impl From<ParquetError> for ColumnsError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) => Self::of_decoder(*error),
                Err(error) => Self::Malformed(error.to_string()),
            },
            error => Self::Malformed(error.to_string()),
        }
    }
}
