//! Markdown: what is escaped, and how code is fenced (CommonMark 0.31.2, sections 2.4, 4.5, 6.1).

/// Adds a word with its marks escaped, so that it reads as it stood.
pub(super) fn push_escaped(out: &mut String, word: &str, is_line_start: bool, is_cell: bool) {
    let mut rest = word;
    if is_line_start {
        rest = push_line_start(out, word);
    }
    for character in rest.chars() {
        let is_mark =
            matches!(character, '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '`') || (is_cell && character == '|');
        if is_mark {
            out.push('\\');
        }
        out.push(character);
    }
}

/// Escapes what would be a heading, an item or a rule; returns what is left of the word.
fn push_line_start<'w>(out: &mut String, word: &'w str) -> &'w str {
    let hashes = word.len() - word.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && hashes == word.len() {
        out.push('\\');
        out.push_str(word);
        return "";
    }
    if matches!(word, "-" | "+") || word.starts_with("---") || word.starts_with("~~~") || word.starts_with("===") {
        out.push('\\');
        out.push_str(&word[..1]);
        return &word[1..];
    }
    let digits = word.len() - word.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    if (1..=9).contains(&digits) && matches!(&word[digits..], "." | ")") {
        out.push_str(&word[..digits]);
        out.push('\\');
        out.push_str(&word[digits..]);
        return "";
    }
    word
}

/// Adds code within a line, in as many backticks as it needs.
pub(super) fn push_code(out: &mut String, code: &str, is_cell: bool) {
    let ticks = "`".repeat(longest_run(code) + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    let code = if is_cell { code.replace('|', "\\|") } else { code.to_owned() };
    for part in [ticks.as_str(), pad, &code, pad, &ticks] {
        out.push_str(part);
    }
}

/// Code between fences, with its language where it is known.
pub(super) fn fenced(code: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run(code).max(2) + 1);
    format!("{fence}{language}\n{code}\n{fence}")
}

fn longest_run(code: &str) -> usize {
    code.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}
