//! What the end of a child means for its activity: the one place where an exit code becomes the orchestrator's decision.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use corpora_contracts::outcome::ExitCode;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        status.code().map_or_else(|| Self::Signal(status.signal().unwrap_or_default()), Self::Code)
    }
}

/// What becomes of the activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is done.
    Completed,
    /// It ended because it was asked to.
    Cancelled,
    /// This attempt failed; another one follows as the retry policy says.
    Failed,
    /// It failed for good.
    FailedForGood,
}

impl Ended {
    /// The failure's type, as retry policies and people know it: `ExitCode75`, `Signal9`.
    pub(crate) fn type_name(self) -> String {
        match self {
            Self::Code(code) => format!("ExitCode{code}"),
            Self::Signal(signal) => format!("Signal{signal}"),
        }
    }

    /// What follows. `asked` says whether the child was asked to stop, be it for a cancel or because the worker stops;
    /// what ended well or for good meanwhile stands all the same. `for_good` are the codes that no attempt follows.
    pub(crate) fn verdict(self, asked: bool, for_good: &[u8]) -> Verdict {
        match self {
            Self::Code(code) if code == i32::from(ExitCode::Success.code()) => Verdict::Completed,
            Self::Code(code) if for_good.iter().any(|&last| i32::from(last) == code) => Verdict::FailedForGood,
            _ if asked => Verdict::Cancelled,
            _ => Verdict::Failed,
        }
    }
}

/// The code of a build whose activity failed for good with a failure of this type. What is not ours, a crash or a
/// signal, may succeed later; so may a stage that was stopped by somebody else.
pub(crate) fn code_of(type_name: &str) -> ExitCode {
    let ours = [ExitCode::Usage, ExitCode::Data];
    ours.into_iter().find(|code| Ended::Code(code.code().into()).type_name() == type_name).unwrap_or(ExitCode::Retry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exit codes of the protocol: code, verdict when nobody had asked it to stop, verdict when somebody had.
    const TABLE: [(i32, Verdict, Verdict); 8] = [
        (0, Verdict::Completed, Verdict::Completed),
        (2, Verdict::FailedForGood, Verdict::FailedForGood),
        (65, Verdict::FailedForGood, Verdict::FailedForGood),
        (75, Verdict::Failed, Verdict::Cancelled),
        (130, Verdict::Failed, Verdict::Cancelled),
        (1, Verdict::Failed, Verdict::Cancelled),
        (101, Verdict::Failed, Verdict::Cancelled),
        (127, Verdict::Failed, Verdict::Cancelled),
    ];

    #[test]
    fn codes_mean_what_the_protocol_says() {
        for (code, unasked, asked) in TABLE {
            let ended = Ended::Code(code);
            assert_eq!((ended.verdict(false, &[2, 65]), ended.verdict(true, &[2, 65])), (unasked, asked), "{code}");
        }
        for signal in [6, 9, 11, 15] {
            let ended = Ended::Signal(signal);
            let verdicts = (ended.verdict(false, &[2, 65]), ended.verdict(true, &[2, 65]));
            assert_eq!(verdicts, (Verdict::Failed, Verdict::Cancelled), "{signal}");
        }
        assert_eq!(Ended::Code(75).verdict(false, &[75]), Verdict::FailedForGood, "the policy decides");
    }

    #[test]
    fn a_status_is_a_code_or_a_signal() {
        for (raw, ended, name) in [
            (0, Ended::Code(0), "ExitCode0"),
            (65 << 8, Ended::Code(65), "ExitCode65"),
            (9, Ended::Signal(9), "Signal9"),
        ] {
            let status = Ended::from(ExitStatus::from_raw(raw));
            assert_eq!((status, status.type_name().as_str()), (ended, name));
        }
    }

    #[test]
    fn a_build_ends_with_the_code_of_its_failure() {
        for (name, code) in [
            ("ExitCode2", ExitCode::Usage),
            ("ExitCode65", ExitCode::Data),
            ("ExitCode75", ExitCode::Retry),
            ("ExitCode130", ExitCode::Retry),
            ("ExitCode101", ExitCode::Retry),
            ("Signal9", ExitCode::Retry),
            ("", ExitCode::Retry),
        ] {
            assert_eq!(code_of(name), code, "{name}");
        }
    }
}
