//! The ledger's bytes as crashes and commits leave them, and the rows that are due.

use std::collections::BTreeMap;

use corpora_contracts::config::{Config, parse_toml, validate};
use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::{Ledger, Row, Tail};
use corpora_contracts::receipt::{Receipt, SplitSettings};
use corpora_contracts::time::Timestamp;

fn config(terms: &str) -> Config {
    let source = format!("id = 'a'\nurl = 'https://h/x'\nsha256 = '{}'\nlicense_spdx = 'MIT'", Digest::of(b"x"));
    let text = format!("dataset = 'd'\nversion = 'v1'\n[[sources]]\n{source}\n{terms}");
    validate(&parse_toml(&text).unwrap()).config.unwrap()
}

fn receipt(config: &Config, n_docs: u64) -> Receipt {
    let source = &config.sources[0];
    Receipt {
        source_id: source.id.clone(),
        sha256: source.sha256,
        bytes: 1,
        retrieved_at: Timestamp::EPOCH,
        n_docs,
        dropped: BTreeMap::new(),
        split: SplitSettings { documents: source.split.clone(), part_docs: 10 },
        parts: Vec::new(),
        crawl: None,
    }
}

#[test]
fn a_row_is_due_when_the_terms_or_the_documents_are_new() {
    let reviewed = config("");
    let receipt = receipt(&reviewed, 2);
    let first = Ledger::default().due(&reviewed.sources[0], &receipt).unwrap();
    assert_eq!((first.n_docs, first.kept, first.dropped, first.revoked), (2, 2, 0, None));
    assert_eq!(first.retrieved_at, receipt.retrieved_at);
    let ledger = Ledger::parse(first.to_line().unwrap().as_bytes()).unwrap();
    assert_eq!(ledger.due(&reviewed.sources[0], &receipt), None, "it says the same");
    assert!(ledger.contains(&first) && !ledger.contains(&Row { kept: 1, ..first.clone() }));
    assert_eq!(serde_json::from_str::<Receipt>(&receipt.to_line().unwrap()).unwrap(), receipt);
    let more = Receipt { n_docs: 3, ..receipt.clone() };
    assert_eq!(ledger.due(&reviewed.sources[0], &more).unwrap().n_docs, 3);
    for terms in ["allowed_uses = ['eval']", "pii_policy = 'none'"] {
        assert!(ledger.due(&config(terms).sources[0], &receipt).is_some(), "{terms}");
    }
    let revoked = Row { revoked: Some(true), ..first };
    let ledger = Ledger::parse(revoked.to_line().unwrap().as_bytes()).unwrap();
    assert!(ledger.revoked(&revoked.source_id));
    assert_eq!(ledger.due(&reviewed.sources[0], &more), None, "a revoked source gets no row");
}

#[test]
fn every_way_a_ledger_can_end_is_told_apart() {
    let config = config("");
    let row = Row::of(&config.sources[0], &receipt(&config, 2));
    let line = row.to_line().unwrap();
    assert!(line.ends_with("}\n") && !line.contains(": "), "compact: {line}");
    let whole = format!("{line}{line}");
    let start = line.len() as u64;
    for end in 0..=whole.len() {
        let read = Ledger::parse(&whole.as_bytes()[..end]).unwrap();
        let (rows, tail) = match end {
            0 => (0, Tail::Whole),
            _ if end == line.len() => (1, Tail::Whole),
            _ if end == whole.len() => (2, Tail::Whole),
            _ if end == line.len() - 1 => (1, Tail::NoNewline),
            _ if end == whole.len() - 1 => (2, Tail::NoNewline),
            _ if end < line.len() => (0, Tail::Torn { start: 0 }),
            _ => (1, Tail::Torn { start }),
        };
        assert_eq!((read.rows().len(), read.tail), (rows, tail), "{end} bytes");
    }
    let torn_inside = format!("{}\n{line}", &line[..line.len() / 2]);
    let error = Ledger::parse(torn_inside.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "line 1 of the ledger is not a row");
}
