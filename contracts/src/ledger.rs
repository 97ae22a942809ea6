//! The ledger: `LEDGER.jsonl`, one row per fetched source version and per change of its terms, append-only.
//!
//! Here are the row, the pure reading of the file's bytes (with the torn tail that a crash may leave), and the state
//! that rows add up to. Only the commit and `ledger revoke` write the file.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::config::{PiiPolicy, Source, Use};
use crate::ids::{Digest, Name};
use crate::line::to_line;
use crate::receipt::Receipt;
use crate::time::Timestamp;

/// One row; the keys stand in this order in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The source.
    pub source_id: Name,
    /// The configured url as written, never a redirect's target or a mirror.
    pub url: String,
    /// The SPDX expression reviewed.
    pub license_spdx: String,
    /// When the bytes were verified.
    pub retrieved_at: Timestamp,
    /// The digest of the exact bytes.
    pub sha256: Digest,
    /// Documents the bytes hold.
    pub n_docs: u64,
    /// What the corpus may be used for.
    pub allowed_uses: Vec<Use>,
    /// What is to be done about personal data.
    pub pii_policy: PiiPolicy,
    /// The filters that were applied; fetch applies none.
    pub filters_applied: Vec<String>,
    /// Documents kept: `n_docs` until a later stage says otherwise.
    pub kept: u64,
    /// Documents dropped by later stages.
    pub dropped: u64,
    /// Free text for people.
    pub notes: String,
    /// Whether the source was revoked; holds for the source until a later row says `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<bool>,
}

impl Row {
    /// The row of a source whose bytes a receipt vouches for, under the config's terms.
    #[must_use]
    pub fn of(source: &Source, receipt: &Receipt) -> Self {
        Self {
            source_id: source.id.clone(),
            url: source.url.clone(),
            license_spdx: source.license_spdx.clone(),
            retrieved_at: receipt.retrieved_at,
            sha256: receipt.sha256,
            n_docs: receipt.n_docs,
            allowed_uses: source.allowed_uses.clone(),
            pii_policy: source.pii_policy,
            filters_applied: Vec::new(),
            kept: receipt.n_docs,
            dropped: 0,
            notes: String::new(),
            revoked: None,
        }
    }

    /// Whether both rows state the same url, licence, uses, PII policy and document count.
    #[must_use]
    pub fn same_terms(&self, other: &Self) -> bool {
        self.url == other.url
            && self.license_spdx == other.license_spdx
            && self.same_uses(&other.allowed_uses)
            && self.pii_policy == other.pii_policy
            && self.n_docs == other.n_docs
    }

    /// Whether the row allows just these uses. They are a set: the order in which they are written is no term.
    #[must_use]
    pub fn same_uses(&self, uses: &[Use]) -> bool {
        let within = |some: &[Use], all: &[Use]| some.iter().all(|one| all.contains(one));
        within(&self.allowed_uses, uses) && within(uses, &self.allowed_uses)
    }

    /// The row as stored: compact JSON and a newline.
    ///
    /// # Errors
    /// Never for a row built by these types; the serializer's error is passed on all the same.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        to_line(self)
    }
}

/// Why the ledger's bytes cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A line is no row: the file was edited or damaged, and no later attempt mends it.
    #[error("line {line} of the ledger is not a row")]
    BadLine {
        /// 1-based.
        line: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
}

/// A row is an object: serde alone would take an array of the same values, too.
fn read_row(line: &[u8]) -> Result<Row, serde_json::Error> {
    let is_object = line.trim_ascii_start().starts_with(b"{");
    if is_object { serde_json::from_slice(line) } else { Err(serde::de::Error::custom("a row is a JSON object")) }
}

/// How the file ends; a writer mends the tail before it appends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tail {
    /// With a newline, or it is empty.
    #[default]
    Whole,
    /// With a whole row that only lacks its newline.
    NoNewline,
    /// With a torn line that starts at this byte and counts for nothing.
    Torn {
        /// Where the torn line starts; the file is cut to this length.
        start: u64,
    },
}

/// The ledger as read: all whole rows in file order, and an index over them, so that a question about one source costs
/// the same in a ledger of any length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// How the file ends.
    pub tail: Tail,
    rows: Vec<Row>,
    sources: HashMap<Name, OfSource>,
}

/// Where the rows of one source stand, and what they add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OfSource {
    /// In file order.
    positions: Vec<usize>,
    /// The last row of each version.
    last: HashMap<Digest, usize>,
    revoked: bool,
}

