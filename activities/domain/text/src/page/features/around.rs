//! What is around a block: the blocks beside it, and the parts of the page that hold it.

use std::collections::HashMap;

use super::{Row, link_density, ln, share};
use crate::page::blocks::Block;
use crate::page::tag::{Name, Tag};
use crate::page::tree::{Index, Tree};

/// A block of so many characters with few links reads as running text.
const LONG: u32 = 80;

/// Sums over blocks from the first on, so that those of every subtree are a difference.
pub(super) struct Around {
    /// Of each node, the number of blocks that start before it.
    starts: Vec<u32>,
    sums: Vec<Sums>,
    /// Of each element, the siblings of its tag and class, itself included.
    alike: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) blocks: f32,
    pub(super) chars: f32,
    pub(super) link_chars: f32,
    pub(super) long_chars: f32,
    pub(super) paragraph_chars: f32,
    pub(super) long_blocks: f32,
    pub(super) headings: f32,
    pub(super) currency: f32,
    /// What running text gains and links cost.
    pub(super) value: f32,
}

impl Sums {
    fn plus(mut self, other: &Self, sign: f32) -> Self {
        self.blocks += sign * other.blocks;
        self.chars += sign * other.chars;
        self.link_chars += sign * other.link_chars;
        self.long_chars += sign * other.long_chars;
        self.paragraph_chars += sign * other.paragraph_chars;
        self.long_blocks += sign * other.long_blocks;
        self.headings += sign * other.headings;
        self.currency += sign * other.currency;
        self.value += sign * other.value;
        self
    }

    fn of(tree: &Tree, block: &Block) -> Self {
        let chars = block.counts.chars as f32;
        let link_chars = block.counts.link_chars as f32;
        let is_long = block.counts.chars >= LONG && link_chars < chars / 3.0;
        let tag = tree.tag(block.container);
        Self {
            blocks: 1.0,
            chars,
            link_chars,
            long_chars: if is_long { chars } else { 0.0 },
            paragraph_chars: if tag == Tag::P { chars } else { 0.0 },
            long_blocks: f32::from(u8::from(is_long)),
            headings: f32::from(u8::from(tag.heading().is_some())),
            currency: f32::from(u8::from(block.counts.currency > 0)),
            value: (chars - 2.0 * link_chars).clamp(-120.0, 600.0) - 25.0,
        }
    }
}

impl Around {
    pub(super) fn of(tree: &Tree, blocks: &[Block]) -> Self {
        let mut starts = Vec::with_capacity(tree.len() + 1);
        let mut next = 0_u32;
        for at in 0..=tree.len() {
            starts.push(next);
            next += u32::from(blocks.get(next as usize).is_some_and(|block| block.first == at));
        }
        let mut sums = Vec::with_capacity(blocks.len() + 1);
        sums.push(Sums::default());
        let mut total = Sums::default();
        for block in blocks {
            total = total.plus(&Sums::of(tree, block), 1.0);
            sums.push(total);
        }
        Self { starts, sums, alike: alike(tree) }
    }

    /// The sums over the blocks of a subtree.
    pub(super) fn sums(&self, tree: &Tree, at: Index) -> Sums {
        let (first, end) = self.range(tree, at);
        self.sums[end].plus(&self.sums[first], -1.0)
    }

    /// The blocks of a subtree.
    pub(super) fn range(&self, tree: &Tree, at: Index) -> (usize, usize) {
        (self.starts[at] as usize, self.starts[tree.end(at)] as usize)
    }

    /// The text before a block.
    pub(super) fn before(&self, block: usize) -> &Sums {
        &self.sums[block]
    }

    pub(super) fn whole(&self) -> Sums {
        self.sums.last().copied().unwrap_or_default()
    }

