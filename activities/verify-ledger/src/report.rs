//! What `corpora ledger verify` and `corpora verify DIR` found.

use corpora_contracts::outcome::{Disposition, ExitCode};
use corpora_stage::chain;
use serde::Serialize;

use crate::files::CheckError;

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is wrong; of a dataset folder also that verify-ledger accepted it.
    Verified,
    /// Nothing is wrong with a dataset folder that verify-ledger has not accepted.
    Staged,
    /// Something is wrong.
    Refused,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What was checked: a folder as given, or the ledger relative to the artifacts directory.
    pub subject: String,
    /// What it came to.
    pub verdict: Verdict,
    /// Whether the verdict is [`Verdict::Verified`].
    pub ok: bool,
    /// Files that were held against what is recorded of them.
    pub files: u64,
    /// Bytes that were read of them.
    pub bytes: u64,
    /// Of a dataset folder its documents, of the ledger those of the config's sources.
    pub n_docs: u64,
    /// Everything that is wrong.
    pub problems: Vec<String>,
    /// What is worth knowing and no problem.
    pub warnings: Vec<String>,
    /// How a process that prints this should end.
    #[serde(skip)]
    pub exit: ExitCode,
}

impl Report {
    /// What a person reads first: `verified`, `not verified (staged)`, or how many problems there are.
    #[must_use]
    pub fn headline(&self) -> String {
        match (self.verdict, self.problems.len()) {
            (Verdict::Verified, _) => "verified".to_owned(),
            (Verdict::Staged, _) => "not verified (staged)".to_owned(),
            (Verdict::Refused, 1) => "1 problem".to_owned(),
            (Verdict::Refused, many) => format!("{many} problems"),
        }
    }

    /// An empty report.
    pub(crate) fn of(subject: String) -> Self {
        Self {
            subject,
            verdict: Verdict::Verified,
            ok: true,
            files: 0,
            bytes: 0,
            n_docs: 0,
            problems: Vec::new(),
            warnings: Vec::new(),
            exit: ExitCode::Success,
        }
    }

    /// Takes what is wrong.
    pub(crate) fn refuse(&mut self, problems: impl IntoIterator<Item = impl ToString>) {
        let before = self.problems.len();
        self.problems.extend(problems.into_iter().map(|problem| problem.to_string()));
        if self.problems.len() > before {
            self.end(Verdict::Refused, ExitCode::Data);
        }
    }

    /// Takes what kept the check from its end; a later one may get there.
    pub(crate) fn fail(&mut self, error: &CheckError) {
        self.problems.push(chain(error));
        let disposition = match error {
            CheckError::File(error) => error.disposition(),
            CheckError::Cancelled => Disposition::Cancelled,
        };
        self.end(Verdict::Refused, disposition.into());
    }

    pub(crate) fn end(&mut self, verdict: Verdict, exit: ExitCode) {
        self.ok = false;
        self.verdict = verdict;
        self.exit = self.exit.worse(exit);
    }
}
