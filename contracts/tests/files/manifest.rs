//! What a dataset that takes another's place has otherwise.

use std::collections::BTreeMap;

use corpora_contracts::config::{PiiPolicy, Use};
use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::Row;
use corpora_contracts::manifest::{Manifest, Shard, SourceCount, SplitName};
use corpora_contracts::time::Timestamp;

fn row(id: &str) -> Row {
    Row {
        source_id: id.parse().unwrap(),
        url: format!("https://h/{id}"),
        license_spdx: "MIT".to_owned(),
        retrieved_at: Timestamp::EPOCH,
        sha256: Digest::of(id.as_bytes()),
        n_docs: 3,
        allowed_uses: vec![Use::Train, Use::Eval],
        pii_policy: PiiPolicy::Scrub,
        filters_applied: Vec::new(),
        kept: 3,
        dropped: 0,
        notes: String::new(),
        revoked: None,
    }
}

fn manifest(ids: &[&str]) -> Manifest {
    let count = |id: &&str| SourceCount {
        source_id: id.parse().unwrap(),
        n_docs: 3,
        n_val: 1,
        dropped: BTreeMap::from([("empty_text".to_owned(), 1)]),
    };
    let shard = |name: &str, split| Shard { name: name.to_owned(), sha256: Digest::of(b"1"), bytes: 1, rows: 3, split };
    Manifest {
        dataset: "d".parse().unwrap(),
        version: "v1".parse().unwrap(),
        n_docs: 3 * ids.len() as u64,
        n_shards: 2,
        shards: vec![shard("train", SplitName::Train), shard("val", SplitName::Val)],
        sources: ids.iter().map(count).collect(),
        dropped: BTreeMap::new(),
        exact_duplicates: 0,
        config_sha256: Digest::of(b"c"),
        ledger: ids.iter().map(|id| row(id)).collect(),
    }
}

#[test]
fn nothing_differs_from_itself_and_a_line_is_json_with_a_newline() {
    let old = manifest(&["a", "b"]);
    assert_eq!(old.difference(&old), [""; 0]);
    let line = old.to_line().unwrap();
    assert!(line.ends_with("}\n"), "{line}");
    assert_eq!(serde_json::from_str::<Manifest>(&line).unwrap(), old);
}

#[test]
fn every_kind_of_difference_is_told() {
    let old = manifest(&["a", "b", "gone"]);
    let mut new = manifest(&["new", "b", "a"]);
    new.exact_duplicates = 2;
    new.shards[1].sha256 = Digest::of(b"2");
    "train-2".clone_into(&mut new.shards[0].name);
    let (count, terms) = (&mut new.sources[1], &mut new.ledger[1]);
    (count.n_docs, count.n_val) = (4, 2);
    count.dropped = BTreeMap::from([("not_json".to_owned(), 5)]);
    "https://h/moved".clone_into(&mut terms.url);
    "CC0-1.0".clone_into(&mut terms.license_spdx);
    terms.allowed_uses = vec![Use::Eval];
    terms.pii_policy = PiiPolicy::None;
    terms.sha256 = Digest::of(b"edition 2");
    let lines = old.difference(&new);
    let (was, is) = (Digest::of(b"b"), Digest::of(b"edition 2"));
    let expected = [
        "source `gone`: removed, with 3 documents".to_owned(),
        "source `new`: added, with 3 documents".to_owned(),
        format!("source `b`: bytes `{was}` → `{is}`"),
        "source `b`: url `https://h/b` → `https://h/moved`".to_owned(),
        "source `b`: license_spdx `MIT` → `CC0-1.0`".to_owned(),
        "source `b`: allowed_uses `train, eval` → `eval`".to_owned(),
        "source `b`: pii_policy `scrub` → `none`".to_owned(),
        "source `b`: documents 3 → 4".to_owned(),
        "source `b`: validation documents 1 → 2".to_owned(),
        "source `b`: dropped as `empty_text` 1 → 0".to_owned(),
        "source `b`: dropped as `not_json` 0 → 5".to_owned(),
        "sources: their order changed".to_owned(),
        "exact duplicates: 0 → 2".to_owned(),
        "shards: 1 added, 1 changed, 1 removed".to_owned(),
    ];
    assert_eq!(lines, expected);
}
