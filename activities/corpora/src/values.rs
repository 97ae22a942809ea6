//! Values of flags that several commands share.

use std::time::Duration;

/// A count that is not 0.
pub(crate) fn at_least_one<T: std::str::FromStr + PartialOrd + From<u8>>(value: &str) -> Result<T, String> {
    let number: T = value.parse().map_err(|_| "expected a whole number".to_owned())?;
    if number >= T::from(1) { Ok(number) } else { Err("expected at least 1".to_owned()) }
}

/// Seconds, whole or with a fraction; 0 is one.
pub(crate) fn seconds(value: &str) -> Result<Duration, String> {
    let seconds: f64 = value.parse().map_err(|_| "expected seconds, whole or with a fraction".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected seconds of at least 0".to_owned())
}

/// Seconds above 0.
pub(crate) fn positive_seconds(value: &str) -> Result<Duration, String> {
    seconds(value).ok().filter(|seconds| !seconds.is_zero()).ok_or_else(|| "expected seconds above 0".to_owned())
}
