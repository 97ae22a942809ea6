//! Tables: cells apart, rows as lines. Tables that only place things on the page are no tables.

use std::collections::HashMap;

use super::inline::Inline;
use crate::page::Format;
use crate::page::blocks::Block;
use crate::page::tag::{Name, Tag};
use crate::page::tree::{Index, Tree};

/// A cell with more text than this is a part of the page.
const MOST_CELL_CHARS: u32 = 1200;

/// Which tables hold data, each looked at once.
#[derive(Default)]
pub(super) struct Tables(HashMap<Index, bool>);

impl Tables {
    /// The table that a block is a cell's text of, unless that table only places things.
    pub(super) fn around(&mut self, tree: &Tree, container: Index) -> Option<Index> {
        let mut around = std::iter::once(container).chain(tree.ancestors(container));
        let table = around.find(|&at| tree.tag(at) == Tag::Table)?;
        let is_code = around.any(|at| tree.tag(at).is_preformatted());
        let is_data = *self.0.entry(table).or_insert_with(|| !is_code && is_data(tree, table));
        is_data.then_some(table)
    }
}

fn is_data(tree: &Tree, table: Index) -> bool {
    if tree.attribute(table, Name::Role).is_some_and(|role| matches!(role.trim(), "presentation" | "none")) {
        return false;
    }
    let mut rows = 0;
    let mut cells_in_row = 0;
    let mut is_wide = false;
    let mut cell_chars = 0;
    for at in table + 1..tree.end(table) {
        match tree.tag(at) {
            Tag::Table | Tag::Pre | Tag::H1 | Tag::H2 | Tag::H3 | Tag::Form | Tag::Article | Tag::Section => {
                return false;
            }
            Tag::Tr => {
                rows += 1;
                cells_in_row = 0;
            }
            Tag::Td | Tag::Th => {
                cells_in_row += 1;
                is_wide |= cells_in_row > 1;
                cell_chars = 0;
            }
            Tag::Text => {
                cell_chars += u32::try_from(tree.text(at).len()).unwrap_or(u32::MAX);
                if cell_chars > MOST_CELL_CHARS {
                    return false;
                }
            }
            _ => {}
        }
    }
    rows > 0 && is_wide
}

/// The rows of a table, from those of its blocks that were chosen.
pub(super) fn render(tree: &Tree, table: Index, blocks: &[Block], format: Format) -> String {
    let inline = Inline { is_one_line: true, is_markdown: format == Format::Markdown, is_cell: true };
    let columns = columns(tree, table);
    let mut before: Vec<String> = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = usize::MAX;
    let mut cell = usize::MAX;
    for block in blocks {
        let text = inline.text(tree, block.first, block.end);
        let Some((at, column)) = position(tree, table, &columns, block.container) else {
            before.push(text);
            continue;
        };
        if at.row != row {
            rows.push(Vec::new());
            (row, cell) = (at.row, usize::MAX);
        }
        let Some(current) = rows.last_mut() else { continue };
        while current.len() <= column {
            current.push(String::new());
        }
        let separator = if cell != at.cell {
            ""
        } else if at.is_item {
            "; "
        } else {
            " "
        };
        cell = at.cell;
        current[column].push_str(separator);
        current[column].push_str(&text);
    }
    let lines = match format {
        Format::Text => text_lines(&rows),
        Format::Markdown => markdown_lines(&rows),
    };
    let gap = if before.is_empty() || lines.is_empty() { "" } else { "\n\n" };
    format!("{}{gap}{}", before.join("\n"), lines.join("\n"))
}

/// The column of every cell, counted in cells: a cell that claims to be as wide as the page is one cell.
fn columns(tree: &Tree, table: Index) -> HashMap<Index, usize> {
    let mut columns = HashMap::new();
    for row in (table..tree.end(table)).filter(|&at| tree.tag(at) == Tag::Tr) {
        let cells = tree.children(row).filter(|&child| matches!(tree.tag(child), Tag::Td | Tag::Th));
        columns.extend(cells.enumerate().map(|(column, cell)| (cell, column)));
    }
    columns
}

struct At {
    row: Index,
    cell: Index,
    is_item: bool,
}

/// The row and cell around a block, and the cell's column; nothing for a caption.
fn position(tree: &Tree, table: Index, columns: &HashMap<Index, usize>, container: Index) -> Option<(At, usize)> {
    let mut cell = None;
    let mut is_item = false;
    for at in std::iter::once(container).chain(tree.ancestors(container)).take_while(|&at| at != table) {
        match tree.tag(at) {
            Tag::Li => is_item = true,
            Tag::Td | Tag::Th => cell = Some(at),
            Tag::Tr => {
                let cell = cell?;
                return Some((At { row: at, cell, is_item }, *columns.get(&cell)?));
            }
            _ => {}
        }
    }
    None
}

fn text_lines(rows: &[Vec<String>]) -> Vec<String> {
    rows.iter().map(|row| row.join("\t").trim_end().to_owned()).filter(|line| !line.trim().is_empty()).collect()
}

/// The first row is the head: tables of Markdown have one.
fn markdown_lines(rows: &[Vec<String>]) -> Vec<String> {
    // A ragged table is filled up, but not by more than it holds.
    let widest = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cells: usize = rows.iter().map(Vec::len).sum();
    let columns = if widest * rows.len() <= 4 * cells + 64 { widest } else { rows.first().map_or(0, Vec::len) };
    let line = |row: &Vec<String>| {
        let mut line = String::from("|");
        for column in 0..columns.max(row.len()) {
            let cell = row.get(column).map(String::as_str).unwrap_or_default();
            line.push_str(if cell.is_empty() { "" } else { " " });
            line.push_str(cell);
            line.push_str(" |");
        }
        line
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if !lines.is_empty() {
        lines.insert(1, format!("|{}", " --- |".repeat(columns)));
    }
    lines
}
