//! A point in time, as a value.

use std::time::Duration;

/// Milliseconds since the Unix epoch by the caller's clock, which never goes back within a run.
///
/// Counted from the epoch so that a rest can be kept over a restart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// Before everything.
    pub const START: Self = Self(0);

    /// The moment so many milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// So much later; parts of a millisecond count as a whole one, so that nothing is ever early.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        let millis = u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// So much earlier; parts of a millisecond do not count, so that nothing that follows from it is ever early.
    #[must_use]
    pub fn before(self, time: Duration) -> Self {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(millis))
    }

    /// How long after `earlier` this is; nothing when it is not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_early_and_nothing_overflows() {
        let moment = Moment::from_millis(10);
        assert_eq!(moment.after(Duration::from_micros(1)), Moment::from_millis(11));
        assert_eq!(moment.after(Duration::from_millis(5)).since(moment), Duration::from_millis(5));
        assert_eq!(moment.before(Duration::from_micros(1_999)), Moment::from_millis(9));
        assert_eq!(moment.before(Duration::MAX), Moment::START);
        assert_eq!(moment.since(Moment::from_millis(11)), Duration::ZERO);
        assert_eq!(moment.after(Duration::MAX).as_millis(), u64::MAX);
    }
}
