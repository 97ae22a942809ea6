//! What differs between two datasets of one version, for people: a version that is built again is replaced whole.

use std::collections::{BTreeMap, BTreeSet};

use super::{Manifest, SourceCount};
use crate::config::Use;
use crate::ids::Name;
use crate::ledger::Row;

impl Manifest {
    /// A line for each thing that a dataset which takes this one's place has otherwise; none when a reader of the two
    /// would see no difference.
    #[must_use]
    pub fn difference(&self, new: &Self) -> Vec<String> {
        let mut lines = sources(self, new);
        let mut changed = |what: &str, old: u64, new: u64| {
            if old != new {
                lines.push(format!("{what}: {old} → {new}"));
            }
        };
        changed("documents", self.n_docs, new.n_docs);
        changed("exact duplicates", self.exact_duplicates, new.exact_duplicates);
        lines.extend(shards(self, new));
        lines
    }
}

fn sources(old: &Manifest, new: &Manifest) -> Vec<String> {
    let (before, after) = (by_id(old), by_id(new));
    let mut lines = Vec::new();
    for source in old.sources.iter().filter(|source| !after.contains_key(&source.source_id)) {
        lines.push(format!("source `{}`: removed, with {} documents", source.source_id, source.n_docs));
    }
    for source in &new.sources {
        match before.get(&source.source_id) {
            None => lines.push(format!("source `{}`: added, with {} documents", source.source_id, source.n_docs)),
            Some((count, row)) => {
                let changes = changes(count, *row, source, after.get(&source.source_id).and_then(|(_, row)| *row));
                lines.extend(changes.into_iter().map(|change| format!("source `{}`: {change}", source.source_id)));
            }
        }
    }
    let order = |manifest: &Manifest, others: &BTreeMap<&Name, Entry<'_>>| -> Vec<Name> {
        let ids = manifest.sources.iter().map(|source| source.source_id.clone());
        ids.filter(|id| others.contains_key(id)).collect()
    };
    if order(old, &after) != order(new, &before) {
        lines.push("sources: their order changed".to_owned());
    }
    lines
}

/// What a source gave, and the row that it rests on.
type Entry<'a> = (&'a SourceCount, Option<&'a Row>);

fn by_id(manifest: &Manifest) -> BTreeMap<&Name, Entry<'_>> {
    let row = |id: &Name| manifest.ledger.iter().find(|row| row.source_id == *id);
    manifest.sources.iter().map(|source| (&source.source_id, (source, row(&source.source_id)))).collect()
}

fn changes(old: &SourceCount, old_row: Option<&Row>, new: &SourceCount, new_row: Option<&Row>) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(old), Some(new)) = (old_row, new_row) {
        let mut changed = |what: &str, old: String, new: String| {
            if old != new {
                lines.push(format!("{what} `{old}` → `{new}`"));
            }
        };
        changed("bytes", old.sha256.to_string(), new.sha256.to_string());
        changed("url", old.url.clone(), new.url.clone());
        changed("license_spdx", old.license_spdx.clone(), new.license_spdx.clone());
        changed("allowed_uses", uses(&old.allowed_uses), uses(&new.allowed_uses));
        changed("pii_policy", old.pii_policy.as_str().to_owned(), new.pii_policy.as_str().to_owned());
        changed("retrieved_at", old.retrieved_at.to_string(), new.retrieved_at.to_string());
    }
    let mut counted = |what: &str, old: u64, new: u64| {
        if old != new {
            lines.push(format!("{what} {old} → {new}"));
        }
    };
    counted("documents", old.n_docs, new.n_docs);
    counted("validation documents", old.n_val, new.n_val);
    let reasons: BTreeSet<&String> = old.dropped.keys().chain(new.dropped.keys()).collect();
    for reason in reasons {
        let of = |dropped: &BTreeMap<String, u64>| dropped.get(reason).copied().unwrap_or_default();
        counted(&format!("dropped as `{reason}`"), of(&old.dropped), of(&new.dropped));
    }
    lines
}

fn uses(uses: &[Use]) -> String {
    uses.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ")
}

fn shards(old: &Manifest, new: &Manifest) -> Option<String> {
    let digests = |manifest: &Manifest| -> BTreeMap<String, _> {
        manifest.shards.iter().map(|shard| (shard.name.clone(), shard.sha256)).collect()
    };
    let (before, after) = (digests(old), digests(new));
    let removed = before.keys().filter(|name| !after.contains_key(*name)).count();
    let added = after.keys().filter(|name| !before.contains_key(*name)).count();
    let changed = after.iter().filter(|(name, sha256)| before.get(*name).is_some_and(|old| old != *sha256)).count();
    let is_same = (added, changed, removed) == (0, 0, 0);
    (!is_same).then(|| format!("shards: {added} added, {changed} changed, {removed} removed"))
}
