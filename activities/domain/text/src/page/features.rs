//! What is known of each block, as numbers: its text, its place, its neighbours, the parts of the page around it.
//!
//! The numbers are of every language alike: they count characters and marks. Only the phrases of `lexicon` are words.

mod around;
mod page_wide;

use super::blocks::Block;
use super::lexicon::{self, Groups, NAME_GROUPS, PHRASE_GROUPS};
use super::tag::{Name, Tag};
use super::tree::{Index, Tree};
use super::{Hints, Page};
use around::Around;
use page_wide::PageWide;

pub(crate) use page_wide::Kind;

/// What the features of a page's blocks are made from. A row is made when it is asked for: a page may have more blocks than
/// there is room for rows.
pub(crate) struct Features<'p> {
    tree: &'p Tree,
    blocks: &'p [Block],
    context: Context,
    around: Around,
    wide: PageWide,
    shares: Vec<f32>,
    /// The running text before each block that is in no comment, and that of the page.
    before: Vec<f32>,
    running: f32,
}

impl<'p> Features<'p> {
    pub(crate) fn of(tree: &'p Tree, blocks: &'p [Block], hints: &Hints<'_>, page: &Page, kind: &Kind) -> Self {
        let context = Context::of(tree);
        let around = Around::of(tree, blocks);
        let wide = PageWide::of(tree, blocks, hints, page, kind, &around);
        let shares = context.shares(blocks);
        let (before, running) = context.apart_from_comments(blocks);
        Self { tree, blocks, context, around, wide, shares, before, running }
    }

    /// The features of one block.
    pub(crate) fn fill(&self, row: &mut Row, at: usize) {
        let Self { tree, blocks, around, wide, .. } = self;
        row.0.clear();
        own(row, tree, &blocks[at]);
        self.context.add(row, &blocks[at]);
        wide.add_position(row, blocks, at);
        around.add_neighbours(row, blocks, at);
        around.add_groups(row, tree, blocks, at);
        around.add_landmarks(row, tree, &blocks[at], wide.heading_container(blocks));
        row.add(share(self.before[at], self.running));
        wide.add_page(row);
        row.0.extend_from_slice(&self.shares);
    }
}

/// The features of one block, in a fixed order: the model knows them by their place.
#[derive(Default)]
pub(crate) struct Row(Vec<f32>);

impl Row {
    pub(crate) fn values(&self) -> &[f32] {
        &self.0
    }

    pub(crate) fn add(&mut self, value: f32) {
        self.0.push(value);
    }

    pub(crate) fn add_if(&mut self, is: bool) {
        self.0.push(if is { 1.0 } else { 0.0 });
    }

    pub(crate) fn add_bits(&mut self, bits: u32, count: usize) {
        for bit in 0..count {
            self.add_if(bits >> bit & 1 == 1);
        }
    }
}

pub(crate) fn ln(count: f32) -> f32 {
    (1.0 + count).ln()
}

pub(crate) fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

pub(crate) fn link_density(block: &Block) -> f32 {
    share(block.counts.link_chars as f32, block.counts.chars as f32)
}

/// What the text itself is like.
fn own(row: &mut Row, tree: &Tree, block: &Block) {
    let counts = &block.counts;
    let (chars, words) = (counts.chars as f32, counts.words());
    row.add(ln(chars));
    row.add(ln(words));
    row.add(share(chars, words));
    row.add(link_density(block));
    row.add(ln(counts.links as f32));
    row.add(share(counts.digits as f32, chars));
    row.add(share(counts.capitals as f32, counts.letters as f32));
    row.add(share(counts.capitalised as f32, words));
    row.add(share(counts.stops as f32, words));
    row.add(share(counts.commas as f32, words));
    row.add(share(counts.bars as f32, words));
    row.add(counts.currency as f32);
    row.add_if(counts.is_ended);
    row.add(counts.controls as f32);
    row.add(tag_class(tree.tag(block.container)));
    row.add(f32::from(heading_around(tree, block).unwrap_or(0)));
    let mut inline = 0_u32;
    for at in block.first.saturating_sub(3).max(block.container)..block.end {
        let bit = match tree.tag(at) {
            Tag::Strong | Tag::B => 0,
            Tag::Time => 1,
            Tag::Button | Tag::Label => 2,
            Tag::Em | Tag::I => 3,
            Tag::Code => 4,
            Tag::Img | Tag::Svg => 5,
            Tag::Span => 6,
            _ => continue,
        };
        inline |= 1 << bit;
    }
    row.add_bits(inline, 7);
    let text: String = (block.first..block.end).take(40).map(|at| tree.text(at)).collect();
    row.add_bits(lexicon::phrases(text.trim()), PHRASE_GROUPS);
}

fn heading_around(tree: &Tree, block: &Block) -> Option<u8> {
    std::iter::once(block.container)
        .chain(tree.ancestors(block.container).take(2))
        .find_map(|at| tree.tag(at).heading())
}

