//! One raw line becomes one document line.

use std::borrow::Cow;

use corpora_contracts::time::Timestamp;
use corpora_text::language::language;
use corpora_text::normalize::normalize;
use memchr::memmem;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// What every document of a source has in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub(crate) source_id: &'a str,
    /// The ledger row's.
    pub(crate) url: &'a str,
    /// The ledger row's.
    pub(crate) license_spdx: &'a str,
}

/// What is wrong with a raw line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is no raw document (`contracts/schemas/raw-document.schema.json`).
    #[error("not a raw document, {reason}")]
    NotRaw {
        /// What the parser says.
        reason: String,
    },
    /// Its url does not point at a line of the source.
    #[error("the url does not end with `#` and the line where the document starts")]
    NoLine,
    /// Its time is none.
    #[error("`fetched_at` is not of the form `2026-01-01T00:00:00Z`")]
    NoTime,
    /// Its `meta` is no object.
    #[error("`meta` is not an object")]
    NoMeta,
}

/// A raw document, its strings where they are in the line as far as they have no escapes.
///
/// [`corpora_contracts::raw::RawDocument`] is the same for those who keep documents; here numbers of `meta` stay as
/// they are spelt.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    fetched_at: Cow<'a, str>,
    #[serde(borrow, rename = "license_spdx")]
    _captured: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

/// [`corpora_contracts::document::Document`] as it is written: the keys in its order.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    source_id: &'a str,
    url: &'a str,
    fetched_at: &'a str,
    license_spdx: &'a str,
    lang: &'a str,
    title: &'a str,
    text: &'a str,
    #[serde(serialize_with = "object")]
    meta: Option<&'a RawValue>,
}

/// Adds the document at position `k` of its source, made of a raw line without its LF, and an LF.
///
/// `meta` goes through byte by byte: keys stay in order and numbers as they are spelt.
pub(crate) fn convert(raw: &[u8], k: u64, terms: &Terms<'_>, out: &mut Vec<u8>) -> Result<(), Problem> {
    let not_raw = |reason: String| Problem::NotRaw { reason };
    let raw = str::from_utf8(raw).map_err(|error| not_raw(error.to_string()))?;
    if !raw.starts_with('{') {
        // The parser takes an array of the values for an object.
        return Err(not_raw("it is no object".to_owned()));
    }
    let raw: Raw<'_> = serde_json::from_str(raw).map_err(|error| not_raw(error.to_string()))?;
    raw.fetched_at.parse::<Timestamp>().map_err(|_| Problem::NoTime)?;
    if raw.meta.is_some_and(|meta| !meta.get().starts_with('{')) {
        return Err(Problem::NoMeta);
    }
    let text = normalize(&raw.text);
    let line = Line {
        id: &format!("{}:{k}", terms.source_id),
        source_id: terms.source_id,
        url: &format!("{}#{}", terms.url, line_of(&raw.url).ok_or(Problem::NoLine)?),
        fetched_at: &raw.fetched_at,
        license_spdx: terms.license_spdx,
        lang: language(&text).as_str(),
        title: &raw.meta.and_then(title).unwrap_or_default(),
        text: &text,
        meta: raw.meta,
    };
    serde_json::to_writer(&mut *out, &line).map_err(|error| not_raw(error.to_string()))?;
    out.push(b'\n');
    Ok(())
}

/// The digits behind the last `#`, which a configured url may have of its own.
fn line_of(url: &str) -> Option<&str> {
    let (_, line) = url.rsplit_once('#')?;
    let is_number = line.bytes().all(|byte| byte.is_ascii_digit()) && !line.starts_with('0') && !line.is_empty();
    is_number.then_some(line)
}

/// The string at `title` of `meta`, as one line of normal text; none where there is none.
fn title(meta: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Titled<'a> {
        #[serde(borrow)]
        title: Option<&'a RawValue>,
    }
    memmem::find(meta.get().as_bytes(), b"\"title\"")?;
    let titled: Titled<'_> = serde_json::from_str(meta.get()).ok()?;
    let title: String = serde_json::from_str(titled.title?.get()).ok()?;
    Some(normalize(&title).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The object as it is spelt, an empty one where there is none.
fn object<S: Serializer>(meta: &Option<&RawValue>, serializer: S) -> Result<S::Ok, S::Error> {
    match meta {
        Some(meta) => meta.serialize(serializer),
        None => serializer.serialize_map(Some(0))?.end(),
    }
}

#[cfg(test)]
mod tests;
