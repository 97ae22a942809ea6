//! A web page: bytes and a few hints in, its main text, metadata, links and rights signals out.
//!
//! ```
//! use corpora_text::page::{Hints, Options, extract};
//!
//! let source = "<title>Tides</title><nav><a href='/'>Home</a></nav><main><h1>Tides</h1><p>The sea rises twice a day.</p></main>";
//! let page = extract(source.as_bytes(), &Hints::default(), &Options::default());
//! assert_eq!(page.text, "Tides\n\nThe sea rises twice a day.");
//! assert_eq!(page.title, "Tides");
//! ```
//!
//! Two steps that can be apart: [`decode`] turns bytes into the page's source, [`extract_str`] reads a source. Who stores
//! sources can extract again without the bytes, by the same function and with the same answer.
//!
//! How a page becomes text, a module each, in this order:
//!
//! 1. `charset`: which encoding the bytes are in.
//! 2. `long_tags`, `parse`, `arena`: the source becomes a `tree`, by browsers' rules within limits.
//! 3. `metadata`, `structured`, `links`, `rights`: what the page says of itself.
//! 4. `blocks`: the visible text as paragraphs, cells, items, headings, each with its place in the tree.
//! 5. `features`, `model`, `select`: which of them are the main text.
//! 6. `render`: what is chosen, as plain text or Markdown.
//!
//! Bad markup is never an error: every sequence of bytes is a page. What is cut at a limit is counted in [`Cut`]. Time and
//! memory are linear in the size of the source; the only clock is the one that the caller brings to [`extract_within`].

mod arena;
mod blocks;
mod charset;
mod features;
mod lexicon;
mod links;
mod long_tags;
mod metadata;
mod model;
mod parse;
mod render;
mod rights;
mod select;
mod structured;
mod tag;
mod tree;
mod words;

use std::borrow::Cow;

pub use charset::{Decoded, Evidence, decode};
pub use links::{Link, LinkKind};
pub use rights::Rights;

/// The form of extraction, to be raised with every change of what [`extract_str`] returns for any page.
pub const EXTRACTOR_VERSION: u32 = 1;

/// A page with fewer bytes of text than this may keep it elsewhere.
const LEAST_TEXT: usize = 200;

/// What is known of a page beside its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'h> {
    /// The page's address: relative links are resolved against it.
    pub url: Option<&'h str>,
    /// The `Content-Type` header as it was sent; its charset wins over that of the page.
    pub content_type: Option<&'h str>,
    /// The name by which the page may address the reader: `<meta name="…">` of this name counts like `robots`.
    pub agent: Option<&'h str>,
}

/// How a page is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// What to do with text that may or may not be main text.
    pub favor: Favor,
    /// The form of the text.
    pub format: Format,
    /// Where reading ends.
    pub limits: Limits,
}

/// What to do with text that may or may not be main text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Favor {
    /// Leave it out.
    Precision,
    /// Take what is more likely main text than not.
    #[default]
    Balanced,
    /// Take it.
    Recall,
}

/// The form of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Paragraphs apart by a blank line, `- ` and `1. ` before items, cells apart by a TAB.
    #[default]
    Text,
    /// CommonMark with the tables of GitHub's.
    Markdown,
}

/// Bounds of one page, so that hostile ones cost no more than others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the page that are read.
    pub page_bytes: usize,
    /// Levels of nested elements; what stands deeper counts as if it stood there.
    pub depth: usize,
    /// Nodes of the tree; the page ends there.
    pub nodes: usize,
    /// Bytes of an attribute's value.
    pub attribute_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { page_bytes: 10 << 20, depth: 256, nodes: 1_000_000, attribute_bytes: 16 << 10 }
    }
}