impl Ledger {
    /// Reads the bytes of `LEDGER.jsonl`; no bytes are an empty ledger.
    ///
    /// # Errors
    /// [`LedgerError::BadLine`] for a line other than a torn last one that is not a row.
    pub fn parse(bytes: &[u8]) -> Result<Self, LedgerError> {
        let mut ledger = Self::default();
        let mut start = 0;
        for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let whole = line.ends_with(b"\n");
            match (read_row(line), whole) {
                (Ok(row), true) => ledger.push(row),
                (Ok(row), false) => {
                    ledger.push(row);
                    ledger.tail = Tail::NoNewline;
                }
                (Err(source), true) => return Err(LedgerError::BadLine { line: index + 1, source }),
                (Err(_), false) => ledger.tail = Tail::Torn { start },
            }
            start += line.len() as u64;
        }
        Ok(ledger)
    }

    /// Adds a row behind the others, as a line behind the file's.
    pub fn push(&mut self, row: Row) {
        let position = self.rows.len();
        let source = self.sources.entry(row.source_id.clone()).or_default();
        source.positions.push(position);
        source.last.insert(row.sha256, position);
        source.revoked = row.revoked.unwrap_or(source.revoked);
        self.rows.push(row);
    }

    /// The same ledger after these rows were appended to its file, which mends its tail.
    #[must_use]
    pub fn appended(mut self, rows: Vec<Row>) -> Self {
        rows.into_iter().for_each(|row| self.push(row));
        self.tail = Tail::Whole;
        self
    }

    /// The rows in file order.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows of one source in file order, whatever their digests.
    pub fn of_source(&self, id: &Name) -> impl DoubleEndedIterator<Item = &Row> {
        let positions = self.sources.get(id).map_or(&[][..], |source| &source.positions);
        positions.iter().map(|&position| &self.rows[position])
    }

    /// Whether the ledger has this very row.
    #[must_use]
    pub fn contains(&self, row: &Row) -> bool {
        self.of_source(&row.source_id).any(|written| written == row)
    }

    /// The state of one source version: its last row.
    #[must_use]
    pub fn last(&self, id: &Name, sha256: &Digest) -> Option<&Row> {
        let position = self.sources.get(id)?.last.get(sha256)?;
        self.rows.get(*position)
    }

    /// Whether a source is revoked: what its last row with the key `revoked` says, whatever that row's digest.
    #[must_use]
    pub fn revoked(&self, id: &Name) -> bool {
        self.sources.get(id).is_some_and(|source| source.revoked)
    }

    /// The row that the commit appends for a source with this receipt: none where the last row says the same, or
    /// where the source is revoked.
    #[must_use]
    pub fn due(&self, source: &Source, receipt: &Receipt) -> Option<Row> {
        if self.revoked(&source.id) {
            return None;
        }
        let row = Row::of(source, receipt);
        match self.last(&source.id, &receipt.sha256) {
            Some(last) if last.same_terms(&row) => None,
            _ => Some(row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_of_a_rows_values_is_no_row() {
        let digest = Digest::of(b"");
        let values = format!("\"MIT\",\"2026-01-01T00:00:00Z\",\"{digest}\",1,[\"train\"],\"scrub\",[],1,0,\"\"");
        for text in [format!("[\"t\",\"u\",{values}]\n"), format!("[\"t\",\"u\",{values},true]\n")] {
            let error = Ledger::parse(text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains("line 1"), "{error}");
        }
        let torn = format!("[\"t\",\"u\",{values}]");
        assert_eq!(Ledger::parse(torn.as_bytes()).unwrap().tail, Tail::Torn { start: 0 });
    }

    fn row(id: &str, bytes: &str, revoked: Option<bool>, notes: usize) -> Row {
        Row {
            source_id: id.parse().unwrap(),
            url: "u".to_owned(),
            license_spdx: "MIT".to_owned(),
            retrieved_at: Timestamp::EPOCH,
            sha256: Digest::of(bytes.as_bytes()),
            n_docs: 1,
            allowed_uses: vec![Use::Train, Use::Eval],
            pii_policy: PiiPolicy::Scrub,
            filters_applied: Vec::new(),
            kept: 1,
            dropped: 0,
            notes: notes.to_string(),
            revoked,
        }
    }

    #[test]
    fn uses_are_a_set() {
        let both = row("a", "", None, 0);
        let with = |uses: &[Use]| Row { allowed_uses: uses.to_vec(), ..both.clone() };
        for same in [&[Use::Eval, Use::Train][..], &[Use::Eval, Use::Train, Use::Eval]] {
            assert!(both.same_terms(&with(same)) && with(same).same_terms(&both), "{same:?}");
        }
        for other in [&[Use::Train][..], &[Use::Eval], &[]] {
            assert!(!both.same_terms(&with(other)) && !with(other).same_terms(&both), "{other:?}");
        }
    }

    #[test]
    fn the_index_answers_as_reading_all_rows_would() {
        let says = [None, None, Some(true), None, Some(false)];
        let rows: Vec<Row> =
            (0..60).map(|at| row(["a", "b", "c"][at % 3], ["x", "y"][at / 3 % 2], says[at * 7 % 5], at)).collect();
        let text: String = rows.iter().map(|row| row.to_line().unwrap()).collect();
        for count in 0..rows.len() {
            let read = Ledger::parse(text.split_inclusive('\n').take(count).collect::<String>().as_bytes()).unwrap();
            let grown = Ledger::default().appended(rows[..count].to_vec());
            assert_eq!(read, grown);
            let rows = &rows[..count];
            for id in ["a", "b", "c", "stranger"].map(|id| id.parse().unwrap()) {
                let of_source = || rows.iter().filter(|row| row.source_id == id);
                assert!(read.of_source(&id).eq(of_source()));
                let said = of_source().rev().find_map(|row| row.revoked);
                assert_eq!(read.revoked(&id), said.unwrap_or(false));
                for digest in ["x", "y", "z"].map(|bytes| Digest::of(bytes.as_bytes())) {
                    let last = of_source().rev().find(|row| row.sha256 == digest);
                    assert_eq!(read.last(&id, &digest), last);
                }
            }
        }
    }
}
