//! Receipts as evidence: read strictly, and held against themselves.

use std::fs;

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use corpora_contracts::layout::{Layout, RawVersion, part_name};
use corpora_contracts::receipt::Receipt;
use corpora_stage::durable::{self, FileError};
use corpora_stage::holdings;

use crate::files;
use crate::problem::TermsProblem;

/// A receipt that was found, or what is wrong with it.
#[derive(Debug)]
pub(crate) struct Found {
    /// The name of its raw directory.
    pub(crate) version: RawVersion,
    pub(crate) receipt: Result<Receipt, TermsProblem>,
}

/// The receipts of a source, oldest first.
///
/// # Errors
/// When the system does not let us read them.
pub(crate) fn read(layout: &Layout, id: &Name) -> Result<Vec<Found>, FileError> {
    let mut versions = holdings::receipt_versions(layout, id)?;
    versions.sort();
    let mut receipts = Vec::new();
    for version in versions {
        let path = layout.receipt(id, &version);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // Another run removed it since its folder was listed.
            Err(error) if files::is_absent(&error) => continue,
            Err(error) => return Err(durable::on("read", &path)(error)),
        };
        let receipt = parse(&bytes, id).map_err(|fault| TermsProblem::Receipt { path: layout.relative(&path), fault });
        receipts.push(Found { version, receipt });
    }
    Ok(receipts)
}

/// The config with its crawls as sources, each pinned to the pages of its newest sound receipt; what is wrong with the
/// others is told where they are judged.
///
/// # Errors
/// When the system does not let us read them.
pub(crate) fn resolve(layout: &Layout, config: &Config) -> Result<Config, FileError> {
    let mut resolved = config.clone();
    for crawl in &config.crawls {
        let sound: Vec<Receipt> = read(layout, &crawl.id)?.into_iter().filter_map(|found| found.receipt.ok()).collect();
        resolved.crawled.push(crawl.pinned(sound.iter()));
    }
    Ok(resolved)
}

fn parse(bytes: &[u8], id: &Name) -> Result<Receipt, String> {
    let receipt: Receipt = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match fault(&receipt, id) {
        None => Ok(receipt),
        Some(fault) => Err(fault),
    }
}

/// What fetch never writes.
fn fault(receipt: &Receipt, id: &Name) -> Option<String> {
    let parts = &receipt.parts;
    let documents = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.n_docs));
    let misnamed = parts.iter().enumerate().find(|(at, part)| part.name != part_name(*at));
    match () {
        () if receipt.source_id != *id => Some(format!("it is of source `{}`", receipt.source_id)),
        () if parts.is_empty() => Some("it has no parts".to_owned()),
        () if documents != receipt.n_docs => {
            Some(format!("`n_docs` is {}, its parts hold {documents}", receipt.n_docs))
        }
        () => misnamed.map(|(at, _)| format!("its part {at} is not `{}`", part_name(at))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_fetch_never_writes_is_told() {
        let good = json!({
            "source_id": "tiny", "sha256": "0".repeat(64), "bytes": 54, "retrieved_at": "2026-01-01T00:00:00Z",
            "n_docs": 2, "dropped": {},
            "split": {"documents": {"format": "jsonl", "text_field": "text", "meta_fields": [],
                "on_bad_document": "fail", "max_line_bytes": 10}, "part_docs": 10},
            "parts": [{"name": "part-00000.jsonl.zst", "sha256": "0".repeat(64), "bytes": 153, "n_docs": 2}],
        });
        let read = |receipt: &Value| parse(receipt.to_string().as_bytes(), &"tiny".parse().unwrap());
        assert_eq!(read(&good).unwrap().n_docs, 2);
        for (pointer, value, fault) in [
            ("/source_id", json!("other"), "it is of source `other`"),
            ("/parts", json!([]), "it has no parts"),
            ("/n_docs", json!(3), "`n_docs` is 3, its parts hold 2"),
            ("/parts/0/name", json!("../part-00000.jsonl.zst"), "its part 0 is not `part-00000.jsonl.zst`"),
            ("/sha256", json!("0"), "64 lowercase hex digits"),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = value;
            let told = read(&bad).unwrap_err();
            assert!(told.contains(fault), "{told}");
        }
    }
}
