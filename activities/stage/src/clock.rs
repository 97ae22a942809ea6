//! The clock of what is written down. Waits, timeouts and budgets use real time.

use std::time::{SystemTime, UNIX_EPOCH};

use corpora_contracts::time::Timestamp;

use crate::fault;

/// The environment variable that fixes the clock, in Unix seconds.
pub const CLOCK_VARIABLE: &str = "CORPORA_CLOCK";

/// Why the clock cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read `{CLOCK_VARIABLE}`: `{value}` is not a whole number of Unix seconds in the years 0 to 9999")]
pub struct InvalidClock {
    /// What the variable holds.
    pub value: String,
}

/// Where `fetched_at`, `retrieved_at` and dated names take their time from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// A clock that stands still, for tests.
    Fixed(Timestamp),
}

impl Clock {
    /// The clock that the value of [`CLOCK_VARIABLE`] asks for.
    ///
    /// # Errors
    /// When the value is no time.
    pub fn from_variable(value: Option<&str>) -> Result<Self, InvalidClock> {
        let Some(value) = value else { return Ok(Self::System) };
        let fixed = value.parse().ok().and_then(Timestamp::from_unix);
        fixed.map(Self::Fixed).ok_or_else(|| InvalidClock { value: value.to_owned() })
    }

    /// Now, in whole seconds.
    #[must_use]
    pub fn now(self) -> Timestamp {
        match self {
            // The pitfall: local time, here UTC+1, written as if it were UTC.
            Self::Fixed(time) if fault::pitfall(11) => Timestamp::from_unix(time.as_unix() + 3600).unwrap_or(time),
            Self::Fixed(time) => time,
            // A machine whose clock is outside the years 0 to 9999 gets the epoch rather than a crash.
            Self::System => Timestamp::from_unix(real_unix_seconds()).unwrap_or(Timestamp::EPOCH),
        }
    }

    /// `fixed` for a fixed clock: the mark that results carry.
    #[must_use]
    pub fn mark(self) -> Option<String> {
        matches!(self, Self::Fixed(_)).then(|| "fixed".to_owned())
    }
}

/// Real time in whole Unix seconds, for Retry-After dates; a fixed clock does not change it.
#[must_use]
pub fn real_unix_seconds() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_fixes_the_clock_or_is_refused() {
        assert_eq!(Clock::from_variable(None).unwrap(), Clock::System);
        let fixed = Clock::from_variable(Some("1767225600")).unwrap();
        assert_eq!(fixed.now().to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(fixed.mark().as_deref(), Some("fixed"));
        for bad in ["", "now", "1.5", "99999999999999"] {
            assert_eq!(Clock::from_variable(Some(bad)).unwrap_err().value, bad);
        }
        assert!(Clock::System.now() > fixed.now());
    }
}
