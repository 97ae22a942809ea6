//! Preformatted text as it stands: its indentation kept, the numbers of its lines left out.

use crate::page::blocks::is_left_out;
use crate::page::tag::{Name, Tag};
use crate::page::tree::{Index, Tree};

/// The text of a block of code; nothing when it is the column of line numbers beside another.
pub(super) fn text(tree: &Tree, element: Index, first: Index, end: Index) -> Option<String> {
    // White space before the first word is indentation, and belongs to the code.
    let start = if first_text(tree, element) == Some(first) { element } else { first };
    let mut code = String::new();
    let mut open: Vec<Index> = Vec::new();
    let mut at = start;
    while at < end {
        while open.last().is_some_and(|&line_end| line_end <= at) {
            open.pop();
            end_line(&mut code);
        }
        let tag = tree.tag(at);
        if at != start && (is_left_out(tree, at) || is_line_number(tree, at)) {
            at = tree.end(at);
            continue;
        }
        match tag {
            Tag::Text => code.push_str(tree.text(at)),
            Tag::Br => code.push('\n'),
            Tag::Td | Tag::Th => {}
            _ if at != start && tag.is_block() => {
                end_line(&mut code);
                open.push(tree.end(at));
            }
            _ => {}
        }
        at += 1;
    }
    let code = code.replace("\r\n", "\n").replace('\r', "\n");
    let code = code.trim_end();
    let code = without_blank_start(code);
    (!code.is_empty() && !is_numbers(code)).then(|| code.to_owned())
}

fn end_line(code: &mut String) {
    if !code.is_empty() && !code.ends_with('\n') {
        code.push('\n');
    }
}

fn first_text(tree: &Tree, element: Index) -> Option<Index> {
    (element..tree.end(element)).find(|&at| !tree.text(at).trim().is_empty())
}

/// Blank lines before the first go; the blanks that indent it stay.
fn without_blank_start(code: &str) -> &str {
    let first = code.find(|character: char| !character.is_whitespace()).unwrap_or(code.len());
    code[..first].rfind('\n').map_or(code, |line_end| &code[line_end + 1..])
}

/// Whether the text is a run of line numbers.
fn is_numbers(code: &str) -> bool {
    let numbers: Option<Vec<u32>> = code.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers.is_some_and(|numbers| {
        let is_run = numbers.windows(2).all(|pair| pair[1] == pair[0].saturating_add(1));
        is_run && (numbers.len() > 1 || numbers == [1])
    })
}

/// Whether an element inside code holds the number of a line: highlighters name it so, and it holds nothing else.
fn is_line_number(tree: &Tree, at: Index) -> bool {
    let tag = tree.tag(at);
    if !matches!(
        tag,
        Tag::Span | Tag::Td | Tag::Th | Tag::A | Tag::Div | Tag::B | Tag::I | Tag::Em | Tag::Small | Tag::Other
    ) {
        return false;
    }
    let says = |name| {
        tree.attribute(at, name).is_some_and(|value| {
            value.split_ascii_whitespace().any(|word| {
                let word = word.to_ascii_lowercase();
                ["lineno", "linenum", "line-num", "line_num", "gutter", "blob-num", "ln-num"]
                    .iter()
                    .any(|key| word.contains(key))
                    || word == "ln"
            })
        })
    };
    if !says(Name::Class) && tree.attribute(at, Name::DataLine).is_none() {
        return false;
    }
    // Long before it was found to be one, a gutter would be longer than any number.
    let mut texts = (at..tree.end(at)).map(|inside| tree.text(inside).trim());
    texts.all(|text| text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace()))
}

/// The language that `class="language-…"` names on the element, what is around it, or the code inside.
pub(super) fn language(tree: &Tree, element: Index) -> String {
    let inside = (element + 1..tree.end(element)).take(4).filter(|&at| tree.tag(at) == Tag::Code);
    let around = tree.ancestors(element).take(3);
    std::iter::once(element).chain(inside).chain(around).find_map(|at| stated(tree, at)).unwrap_or_default()
}

fn stated(tree: &Tree, at: Index) -> Option<String> {
    let named = [Name::DataLang, Name::DataLanguage].iter().find_map(|&name| tree.attribute(at, name));
    let class = tree.attribute(at, Name::Class).unwrap_or_default();
    let prefixed = class.split_ascii_whitespace().find_map(|word| {
        ["language-", "lang-", "highlight-source-", "brush:"].iter().find_map(|prefix| word.strip_prefix(prefix))
    });
    let language = named.or(prefixed)?.trim();
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= 20
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-#_.".contains(&byte))
    };
    let is_none = matches!(language, "none" | "plaintext" | "text" | "plain" | "default");
    (is_name(language) && !is_none).then(|| language.to_ascii_lowercase())
}
