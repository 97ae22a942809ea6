//! Sitemaps (sitemaps.org): the addresses that a site hands out, as XML, as an index of other sitemaps, or line by line.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

use crate::url::MOST_BYTES as MOST_URL;

/// A sitemap has at most so many addresses (sitemaps.org, "Using Sitemap index files"); what stands behind is not read.
pub const MOST_ADDRESSES: usize = 50_000;

/// A sitemap has at most so many bytes when it is unpacked (sitemaps.org); what stands behind is not read.
pub const MOST_BYTES: usize = 50 << 20;

/// What a sitemap names, in its order and as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Addresses of pages.
    pub pages: Vec<String>,
    /// Addresses of other sitemaps.
    pub sitemaps: Vec<String>,
    /// Whether there is more than was read.
    pub is_cut: bool,
}

/// Reads a sitemap, one that is packed by gzip, too. Nothing is an error: what was named before the first fault of the file
/// counts, and what is neither XML nor a list names nothing.
#[must_use]
pub fn parse(bytes: &[u8]) -> Sitemap {
    let unpacked = unpacked(bytes);
    let kept = &unpacked[..unpacked.len().min(MOST_BYTES)];
    let text = String::from_utf8_lossy(kept.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(kept));
    let mut sitemap = if text.trim_start().starts_with('<') { of_xml(&text) } else { of_lines(&text) };
    sitemap.is_cut |= kept.len() < unpacked.len();
    sitemap
}

/// What a gzip file holds, told by its magic (RFC 1952 section 2.3.1), up to one byte more than is read.
fn unpacked(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return Cow::Borrowed(bytes);
    }
    let mut unpacked = Vec::new();
    // What a damaged file gave before its fault is kept.
    let _ = MultiGzDecoder::new(bytes).take(MOST_BYTES as u64 + 1).read_to_end(&mut unpacked);
    Cow::Owned(unpacked)
}

/// One address on each line.
fn of_lines(text: &str) -> Sitemap {
    let is_address = |line: &&str| line.starts_with("http://") || line.starts_with("https://");
    let mut sitemap = Sitemap::default();
    for line in text.lines().map(str::trim).filter(is_address) {
        if !sitemap.add(None, line) {
            break;
        }
    }
    sitemap
}

/// The `loc` of each `url` and each `sitemap`, whatever prefix their names have; those of pictures and videos stand elsewhere.
fn of_xml(text: &str) -> Sitemap {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut sitemap = Sitemap::default();
    let mut open = Vec::new();
    let mut address: Option<String> = None;
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Eof => break,
            Event::Start(tag) => {
                let element = Element::of(tag.local_name().into_inner());
                let is_address =
                    element == Element::Address && open.last().is_some_and(|parent: &Element| parent.is_entry());
                if is_address {
                    address = Some(String::new());
                }
                open.push(element);
            }
            Event::End(_) => {
                open.pop();
                if let Some(found) = address.take()
                    && !sitemap.add(open.last(), found.trim())
                {
                    break;
                }
            }
            Event::Text(text) => push(&mut address, &text),
            Event::CData(text) => push(&mut address, &text),
            Event::GeneralRef(reference) => push(&mut address, &resolved(&reference)),
            _ => {}
        }
    }
    sitemap
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Page,
    Sitemap,
    Address,
    Other,
}

impl Element {
    fn of(name: &str) -> Self {
        match name {
            "url" => Self::Page,
            "sitemap" => Self::Sitemap,
            "loc" => Self::Address,
            _ => Self::Other,
        }
    }

    fn is_entry(self) -> bool {
        matches!(self, Self::Page | Self::Sitemap)
    }
}

impl Sitemap {
    /// Adds the address of an entry; false where there is no more room.
    fn add(&mut self, entry: Option<&Element>, address: &str) -> bool {
        self.is_cut = self.pages.len() + self.sitemaps.len() >= MOST_ADDRESSES;
        if self.is_cut || address.is_empty() {
            return !self.is_cut;
        }
        match entry {
            Some(Element::Sitemap) => self.sitemaps.push(address.to_owned()),
            _ => self.pages.push(address.to_owned()),
        }
        true
    }
}

