//! How a page is read, by the stage and by `corpora page`: options and limits of the config, and what a page states of
//! itself in the words of `contracts/PROTOCOL.md`.

use std::time::{Duration, Instant};

use corpora_contracts::config::{Extract, Favor, TextFormat};
use corpora_text::page::{self, Cut, Hints, Limits, Options, Rights, decode, extract_within};
use serde::Serialize;

pub use corpora_text::page::{Link, LinkKind, Page};

/// Reads pages as a config says.
#[derive(Debug, Clone)]
pub struct Reader {
    options: Options,
    budget: Duration,
}

impl Reader {
    /// Reads as `[extract]` says.
    #[must_use]
    pub fn of(extract: &Extract) -> Self {
        let favor = match extract.favor {
            Favor::Precision => page::Favor::Precision,
            Favor::Recall => page::Favor::Recall,
            Favor::Balanced => page::Favor::Balanced,
        };
        let format = match extract.format {
            TextFormat::Text => page::Format::Text,
            TextFormat::Markdown => page::Format::Markdown,
        };
        let limits = Limits {
            page_bytes: usize::try_from(extract.page_bytes).unwrap_or(usize::MAX),
            depth: extract.max_depth as usize,
            nodes: extract.max_nodes as usize,
            attribute_bytes: extract.attribute_bytes as usize,
        };
        Self { options: Options { favor, format, limits }, budget: extract.time_budget.duration() }
    }

    /// Reads a page from its source; `url` is the page's own address, absolute or of no use.
    ///
    /// Where the time is up the page ends, and says so in [`Page::cut`]. No other answer depends on the machine.
    #[must_use]
    pub fn read(&self, source: &str, url: Option<&str>) -> Page {
        let start = Instant::now();
        let hints = Hints { url, ..Hints::default() };
        extract_within(source, &hints, &self.options, &|| start.elapsed() > self.budget)
    }

    /// Reads a page from the first bytes of it, of which `more` follow that are not here.
    #[must_use]
    pub fn read_bytes(&self, bytes: &[u8], more: u64, url: Option<&str>) -> Page {
        let limit = self.options.limits.page_bytes;
        let decoded = decode(bytes, None, limit);
        let unlimited = Limits { page_bytes: usize::MAX, ..self.options.limits.clone() };
        // What is decoded may be longer than what it was decoded from; the limit was applied to the bytes.
        let reader = Self { options: Options { limits: unlimited, ..self.options.clone() }, ..self.clone() };
        let mut read = reader.read(&decoded.text, url);
        read.charset = decoded.charset;
        read.cut.bytes += decoded.bytes_cut + more;
        read
    }

    /// The bytes of a page that are read.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.options.limits.page_bytes as u64
    }
}

/// The code of the language that a text is probably in, `und` when that cannot be told.
#[must_use]
pub fn language(text: &str) -> &'static str {
    corpora_text::language::language(text).as_str()
}

/// The word for where a link stands: `anchor`, `area`, `page` or `refresh`.
#[must_use]
pub fn place(link: &Link) -> &'static str {
    match link.kind {
        LinkKind::Anchor => "anchor",
        LinkKind::Area => "area",
        LinkKind::Page => "page",
        LinkKind::Refresh => "refresh",
    }
}

/// What a page states of itself, and what was cut off it; what it does not state is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Metadata<'p> {
    /// The declared language as written (BCP 47).
    #[serde(skip_serializing_if = "str::is_empty")]
    pub language: &'p str,
    /// The page's own summary.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: &'p str,
    /// The page's own keywords.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub keywords: &'p [String],
    /// The author's name.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub author: &'p str,
    /// When the page was published.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub date: &'p str,
    /// The address that the page calls its own.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub canonical: &'p str,
    /// What limits cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutSaid>,
}

impl<'p> Metadata<'p> {
    /// What a page states.
    #[must_use]
    pub fn of(page: &'p Page) -> Self {
        Self {
            language: &page.language,
            description: &page.description,
            keywords: &page.keywords,
            author: &page.author,
            date: &page.date,
            canonical: &page.canonical,
            cut: CutSaid::of(page.cut),
        }
    }
}

/// What a page says of its use; what it does not say is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RightsSaid<'p> {
    /// Directives for robots.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub robots: &'p [String],
    /// Whether rights to text and data mining are reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdm_reservation: Option<bool>,
    /// The address of the policy for text and data mining.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdm_policy: Option<&'p str>,
    /// Addresses of licences.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub licenses: &'p [String],
}

impl<'p> RightsSaid<'p> {
    /// What a page says.
    #[must_use]
    pub fn of(rights: &'p Rights) -> Self {
        Self {
            robots: &rights.robots,
            tdm_reservation: rights.tdm_reservation,
            tdm_policy: rights.tdm_policy.as_deref(),
            licenses: &rights.licenses,
        }
    }
}

/// What limits cut off a page, each by the key of `[extract]` that is the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CutSaid {
    /// Bytes behind the limit.
    #[serde(skip_serializing_if = "is_none")]
    pub page_bytes: u64,
    /// Elements below the limit, whose text was kept.
    #[serde(skip_serializing_if = "is_none")]
    pub max_depth: u64,
    /// Attributes left out or shortened.
    #[serde(skip_serializing_if = "is_none")]
    pub attribute_bytes: u64,
    /// Whether the page went on behind the last node.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub max_nodes: bool,
    /// Whether the page went on when the time was up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub time_budget: bool,
}

impl CutSaid {
    /// What was cut, if anything was.
    #[must_use]
    pub fn of(cut: Cut) -> Option<Self> {
        let Cut { bytes, depth, attributes, is_out_of_nodes, is_out_of_time } = cut;
        cut.is_any().then_some(Self {
            page_bytes: bytes,
            max_depth: depth,
            attribute_bytes: attributes,
            max_nodes: is_out_of_nodes,
            time_budget: is_out_of_time,
        })
    }

    /// The limits that cut something.
    pub(crate) fn limits(self) -> impl Iterator<Item = &'static str> {
        let cut = [
            ("page_bytes", self.page_bytes > 0),
            ("max_depth", self.max_depth > 0),
            ("attribute_bytes", self.attribute_bytes > 0),
            ("max_nodes", self.max_nodes),
            ("time_budget", self.time_budget),
        ];
        cut.into_iter().filter(|(_, is_cut)| *is_cut).map(|(limit, _)| limit)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde calls")]
fn is_none(count: &u64) -> bool {
    *count == 0
}
