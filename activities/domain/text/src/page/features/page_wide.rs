//! What is known of the page as a whole, and where in it a block stands.

use std::collections::HashMap;

use super::around::{Around, Sums};
use super::{Row, ln, share};
use crate::page::blocks::Block;
use crate::page::structured::Structured;
use crate::page::tag::{Name, Tag};
use crate::page::tree::{Index, Tree};
use crate::page::words::one_line;
use crate::page::{Hints, Page};

/// Bytes of what a page states of itself, times its blocks.
const MOST_COMPARED: usize = 50_000_000;

/// What kind of page it says it is.
#[derive(Debug, Default)]
pub(crate) struct Kind {
    pub(crate) types: u32,
    pub(crate) body: String,
}

/// Ends of type names of schema.org and Open Graph, in the order of their bits.
const TYPES: [&[&str]; 8] = [
    &["article", "posting", "report"],
    &["product", "productgroup", "offer"],
    &["forumposting", "qapage", "question", "comment"],
    &["faqpage"],
    &["itemlist", "collectionpage", "searchresultspage"],
    &["recipe", "howto", "review", "event"],
    &["organization", "localbusiness", "service", "website"],
    &["breadcrumblist"],
];

impl Kind {
    pub(crate) fn of(tree: &Tree, stated: &Structured) -> Self {
        let shared = (0..tree.len()).filter(|&at| tree.attribute(at, Name::Property) == Some("og:type"));
        let shared = shared.filter_map(|at| tree.attribute(at, Name::Content)).map(str::to_ascii_lowercase);
        let mut types = 0;
        for name in stated.types.iter().cloned().chain(shared) {
            for (bit, ends) in TYPES.iter().enumerate() {
                types |= u32::from(ends.iter().any(|end| name.ends_with(end))) << bit;
            }
        }
        Self { types, body: stated.body.clone() }
    }
}

impl Kind {
    /// Whether the page says that it is an article.
    pub(crate) fn is_article(&self) -> bool {
        self.types & 1 == 1
    }
}

pub(super) struct PageWide {
    whole: Sums,
    page: Vec<f32>,
    /// The first block of a first-level heading.
    heading: Option<usize>,
    /// The part of the page with most running text for its links, as blocks.
    best: (usize, usize),
    best_depth: usize,
    before: Vec<f32>,
    /// How often the text of a block stands on the page.
    repeats: Vec<u32>,
    in_body: Vec<bool>,
    is_title: Vec<bool>,
    in_description: Vec<bool>,
    first_long: usize,
    last_long: usize,
}

impl PageWide {
    pub(super) fn of(
        tree: &Tree,
        blocks: &[Block],
        hints: &Hints<'_>,
        page: &Page,
        kind: &Kind,
        around: &Around,
    ) -> Self {
        let whole = around.whole();
        let best = best(tree, around);
        let texts: Vec<String> = blocks.iter().map(|block| text(tree, block)).collect();
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for text in &texts {
            *counts.entry(text).or_default() += 1;
        }
        let is_in = |whole: &str, text: &str| text.len() > 12 && !whole.is_empty() && whole.contains(text);
        let is_heading = |block: &Block| tree.tag(block.container) == Tag::H1;
        let is_long = |block: &Block| block.counts.chars >= 80 && block.counts.link_chars * 3 < block.counts.chars;
        // Every block is looked for in them, so that long ones are left out where there are many blocks.
        let affordable = |whole: &str| whole.len().saturating_mul(blocks.len()) <= MOST_COMPARED;
        let body = if affordable(&kind.body) { kind.body.as_str() } else { "" };
        let description = if affordable(&page.description) { page.description.as_str() } else { "" };
        Self {
            whole,
            page: page_features(tree, blocks, hints, kind, around, best),
            heading: blocks.iter().position(is_heading),
            best: around.range(tree, best),
            best_depth: tree.ancestors(best).count(),
            before: (0..blocks.len()).map(|at| around.before(at).chars).collect(),
            repeats: texts.iter().map(|text| counts.get(text.as_str()).copied().unwrap_or(1)).collect(),
            in_body: texts.iter().map(|text| is_in(body, text)).collect(),
            is_title: texts.iter().map(|text| !text.is_empty() && *text == page.title).collect(),
            in_description: texts.iter().map(|text| is_in(description, text)).collect(),
            first_long: blocks.iter().position(is_long).unwrap_or(0),
            last_long: blocks.iter().rposition(is_long).unwrap_or(blocks.len()),
        }
    }

