//! Instants at rest: whole Unix seconds, written as `2026-01-01T00:00:00Z`, always UTC.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a value is not a [`Timestamp`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("time `{value}` is not of the form `2026-01-01T00:00:00Z`")]
pub struct InvalidTimestamp {
    /// What was given.
    pub value: String,
}

/// A UTC instant of whole seconds, in the years 0000 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(jiff::Timestamp::UNIX_EPOCH);

    /// The instant `seconds` after 1970-01-01T00:00:00Z; none outside the years 0000 to 9999.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Option<Self> {
        let instant = jiff::Timestamp::from_second(seconds).ok()?;
        let year = jiff::tz::Offset::UTC.to_datetime(instant).year();
        (0..=9999).contains(&year).then_some(Self(instant))
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn as_unix(self) -> i64 {
        self.0.as_second()
    }

    /// The UTC date as eight digits, `20260101`: the name of a raw directory.
    #[must_use]
    pub fn date_stamp(self) -> String {
        self.0.strftime("%Y%m%d").to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(value: &str) -> Result<Self, InvalidTimestamp> {
        let invalid = || InvalidTimestamp { value: value.to_owned() };
        let instant: jiff::Timestamp = value.parse().map_err(|_| invalid())?;
        let parsed = Self::from_unix(instant.as_second()).ok_or_else(invalid)?;
        // Only the one spelling is accepted, so that equal times are equal bytes.
        if parsed.to_string() == value { Ok(parsed) } else { Err(invalid()) }
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(value: String) -> Result<Self, InvalidTimestamp> {
        value.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_only() {
        let time = Timestamp::from_unix(1_767_225_600).unwrap();
        assert_eq!(time.to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(time.date_stamp(), "20260101");
        assert_eq!("2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap().as_unix(), 1_767_225_600);
        for bad in ["", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.5Z"] {
            assert!(bad.parse::<Timestamp>().is_err(), "{bad:?}");
        }
        assert!(Timestamp::from_unix(i64::MAX).is_none());
    }
}
