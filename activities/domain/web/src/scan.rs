//! What a crawl needs of a page: its links and its rights signals, in one pass over the source and without a tree.
//!
//! The pass tells tags from text as browsers' tokenizers do (WHATWG HTML section 13.2.5): comments, the insides of scripts and
//! the like, quoted attributes, character references. Where an element stands does not matter to it, so it costs a tenth of a
//! parser. Links are `a[href]`, `area[href]`, `link[rel=next|canonical|alternate]` and a refresh, resolved against the first
//! `base[href]` wherever that stands; `rel=nofollow` of one link changes nothing.

use std::borrow::Cow;
use std::collections::HashSet;

use url::Url;

use crate::rights::Signals;
use crate::url::{NormalUrl, resolve};

mod entity;
mod tag;

use tag::{Attributes, Tag, Tags};

/// The kinds of link elements that lead to pages.
const RELATIONS: &[&str] = &["next", "canonical", "alternate"];

/// By whose rules a source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// HTML, where `<script/>` begins a script.
    Html,
    /// XHTML, where it is a whole one.
    Xhtml,
}

/// What was found in a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Where its links lead, in their order, each once; only what can be asked for over HTTP.
    pub links: Vec<NormalUrl>,
}

/// Looks a page's source through. `url` is the page's address, `agent` our product token; what the page says of its rights is
/// added to `signals`.
#[must_use]
pub fn scan(source: &str, syntax: Syntax, url: &Url, agent: &str, signals: &mut Signals) -> Found {
    let mut seen = Seen::default();
    for tag in Tags::of(source, syntax) {
        seen.read(&tag, agent, signals);
    }
    let base = seen.base.as_deref().and_then(|base| url.join(base.trim()).ok());
    let base = base.as_ref().unwrap_or(url);
    for license in &seen.licenses {
        if let Ok(license) = base.join(license.trim()) {
            signals.add_license(license.as_str());
        }
    }
    let mut known = HashSet::with_capacity(seen.references.len());
    let new = |reference: &Cow<'_, str>| resolve(base, reference).ok().filter(|link| known.insert(link.clone()));
    Found { links: seen.references.iter().filter_map(new).collect() }
}

/// Whether bytes of no stated type look like a page (WHATWG MIME Sniffing section 7.1, its first table).
#[must_use]
pub fn looks_like_markup(bytes: &[u8]) -> bool {
    const STARTS: [&str; 18] = [
        "<!doctype html",
        "<html",
        "<head",
        "<script",
        "<iframe",
        "<h1",
        "<div",
        "<font",
        "<table",
        "<a",
        "<style",
        "<title",
        "<b",
        "<body",
        "<br",
        "<p",
        "<meta",
        "<link",
    ];
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'));
    let starts = |start: &&str| {
        bytes.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes()))
            && ends(bytes.get(start.len()))
    };
    bytes.starts_with(b"<!--") || bytes.starts_with(b"<?xml") || STARTS.iter().any(starts)
}

/// What was seen so far, as written.
#[derive(Debug, Default)]
struct Seen<'s> {
    base: Option<Cow<'s, str>>,
    references: Vec<Cow<'s, str>>,
    licenses: Vec<Cow<'s, str>>,
}

impl<'s> Seen<'s> {
    fn read(&mut self, tag: &Tag<'s>, agent: &str, signals: &mut Signals) {
        let is = |name: &str| tag.name.eq_ignore_ascii_case(name);
        match tag.name.len() {
            1 if is("a") => self.read_link(&tag.attributes, true),
            4 if is("area") => self.read_link(&tag.attributes, true),
            4 if is("link") => self.read_link(&tag.attributes, false),
            4 if is("base") && self.base.is_none() => self.base = tag.attributes.value("href"),
            4 if is("meta") => self.read_meta(&tag.attributes, agent, signals),
            _ => {}
        }
    }

    fn read_link(&mut self, attributes: &Attributes<'s>, is_in_text: bool) {
        let Some([href, rel]) = attributes.values(["href", "rel"]).first_there() else { return };
        let has = |wanted: &str| {
            let mut tokens = rel.as_deref().unwrap_or_default().split_ascii_whitespace();
            tokens.any(|token| token.eq_ignore_ascii_case(wanted))
        };
        let is_link = is_in_text || RELATIONS.iter().any(|wanted| has(wanted));
        if has("license") {
            self.licenses.extend(href.clone());
        }
        if is_link {
            self.references.extend(href);
        }
    }

    fn read_meta(&mut self, attributes: &Attributes<'s>, agent: &str, signals: &mut Signals) {
        let [name, content, equivalent] = attributes.values(["name", "content", "http-equiv"]);
        let Some(content) = content else { return };
        if let Some(name) = name {
            signals.read_meta(&name, &content, agent);
        }
        if equivalent.is_some_and(|header| header.trim().eq_ignore_ascii_case("refresh")) {
            self.references.extend(refresh_target(&content).map(|target| Cow::Owned(target.to_owned())));
        }
    }
}

/// Values, if the first of them is there.
trait FirstThere: Sized {
    fn first_there(self) -> Option<Self>;
}

impl<const N: usize> FirstThere for [Option<Cow<'_, str>>; N] {
    fn first_there(self) -> Option<Self> {
        self.first().is_some_and(Option::is_some).then_some(self)
    }
}

/// `5; url=/next`, with or without quotes (WHATWG HTML section 4.2.5.3).
fn refresh_target(content: &str) -> Option<&str> {
    let (_, behind) = content.split_once([';', ','])?;
    let behind = behind.trim_start();
    let url = match behind.get(..3).filter(|key| key.eq_ignore_ascii_case("url")) {
        Some(_) => match behind[3..].trim_start().strip_prefix('=') {
            Some(value) => value.trim_start(),
            None => behind,
        },
        None => behind,
    };
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    (!url.trim().is_empty()).then_some(url.trim())
}

#[cfg(test)]
mod tests;
