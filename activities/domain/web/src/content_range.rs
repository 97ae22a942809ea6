//! `Content-Range`, read strictly: a range that is guessed at mixes the bytes of a file.

use std::str::FromStr;

/// A `Content-Range` of the unit `bytes` (RFC 9110 section 14.4). Positions count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentRange {
    /// `bytes first-last/total`: the body is these bytes.
    Satisfied {
        /// The position of the body's first byte.
        first: u64,
        /// The position of the body's last byte; never below `first`.
        last: u64,
        /// The size of the whole file in bytes, above `last`; none for `*`.
        total: Option<u64>,
    },
    /// `bytes */total`: no byte of the file was in the range that was asked for.
    Unsatisfied {
        /// The size of the whole file in bytes.
        total: u64,
    },
}

/// Why a `Content-Range` says nothing; the value itself is the server's and stays out of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ContentRangeError {
    /// Another unit than `bytes`.
    #[error("`Content-Range` has another unit than `bytes`")]
    Unit,
    /// Neither `bytes a-b/T`, `bytes a-b/*` nor `bytes */T`.
    #[error("`Content-Range` is malformed")]
    Malformed,
    /// A position that no 64-bit integer holds.
    #[error("`Content-Range` has a number above {}", u64::MAX)]
    Overflow,
    /// The last position is below the first.
    #[error("`Content-Range` ends at `{last}`, before its start `{first}`")]
    Inverted {
        /// The first position.
        first: u64,
        /// The last position.
        last: u64,
    },
    /// The last position is not inside the file.
    #[error("`Content-Range` ends at `{last}` of `{total}` bytes")]
    BeyondTotal {
        /// The last position.
        last: u64,
        /// The size of the whole file in bytes.
        total: u64,
    },
}

impl FromStr for ContentRange {
    type Err = ContentRangeError;

    fn from_str(value: &str) -> Result<Self, ContentRangeError> {
        let (unit, range) = value.split_once(' ').ok_or(ContentRangeError::Malformed)?;
        // Units are case-insensitive (RFC 9110 section 14.1).
        if !unit.eq_ignore_ascii_case("bytes") {
            return Err(ContentRangeError::Unit);
        }
        let (positions, total) = range.split_once('/').ok_or(ContentRangeError::Malformed)?;
        if positions == "*" {
            return Ok(Self::Unsatisfied { total: number(total)? });
        }
        let (first, last) = positions.split_once('-').ok_or(ContentRangeError::Malformed)?;
        let (first, last) = (number(first)?, number(last)?);
        let total = if total == "*" { None } else { Some(number(total)?) };
        satisfied(first, last, total)
    }
}

/// The two rules that RFC 9110 section 14.4 sets for a range to be valid.
fn satisfied(first: u64, last: u64, total: Option<u64>) -> Result<ContentRange, ContentRangeError> {
    if last < first {
        return Err(ContentRangeError::Inverted { first, last });
    }
    match total {
        Some(total) if total <= last => Err(ContentRangeError::BeyondTotal { last, total }),
        _ => Ok(ContentRange::Satisfied { first, last, total }),
    }
}

/// `1*DIGIT`: no sign, no space, unlike what [`u64::from_str`] takes.
fn number(digits: &str) -> Result<u64, ContentRangeError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ContentRangeError::Malformed);
    }
    digits.parse().map_err(|_| ContentRangeError::Overflow)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn valid_ranges_are_read() {
        let read = |value: &str| value.parse::<ContentRange>().unwrap();
        assert_eq!(read("bytes 20-53/54"), ContentRange::Satisfied { first: 20, last: 53, total: Some(54) });
        assert_eq!(read("bytes 0-0/1"), ContentRange::Satisfied { first: 0, last: 0, total: Some(1) });
        assert_eq!(read("Bytes 7-9/*"), ContentRange::Satisfied { first: 7, last: 9, total: None });
        assert_eq!(read("bytes */54"), ContentRange::Unsatisfied { total: 54 });
        assert_eq!(read("bytes */0"), ContentRange::Unsatisfied { total: 0 });
    }

    #[test]
    fn all_else_is_refused() {
        use ContentRangeError::{BeyondTotal, Inverted, Malformed, Overflow, Unit};
        let table = [
            ("", Malformed),
            ("bytes", Malformed),
            ("bytes ", Malformed),
            ("bytes=0-1/2", Malformed),
            ("bytes  0-1/2", Malformed),
            (" bytes 0-1/2", Unit),
            ("bytes 0-1/2 ", Malformed),
            ("bytes 0-1", Malformed),
            ("bytes 0/2", Malformed),
            ("bytes -1/2", Malformed),
            ("bytes 0-/2", Malformed),
            ("bytes +0-1/2", Malformed),
            ("bytes 0-+1/2", Malformed),
            ("bytes 0x0-1/2", Malformed),
            ("bytes 0-1/", Malformed),
            ("bytes 0-1/-2", Malformed),
            ("bytes 0-1/2/3", Malformed),
            ("bytes 0-1/2, bytes 3-4/9", Malformed),
            ("bytes 0-1,3-4/9", Malformed),
            ("bytes */*", Malformed),
            ("bytes */", Malformed),
            ("bytes 0 - 1/2", Malformed),
            ("bytes ٣-٤/٩", Malformed),
            ("pages 0-1/2", Unit),
            ("bytes 2-1/9", Inverted { first: 2, last: 1 }),
            ("bytes 0-2/2", BeyondTotal { last: 2, total: 2 }),
            ("bytes 0-0/0", BeyondTotal { last: 0, total: 0 }),
            ("bytes 0-18446744073709551616/*", Overflow),
            ("bytes */18446744073709551616", Overflow),
        ];
        for (value, error) in table {
            assert_eq!(value.parse::<ContentRange>(), Err(error), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn no_value_panics(value in ".*") {
            let _ = value.parse::<ContentRange>();
        }

        #[test]
        fn what_is_read_is_valid_and_is_what_was_written(first: u64, last: u64, total: Option<u64>) {
            let written = total.map_or_else(|| "*".to_owned(), |total| total.to_string());
            let value = format!("bytes {first}-{last}/{written}");
            let valid = first <= last && total.is_none_or(|total| last < total);
            let expected = valid.then_some(ContentRange::Satisfied { first, last, total });
            prop_assert_eq!(value.parse::<ContentRange>().ok(), expected);
        }
    }
}