/// A page that was read. Text is normalised by [`crate::normalize`]; what the page does not state is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The main text.
    pub text: String,
    /// The title, without the site's name where the page lets tell it.
    pub title: String,
    /// The declared language as written (BCP 47); [`crate::language`] tells that of the text.
    pub language: String,
    /// The page's own summary.
    pub description: String,
    /// The page's own keywords, each once.
    pub keywords: Vec<String>,
    /// The author's name.
    pub author: String,
    /// When the page was published, as stated: a date of ISO 8601, with a time where one is given.
    pub date: String,
    /// The address that the page calls its own, absolute where the page's address is known.
    pub canonical: String,
    /// What the page says of its use.
    pub rights: Rights,
    /// Links in document order, their addresses absolute where the page's address is known.
    pub links: Vec<Link>,
    /// The name of the encoding that the bytes were read in; `UTF-8` for a source that was decoded.
    pub charset: &'static str,
    /// What limits cut off.
    pub cut: Cut,
}

/// What limits cut off a page; all zero for nearly every one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cut {
    /// Bytes behind `page_bytes`.
    pub bytes: u64,
    /// Elements below `depth`, whose text was kept.
    pub depth: u64,
    /// Attributes left out or shortened.
    pub attributes: u64,
    /// The page went on behind the last node allowed.
    pub is_out_of_nodes: bool,
    /// The page went on when the time was up.
    pub is_out_of_time: bool,
}

impl Cut {
    /// Whether anything was cut.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }
}

/// Reads a page from its bytes: [`decode`], then [`extract_str`].
#[must_use]
pub fn extract(bytes: &[u8], hints: &Hints<'_>, options: &Options) -> Page {
    let decoded = decode(bytes, hints.content_type, options.limits.page_bytes);
    let mut page = extract_str(&decoded.text, hints, options);
    page.charset = decoded.charset;
    page.cut.bytes += decoded.bytes_cut;
    page
}

/// Reads a page from its source.
#[must_use]
pub fn extract_str(source: &str, hints: &Hints<'_>, options: &Options) -> Page {
    extract_within(source, hints, options, &|| false)
}

/// Reads a page from its source until the time is up, which `is_out_of_time` is asked now and then; what was read of
/// the page by then is the page.
#[must_use]
pub fn extract_within(source: &str, hints: &Hints<'_>, options: &Options, is_out_of_time: &dyn Fn() -> bool) -> Page {
    let limits = &options.limits;
    let kept = &source[..source.floor_char_boundary(limits.page_bytes.min(source.len()))];
    let mut cut = Cut { bytes: (source.len() - kept.len()) as u64, ..Cut::default() };
    let mut tree = parse::parse(kept, limits, is_out_of_time, &mut cut);
    let stated = structured::structured(&tree);
    let mut page = metadata::read(&tree, hints, &stated);
    let selection = select::select(&mut tree, hints, options.favor, &page, &stated);
    let text = render::render(&tree, &selection, options.format);
    // Pages that a script would fill keep their text where search engines look for it.
    let is_stated = text.len() < LEAST_TEXT && stated.body.len() > 2 * text.len();
    let text = if is_stated { stated.body } else { text };
    page.text = match crate::normalize::normalize(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => changed,
    };
    page.charset = "UTF-8";
    page.cut = cut;
    page
}

/// A block of a page as the model sees it: what it is trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The block's text on one line.
    pub text: String,
    /// Its features, in the order that the model knows.
    pub features: Vec<f32>,
}

/// The blocks of a page with their features, for training; see `bench/extract`.
#[must_use]
pub fn observations(source: &str, hints: &Hints<'_>, limits: &Limits) -> Vec<Observation> {
    let mut tree = parse::parse(source, limits, &|| false, &mut Cut::default());
    let stated = structured::structured(&tree);
    let page = metadata::read(&tree, hints, &stated);
    let blocks = blocks::blocks(&mut tree);
    let kind = features::Kind::of(&tree, &stated);
    let features = features::Features::of(&tree, &blocks, hints, &page, &kind);
    let mut row = features::Row::default();
    let mut observe = |at: usize| {
        let text: String = (blocks[at].first..blocks[at].end).map(|node| tree.text(node)).collect();
        features.fill(&mut row, at);
        Observation { text: words::one_line(&text), features: row.values().to_vec() }
    };
    (0..blocks.len()).map(&mut observe).collect()
}

#[cfg(test)]
mod tests;
