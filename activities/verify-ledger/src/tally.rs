//! What the rows of one shard say, held against the ledger rows that they should trace to; pure, in constant memory.

use std::collections::HashMap;

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::manifest::SplitName;

use crate::placed::{PlacedRow, PlacedRows};
use crate::problem::{RowFault, RowProblem, shown};

/// Faults of different kinds that one shard's tally keeps apart.
const KEPT: usize = 50;

/// What every row must trace to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    sources: Vec<ExpectedSource>,
    by_id: HashMap<Vec<u8>, usize>,
    /// How many of a thousand texts are held out, where the config is known.
    val_permille: Option<u32>,
}

/// What the rows of one source must say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExpectedSource {
    pub(crate) id: Name,
    pub(crate) license_spdx: String,
    /// What is made of the url of the ledger row; none where a document has an address of its own.
    pub(crate) url: Option<Address>,
}

/// The address of a document that is that of its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A line of the source at this url.
    Line(String),
    /// The source at this url.
    Whole(String),
}

impl Address {
    fn is_of(&self, document: &[u8]) -> bool {
        match self {
            Self::Line(url) => is_line_of(document, url),
            Self::Whole(url) => document == url.as_bytes(),
        }
    }

    /// As it is told: `<url>#<line>`, or the url.
    fn expected(&self) -> String {
        match self {
            Self::Line(url) => format!("{}#<line>", shown(url)),
            Self::Whole(url) => shown(url),
        }
    }
}

/// The columns that trace a row, and by which it is looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedRow<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) source_id: &'a [u8],
    pub(crate) url: &'a [u8],
    pub(crate) license_spdx: &'a [u8],
    pub(crate) lang: &'a [u8],
    pub(crate) split: &'a [u8],
    pub(crate) n_chars: i32,
    pub(crate) sha256: &'a [u8],
}

/// The rows of one shard, counted and judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    /// By the index of the source in [`Expected`].
    pub(crate) per_source: Vec<u64>,
    /// Whether a row belongs to no source, so that the counts above do not tell the whole.
    pub(crate) has_strangers: bool,
    /// What a table to look the rows up must hold of them.
    pub(crate) placed: PlacedRows,
    faults: Vec<Seen>,
    last: usize,
}

/// A fault, the first row that has it and how many have it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    fault: Fault,
    first: u64,
    count: u64,
}

/// The kind of a fault, and what it takes to tell two of a kind apart.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    Source(Vec<u8>),
    License(usize, Vec<u8>),
    /// Every row has its own url: only the first wrong one of a source is kept.
    Url(usize, Vec<u8>),
    Split(Vec<u8>),
    Digest(SplitName),
    Further,
}

impl Expected {
    /// The sources in the manifest's order.
    pub(crate) fn new(sources: Vec<ExpectedSource>, val_permille: Option<u32>) -> Self {
        let by_id =
            sources.iter().enumerate().map(|(at, source)| (source.id.as_str().as_bytes().to_vec(), at)).collect();
        Self { sources, by_id, val_permille }
    }

    /// The split of a text by its digest, where the config is known.
    fn split_of(&self, sha256: &[u8]) -> Option<SplitName> {
        let digest = Digest::from_bytes(sha256.try_into().ok()?);
        self.val_permille.map(|permille| SplitName::of(&digest, permille))
    }

    /// An empty tally of a shard.
    pub(crate) fn tally(&self) -> Tally {
        let per_source = vec![0; self.sources.len()];
        Tally { rows: 0, per_source, has_strangers: false, placed: PlacedRows::default(), faults: Vec::new(), last: 0 }
    }
}

impl Tally {
    /// Takes the next row.
    pub(crate) fn add(&mut self, row: TracedRow<'_>, split: SplitName, expected: &Expected) {
        let (n_chars, at) = (i64::from(row.n_chars), self.rows);
        self.placed.add(&PlacedRow { strings: [row.id, row.source_id, row.url, row.lang, row.sha256], n_chars, at });
        self.rows += 1;
        if row.split != split.as_str().as_bytes() {
            self.note(Fault::Split(row.split.to_vec()));
        }
        if let Some(other) = expected.split_of(row.sha256).filter(|by_digest| *by_digest != split) {
            self.note(Fault::Digest(other));
        }
        let Some(at) = self.source(row.source_id, expected) else {
            self.has_strangers = true;
            return self.note(Fault::Source(row.source_id.to_vec()));
        };
        self.per_source[at] += 1;
        let source = &expected.sources[at];
        if row.license_spdx != source.license_spdx.as_bytes() {
            self.note(Fault::License(at, row.license_spdx.to_vec()));
        }
        if source.url.as_ref().is_some_and(|address| !address.is_of(row.url)) {
            self.note(Fault::Url(at, row.url.to_vec()));
        }
    }

    /// The faults of the shard `path`, by their first row.
    pub(crate) fn problems(&self, path: &str, expected: &Expected) -> Vec<RowProblem> {
        let problem = |seen: &Seen| RowProblem {
            path: path.to_owned(),
            row: seen.first,
            others: seen.count - 1,
            fault: fault(&seen.fault, expected),
        };
        self.faults.iter().map(problem).collect()
    }

    /// Rows of one source stand together, so the last one's source is tried first.
    fn source(&mut self, id: &[u8], expected: &Expected) -> Option<usize> {
        let is_last = expected.sources.get(self.last).is_some_and(|source| source.id.as_str().as_bytes() == id);
        if !is_last {
            self.last = *expected.by_id.get(id)?;
        }
        Some(self.last)
    }

