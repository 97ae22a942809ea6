//! Durations as they are written: seconds, whole or with a fraction.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// A finite duration between zero and [`Seconds::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Seconds(f64);

impl Seconds {
    /// One year of 365 days, in seconds.
    pub const MAX: f64 = 31_536_000.0;

    /// The duration of so many seconds; none when it is not a number, negative or longer than a year.
    #[must_use]
    pub fn new(seconds: f64) -> Option<Self> {
        // Adding zero turns -0.0 into 0.0, so that equal durations are equal bytes.
        (0.0..=Self::MAX).contains(&seconds).then_some(Self(seconds + 0.0))
    }

    /// So many whole seconds, at most 255.
    #[must_use]
    pub const fn whole(seconds: u8) -> Self {
        Self(seconds as f64)
    }

    /// In seconds.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0
    }

    /// As a duration, to the nanosecond.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0).unwrap_or_default()
    }
}

impl Serialize for Seconds {
    /// Whole seconds as an integer: `1` and `1.0` are the same duration and give the same bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within 0..=MAX")]
            serializer.serialize_u64(self.0 as u64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
