//! Whose dataset it is, which ledger rows it rests on, and whether they permit what is claimed.

use std::collections::HashSet;

use corpora_contracts::config::{Config, LicenseClaim, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::ledger::{Ledger, Row};
use corpora_contracts::manifest::Manifest;
use corpora_license::Policy;
use serde_json::{Map, Value, json};
use url::Url;

use super::Standard;
use crate::by_source;
use crate::problem::{TermsProblem, list, shown};

/// Whether the manifest is of this config.
pub(crate) fn identity(standard: Standard<'_>, manifest: &Manifest) -> Vec<TermsProblem> {
    let Standard { config, config_sha256, .. } = standard;
    let mut problems = Vec::new();
    if (&manifest.dataset, &manifest.version) != (&config.dataset, &config.version) {
        let found = format!("{}/{}", manifest.dataset, manifest.version);
        problems.push(TermsProblem::Dataset { found, expected: format!("{}/{}", config.dataset, config.version) });
    }
    if manifest.config_sha256 != config_sha256 {
        problems.push(TermsProblem::ConfigDigest { found: manifest.config_sha256, expected: config_sha256 });
    }
    problems
}

/// Rows that no commit writes, whatever their source: the ledger is evidence, and was damaged or edited.
pub(crate) fn ledger_rows(ledger: &Ledger) -> Vec<TermsProblem> {
    let problem = |(at, row): (usize, &Row)| {
        let source_id = row.source_id.clone();
        row_fault(row).map(|fault| TermsProblem::LedgerRow { line: at + 1, source_id, fault })
    };
    ledger.rows().iter().enumerate().filter_map(problem).collect()
}

/// Whether the manifest's sources are the config's, without the revoked ones, in its order.
pub(crate) fn sources(config: &Config, ledger: &Ledger, manifest: &Manifest) -> Vec<TermsProblem> {
    let stored: Vec<&Name> = manifest.sources.iter().map(|source| &source.source_id).collect();
    let (is_stored, is_listed): (HashSet<_>, _) = (stored.iter().copied().collect(), by_source::sources(config));
    let mut problems = Vec::new();
    for Source { id, .. } in config.pinned() {
        match (is_stored.contains(id), ledger.revoked(id)) {
            (true, true) => problems.push(TermsProblem::Revoked { source_id: id.clone() }),
            (false, false) => problems.push(TermsProblem::NotStored { source_id: id.clone() }),
            _ => {}
        }
    }
    let strangers = stored.iter().filter(|id| !is_listed.contains_key(*id));
    problems.extend(strangers.map(|&id| TermsProblem::NotConfigured { source_id: id.clone() }));
    let expected: Vec<&Name> = config.pinned().map(|source| &source.id).filter(|id| !ledger.revoked(id)).collect();
    if problems.is_empty() && stored != expected {
        problems.push(TermsProblem::Sources { found: list(stored), expected: list(expected) });
    }
    problems
}

/// Whether the manifest has one ledger row of each of its sources, in their order.
pub(crate) fn manifest_rows(manifest: &Manifest) -> Vec<TermsProblem> {
    let rows: Vec<&Name> = manifest.ledger.iter().map(|row| &row.source_id).collect();
    let sources: Vec<&Name> = manifest.sources.iter().map(|source| &source.source_id).collect();
    if rows == sources {
        return Vec::new();
    }
    vec![TermsProblem::ManifestRows { found: list(rows), expected: list(sources) }]
}

/// Whether each of the manifest's rows is the ledger's last one of the pinned bytes, states the config's terms, and
/// claims what the policy permits. Revoked sources are told elsewhere.
pub(crate) fn of_rows(standard: Standard<'_>, ledger: &Ledger, manifest: &Manifest) -> Vec<TermsProblem> {
    let (rows, mut problems) = (by_source::rows(manifest), Vec::new());
    for source in standard.config.pinned() {
        let Some(&row) = rows.get(&source.id).filter(|_| !ledger.revoked(&source.id)) else { continue };
        problems.extend(of_source(source, ledger));
        problems.extend(ledger.last(&source.id, &source.sha256).and_then(|last| of_row(row, last, ledger)));
        problems.extend(refusal(row, standard.policy));
    }
    problems
}

/// Whether the ledger has a row of the pinned bytes, and whether its last one states the config's terms.
pub(crate) fn of_source(source: &Source, ledger: &Ledger) -> Option<TermsProblem> {
    let source_id = source.id.clone();
    let Some(last) = ledger.last(&source.id, &source.sha256) else {
        return Some(TermsProblem::NoRow { source_id, sha256: source.sha256 });
    };
    let configured = json!({
        "url": source.url, "license_spdx": source.license_spdx,
        "allowed_uses": source.allowed_uses, "pii_policy": source.pii_policy,
    });
    // Written in another order, the same uses are no difference.
    let uses = if last.same_uses(&source.allowed_uses) { &source.allowed_uses } else { &last.allowed_uses };
    let recorded = json!({
        "url": last.url, "license_spdx": last.license_spdx,
        "allowed_uses": uses, "pii_policy": last.pii_policy,
    });
    let differences = differences(&recorded, &configured)?;
    Some(TermsProblem::Config { source_id, differences })
}

/// What a row claims beyond the policy.
pub(crate) fn refusal(row: &Row, policy: &Policy) -> Option<TermsProblem> {
    let claim = LicenseClaim {
        line: None,
        key: "license_spdx".to_owned(),
        license_spdx: row.license_spdx.clone(),
        allowed_uses: row.allowed_uses.clone(),
    };
    let problem = policy.judge(&[claim]).into_iter().next()?;
    Some(TermsProblem::License { source_id: row.source_id.clone(), refusal: problem.to_string() })
}

/// Licences that are no SPDX expressions, whatever a policy says.
pub(crate) fn expressions(manifest: &Manifest) -> Vec<TermsProblem> {
    let problem = |row: &Row| {
        let error = Policy::default().permits(&row.license_spdx).err()?;
        let refusal = format!("`license_spdx` is `{}`: {error}", shown(&row.license_spdx));
        Some(TermsProblem::License { source_id: row.source_id.clone(), refusal })
    };
    manifest.ledger.iter().filter_map(problem).collect()
}

/// Whether `ledger.jsonl` holds the manifest's rows. Where it holds the ledger's (`truth`) instead, it is the manifest
/// that is wrong, which was told already.
pub(crate) fn rows_file(manifest: &Manifest, bytes: &[u8], truth: &[Row]) -> Option<TermsProblem> {
    let expected = lines(&manifest.ledger);
    if bytes == expected || (!truth.is_empty() && bytes == lines(truth)) {
        return None;
    }
    let same =
        bytes.split(|byte| *byte == b'\n').zip(expected.split(|byte| *byte == b'\n')).take_while(|(a, b)| a == b);
    Some(TermsProblem::RowsFile { line: same.count() + 1 })
}

/// The last rows of the manifest's sources, as the ledger has them.
pub(crate) fn truth(config: &Config, ledger: &Ledger, manifest: &Manifest) -> Vec<Row> {
    let sources = by_source::sources(config);
    let last = |id: &Name| ledger.last(id, &sources.get(id)?.sha256).cloned();
    manifest.sources.iter().filter_map(|source| last(&source.source_id)).collect()
}

fn of_row(row: &Row, last: &Row, ledger: &Ledger) -> Option<TermsProblem> {
    if row == last {
        return None;
    }
    let source_id = row.source_id.clone();
    let differences = differences(&json!(row), &json!(last)).unwrap_or_default();
    Some(if ledger.contains(row) {
        TermsProblem::Superseded { source_id, differences }
    } else {
        TermsProblem::Foreign { source_id, differences }
    })
}

fn row_fault(row: &Row) -> Option<String> {
    let has_userinfo = |url: Url| !url.username().is_empty() || url.password().is_some();
    let Row { n_docs, kept, dropped, allowed_uses, .. } = row;
    let repeats = allowed_uses.iter().enumerate().any(|(at, it)| allowed_uses[..at].contains(it));
    match () {
        () if kept.checked_add(*dropped) != Some(*n_docs) => {
            Some(format!("`kept` {kept} and `dropped` {dropped} do not add up to `n_docs` {n_docs}"))
        }
        () if allowed_uses.is_empty() => Some("`allowed_uses` is empty".to_owned()),
        () if repeats => Some("`allowed_uses` names a use twice".to_owned()),
        () if row.url.is_empty() => Some("`url` is empty".to_owned()),
        () if Url::parse(&row.url).is_ok_and(has_userinfo) => Some("`url` carries a user name or password".to_owned()),
        () => None,
    }
}

/// The keys whose values differ, as `` `key` is `this` here, `that` there ``; none when none does.
pub(crate) fn differences(one: &Value, other: &Value) -> Option<String> {
    let empty = Map::new();
    let (one, other) = (one.as_object().unwrap_or(&empty), other.as_object().unwrap_or(&empty));
    let said = |object: &Map<String, Value>, key: &str| match object.get(key) {
        Some(Value::String(text)) => format!("`{}`", shown(text)),
        Some(value) => format!("`{}`", shown(&value.to_string())),
        None => "absent".to_owned(),
    };
    let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
    let differ = keys.filter(|key| one.get(*key) != other.get(*key));
    let told: Vec<String> =
        differ.map(|key| format!("`{key}` is {}, then {}", said(one, key), said(other, key))).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn lines(rows: &[Row]) -> Vec<u8> {
    // A row of these types always serializes; one that did not would differ from any file.
    rows.iter().map(|row| row.to_line().unwrap_or_default()).collect::<String>().into_bytes()
}
