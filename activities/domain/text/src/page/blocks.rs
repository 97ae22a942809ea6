//! The visible text of a page as blocks: what a browser would set as one paragraph, heading, item or cell.
//!
//! A block is a run of nodes in document order without a line break between them that structure asks for. What is inside
//! elements that show nothing, or that the page hides, is in no block.

use super::tag::{Name, Tag};
use super::tree::{Index, Shown, Tree};
use super::words::is_unspaced;

/// One block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// The innermost block element around it.
    pub(crate) container: Index,
    /// Its first text node.
    pub(crate) first: Index,
    /// The index behind its last text node.
    pub(crate) end: Index,
    pub(crate) counts: Counts,
}

/// What a block's text is made of. Characters are those that are no white space.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) chars: u32,
    /// Words; of scripts without blanks, half a word a character.
    pub(crate) half_words: u32,
    pub(crate) link_chars: u32,
    pub(crate) links: u32,
    pub(crate) letters: u32,
    pub(crate) digits: u32,
    pub(crate) capitals: u32,
    /// Words that start with a capital.
    pub(crate) capitalised: u32,
    /// Ends of sentences: `.`, `!`, `?` and their like.
    pub(crate) stops: u32,
    pub(crate) commas: u32,
    /// `|`, `›`, `/`, `•` and their like, which set apart what is no sentence.
    pub(crate) bars: u32,
    pub(crate) currency: u32,
    /// Whether the last character ends a sentence.
    pub(crate) is_ended: bool,
    /// Characters of pictures' places, form fields and buttons inside.
    pub(crate) controls: u32,
}

impl Counts {
    pub(crate) fn words(&self) -> f32 {
        self.half_words as f32 / 2.0
    }

    fn add(&mut self, text: &str, is_link: bool) {
        let mut is_in_word = false;
        for character in text.chars() {
            if character.is_whitespace() {
                is_in_word = false;
                continue;
            }
            self.chars += 1;
            self.link_chars += u32::from(is_link);
            if is_unspaced(character) {
                self.half_words += 1;
            } else if !is_in_word {
                self.half_words += 2;
                self.capitalised += u32::from(character.is_uppercase());
                is_in_word = true;
            }
            self.add_character(character);
        }
    }

    fn add_character(&mut self, character: char) {
        if character.is_alphabetic() {
            self.letters += 1;
            self.capitals += u32::from(character.is_uppercase());
        } else if character.is_numeric() {
            self.digits += 1;
        }
        match character {
            '.' | '!' | '?' | '。' | '！' | '？' | '…' | '।' | '؟' | '۔' => self.stops += 1,
            ',' | ';' | '，' | '、' | '；' | '،' => self.commas += 1,
            '|' | '›' | '»' | '•' | '·' | '/' | '>' | '→' => self.bars += 1,
            '$' | '€' | '£' | '¥' | '₹' => self.currency += 1,
            _ => {}
        }
        match character {
            '.' | '!' | '?' | '。' | '！' | '？' | '…' | ':' | '।' | '؟' | '۔' | '：' => self.is_ended = true,
            '"' | '\'' | ')' | '”' | '’' | '»' | ']' | '」' | '）' => {}
            _ => self.is_ended = false,
        }
    }
}

/// The blocks of a page in document order.
///
/// A page that shows next to nothing waits for a script: then what it keeps for readers without scripts counts as shown,
/// and after that what it hides.
pub(crate) fn blocks(tree: &mut Tree) -> Vec<Block> {
    let mut found = walk(tree);
    for shown in [Shown { hidden: false, noscript: true }, Shown { hidden: true, noscript: true }] {
        let most_hidden = if shown.hidden { 250 } else { u64::MAX };
        let chars = chars(&found);
        let before = std::mem::replace(&mut tree.shown, shown);
        let all = walk(tree);
        if chars < most_hidden && self::chars(&all) > 2 * chars + 200 {
            found = all;
        } else {
            tree.shown = before;
        }
    }
    found
}

fn chars(blocks: &[Block]) -> u64 {
    blocks.iter().map(|block| u64::from(block.counts.chars)).sum()
}

struct Walk<'t> {
    tree: &'t Tree,
    blocks: Vec<Block>,
    current: Option<Block>,
    /// The block elements around, and where they end.
    open: Vec<(Index, Index)>,
    link_end: Index,
    preformatted_end: Index,
    breaks: u32,
}

