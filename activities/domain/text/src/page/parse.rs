//! Markup becomes a [`Tree`], by the rules that browsers follow (WHATWG HTML, section 13.2), within limits.
//!
//! html5ever takes the source to pieces and decides what is inside what; the nodes stand in an arena of ours. What those
//! rules would make of a hostile page is bounded before it reaches them:
//!
//! - start tags below the deepest level allowed are left out and their text stays, so that no search of the stack of
//!   open elements is longer than that;
//! - the source ends where the most nodes allowed are reached, or the time is up;
//! - long tags were shortened before, see [`super::long_tags`].

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult};

use super::arena::{Arena, Handle};
use super::tag::Tag;
use super::tree::Tree;
use super::{Cut, Limits, long_tags};

/// The source reaches the tokenizer in pieces of so many bytes, so that a page over its limits is left early.
const PIECE: usize = 64 << 10;
/// The clock is asked once in so many tokens.
const TOKENS_BETWEEN_LOOKS: u32 = 1024;

/// Parses a page. Every text is one: what is no markup is text in a body.
pub(crate) fn parse(source: &str, limits: &Limits, is_out_of_time: &dyn Fn() -> bool, cut: &mut Cut) -> Tree {
    let options = TreeBuilderOpts { drop_doctype: true, scripting_enabled: false, ..TreeBuilderOpts::default() };
    let gate = Gate {
        builder: TreeBuilder::new(Arena::new(limits), options),
        limits,
        is_out_of_time,
        tokens: Cell::new(0),
        is_closed: Cell::new(false),
        is_late: Cell::new(false),
        left_out: RefCell::default(),
        tags_left_out: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(gate, TokenizerOpts::default());
    let shortened = long_tags::shorten(source, limits.attribute_bytes, &mut cut.attributes);
    let queue = BufferQueue::default();
    let mut rest: &str = &shortened;
    while !rest.is_empty() && !tokenizer.sink.is_closed.get() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        rest = behind;
    }
    let gate = &tokenizer.sink;
    cut.depth += gate.tags_left_out.get();
    cut.attributes += gate.builder.sink.attributes_cut();
    cut.is_out_of_nodes |= gate.is_closed.get() && !gate.is_late.get();
    cut.is_out_of_time |= gate.is_late.get();
    // What is open stays open: a tree needs no end tags, and a page over its limits no more work.
    if !gate.is_closed.get() {
        tokenizer.end();
    }
    tokenizer.sink.builder.sink.flatten()
}

/// Stands between tokenizer and tree builder and keeps the limits.
struct Gate<'l> {
    builder: TreeBuilder<Handle, Arena>,
    limits: &'l Limits,
    is_out_of_time: &'l dyn Fn() -> bool,
    tokens: Cell<u32>,
    /// Nothing passes any more.
    is_closed: Cell<bool>,
    is_late: Cell<bool>,
    /// Start tags left out whose end tags have not come.
    left_out: RefCell<HashMap<LocalName, u32>>,
    tags_left_out: Cell<u64>,
}

impl Gate<'_> {
    fn look_at_limits(&self) {
        if self.builder.sink.len() > self.limits.nodes {
            self.is_closed.set(true);
        }
        let tokens = self.tokens.get().wrapping_add(1);
        self.tokens.set(tokens);
        if tokens.is_multiple_of(TOKENS_BETWEEN_LOOKS) && (self.is_out_of_time)() {
            self.is_late.set(true);
            self.is_closed.set(true);
        }
    }

    /// Whether a start tag is too deep, or an end tag belongs to one that was.
    fn is_left_out(&self, kind: TagKind, name: &LocalName) -> bool {
        let mut left_out = self.left_out.borrow_mut();
        match kind {
            TagKind::StartTag if self.builder.sink.depth() >= self.limits.depth => {
                *left_out.entry(name.clone()).or_default() += 1;
                self.tags_left_out.set(self.tags_left_out.get() + 1);
                true
            }
            TagKind::StartTag => false,
            TagKind::EndTag if left_out.is_empty() => false,
            TagKind::EndTag => match left_out.get_mut(name) {
                Some(1) => left_out.remove(name).is_some(),
                Some(count) => {
                    *count -= 1;
                    true
                }
                None => false,
            },
        }
    }
}

impl TokenSink for Gate<'_> {
    type Handle = Handle;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<Handle> {
        if self.is_closed.get() && !matches!(token, Token::EOFToken) {
            return TokenSinkResult::Continue;
        }
        self.look_at_limits();
        let token = match token {
            Token::TagToken(tag) if is_transparent(&tag.name) && self.is_left_out(tag.kind, &tag.name) => {
                if !Tag::of(&tag.name).is_block() {
                    return TokenSinkResult::Continue;
                }
                Token::CharacterTokens(StrTendril::from_char('\n'))
            }
            Token::CommentToken(_) => return TokenSinkResult::Continue,
            token => token,
        };
        self.builder.process_token(token, line_number)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Whether a tag changes only what is inside what: those that change how the source behind them is read must pass.
fn is_transparent(name: &LocalName) -> bool {
    use Tag::*;
    !matches!(
        Tag::of(name),
        Script
            | Style
            | Title
            | Textarea
            | Xmp
            | Iframe
            | Noscript
            | Noframes
            | Noembed
            | Plaintext
            | Template
            | Html
            | Body
    )
}
