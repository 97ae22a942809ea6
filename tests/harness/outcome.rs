//! What a run printed and how it ended.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use corpora_contracts::summary::{
    BuildSummary, Entry, EntryError, FetchSummary, StageEntry, StageResult, StageSummary, Status,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A finished run.
#[derive(Debug)]
pub struct Outcome {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
    /// The most memory it held, in bytes, as seen every few milliseconds; 0 where the system does not say.
    pub peak_memory: u64,
}

impl Outcome {
    pub(super) fn new(status: ExitStatus, stdout: String, stderr: String, took: Duration, peak_memory: u64) -> Self {
        Self { code: status.code(), signal: status.signal(), stdout, stderr, took, peak_memory }
    }

    /// Requires this exit code, and gives the run back for further questions.
    ///
    /// # Panics
    /// With all that was printed, when the code is another.
    #[must_use]
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let Self { stdout, stderr, signal, .. } = &self;
        assert!(
            self.code == Some(code),
            "exit code {:?} (signal {signal:?}) instead of {code}\nstdout: {stdout}\nstderr: {stderr}",
            self.code
        );
        self
    }

    /// The summary that fetch prints as the last line of stdout.
    ///
    /// # Panics
    /// When the line is missing, is not of the contract's form, or is not compact.
    #[must_use]
    #[track_caller]
    pub fn summary(&self) -> FetchSummary {
        self.result()
    }

    /// The summary that build prints as the last line of stdout.
    ///
    /// # Panics
    /// As [`Outcome::summary`].
    #[must_use]
    #[track_caller]
    pub fn build_summary(&self) -> BuildSummary {
        self.result()
    }

    /// The summary that extract, store and verify-ledger print as the last line of stdout.
    ///
    /// # Panics
    /// As [`Outcome::summary`].
    #[must_use]
    #[track_caller]
    pub fn stage_summary(&self) -> StageSummary {
        self.result()
    }

    #[track_caller]
    fn result<T: Serialize + DeserializeOwned>(&self) -> T {
        let line = self.stdout.lines().last().unwrap_or_default();
        let summary: T = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("no summary ({error})\nstdout: {}\nstderr: {}", self.stdout, self.stderr));
        let compact = serde_json::to_string(&summary).unwrap();
        assert_eq!(line, compact, "the summary is compact, with its keys in order and none besides");
        assert!(self.stdout.ends_with('\n'), "the last line is a line");
        summary
    }

    /// Every entry of a build's stages that ran, as (stage, id, status).
    #[must_use]
    #[track_caller]
    pub fn build_statuses(&self) -> Vec<(String, String, String)> {
        let word = |status: serde_json::Value| status.as_str().unwrap_or_default().to_owned();
        let of = |stage: StageResult| -> Vec<(String, String, String)> {
            match stage {
                StageResult::Fetch(FetchSummary { stage, entries, .. }) => {
                    let told = |e: Entry| (stage.clone(), e.source_id.to_string(), word(serde_json::json!(e.status)));
                    entries.into_iter().map(told).collect()
                }
                StageResult::Documents(StageSummary { stage, entries, .. }) => {
                    let told = |e: StageEntry| (stage.clone(), e.id, word(serde_json::json!(e.status)));
                    entries.into_iter().map(told).collect()
                }
            }
        };
        self.build_summary().stages.into_iter().flat_map(of).collect()
    }

    /// What a build's stages did anew, as `<stage> <id>`: everything that is neither cached nor revoked.
    #[must_use]
    #[track_caller]
    pub fn worked_on(&self) -> Vec<String> {
        let statuses = self.build_statuses().into_iter();
        let worked = statuses.filter(|(_, _, status)| status != "cached" && status != "revoked");
        worked.map(|(stage, id, _)| format!("{stage} {id}")).collect()
    }

    /// The entry of one source.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    #[track_caller]
    pub fn entry(&self, id: &str) -> Entry {
        let entries = self.summary().entries;
        let entry = entries.into_iter().find(|entry| entry.source_id.as_str() == id);
        entry.unwrap_or_else(|| panic!("no entry `{id}` in {}", self.stdout))
    }

    /// The error of one source's entry.
    ///
    /// # Panics
    /// When the entry has none.
    #[must_use]
    #[track_caller]
    pub fn error(&self, id: &str) -> EntryError {
        let entry = self.entry(id);
        entry.error.unwrap_or_else(|| panic!("entry `{id}` has no error: {}", self.stdout))
    }

    /// Every source and its status, in the order of the summary.
    #[must_use]
    #[track_caller]
    pub fn statuses(&self) -> Vec<(String, Status)> {
        let entries = self.summary().entries;
        entries.into_iter().map(|entry| (entry.source_id.to_string(), entry.status)).collect()
    }

    /// Everything printed, for questions like "does the secret stand anywhere".
    #[must_use]
    pub fn printed(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}
