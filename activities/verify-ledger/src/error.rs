//! Why a dataset was not judged, or not published.

use corpora_contracts::outcome::Disposition;
use corpora_license::LicenseError;
use corpora_stage::durable::FileError;
use corpora_stage::lock::LockError;

use crate::files::CheckError;
use crate::problem::Problem;

/// Why a dataset was not judged, or not published.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Another run works on this dataset version.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The config's policy names what is no licence.
    #[error("read `[licenses]`")]
    Policy(#[from] LicenseError),
    /// The config has no canonical form.
    #[error("digest the config")]
    Config(#[from] serde_json::Error),
    /// The staged dataset is wrong.
    #[error(
        "accept dataset `{id}`: {}; what is published is untouched, `{staged}` is left for a look: correct what is \
         wrong, or remove it, and run store again",
        counted(problems)
    )]
    Refused {
        /// `<dataset>/<version>`.
        id: String,
        /// The staged folder, relative to the artifacts directory.
        staged: String,
        /// All that is wrong; never empty.
        problems: Vec<Problem>,
    },
    /// Nothing is staged, and what is published is not what would be accepted now.
    #[error(
        "accept dataset `{id}`: nothing is staged, and what is published is not what would be accepted now ({}); run \
         extract and store, or build; should they find nothing to do, remove `{published}` first",
        counted(problems)
    )]
    Stale {
        /// `<dataset>/<version>`.
        id: String,
        /// The published folder, relative to the artifacts directory.
        published: String,
        /// How it differs; never empty.
        problems: Vec<Problem>,
    },
    /// Nothing is staged, and nothing published.
    #[error("accept dataset `{id}`: nothing is staged at `{staged}`; run extract and store, or build")]
    NothingStaged {
        /// `<dataset>/<version>`.
        id: String,
        /// The staged folder, relative to the artifacts directory.
        staged: String,
    },
    /// The run was asked to stop.
    #[error("cancelled; what is published is untouched")]
    Cancelled,
    /// The task that judged ended without an answer: a fault of ours.
    #[error("judge the dataset: {reason}")]
    Task {
        /// What the runtime says.
        reason: String,
    },
}

impl VerifyError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Lock(error) => error.disposition(),
            Self::File(error) => error.disposition(),
            Self::Cancelled => Disposition::Cancelled,
            Self::Task { .. } => Disposition::Retry,
            Self::Policy(_)
            | Self::Config(_)
            | Self::Refused { .. }
            | Self::Stale { .. }
            | Self::NothingStaged { .. } => Disposition::Fail,
        }
    }

    /// A stable name of the kind of error.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Lock(LockError::Held { .. }) => "lock_held",
            Self::Lock(LockError::Cancelled { .. }) | Self::Cancelled => "cancelled",
            Self::File(error) | Self::Lock(LockError::File(error)) if error.is_disk_full() => "disk_full",
            Self::File(_) | Self::Lock(LockError::File(_)) => "io",
            Self::Policy(_) => "policy",
            Self::Config(_) => "config",
            Self::Refused { .. } => "refused",
            Self::Stale { .. } => "stale",
            Self::NothingStaged { .. } => "not_staged",
            Self::Task { .. } => "task",
        }
    }

    /// Everything that was found wrong with a dataset.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Refused { problems, .. } | Self::Stale { problems, .. } => problems,
            _ => &[],
        }
    }
}

impl From<CheckError> for VerifyError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::File(error) => Self::File(error),
            CheckError::Cancelled => Self::Cancelled,
        }
    }
}

fn counted(problems: &[Problem]) -> String {
    if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) }
}
