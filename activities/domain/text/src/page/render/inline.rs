//! The text of one block: white space collapsed, words neither joined nor split at the borders of elements.

use super::markdown;
use crate::page::blocks::is_left_out;
use crate::page::tag::{Name, Tag};
use crate::page::tree::{Index, Tree};

/// How a block's text is set.
#[derive(Clone, Copy)]
pub(super) struct Inline {
    /// Line breaks become blanks: in headings and cells.
    pub(super) is_one_line: bool,
    pub(super) is_markdown: bool,
    /// `|` would end a cell.
    pub(super) is_cell: bool,
}

impl Inline {
    /// The text of the nodes from `first` to `end`.
    pub(super) fn text(self, tree: &Tree, first: Index, end: Index) -> String {
        let mut line = Line { inline: self, out: String::new(), is_blank_due: false, code_end: 0, code: String::new() };
        if self.is_markdown
            && let Some(code) =
                tree.ancestors(first).take_while(|&at| !tree.tag(at).is_block()).find(|&at| is_code(tree.tag(at)))
        {
            line.start_code(tree.end(code));
        }
        let mut at = first;
        while at < end {
            let tag = tree.tag(at);
            if at >= line.code_end {
                line.end_code();
            }
            if tag != Tag::Text && is_left_out(tree, at) {
                line.is_blank_due |= tag.is_apart();
                at = tree.end(at);
                continue;
            }
            match tag {
                Tag::Text => line.push(tree.text(at)),
                Tag::Br => line.break_line(),
                _ if self.is_markdown && is_code(tag) => line.start_code(tree.end(at)),
                _ if tag.is_apart() || (is_like_block(tag) && stands_apart(tree, at)) => line.is_blank_due = true,
                _ => {}
            }
            at += 1;
        }
        line.end_code();
        line.finish()
    }
}

struct Line {
    inline: Inline,
    out: String,
    is_blank_due: bool,
    code_end: Index,
    code: String,
}

impl Line {
    fn push(&mut self, text: &str) {
        let starts_blank = text.starts_with(char::is_whitespace);
        let ends_blank = text.ends_with(char::is_whitespace);
        self.is_blank_due |= starts_blank;
        let mut is_first = true;
        for word in text.split_whitespace() {
            self.is_blank_due |= !is_first;
            is_first = false;
            self.word(word);
        }
        self.is_blank_due |= ends_blank && !is_first;
    }

    fn word(&mut self, word: &str) {
        if self.code_end > 0 {
            if self.is_blank_due && !self.code.is_empty() {
                self.code.push(' ');
            } else if self.code.is_empty() {
                self.blank();
            }
            self.is_blank_due = false;
            self.code.push_str(word);
            return;
        }
        self.blank();
        if self.inline.is_markdown {
            let is_line_start = self.out.is_empty() || self.out.ends_with('\n');
            markdown::push_escaped(&mut self.out, word, is_line_start, self.inline.is_cell);
        } else {
            self.out.push_str(word);
        }
    }

    fn blank(&mut self) {
        if self.is_blank_due && !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push(' ');
        }
        self.is_blank_due = false;
    }

    fn break_line(&mut self) {
        if self.inline.is_one_line || self.code_end > 0 {
            self.is_blank_due = true;
        } else if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
            self.is_blank_due = false;
        }
    }

    fn start_code(&mut self, end: Index) {
        if self.code_end == 0 {
            self.code_end = end;
        }
    }

    fn end_code(&mut self) {
        self.code_end = 0;
        if !self.code.is_empty() {
            let code = std::mem::take(&mut self.code);
            markdown::push_code(&mut self.out, &code, self.inline.is_cell);
        }
    }

    fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end().len());
        self.out
    }
}

fn is_code(tag: Tag) -> bool {
    matches!(tag, Tag::Code | Tag::Tt | Tag::Samp | Tag::Kbd)
}

/// Elements that pages often set apart by style alone.
fn is_like_block(tag: Tag) -> bool {
    matches!(tag, Tag::Span | Tag::A | Tag::Time | Tag::Address | Tag::Strong | Tag::B | Tag::Em | Tag::Small)
}

/// Whether an element right behind another of its kind begins something new: two links, or a capital or digit behind
/// a small letter, as in `<span>4 March</span><span>Harbour desk</span>`. Letters of one word are seldom torn so.
fn stands_apart(tree: &Tree, at: Index) -> bool {
    let Some(before) = before(tree, at) else { return false };
    let tag = tree.tag(at);
    if tree.tag(before) != tag && !is_like_block(tree.tag(before)) {
        return false;
    }
    if tag == Tag::A && tree.tag(before) == Tag::A {
        return tree.attribute(at, Name::Href) != tree.attribute(before, Name::Href);
    }
    // Names in code are torn by highlighters.
    if tree.ancestors(at).take_while(|&around| !tree.tag(around).is_block()).any(|around| is_code(tree.tag(around))) {
        return false;
    }
    let last = (before..at).rev().map(|inside| tree.text(inside)).find(|text| !text.is_empty());
    let first = (at..tree.end(at)).map(|inside| tree.text(inside)).find(|text| !text.is_empty());
    let (Some(last), Some(first)) = (last, first) else { return false };
    let last_word = last.split_whitespace().next_back().unwrap_or_default();
    let starts = first.chars().next();
    let is_word = last_word.chars().count() > 1;
    let ends = last_word.chars().next_back();
    is_word
        && ends.is_some_and(|end| end.is_lowercase() || end.is_numeric() || matches!(end, '!' | '?'))
        && starts.is_some_and(|start| start.is_uppercase())
}

/// The sibling right before, if it is an element.
fn before(tree: &Tree, at: Index) -> Option<Index> {
    let parent = tree.parent(at);
    // The node before ends where this one starts: climb from it to the child of the parent.
    let mut sibling = at.checked_sub(1)?;
    while sibling != parent && tree.parent(sibling) != parent {
        sibling = tree.parent(sibling);
    }
    (sibling != parent && tree.tag(sibling) != Tag::Text).then_some(sibling)
}
