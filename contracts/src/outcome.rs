//! The exit codes that tell an orchestrator what to do next (the sysexits of 4.3BSD where one fits).

use serde::{Deserialize, Serialize};

/// How a process of ours ends; anything else, or a signal, is a crash, which the orchestrator retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ExitCode {
    /// Done.
    Success = 0,
    /// Usage: unknown verb or flag, a limit below 1, an unknown `--source`. Never retried.
    Usage = 2,
    /// The input is wrong and will be wrong next time (`EX_DATAERR`). Never retried.
    Data = 65,
    /// A later attempt may succeed (`EX_TEMPFAIL`). Retried.
    Retry = 75,
    /// Cancelled by SIGTERM or SIGINT; what was done is kept and resumable.
    Cancelled = 130,
}

impl ExitCode {
    /// The number that the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The code with this number; none when it is not one of ours.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        let all = [Self::Success, Self::Usage, Self::Data, Self::Retry, Self::Cancelled];
        all.into_iter().find(|code| code.code() == number)
    }

    /// The code of a run two of whose parts end with these codes: 65 before 75, since a human is needed anyway; a
    /// failure before a cancel, since one source's failure cancels the others.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let order = [Self::Usage, Self::Data, Self::Retry, Self::Cancelled];
        order.into_iter().find(|code| [self, other].contains(code)).unwrap_or(Self::Success)
    }
}

/// What the caller of a failed operation should do: the one place where an error becomes a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// The input is wrong: a later attempt fails the same way.
    Fail,
    /// Something around us is wrong: a later attempt may succeed.
    Retry,
    /// We were asked to stop.
    Cancelled,
}

impl From<Disposition> for ExitCode {
    fn from(disposition: Disposition) -> Self {
        match disposition {
            Disposition::Fail => Self::Data,
            Disposition::Retry => Self::Retry,
            Disposition::Cancelled => Self::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_input_outweighs_all_but_usage() {
        use ExitCode::{Cancelled, Data, Retry, Success};
        for (one, other, both) in [
            (Success, Success, Success),
            (Success, Cancelled, Cancelled),
            (Cancelled, Retry, Retry),
            (Retry, Data, Data),
            (Data, Cancelled, Data),
        ] {
            assert_eq!((one.worse(other), other.worse(one)), (both, both));
        }
    }

    #[test]
    fn codes_are_the_published_numbers() {
        let codes = [ExitCode::Success, ExitCode::Usage, ExitCode::Data, ExitCode::Retry, ExitCode::Cancelled];
        assert_eq!(codes.map(ExitCode::code), [0, 2, 65, 75, 130]);
        assert_eq!(codes.map(|code| ExitCode::of(code.code())), codes.map(Some));
        assert_eq!(ExitCode::of(1), None);
        let decisions = [Disposition::Fail, Disposition::Retry, Disposition::Cancelled];
        assert_eq!(decisions.map(|decision| ExitCode::from(decision).code()), [65, 75, 130]);
    }
}
