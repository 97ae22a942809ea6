//! JSON Lines in zstd: every line is read, and only the columns that are asked for are kept of it.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Read};

use corpora_contracts::ids::Digest;
use serde::Deserialize;

use super::ColumnsError;
use crate::tally::TracedRow;

/// A longer line is none of ours, in bytes: Parquet, which holds the same texts, ends there.
const MAX_LINE: u64 = 1 << 31;

/// Lines between two looks at whether to stop.
const LOOK_EVERY: u64 = 4096;

/// What is kept of a line; a key that stands twice is an error.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    source_id: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    license_spdx: Cow<'a, str>,
    #[serde(borrow)]
    lang: Cow<'a, str>,
    n_chars: i32,
    #[serde(borrow)]
    sha256: Cow<'a, str>,
    #[serde(borrow)]
    split: Cow<'a, str>,
}

/// Hands every row to `each`, in order, until `cancelled` says so; `input` is the file's bytes.
///
/// # Errors
/// [`ColumnsError`].
pub(crate) fn read(
    input: impl Read,
    cancelled: &dyn Fn() -> bool,
    mut each: impl FnMut(TracedRow<'_>),
) -> Result<(), ColumnsError> {
    let decoder = zstd::stream::read::Decoder::new(input).map_err(ColumnsError::of_decoder)?;
    let mut lines = BufReader::with_capacity(1 << 17, decoder);
    let mut line = Vec::new();
    for row in 1.. {
        if row % LOOK_EVERY == 0 && cancelled() {
            return Err(ColumnsError::Cancelled);
        }
        line.clear();
        let length = lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(ColumnsError::of_decoder)?;
        if length == 0 {
            break;
        }
        if line.last() != Some(&b'\n') {
            return Err(ColumnsError::Malformed(format!("line {row} has no end")));
        }
        let no_row =
            |reason: &dyn Display| ColumnsError::Malformed(format!("line {row} is no row of a shard: {reason}"));
        let parsed: Line<'_> = serde_json::from_slice(&line).map_err(|error| no_row(&error))?;
        let sha256: Digest = parsed.sha256.parse().map_err(|error| no_row(&error))?;
        each(TracedRow {
            id: parsed.id.as_bytes(),
            source_id: parsed.source_id.as_bytes(),
            url: parsed.url.as_bytes(),
            license_spdx: parsed.license_spdx.as_bytes(),
            lang: parsed.lang.as_bytes(),
            split: parsed.split.as_bytes(),
            n_chars: parsed.n_chars,
            sha256: sha256.as_bytes(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<String>, ColumnsError> {
        let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
        let mut rows = Vec::new();
        read(&packed[..], &|| false, |row| {
            assert_eq!(row.sha256, &[0xab; 32]);
            let columns = [row.id, row.source_id, row.url, row.license_spdx, row.lang, row.split];
            rows.push(columns.map(|column| String::from_utf8_lossy(column).into_owned()).join(" "));
        })?;
        Ok(rows)
    }

    #[test]
    fn columns_are_picked_from_whole_rows() {
        let head =
            r#"{"id":"a:0","text":"\"url\": no","source_id":"a","url":"u#\u0031","license_spdx":"MIT","lang":"en""#;
        let line = format!(r#"{head},"n_chars":9,"sha256":"{}","split":"val"}}"#, "ab".repeat(32));
        assert_eq!(rows(&format!("{line}\n{line}\n")).unwrap(), ["a:0 a u#1 MIT en val", "a:0 a u#1 MIT en val"]);
        assert_eq!(rows("").unwrap(), [""; 0]);
        for (bad, reason) in [
            (line.clone(), "line 1 has no end"),
            (format!("{line}\n\n"), "line 2 is no row"),
            (format!("{line}\n{{}}\n"), "line 2 is no row"),
            (format!("{}\n", line.replace("\"id\"", "\"url\"")), "duplicate field `url`"),
            (format!("{}\n", line.replace("abab", "zz")), "line 1 is no row of a shard: digest `zz"),
        ] {
            let error = rows(&bad).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn a_damaged_frame_is_malformed() {
        let error = read(&b"not zstd"[..], &|| false, |_| {}).unwrap_err();
        assert!(matches!(error, ColumnsError::Malformed(_)), "{error:?}");
    }
}
