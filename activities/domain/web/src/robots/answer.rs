//! What the status of an answer to `/robots.txt` means (RFC 9309 section 2.3.1).

use std::time::Duration;

/// A robots.txt is asked for again when it is this old (RFC 9309 section 2.4).
pub const LONGEST_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// So many redirects of a robots.txt are followed, to other hosts too (RFC 9309 section 2.3.1.2).
pub const MOST_REDIRECTS: usize = 5;

/// What an answer means for the host that was asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The body has the rules (section 2.3.1.1).
    Rules,
    /// The next place is to be asked (section 2.3.1.2); without one it is [`Meaning::NoRules`].
    Redirect,
    /// There are no rules: everything may be asked (section 2.3.1.3, "unavailable").
    NoRules,
    /// Nothing may be asked for now; robots.txt may be asked again later (section 2.3.1.4, "unreachable"). So it is when no
    /// answer came at all.
    Unreachable,
    /// The host asks to wait, as its Retry-After says; once, then it is [`Meaning::Unreachable`].
    Wait,
}

/// Judges a status behind so many redirects; `has_waited` says that a [`Meaning::Wait`] was followed already.
///
/// 429 (Too Many Requests) is about us and not about the file, so it is no licence to go on, which the other 4xx are.
#[must_use]
pub fn meaning(status: u16, redirects: usize, has_waited: bool) -> Meaning {
    match status {
        200..=299 => Meaning::Rules,
        300..=399 if redirects < MOST_REDIRECTS => Meaning::Redirect,
        300..=399 => Meaning::NoRules,
        429 if has_waited => Meaning::Unreachable,
        429 => Meaning::Wait,
        400..=499 => Meaning::NoRules,
        _ => Meaning::Unreachable,
    }
}
