//! How long to wait before the next attempt: the backoff, or what the server asked for.

use std::time::{Duration, UNIX_EPOCH};

/// The longest `Retry-After` that is waited for here; a longer one is handed to the orchestrator.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The most seconds that are told: the largest integer that JSON carries between all programs (RFC 7493 section 2.2),
/// some 285 million years.
pub const MOST_SECONDS: u64 = (1 << 53) - 1;

/// What to do before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Wait this long, then try again.
    For(Duration),
    /// The server asked for more than [`LONGEST_WAIT`]: end with exit code 75 and say so.
    TooLong(u64),
}

/// The seconds that a `Retry-After` asks for (RFC 9110 section 10.2.3): a count of seconds, or an HTTP-date, which
/// counts from `now` (Unix seconds, real time) and is 0 when past.
///
/// None for all else: the server's wish is unknown. More than [`MOST_SECONDS`], of however many digits, are that many.
#[must_use]
pub fn seconds(value: &str, now: i64) -> Option<u64> {
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse().unwrap_or(MOST_SECONDS).min(MOST_SECONDS));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let date = i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()?;
    Some(u64::try_from(date.saturating_sub(now)).unwrap_or(0))
}

/// The wait after attempt `attempt` (from 1) failed: `base` · 2^(attempt - 1), as far as a [`Duration`] reaches
/// (fetch seed, section 2.4).
#[must_use]
pub fn backoff(attempt: u32, base: Duration) -> Duration {
    let doublings = attempt.saturating_sub(1);
    if doublings < 32 {
        return base.saturating_mul(1 << doublings);
    }
    if base.is_zero() { base } else { Duration::MAX }
}

/// The longer of the backoff and the seconds that the server asked for, unless those are above [`LONGEST_WAIT`].
#[must_use]
pub fn wait(backoff: Duration, retry_after: Option<u64>) -> Wait {
    match retry_after.unwrap_or(0) {
        seconds if seconds > LONGEST_WAIT.as_secs() => Wait::TooLong(seconds),
        seconds => Wait::For(backoff.max(Duration::from_secs(seconds))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110 section 5.6.7.
    const NOW: i64 = 784_111_777;

    #[test]
    fn both_forms_are_read() {
        let table = [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 7\t", Some(7)),
            ("007", Some(7)),
            ("9007199254740991", Some(MOST_SECONDS)),
            ("9007199254740993", Some(MOST_SECONDS)),
            ("18446744073709551615", Some(MOST_SECONDS)),
            ("99999999999999999999", Some(MOST_SECONDS)),
            ("0000000000000000000000000000000007", Some(7)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(252_618_189_022)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:36 GMT", Some(0)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("", None),
            (" ", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1s", None),
            ("soon", None),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("1994-11-06T08:49:37Z", None),
            ("٣", None),
        ];
        for (value, expected) in table {
            assert_eq!(seconds(value, NOW), expected, "{value:?}");
        }
    }

    #[test]
    fn the_backoff_doubles() {
        let half = Duration::from_millis(500);
        assert_eq!([1, 2, 3, 4].map(|attempt| backoff(attempt, half).as_secs_f64()), [0.5, 1.0, 2.0, 4.0]);
        assert_eq!(backoff(0, half), half);
        assert_eq!(backoff(u32::MAX, half), Duration::MAX);
        assert_eq!(backoff(u32::MAX, Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn the_longer_wait_wins_up_to_a_minute() {
        let second = Duration::from_secs(1);
        assert_eq!(wait(second, None), Wait::For(second));
        assert_eq!(wait(second, Some(0)), Wait::For(second));
        assert_eq!(wait(second, Some(2)), Wait::For(Duration::from_secs(2)));
        assert_eq!(wait(second, Some(60)), Wait::For(LONGEST_WAIT));
        assert_eq!(wait(second, Some(61)), Wait::TooLong(61));
        let hour = Duration::from_secs(3600);
        assert_eq!(wait(hour, Some(60)), Wait::For(hour), "the bound is the server's, not the backoff's");
    }

    proptest! {
        #[test]
        fn nothing_panics_and_no_wait_is_shorter_than_the_backoff(value in ".*", now: i64, attempt: u32, base: Duration) {
            let backoff = backoff(attempt, base);
            prop_assert!(backoff >= base);
            if let Wait::For(time) = wait(backoff, seconds(&value, now)) {
                prop_assert!(time >= backoff);
            }
        }

        #[test]
        fn a_date_counts_from_now(now in 0i64..4_000_000_000, ahead in 0u64..1_000_000_000) {
            let date = UNIX_EPOCH + Duration::from_secs(u64::try_from(now).unwrap() + ahead);
            prop_assert_eq!(seconds(&httpdate::fmt_http_date(date), now), Some(ahead));
        }
    }
}
