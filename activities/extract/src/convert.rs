//! One raw line becomes one document line, or, of a page without any text, none.

use std::borrow::Cow;

use corpora_contracts::time::Timestamp;
use corpora_text::language::language;
use corpora_text::normalize::normalize;
use corpora_text::page::Page;
use memchr::memmem;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::meta::{Members, Meta};
use crate::page::{CutSaid, Reader};

/// A page that has no text is left out under this name.
pub(crate) const EMPTY_PAGE: &str = "empty_page";

/// What every document of a source has in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub(crate) source_id: &'a str,
    /// The ledger row's.
    pub(crate) url: &'a str,
    /// The ledger row's.
    pub(crate) license_spdx: &'a str,
    pub(crate) shape: Shape,
    /// How pages are read.
    pub(crate) reader: &'a Reader,
}

/// What raw documents of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Texts of its file, each where a line starts.
    Lines,
    /// Its file is one page, whose address is the source's.
    OnePage,
    /// Pages, each with an address of its own.
    Pages,
}

/// What became of a raw line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// A document, and what limits cut off its page.
    Document(Option<CutSaid>),
    /// None, for this reason.
    LeftOut(&'static str),
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
    content_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

/// [`corpora_contracts::document::Document`] as it is written: the keys in its order.
#[derive(Serialize)]
struct Line<'a, M: Serialize> {
    id: &'a str,
    source_id: &'a str,
    url: &'a str,
    fetched_at: &'a str,
    license_spdx: &'a str,
    lang: &'a str,
    title: &'a str,
    text: &'a str,
    meta: M,
}

/// Adds the document at position `k` of its source, made of a raw line without its LF, and an LF.
pub(crate) fn convert(raw: &[u8], k: u64, terms: &Terms<'_>, out: &mut Vec<u8>) -> Result<Made, Problem> {
    let raw = parse(raw, terms.shape)?;
    let document = Document { id: &format!("{}:{k}", terms.source_id), raw: &raw, terms };
    match &raw.content_type {
        None => document.line(out),
        Some(content_type) if is_html(content_type) => document.page(content_type, out),
        Some(content_type) => document.text_of_page(content_type, out),
    }
}

fn parse(raw: &[u8], shape: Shape) -> Result<Raw<'_>, Problem> {
    let raw = str::from_utf8(raw).map_err(|error| not_raw(&error))?;
    if !raw.starts_with('{') {
        // The parser takes an array of the values for an object.
        return Err(not_raw(&"it is no object"));
    }
    let raw: Raw<'_> = serde_json::from_str(raw).map_err(|error| not_raw(&error))?;
    raw.fetched_at.parse::<Timestamp>().map_err(|_| Problem::NoTime)?;
    if raw.meta.is_some_and(|meta| !meta.get().starts_with('{')) {
        return Err(Problem::NoMeta);
    }
    match (shape, &raw.content_type) {
        (Shape::Lines, Some(_)) => Err(not_raw(&"its source has no pages, and it has a `content_type`")),
        (Shape::OnePage | Shape::Pages, None) => Err(not_raw(&"it is a page, and has no `content_type`")),
        _ => Ok(raw),
    }
}

fn not_raw(reason: &dyn std::fmt::Display) -> Problem {
    Problem::NotRaw { reason: reason.to_string() }
}

/// Whether a page is kept as its source.
fn is_html(content_type: &str) -> bool {
    matches!(content_type, "text/html" | "application/xhtml+xml")
}

/// A document in the making.
struct Document<'a> {
    id: &'a str,
    raw: &'a Raw<'a>,
    terms: &'a Terms<'a>,
}

impl Document<'_> {
    /// `meta` goes through byte by byte: keys stay in order and numbers as they are spelt.
    fn line(&self, out: &mut Vec<u8>) -> Result<Made, Problem> {
        let url = format!("{}#{}", self.terms.url, line_of(&self.raw.url).ok_or(Problem::NoLine)?);
        let title = self.raw.meta.and_then(title).unwrap_or_default();
        self.write(&url, &title, &normalize(&self.raw.text), SpeltMeta(self.raw.meta), out)?;
        Ok(Made::Document(None))
    }

    /// The main text of a page.
    fn page(&self, content_type: &str, out: &mut Vec<u8>) -> Result<Made, Problem> {
        let url = self.address();
        let page: Page = self.terms.reader.read(&self.raw.text, Some(url));
        if page.text.is_empty() {
            return Ok(Made::LeftOut(EMPTY_PAGE));
        }
        let meta = Meta { content_type, page: Some(&page), known: Members::of(self.raw.meta) };
        self.write(url, &page.title, &page.text, meta, out)?;
        Ok(Made::Document(CutSaid::of(page.cut)))
    }

    /// The text that somebody else made of a page.
    fn text_of_page(&self, content_type: &str, out: &mut Vec<u8>) -> Result<Made, Problem> {
        let text = normalize(&self.raw.text);
        if text.is_empty() {
            return Ok(Made::LeftOut(EMPTY_PAGE));
        }
        let title = self.raw.meta.and_then(title).unwrap_or_default();
        let meta = Meta { content_type, page: None, known: Members::of(self.raw.meta) };
        self.write(self.address(), &title, &text, meta, out)?;
        Ok(Made::Document(None))
    }

    fn address(&self) -> &str {
        if self.terms.shape == Shape::OnePage { self.terms.url } else { &self.raw.url }
    }

    fn write(
        &self,
        url: &str,
        title: &str,
        text: &str,
        meta: impl Serialize,
        out: &mut Vec<u8>,
    ) -> Result<(), Problem> {
        let line = Line {
            id: self.id,
            source_id: self.terms.source_id,
            url,
            fetched_at: &self.raw.fetched_at,
            license_spdx: self.terms.license_spdx,
            lang: language(text).as_str(),
            title,
            text,
            meta,
        };
        serde_json::to_writer(&mut *out, &line).map_err(|error| not_raw(&error))?;
        out.push(b'\n');
        Ok(())
    }
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
struct SpeltMeta<'a>(Option<&'a RawValue>);

impl Serialize for SpeltMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(meta) => meta.serialize(serializer),
            None => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

#[cfg(test)]
mod tests;
