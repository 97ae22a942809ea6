//! Parquet: only the pages of the columns that are asked for are read and unpacked.

use std::fs::File;
use std::io;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArrayType, DataType, FixedLenByteArrayType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};

use super::{ColumnsError, N_CHARS, SHA256, STRINGS};
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
        read_group(reader.get_row_group(group)?.as_ref(), &columns, cancelled, &mut each)?;
    }
    Ok(())
}

/// Where the columns stand in the schema.
struct Places {
    strings: [usize; STRINGS.len()],
    n_chars: usize,
    sha256: usize,
}

fn places(reader: &SerializedFileReader<File>) -> Result<Places, ColumnsError> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let place = |name: &str| {
        let found = schema.columns().iter().position(|column| column.path().parts() == [name]);
        found.ok_or_else(|| malformed(format!("it has no column `{name}`")))
    };
    let mut strings = [0; STRINGS.len()];
    for (at, name) in strings.iter_mut().zip(STRINGS) {
        *at = place(name)?;
    }
    Ok(Places { strings, n_chars: place(N_CHARS)?, sha256: place(SHA256)? })
}

fn read_group(
    group: &dyn RowGroupReader,
    places: &Places,
    cancelled: &dyn Fn() -> bool,
    each: &mut impl FnMut(TracedRow<'_>),
) -> Result<(), ColumnsError> {
    let mut strings = Vec::with_capacity(STRINGS.len());
    for at in places.strings {
        strings.push(Column::of_strings(group, at)?);
    }
    let (mut n_chars, mut sha256) =
        (Column::of_numbers(group, places.n_chars)?, Column::of_digests(group, places.sha256)?);
    let mut rows = 0;
    loop {
        if cancelled() {
            return Err(ColumnsError::Cancelled);
        }
        let count = n_chars.fill()?;
        let mut is_even = sha256.fill()? == count;
        for column in &mut strings {
            is_even &= column.fill()? == count;
        }
        if !is_even {
            return Err(malformed("its columns are of different lengths"));
        }
        let [id, source_id, url, license_spdx, lang, split] = strings.as_slice() else { return Ok(()) };
        if count == 0 {
            break;
        }
        rows += count as u64;
        for at in 0..count {
            each(TracedRow {
                id: id.values[at].data(),
                source_id: source_id.values[at].data(),
                url: url.values[at].data(),
                license_spdx: license_spdx.values[at].data(),
                lang: lang.values[at].data(),
                split: split.values[at].data(),
                n_chars: n_chars.values[at],
                sha256: sha256.values[at].data(),
            });
        }
    }
    let expected = u64::try_from(group.metadata().num_rows()).unwrap_or_default();
    if rows == expected { Ok(()) } else { Err(malformed(format!("a row group has {rows} rows and claims {expected}"))) }
}

/// One column, a batch at a time.
struct Column<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    levels: Vec<i16>,
}

impl Column<ByteArrayType> {
    fn of_strings(group: &dyn RowGroupReader, at: usize) -> Result<Self, ColumnsError> {
        match group.get_column_reader(at)? {
            ColumnReader::ByteArrayColumnReader(reader) => Ok(Self::new(reader)),
            _ => Err(malformed(format!("column {at} holds no strings"))),
        }
    }
}

impl Column<Int32Type> {
    fn of_numbers(group: &dyn RowGroupReader, at: usize) -> Result<Self, ColumnsError> {
        match group.get_column_reader(at)? {
            ColumnReader::Int32ColumnReader(reader) => Ok(Self::new(reader)),
            _ => Err(malformed(format!("column {at} holds no numbers of 32 bits"))),
        }
    }
}

impl Column<FixedLenByteArrayType> {
    fn of_digests(group: &dyn RowGroupReader, at: usize) -> Result<Self, ColumnsError> {
        match group.get_column_reader(at)? {
            ColumnReader::FixedLenByteArrayColumnReader(reader) => Ok(Self::new(reader)),
            _ => Err(malformed(format!("column {at} holds no digests"))),
        }
    }
}

impl<T: DataType> Column<T> {
    fn new(reader: ColumnReaderImpl<T>) -> Self {
        Self { reader, values: Vec::with_capacity(BATCH), levels: Vec::new() }
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