    pub(super) fn add_position(&self, row: &mut Row, blocks: &[Block], at: usize) {
        let count = blocks.len() as f32;
        row.add(share(at as f32, count));
        row.add(share(self.before[at], self.whole.chars));
        row.add(ln(at as f32));
        row.add(ln(count - at as f32));
        row.add(self.heading.map_or(-50.0, |heading| (at as f32 - heading as f32).clamp(-40.0, 40.0)));
        let (first, end) = self.best;
        row.add(if at < first {
            (at as f32 - first as f32).max(-30.0)
        } else {
            (at as f32 - end as f32 + 1.0).clamp(0.0, 30.0)
        });
        row.add_if((first..end).contains(&at));
        row.add(ln((at.max(first) - first) as f32));
        row.add((at as f32 - self.first_long as f32).clamp(-30.0, 30.0));
        row.add((at as f32 - self.last_long as f32).clamp(-30.0, 30.0));
        row.add(self.repeats[at] as f32);
        row.add_if(self.in_body[at]);
        row.add_if(self.is_title[at]);
        row.add_if(self.in_description[at]);
    }

    pub(super) fn heading_container(&self, blocks: &[Block]) -> Option<Index> {
        self.heading.map(|heading| blocks[heading].container)
    }

    pub(super) fn add_page(&self, row: &mut Row) {
        for &value in &self.page {
            row.add(value);
        }
        row.add(self.best_depth as f32);
    }
}

/// The smallest part of the page with the highest value.
fn best(tree: &Tree, around: &Around) -> Index {
    let mut best = (f32::MIN, 0);
    for at in (0..tree.len()).filter(|&at| tree.tag(at).is_block()) {
        let value = around.sums(tree, at).value;
        if value >= best.0 {
            best = (value, at);
        }
    }
    best.1
}

fn page_features(
    tree: &Tree,
    blocks: &[Block],
    hints: &Hints<'_>,
    kind: &Kind,
    around: &Around,
    best: Index,
) -> Vec<f32> {
    let whole = around.whole();
    let in_best = around.sums(tree, best);
    let has = |tag: Tag| tree.nodes.iter().filter(|node| node.tag == tag).count() as f32;
    let mut row = Row::default();
    row.add(ln(whole.chars));
    row.add(ln(whole.blocks));
    row.add(share(whole.link_chars, whole.chars));
    row.add(share(whole.paragraph_chars, whole.chars));
    row.add(share(whole.long_chars, whole.chars));
    row.add(ln(whole.long_blocks));
    row.add(share(whole.headings, whole.blocks));
    row.add(share(whole.currency, whole.blocks));
    row.add(share(in_best.chars, whole.chars));
    row.add(share(in_best.link_chars, in_best.chars));
    row.add(share(in_best.long_chars, in_best.chars));
    row.add(ln(has(Tag::Article)));
    row.add_if(has(Tag::Main) > 0.0);
    row.add(ln(has(Tag::Pre)));
    row.add(ln(has(Tag::Time)));
    row.add(ln(has(Tag::H1)));
    row.add_bits(kind.types, TYPES.len());
    row.add(ln(kind.body.len() as f32));
    add_address(&mut row, hints.url.unwrap_or_default());
    row.add(ln(blocks.iter().filter(|block| tree.tag(block.container) == Tag::Td).count() as f32));
    row.0
}

/// The shape of the page's address: front pages and lists are short, articles long.
fn add_address(row: &mut Row, url: &str) {
    let path = url.split_once("://").map_or(url, |(_, behind)| behind);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = path.split_once('/').map_or("", |(_, path)| path).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let segments = path.split('/').filter(|segment| !segment.is_empty()).count();
    row.add(if url.is_empty() { -1.0 } else { segments as f32 });
    row.add(if url.is_empty() { -1.0 } else { ln(last.len() as f32) });
    row.add(last.bytes().filter(|&byte| byte == b'-').count() as f32);
    row.add_if(!query.is_empty());
    row.add_if(path.bytes().any(|byte| byte.is_ascii_digit()));
}

fn text(tree: &Tree, block: &Block) -> String {
    let raw: String = (block.first..block.end).map(|at| tree.text(at)).collect();
    one_line(&raw)
}
