//! Which blocks are the main text.
//!
//! How likely a block must be is a question of the page: what is a doubtful paragraph of a clear article may be as good as
//! it gets on a page of prices and links. So the blocks are kept that raise the F1 to be expected of the page, and
//! [`Favor`] moves that line.

use super::blocks::{Block, blocks};
use super::features::{Features, Kind, Row};
use super::model::log_odds;
use super::structured::Structured;
use super::tag::{Name, Tag};
use super::tree::{Attribute, Tree};
use super::{Favor, Hints, Page, lexicon};

/// What is less likely main text than this is none, on whatever page.
const LEAST: f32 = 0.02;

/// Of what another block must have, a heading of the first level needs this part.
const TITLE: f32 = 0.4;

/// The blocks of a page, and which of them are kept.
pub(crate) struct Selection {
    pub(crate) blocks: Vec<Block>,
    pub(crate) is_kept: Vec<bool>,
}

pub(crate) fn select(tree: &mut Tree, hints: &Hints<'_>, favor: Favor, page: &Page, stated: &Structured) -> Selection {
    let blocks = blocks(tree);
    let kind = Kind::of(tree, stated);
    let features = Features::of(tree, &blocks, hints, page, &kind);
    let judged = Judged::of(&blocks, &features);
    let shift = match favor {
        Favor::Precision => 0.15,
        Favor::Balanced => 0.0,
        Favor::Recall => -0.2,
    };
    let least = (judged.threshold() + shift).max(LEAST);
    let adverts = adverts(tree, &blocks);
    // Pages that call themselves articles have their title in their metadata, and readers of articles leave it there.
    let is_titled = !kind.is_article();
    let is_main = |at: usize| {
        let is_title = is_titled && tree.tag(blocks[at].container) == Tag::H1;
        let least = if is_title { least * TITLE } else { least };
        judged.chances[at] >= least && !adverts[at]
    };
    let is_kept = (0..blocks.len()).map(is_main).collect();
    Selection { blocks, is_kept }
}

/// Which blocks stand in what the page itself calls an advert; none, where that would be a good part of the page.
fn adverts(tree: &Tree, blocks: &[Block]) -> Vec<bool> {
    let mut end = 0;
    let mut ends = vec![0; tree.len()];
    for (at, behind) in ends.iter_mut().enumerate() {
        let is_named = |attribute: &Attribute| {
            matches!(attribute.name, Name::Class | Name::Id) && lexicon::is_advert(tree.value(attribute))
        };
        if at >= end && !matches!(tree.tag(at), Tag::Html | Tag::Body) && tree.attributes(at).iter().any(is_named) {
            end = tree.end(at);
        }
        *behind = end;
    }
    let found: Vec<bool> = blocks.iter().map(|block| block.first < ends[block.first]).collect();
    let chars = |is_advert: bool| -> u32 {
        let of = blocks.iter().zip(&found).filter(|&(_, &found)| found == is_advert);
        of.map(|(block, _)| block.counts.chars).sum()
    };
    if chars(true) * 4 > chars(false) { vec![false; blocks.len()] } else { found }
}

/// How likely each block is main text, with what it weighs: its words, and something for being there.
struct Judged {
    chances: Vec<f32>,
    weights: Vec<f32>,
}

impl Judged {
    fn of(blocks: &[Block], features: &Features<'_>) -> Self {
        let mut row = Row::default();
        let chance = |at| {
            features.fill(&mut row, at);
            1.0 / (1.0 + (-log_odds(row.values())).exp())
        };
        let weights = blocks.iter().map(|block| block.counts.words() + 0.3).collect();
        Self { chances: (0..blocks.len()).map(chance).collect(), weights }
    }

    /// Half of the F1 that can be expected of the best choice: a block that is less likely main text lowers it.
    fn threshold(&self) -> f32 {
        let mut order: Vec<usize> = (0..self.chances.len()).collect();
        order.sort_by(|&one, &other| self.chances[other].total_cmp(&self.chances[one]));
        let weight = |at: usize| f64::from(self.weights[at]);
        let right = |at: usize| f64::from(self.chances[at]) * weight(at);
        let whole: f64 = order.iter().map(|&at| right(at)).sum();
        let (mut kept, mut found, mut best) = (0.0_f64, 0.0_f64, 0.0_f64);
        for at in order {
            kept += weight(at);
            found += right(at);
            best = best.max(found / (kept + whole));
        }
        best as f32
    }
}