    pub(super) fn add_neighbours(&self, row: &mut Row, blocks: &[Block], at: usize) {
        for offset in [-2_isize, -1, 1, 2] {
            let neighbour = at.checked_add_signed(offset).and_then(|at| blocks.get(at));
            row.add(neighbour.map_or(-1.0, |block| ln(block.counts.chars as f32)));
            row.add(neighbour.map_or(-1.0, link_density));
            row.add(neighbour.map_or(-1.0, |block| share(block.counts.stops as f32, block.counts.words())));
            let is_same = neighbour.is_some_and(|block| block.container == blocks[at].container);
            row.add_if(is_same);
        }
        for reach in [5, 15] {
            let (first, end) = (at.saturating_sub(reach), (at + reach + 1).min(blocks.len()));
            let window = self.sums[end].plus(&self.sums[first], -1.0);
            row.add(ln(share(window.chars, window.blocks)));
            row.add(share(window.link_chars, window.chars));
            row.add(share(window.long_chars, window.chars));
        }
    }

    /// The smallest part of the page that holds the block and the heading, and the article around the block.
    pub(super) fn add_landmarks(&self, row: &mut Row, tree: &Tree, block: &Block, heading: Option<Index>) {
        let whole = self.whole();
        let around = || std::iter::once(block.container).chain(tree.ancestors(block.container));
        let shared =
            heading.and_then(|heading| around().enumerate().find(|&(_, at)| at <= heading && heading < tree.end(at)));
        let sums = shared.map(|(_, at)| self.sums(tree, at)).unwrap_or_default();
        row.add(share(sums.chars, whole.chars));
        row.add(ln(sums.blocks));
        row.add(shared.map_or(-1.0, |(level, _)| level as f32));
        let article = around().find(|&at| tree.tag(at) == Tag::Article).map(|at| self.sums(tree, at));
        row.add(article.map_or(-1.0, |sums| share(sums.chars, whole.chars)));
        row.add(article.map_or(-1.0, |sums| ln(sums.long_chars)));
    }

    /// Parts of the page around a block, each at least so much larger than the one before.
    pub(super) fn add_groups(&self, row: &mut Row, tree: &Tree, blocks: &[Block], at: usize) {
        let whole = self.whole();
        let own = blocks[at].counts.chars as f32;
        let mut ancestors =
            std::iter::once(blocks[at].container).chain(tree.ancestors(blocks[at].container)).peekable();
        let mut alike = 1;
        let mut alike_level = 0.0;
        let mut level = 0.0;
        let mut next = |least_blocks: f32, least_chars: f32| {
            let mut found = Sums::default();
            let mut element = 0;
            while let Some(&ancestor) = ancestors.peek() {
                if level < 8.0 && self.alike[ancestor] > alike {
                    (alike, alike_level) = (self.alike[ancestor], level);
                }
                found = self.sums(tree, ancestor);
                element = ancestor;
                if found.blocks >= least_blocks && found.chars >= least_chars {
                    break;
                }
                ancestors.next();
                level += 1.0;
            }
            (found, element, level)
        };
        let groups = [next(2.0, 0.0), next(4.0, 2.0 * own), next(8.0, 0.1 * whole.chars), next(8.0, 0.4 * whole.chars)];
        for (sums, element, level) in groups {
            row.add(ln(sums.chars));
            row.add(ln(sums.blocks));
            row.add(share(sums.link_chars, sums.chars));
            row.add(ln(share(sums.chars, sums.blocks)));
            row.add(share(sums.chars, whole.chars));
            row.add(share(sums.long_chars, sums.chars));
            row.add(share(sums.headings, sums.blocks));
            row.add(level);
            row.add(super::tag_class(tree.tag(element)));
            let (first, _) = self.range(tree, element);
            row.add(ln((at - first.min(at)) as f32));
        }
        row.add(ln(alike as f32));
        row.add(alike_level);
        row.add(share(own, whole.chars));
    }
}

/// Of each element, how many siblings have its tag and class.
fn alike(tree: &Tree) -> Vec<u32> {
    let mut counts: HashMap<(u32, Tag, &str), u32> = HashMap::new();
    let class = |at| tree.attribute(at, Name::Class).unwrap_or_default();
    let elements = || (0..tree.len()).filter(|&at| tree.tag(at).is_block());
    for at in elements() {
        *counts.entry((tree.nodes[at].parent, tree.tag(at), class(at))).or_default() += 1;
    }
    let mut alike = vec![1; tree.len()];
    for at in elements() {
        alike[at] = counts.get(&(tree.nodes[at].parent, tree.tag(at), class(at))).copied().unwrap_or(1);
    }
    alike
}
