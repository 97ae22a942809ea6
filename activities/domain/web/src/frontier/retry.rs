//! Whether an attempt is followed by another one, and when.

use std::time::Duration;

use super::Moment;
use crate::retry_after::{LONGEST_WAIT, backoff};

/// How often and how patiently.
#[derive(Debug, Clone, Copy)]
pub struct Retries {
    /// Attempts for each URL, at least 1.
    pub attempts: u32,
    /// The wait after the first failed one; each further one doubles it.
    pub base_delay: Duration,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// With an answer that will be the same next time.
    Final,
    /// With a failure that may pass.
    Failed,
    /// With 429 or 503: the host wants to be left alone, for so many seconds where it says so.
    Patience(Option<u64>),
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Nothing: the answer counts.
    Settled,
    /// Another attempt from this moment on.
    Again(Moment),
    /// Another attempt from this moment on, and nothing else of this host before.
    RestThenAgain(Moment),
    /// Nothing in this run: the attempts are used up. Where a moment is given, nothing else of this host before it.
    GivenUp(Option<Moment>),
    /// Nothing of this host in this run: it asks for so many seconds, more than a run waits.
    TooLong(u64),
}

impl Retries {
    /// What follows the attempt with this number, from 1, that ended at `now`.
    #[must_use]
    pub fn then(self, attempt: u32, answer: Answer, now: Moment) -> Then {
        let wait = backoff(attempt, self.base_delay);
        let last = attempt >= self.attempts;
        match answer {
            Answer::Final => Then::Settled,
            Answer::Failed if last => Then::GivenUp(None),
            Answer::Failed => Then::Again(now.after(wait)),
            Answer::Patience(Some(seconds)) if seconds > LONGEST_WAIT.as_secs() => Then::TooLong(seconds),
            Answer::Patience(seconds) => {
                let until = now.after(wait.max(Duration::from_secs(seconds.unwrap_or(0))));
                if last { Then::GivenUp(Some(until)) } else { Then::RestThenAgain(until) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_counted_and_waits_are_the_longer_ones() {
        let retries = Retries { attempts: 3, base_delay: Duration::from_millis(500) };
        let now = Moment::from_millis(1_000_000);
        let at = |millis: u64| Moment::from_millis(1_000_000 + millis);
        let table = [
            (1, Answer::Final, Then::Settled),
            (1, Answer::Failed, Then::Again(at(500))),
            (2, Answer::Failed, Then::Again(at(1000))),
            (3, Answer::Failed, Then::GivenUp(None)),
            (9, Answer::Failed, Then::GivenUp(None)),
            (1, Answer::Patience(None), Then::RestThenAgain(at(500))),
            (1, Answer::Patience(Some(0)), Then::RestThenAgain(at(500))),
            (1, Answer::Patience(Some(7)), Then::RestThenAgain(at(7000))),
            (1, Answer::Patience(Some(60)), Then::RestThenAgain(at(60_000))),
            (3, Answer::Patience(Some(7)), Then::GivenUp(Some(at(7000)))),
            (1, Answer::Patience(Some(61)), Then::TooLong(61)),
            (3, Answer::Patience(Some(u64::MAX)), Then::TooLong(u64::MAX)),
        ];
        for (attempt, answer, expected) in table {
            assert_eq!(retries.then(attempt, answer, now), expected, "{attempt} {answer:?}");
        }
    }
}