/// Containers by what they are for.
fn tag_class(tag: Tag) -> f32 {
    use Tag::*;
    match tag {
        P => 1.0,
        H1 | H2 | H3 | H4 | H5 | H6 => 2.0,
        Li => 3.0,
        Td => 4.0,
        Th => 5.0,
        Dt => 6.0,
        Dd => 7.0,
        Pre => 8.0,
        Blockquote => 9.0,
        Figcaption | Caption => 10.0,
        Summary | Legend => 11.0,
        Section | Article | Main => 12.0,
        Header | Footer | Nav | Aside => 13.0,
        Form | Fieldset => 14.0,
        _ => 0.0,
    }
}

/// What is around each element: kinds of elements, and the names that authors gave them.
struct Context {
    tags: Vec<u32>,
    own: Vec<Groups>,
    near: Vec<Groups>,
    above: Vec<Groups>,
    depth: Vec<u16>,
}

/// The elements whose presence around a block is a feature.
const AROUND: [&[Tag]; 18] = [
    &[Tag::Header],
    &[Tag::Footer],
    &[Tag::Nav],
    &[Tag::Aside],
    &[Tag::Form],
    &[Tag::Article],
    &[Tag::Main],
    &[Tag::Section],
    &[Tag::Table],
    &[Tag::Ul, Tag::Ol],
    &[Tag::Figure],
    &[Tag::Details],
    &[Tag::Dialog],
    &[Tag::Blockquote],
    &[Tag::Address],
    &[Tag::Button, Tag::Label],
    &[Tag::Dl],
    &[Tag::A],
];

/// The group of names for comments.
const COMMENT: usize = 4;

/// Groups of names: sidebars, comments, related, articles, content, products, messages, items.
const DEFINING: [usize; 8] = [3, COMMENT, 9, 21, 22, 23, 24, 26];

impl Context {
    fn of(tree: &Tree) -> Self {
        let length = tree.len();
        let mut context = Self {
            tags: vec![0; length],
            own: vec![0; length],
            near: vec![0; length],
            above: vec![0; length],
            depth: vec![0; length],
        };
        let mut known = std::collections::HashMap::new();
        for at in 0..length {
            let tag = tree.tag(at);
            if tag == Tag::Text {
                continue;
            }
            let parent = tree.parent(at);
            // What is said of the whole page tells nothing of its parts.
            let own =
                if matches!(tag, Tag::Html | Tag::Body | Tag::Document) { 0 } else { names(tree, at, &mut known) };
            let bit = AROUND.iter().position(|tags| tags.contains(&tag)).map_or(0, |bit| 1 << bit);
            context.tags[at] = context.tags[parent] | bit;
            context.own[at] = own;
            context.near[at] = own | context.own[parent] | context.own[tree.parent(parent)];
            context.above[at] = context.above[parent] | own;
            context.depth[at] = context.depth[parent].saturating_add(1);
        }
        context
    }

    /// The share of the page's text inside each of the groups that make a page what it is.
    fn shares(&self, blocks: &[Block]) -> Vec<f32> {
        let whole: f32 = blocks.iter().map(|block| block.counts.chars as f32).sum();
        let inside = |group: usize| {
            let is_inside = |block: &&Block| self.above[block.container] >> group & 1 == 1;
            blocks.iter().filter(is_inside).map(|block| block.counts.chars as f32).sum::<f32>()
        };
        DEFINING.iter().map(|&group| share(inside(group), whole)).collect()
    }

    /// The text before each block that is in no comment, and all of it: comments come behind what they are on.
    fn apart_from_comments(&self, blocks: &[Block]) -> (Vec<f32>, f32) {
        let mut all = 0.0;
        let before = |block: &Block| {
            let before = all;
            let is_comment = self.above[block.container] >> COMMENT & 1 == 1;
            all += if is_comment || block.counts.chars < 80 { 0.0 } else { block.counts.chars as f32 };
            before
        };
        let before = blocks.iter().map(before).collect();
        (before, blocks.iter().map(|block| block.counts.chars as f32).sum())
    }

    fn add(&self, row: &mut Row, block: &Block) {
        let at = block.container;
        row.add_bits(self.tags[at], AROUND.len());
        row.add_bits(self.near[at], NAME_GROUPS);
        row.add_bits(self.above[at], NAME_GROUPS);
        row.add(f32::from(self.depth[at]));
    }
}

fn names<'t>(tree: &'t Tree, at: Index, known: &mut std::collections::HashMap<&'t str, Groups>) -> Groups {
    let attributes = tree.attributes(at).iter();
    attributes.filter(|attribute| matches!(attribute.name, Name::Class | Name::Id | Name::Role)).fold(
        0,
        |groups, attribute| {
            let value = tree.value(attribute);
            groups | *known.entry(value).or_insert_with(|| lexicon::names(value))
        },
    )
}
