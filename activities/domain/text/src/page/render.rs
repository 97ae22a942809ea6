//! The blocks that were chosen, as text that keeps their meaning.
//!
//! Paragraphs, headings and code stand apart by a blank line; items of a list are lines with their marks, rows of a table
//! are lines. Both forms are made by the same walk: Markdown adds marks and escapes what would be taken for marks.

mod code;
mod inline;
mod lists;
mod markdown;
mod table;

use super::Format;
use super::select::Selection;
use super::tag::Tag;
use super::tree::{Index, Tree};
use inline::Inline;
use lists::Lists;
use table::Tables;

/// Renders what was chosen.
pub(crate) fn render(tree: &Tree, selection: &Selection, format: Format) -> String {
    let mut out = Out {
        tree,
        format,
        lists: Lists::of(tree),
        tables: Tables::default(),
        text: String::new(),
        open_list: None,
        is_in_item: false,
        open_quote: None,
    };
    let kept: Vec<usize> = (0..selection.blocks.len()).filter(|&at| selection.is_kept[at]).collect();
    let mut at = 0;
    while let Some(&block) = kept.get(at) {
        let container = selection.blocks[block].container;
        match out.tables.around(tree, container) {
            Some(element) => {
                let inside =
                    kept[at..].iter().take_while(|&&next| selection.blocks[next].first < tree.end(element)).count();
                let blocks: Vec<_> = kept[at..at + inside].iter().map(|&next| selection.blocks[next]).collect();
                out.table(element, &blocks);
                at += inside;
            }
            None => {
                out.block(container, selection.blocks[block].first, selection.blocks[block].end);
                at += 1;
            }
        }
    }
    out.text
}

struct Out<'t> {
    tree: &'t Tree,
    format: Format,
    lists: Lists,
    tables: Tables,
    text: String,
    /// The outermost list that the last piece stands in.
    open_list: Option<Index>,
    is_in_item: bool,
    /// The innermost quote that the last piece stands in.
    open_quote: Option<Index>,
}

impl Out<'_> {
    fn block(&mut self, container: Index, first: Index, end: Index) {
        let place = Place::of(self.tree, container);
        let body = match place.preformatted {
            Some(element) => {
                let Some(code) = code::text(self.tree, element, first, end) else { return };
                match self.format {
                    Format::Text => code,
                    Format::Markdown => markdown::fenced(&code, &code::language(self.tree, element)),
                }
            }
            None => {
                let is_one_line = place.heading.is_some();
                let inline = Inline { is_one_line, is_markdown: self.format == Format::Markdown, is_cell: false };
                let text = inline.text(self.tree, first, end);
                match (self.format, place.heading) {
                    (Format::Markdown, Some(level)) => format!("{} {text}", &"######"[..usize::from(level)]),
                    _ => text,
                }
            }
        };
        if !body.is_empty() {
            self.piece(&place, &body);
        }
    }

    fn table(&mut self, element: Index, blocks: &[super::blocks::Block]) {
        let place = Place::of(self.tree, element);
        let rendered = table::render(self.tree, element, blocks, self.format);
        if !rendered.is_empty() {
            self.piece(&place, &rendered);
        }
    }

    /// Adds a piece with the marks of the items and quotes around it.
    fn piece(&mut self, place: &Place, body: &str) {
        let marks = self.lists.marks(&place.around, self.format);
        let is_item = marks.is_new;
        let separator = match (self.text.is_empty(), self.is_in_item && place.list == self.open_list) {
            (true, _) => "",
            (false, true) if is_item || self.format == Format::Text => "\n",
            _ => "\n\n",
        };
        self.text.push_str(separator);
        // A blank line would end the quote.
        if separator == "\n\n" && place.quote.is_some() && place.quote == self.open_quote {
            self.text.pop();
            self.text.push_str(marks.next.trim_end());
            self.text.push('\n');
        }
        for (number, line) in body.lines().enumerate() {
            if number > 0 {
                self.text.push('\n');
            }
            self.text.push_str(if number == 0 { &marks.first } else { &marks.next });
            self.text.push_str(line);
        }
        self.open_list = place.list;
        self.is_in_item = place.list.is_some();
        self.open_quote = place.quote.filter(|_| self.format == Format::Markdown);
    }
}

/// Where a block stands, as far as it shows.
struct Place {
    heading: Option<u8>,
    /// The outermost element around that keeps white space.
    preformatted: Option<Index>,
    /// The items and quotes around, outermost first.
    around: Vec<Around>,
    /// The outermost list around the items.
    list: Option<Index>,
    /// The innermost quote.
    quote: Option<Index>,
}

/// What shows before each line of what is in it.
#[derive(Clone, Copy)]
enum Around {
    Item(Index),
    Quote,
}

impl Place {
    fn of(tree: &Tree, container: Index) -> Self {
        let mut place = Self { heading: None, preformatted: None, around: Vec::new(), list: None, quote: None };
        for element in std::iter::once(container).chain(tree.ancestors(container)) {
            let tag = tree.tag(element);
            place.heading = place.heading.or(tag.heading());
            match tag {
                Tag::Li => place.around.push(Around::Item(element)),
                Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => place.list = Some(element),
                Tag::Blockquote => {
                    place.quote = place.quote.or(Some(element));
                    place.around.push(Around::Quote);
                }
                _ if tag.is_preformatted() => place.preformatted = Some(element),
                _ => {}
            }
        }
        place.around.reverse();
        if !place.around.iter().any(|around| matches!(around, Around::Item(_))) {
            place.list = None;
        }
        place
    }
}
