//! The links of a page.

use url::Url;

use super::tag::{Name, Tag};
use super::tree::{Index, Tree};
use super::words::one_line;

/// A link's text is cut behind so many bytes: who needs more reads the page.
const TEXT_BYTES: usize = 1024;

/// One link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The address, resolved against the page's base; as written where there is none to resolve it against.
    pub url: String,
    /// The text that is the link, on one line.
    pub text: String,
    /// The tokens of `rel` as written, in lower case, apart by a blank.
    pub rel: String,
    /// Where it stands.
    pub kind: LinkKind,
}

/// Where a link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// `<a href>`: in the text.
    Anchor,
    /// `<area href>`: on a picture.
    Area,
    /// `<link href rel=next|prev|canonical|alternate|license>`: of the page as a whole.
    Page,
    /// `<meta http-equiv=refresh>`: where the page sends its reader.
    Refresh,
}

/// What addresses of a page are relative to.
pub(crate) struct Base(Option<Url>);

impl Base {
    /// The page's address, or what `<base href>` makes of it (WHATWG HTML section 2.4.3).
    pub(crate) fn of(tree: &Tree, url: Option<&str>) -> Self {
        let page = url.and_then(|url| Url::parse(url).ok());
        let stated = (0..tree.len())
            .filter(|&at| tree.tag(at) == Tag::Base)
            .find_map(|at| tree.attribute(at, Name::Href))
            .and_then(|href| match &page {
                Some(page) => page.join(href.trim()).ok(),
                None => Url::parse(href.trim()).ok(),
            });
        Self(stated.or(page))
    }

    /// The host of the base; empty where there is none.
    pub(crate) fn host(&self) -> &str {
        self.0.as_ref().and_then(Url::host_str).unwrap_or_default()
    }

    /// The absolute address; nothing for one that leads to no page, such as `javascript:` or `mailto:`.
    pub(crate) fn resolve(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() {
            return None;
        }
        let resolved = match &self.0 {
            Some(base) => base.join(href).ok()?,
            None => match Url::parse(href) {
                Ok(url) => url,
                Err(url::ParseError::RelativeUrlWithoutBase) => return Some(href.to_owned()),
                Err(_) => return None,
            },
        };
        matches!(resolved.scheme(), "http" | "https" | "file" | "ftp").then(|| resolved.into())
    }
}

/// Every link, in document order.
pub(crate) fn links(tree: &Tree, base: &Base) -> Vec<Link> {
    (0..tree.len()).filter_map(|at| link(tree, base, at)).collect()
}

fn link(tree: &Tree, base: &Base, at: Index) -> Option<Link> {
    let rel = || rel(tree, at);
    let href = || tree.attribute(at, Name::Href);
    match tree.tag(at) {
        Tag::A => Some(Link { url: base.resolve(href()?)?, text: text(tree, at), rel: rel(), kind: LinkKind::Anchor }),
        Tag::Area => {
            let text = one_line(tree.attribute(at, Name::Alt).unwrap_or_default());
            Some(Link { url: base.resolve(href()?)?, text, rel: rel(), kind: LinkKind::Area })
        }
        Tag::Link => {
            let rel = rel();
            let is_wanted = |token| matches!(token, "next" | "prev" | "canonical" | "alternate" | "license");
            rel.split(' ').any(is_wanted).then_some(())?;
            let text = one_line(tree.attribute(at, Name::Title).unwrap_or_default());
            Some(Link { url: base.resolve(href()?)?, text, rel, kind: LinkKind::Page })
        }
        Tag::Meta => {
            let is_refresh = tree.attribute(at, Name::HttpEquiv)?.trim().eq_ignore_ascii_case("refresh");
            let url = is_refresh.then(|| refresh_target(tree.attribute(at, Name::Content)?)).flatten()?;
            Some(Link { url: base.resolve(url)?, text: String::new(), rel: String::new(), kind: LinkKind::Refresh })
        }
        _ => None,
    }
}

/// The tokens of `rel`, in lower case.
pub(crate) fn rel(tree: &Tree, at: Index) -> String {
    one_line(tree.attribute(at, Name::Rel).unwrap_or_default()).to_lowercase()
}

/// What a link says: its text, else what stands for its picture.
fn text(tree: &Tree, at: Index) -> String {
    let mut raw = String::new();
    let mut picture = None;
    for inside in at + 1..tree.end(at) {
        match tree.tag(inside) {
            Tag::Text => raw.push_str(tree.text(inside)),
            Tag::Img => picture = picture.or(tree.attribute(inside, Name::Alt)),
            tag if tag.is_block() || tag == Tag::Br => raw.push(' '),
            _ => {}
        }
        if raw.len() > TEXT_BYTES {
            break;
        }
    }
    let said = one_line(&raw);
    let said = if said.is_empty() { one_line(picture.unwrap_or_default()) } else { said };
    said[..said.floor_char_boundary(TEXT_BYTES.min(said.len()))].to_owned()
}

/// `5; url=/next`, with or without quotes (WHATWG HTML section 4.2.5.3).
fn refresh_target(content: &str) -> Option<&str> {
    let (_, behind) = content.split_once([';', ','])?;
    let behind = behind.trim_start();
    let url = match behind.get(..3).filter(|key| key.eq_ignore_ascii_case("url")) {
        Some(_) => behind[3..].trim_start().strip_prefix('=')?.trim_start(),
        None => behind,
    };
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    (!url.trim().is_empty()).then_some(url.trim())
}
