//! The marks of items, `- ` and `1. `, and of quotes, `> `, behind those of what is around.

use std::collections::{HashMap, HashSet};

use super::Around;
use crate::page::Format;
use crate::page::tag::{Name, Tag};
use crate::page::tree::{Index, Tree};

/// Items deeper than this are not indented any further.
const MOST_LEVELS: usize = 8;

/// Quotes deeper than this are not marked any further: every line has the marks of all around it.
const MOST_QUOTES: usize = 8;

/// The numbers of numbered items, and which items have their mark already.
pub(super) struct Lists {
    numbers: HashMap<Index, i64>,
    marked: HashSet<Index>,
}

/// What stands before the lines of a piece.
pub(super) struct Marks {
    pub(super) first: String,
    pub(super) next: String,
    /// Whether the piece starts an item.
    pub(super) is_new: bool,
}

impl Lists {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut numbers = HashMap::new();
        for list in (0..tree.len()).filter(|&at| tree.tag(at) == Tag::Ol) {
            let start = tree.attribute(list, Name::Start).and_then(|start| start.trim().parse().ok());
            let is_reversed = tree.attribute(list, Name::Reversed).is_some();
            let items: Vec<Index> = tree.children(list).filter(|&child| tree.tag(child) == Tag::Li).collect();
            let step: i64 = if is_reversed { -1 } else { 1 };
            let mut number: i64 =
                start.unwrap_or(if is_reversed { i64::try_from(items.len()).unwrap_or(1) } else { 1 });
            for item in items {
                number =
                    tree.attribute(item, Name::Value).and_then(|value| value.trim().parse().ok()).unwrap_or(number);
                numbers.insert(item, number);
                number = number.saturating_add(step);
            }
        }
        Self { numbers, marked: HashSet::new() }
    }

    /// The marks of a piece with this around it, outermost first. An item has its mark before its first piece alone; quotes
    /// are marked in Markdown.
    pub(super) fn marks(&mut self, around: &[Around], format: Format) -> Marks {
        let mut marks = Marks { first: String::new(), next: String::new(), is_new: false };
        let items = around.iter().filter(|around| matches!(around, Around::Item(_))).count().min(MOST_LEVELS);
        let (mut level, mut quotes) = (0, 0);
        for around in around {
            match *around {
                Around::Item(item) if level < items => {
                    level += 1;
                    self.mark(item, level == items, &mut marks);
                }
                Around::Quote if format == Format::Markdown && quotes < MOST_QUOTES => {
                    quotes += 1;
                    marks.first.push_str("> ");
                    marks.next.push_str("> ");
                }
                _ => {}
            }
        }
        marks
    }

    /// Of items that begin together only the innermost shows its mark: one line has one.
    fn mark(&mut self, item: Index, is_innermost: bool, marks: &mut Marks) {
        let mark = self.numbers.get(&item).map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
        let blank = " ".repeat(mark.len());
        marks.is_new = self.marked.insert(item) && is_innermost;
        marks.first = marks.next.clone() + if marks.is_new { &mark } else { &blank };
        marks.next.push_str(&blank);
    }
}