fn push(address: &mut Option<String>, text: &str) {
    if let Some(address) = address.as_mut().filter(|address| address.len() <= MOST_URL) {
        address.push_str(text);
    }
}

/// The character of `&amp;` or `&#38;`; nothing for an entity that XML does not have.
fn resolved(reference: &BytesRef<'_>) -> String {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => character.to_string(),
        _ => resolve_predefined_entity(reference).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

    fn pages(text: &str) -> Vec<String> {
        parse(text.as_bytes()).pages
    }

    #[test]
    fn pages_and_sitemaps_are_named() {
        let map = format!(
            r#"{HEAD}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x">
            <url><loc> https://h.example/?a=1&amp;b=2&#x26;c </loc><lastmod>2026-01-01</lastmod>
              <image:image><image:loc>https://h.example/i.png</image:loc></image:image></url>
            <url><loc><![CDATA[https://h.example/b]]></loc></url><url><loc></loc></url></urlset>"#
        );
        assert_eq!(pages(&map), ["https://h.example/?a=1&b=2&c", "https://h.example/b"]);
        let index = "<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>/a.xml.gz</s:loc></s:sitemap></s:sitemapindex>";
        let parsed = parse(index.as_bytes());
        assert_eq!((parsed.pages.len(), parsed.sitemaps), (0, vec!["/a.xml.gz".to_owned()]));
        assert_eq!(pages("\u{feff}https://h.example/a\r\n\nhttps://h.example/b\nnot one\n").len(), 2);
    }

    #[test]
    fn what_is_broken_counts_as_far_as_it_goes() {
        let broken =
            format!("{HEAD}<urlset><url><loc>https://h.example/a</loc></url><url><loc>https://h.example/b</lo<<&");
        assert_eq!(pages(&broken), ["https://h.example/a"]);
        for none in ["", "<html><body>Not found", "nothing", "<urlset/>", "<loc>https://h.example/</loc>"] {
            assert_eq!(parse(none.as_bytes()), Sitemap::default(), "{none}");
        }
        // An entity of one's own is not read: a file of a kilobyte is none of a gigabyte.
        let laughs = format!(
            "{HEAD}<!DOCTYPE x [<!ENTITY a \"ha\">]><urlset><url><loc>https://h.example/&a;b</loc></url></urlset>"
        );
        assert_eq!(pages(&laughs), ["https://h.example/b"]);
    }

    #[test]
    fn there_is_an_end() {
        let entry = "<url><loc>https://h.example/</loc></url>";
        let whole = parse(format!("<urlset>{}</urlset>", entry.repeat(MOST_ADDRESSES)).as_bytes());
        assert_eq!((whole.pages.len(), whole.is_cut), (MOST_ADDRESSES, false));
        let cut = parse(format!("<urlset>{}</urlset>", entry.repeat(MOST_ADDRESSES + 1)).as_bytes());
        assert_eq!((cut.pages.len(), cut.is_cut), (MOST_ADDRESSES, true));
        let lines = parse("https://h.example/\n".repeat(MOST_ADDRESSES + 1).as_bytes());
        assert_eq!((lines.pages.len(), lines.is_cut), (MOST_ADDRESSES, true));
    }

    #[test]
    fn a_packed_one_is_unpacked_as_far_as_it_goes() {
        let packed = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let map = packed(b"<urlset><url><loc>https://h.example/a</loc></url></urlset>");
        assert_eq!(parse(&map).pages, ["https://h.example/a"]);
        assert_eq!(parse(&map[..map.len() - 8]).pages, ["https://h.example/a"]);
        assert_eq!(parse(&map[..12]), Sitemap::default());
        let bomb = packed(&vec![b'\n'; MOST_BYTES + 1_000_000]);
        assert_eq!(parse(&bomb), Sitemap { is_cut: true, ..Sitemap::default() });
    }

    proptest! {
        #[test]
        fn no_bytes_are_an_error(bytes: Vec<u8>, text in "(<url>|<loc>|</loc>|</url>|&amp;|&|<!\\[CDATA\\[|\\]\\]>|<!--|h){0,30}") {
            let _ = parse(&bytes);
            let _ = parse(text.as_bytes());
        }
    }
}