    fn note(&mut self, fault: Fault) {
        let fault = if self.faults.len() < KEPT || self.faults.iter().any(|seen| seen.fault.is_like(&fault)) {
            fault
        } else {
            Fault::Further
        };
        match self.faults.iter_mut().find(|seen| seen.fault.is_like(&fault)) {
            Some(seen) => seen.count += 1,
            None => self.faults.push(Seen { fault, first: self.rows, count: 1 }),
        }
    }
}

impl Fault {
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Url(one, _), Self::Url(other, _)) => one == other,
            _ => self == other,
        }
    }
}

/// Whether a document's url is `<url>#<1-based line>`.
fn is_line_of(document: &[u8], url: &str) -> bool {
    let line = document.strip_prefix(url.as_bytes()).and_then(|rest| rest.strip_prefix(b"#"));
    line.is_some_and(|line| {
        line.first().is_some_and(|first| (b'1'..=b'9').contains(first)) && line.iter().all(u8::is_ascii_digit)
    })
}

fn fault(fault: &Fault, expected: &Expected) -> RowFault {
    let text = |bytes: &[u8]| shown(&String::from_utf8_lossy(bytes));
    let source_id = |at: usize| expected.sources[at].id.clone();
    match fault {
        Fault::Source(found) => RowFault::Source { found: text(found) },
        Fault::License(at, found) => RowFault::License {
            source_id: source_id(*at),
            found: text(found),
            expected: shown(&expected.sources[*at].license_spdx),
        },
        Fault::Url(at, found) => RowFault::Url {
            source_id: source_id(*at),
            found: text(found),
            expected: expected.sources[*at].url.as_ref().map(Address::expected).unwrap_or_default(),
        },
        Fault::Split(found) => RowFault::Split { found: text(found) },
        Fault::Digest(expected) => RowFault::Digest { expected: expected.as_str() },
        Fault::Further => RowFault::Further,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Expected {
        let source = |id: &str, url: Option<&str>| ExpectedSource {
            id: id.parse().unwrap(),
            license_spdx: "CC-BY-4.0".into(),
            url: url.map(|url| Address::Line(url.to_owned())),
        };
        Expected::new(vec![source("a", Some("https://host/a")), source("b", None)], Some(0))
    }

    fn row<'a>(source_id: &'a str, url: &'a str, license_spdx: &'a str, split: &'a str) -> TracedRow<'a> {
        let [source_id, url, license_spdx, split] = [source_id, url, license_spdx, split].map(str::as_bytes);
        TracedRow { id: b"x:0", source_id, url, license_spdx, lang: b"en", split, n_chars: 1, sha256: &[7; 32] }
    }

    fn faults(rows: &[TracedRow<'_>]) -> (Tally, Vec<RowProblem>) {
        let expected = expected();
        let mut tally = expected.tally();
        rows.iter().for_each(|row| tally.add(*row, SplitName::Train, &expected));
        let problems = tally.problems("shard", &expected);
        (tally, problems)
    }

    #[test]
    fn rows_that_trace_are_counted_by_source() {
        let good = row("a", "https://host/a#12", "CC-BY-4.0", "train");
        let page = row("b", "https://example.org/", "CC-BY-4.0", "train");
        let (tally, problems) = faults(&[good, good, page, good]);
        assert_eq!((tally.rows, tally.per_source, tally.has_strangers), (4, vec![3, 1], false));
        assert_eq!(problems, []);
    }

    #[test]
    fn each_fault_is_told_once_with_its_first_row() {
        let good = row("a", "https://host/a#1", "CC-BY-4.0", "train");
        let (tally, problems) = faults(&[
            good,
            TracedRow { license_spdx: b"MIT", ..good },
            TracedRow { license_spdx: b"MIT", ..good },
            TracedRow { url: b"https://host/a", ..good },
            TracedRow { url: b"https://host/b#1", ..good },
            TracedRow { split: b"val", ..good },
            TracedRow { source_id: b"c", ..good },
        ]);
        let told: Vec<_> = problems.iter().map(|problem| (problem.row, problem.others)).collect();
        assert_eq!(told, [(2, 1), (4, 1), (6, 0), (7, 0)]);
        assert!(matches!(&problems[0].fault, RowFault::License { found, .. } if found == "MIT"));
        assert!(matches!(&problems[3].fault, RowFault::Source { found } if found == "c"));
        assert_eq!((tally.rows, tally.per_source, tally.has_strangers), (7, vec![6, 0], true));
    }

    #[test]
    fn a_url_is_that_of_the_ledger_row_and_a_line() {
        for (url, is_good) in [
            ("u#1", true),
            ("u#1234567890", true),
            ("u#0", false),
            ("u#01", false),
            ("u#", false),
            ("u", false),
            ("u#1a", false),
            ("v#1", false),
            ("u/x#1", false),
        ] {
            assert_eq!(Address::Line("u".into()).is_of(url.as_bytes()), is_good, "{url}");
        }
        let whole = Address::Whole("u".into());
        assert!(whole.is_of(b"u") && !whole.is_of(b"u#1") && !whole.is_of(b"v"), "a source that is one page");
    }

    #[test]
    fn a_shard_of_nothing_but_faults_stays_small() {
        let ids: Vec<String> = (0..1000).map(|id| format!("x{id}")).collect();
        let rows: Vec<_> = ids.iter().map(|id| row(id, "", "", "train")).collect();
        let (tally, problems) = faults(&rows);
        assert_eq!((tally.rows, problems.len()), (1000, KEPT + 1));
        assert_eq!((problems[KEPT].fault.clone(), problems[KEPT].others), (RowFault::Further, 1000 - KEPT as u64 - 1));
    }
}