fn walk(tree: &Tree) -> Vec<Block> {
    let mut walk =
        Walk { tree, blocks: Vec::new(), current: None, open: Vec::new(), link_end: 0, preformatted_end: 0, breaks: 0 };
    let mut at = 0;
    while at < tree.len() {
        walk.leave(at);
        if is_left_out(tree, at) {
            if let Some(block) = &mut walk.current {
                block.counts.controls += u32::from(tree.tag(at).is_apart());
            }
            at = tree.end(at);
            continue;
        }
        walk.enter(at);
        at += 1;
    }
    walk.close();
    walk.blocks
}

impl Walk<'_> {
    fn leave(&mut self, at: Index) {
        while self.open.last().is_some_and(|&(_, end)| end <= at) {
            self.open.pop();
            self.close();
        }
    }

    fn enter(&mut self, at: Index) {
        let tag = self.tree.tag(at);
        match tag {
            Tag::Text => self.text(at),
            Tag::Br if at >= self.preformatted_end => {
                self.breaks += 1;
                if self.breaks > 1 {
                    self.close();
                }
            }
            Tag::A => {
                self.link_end = self.link_end.max(self.tree.end(at));
                if let Some(block) = &mut self.current {
                    block.counts.links += 1;
                }
            }
            _ if tag.is_block() && at >= self.preformatted_end => {
                self.close();
                self.open.push((at, self.tree.end(at)));
                if tag.is_preformatted() {
                    self.preformatted_end = self.tree.end(at);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, at: Index) {
        let text = self.tree.text(at);
        if text.bytes().all(|byte| byte.is_ascii_whitespace()) || text.trim().is_empty() {
            return;
        }
        self.breaks = 0;
        let container = self.open.last().map_or(0, |&(element, _)| element);
        let is_link = at < self.link_end;
        let block = self.current.get_or_insert(Block { container, first: at, end: at, counts: Counts::default() });
        block.end = at + 1;
        if block.first == at {
            block.counts.links += u32::from(is_link);
        }
        block.counts.add(text, is_link);
    }

    fn close(&mut self) {
        self.breaks = 0;
        self.blocks.extend(self.current.take());
    }
}

/// Whether nothing inside the node is text that a reader sees.
pub(crate) fn is_left_out(tree: &Tree, at: Index) -> bool {
    let tag = tree.tag(at);
    if tag == Tag::Text {
        return false;
    }
    if tag.is_never_text() || (tag == Tag::Template && tree.attribute(at, Name::ShadowRoot).is_none()) {
        return true;
    }
    if (tag == Tag::Noscript && !tree.shown.noscript) || is_permalink(tree, at) {
        return true;
    }
    !tree.shown.hidden && (is_hidden(tree, at) || (tag == Tag::Dialog && tree.attribute(at, Name::Open).is_none()))
}

/// Whether a link is the mark behind a heading by which one links to it: within the page, and no word.
fn is_permalink(tree: &Tree, at: Index) -> bool {
    tree.tag(at) == Tag::A
        && tree.end(at) <= at + 4
        && tree.attribute(at, Name::Href).is_some_and(|href| href.len() > 1 && href.starts_with('#'))
        && matches!(tree.inner_text(at).trim(), "¶" | "#" | "§" | "🔗" | "⚓" | "∞")
}

fn is_hidden(tree: &Tree, at: Index) -> bool {
    tree.attributes(at).iter().any(|attribute| {
        let value = tree.value(attribute);
        match attribute.name {
            Name::Hidden => !value.eq_ignore_ascii_case("until-found"),
            Name::AriaHidden => value.eq_ignore_ascii_case("true"),
            Name::Style => hides(value),
            _ => false,
        }
    })
}

/// Whether a `style` attribute takes the element out of sight.
fn hides(style: &str) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(property, value)| {
        let value = value.trim().trim_end_matches("!important").trim();
        match property.trim() {
            name if name.eq_ignore_ascii_case("display") => value.eq_ignore_ascii_case("none"),
            name if name.eq_ignore_ascii_case("visibility") => value.eq_ignore_ascii_case("hidden"),
            _ => false,
        }
    })
}
