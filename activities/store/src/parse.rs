//! Lines become rows: each document is parsed, checked against its source's terms, and its text digested.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};

use crate::columns::Rows;
use crate::documents::Block;
use crate::error::StoreError;
use crate::plan::{Input, Plan};

/// What a row needs of a [`corpora_contracts::document::Document`], borrowed from the line where it has no escapes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    source_id: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(rename = "fetched_at")]
    _fetched_at: IgnoredAny,
    #[serde(borrow)]
    license_spdx: Cow<'a, str>,
    #[serde(borrow)]
    lang: Cow<'a, str>,
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(rename = "meta")]
    _meta: IgnoredAny,
}

/// The rows of a block.
///
/// # Errors
/// [`StoreError::Document`] for a line that is no document, [`StoreError::Stale`] for one that is not of its source's
/// terms.
pub(crate) fn parse(plan: &Plan, block: &Block) -> Result<Rows, StoreError> {
    let input = &plan.inputs[block.source];
    let path = || input.record.outputs[block.part].path.clone();
    let mut rows = Rows::default();
    for (number, line) in (block.first_line..).zip(block.lines.split_inclusive(|byte| *byte == b'\n')) {
        let line: Line<'_> = serde_json::from_slice(line).map_err(|source| StoreError::Document {
            path: path(),
            line: number,
            source,
        })?;
        check_terms(input, &line)?;
        let n_chars = i32::try_from(line.text.chars().count());
        let too_long = |_| format!("the text in line {number} has more characters than a 32-bit number counts");
        let n_chars = n_chars.map_err(|error| StoreError::Damaged { path: path(), reason: too_long(error) })?;
        rows.id.push(&line.id);
        rows.text.push(&line.text);
        rows.url.push(&line.url);
        rows.lang.push(&line.lang);
        rows.title.push(&line.title);
        rows.source.push(block.source);
        rows.n_chars.push(n_chars);
        rows.sha256.push(Sha256::digest(line.text.as_bytes()).into());
    }
    Ok(rows)
}

/// Documents that were made under other terms than the ledger's last row must not carry those into a dataset.
fn check_terms(input: &Input, line: &Line<'_>) -> Result<(), StoreError> {
    let origin = &input.origin;
    let stale = |key, found: &str, expected: &str| {
        let reason = format!("document `{}` has {key} `{found}`, not `{expected}`", line.id);
        Err(StoreError::Stale { source_id: origin.source_id.clone(), reason })
    };
    if line.source_id != origin.source_id.as_str() {
        return stale("source_id", &line.source_id, origin.source_id.as_str());
    }
    if line.license_spdx != origin.license_spdx {
        return stale("license_spdx", &line.license_spdx, &origin.license_spdx);
    }
    match &origin.url_prefix {
        Some(prefix) if !line.url.starts_with(prefix.as_str()) => stale("url", &line.url, &format!("{prefix}<line>")),
        _ => Ok(()),
    }
}
