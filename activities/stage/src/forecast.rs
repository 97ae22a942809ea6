//! What a stage would do, told without doing it: for `build --dry-run` and `status`.

use std::fmt;

use serde::Serialize;

/// What a stage would do about one source or dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Forecast {
    /// Nothing: what it makes stands and is of these inputs.
    Cached,
    /// Work, for these reasons; a key of the config or the record that changed is named.
    Due {
        /// Short phrases: `no raw directory`, `split changed: format`.
        because: Vec<String>,
    },
    /// Nothing: the ledger revokes it.
    Revoked,
}

impl Forecast {
    /// Due for one reason.
    #[must_use]
    pub fn due(because: impl Into<String>) -> Self {
        Self::Due { because: vec![because.into()] }
    }

    /// Whether the stage would work on it.
    #[must_use]
    pub fn is_due(&self) -> bool {
        matches!(self, Self::Due { .. })
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cached => f.write_str("cached"),
            Self::Due { because } => write!(f, "due: {}", because.join(", ")),
            Self::Revoked => f.write_str("revoked"),
        }
    }
}
