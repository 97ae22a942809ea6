//! The cases of public test suites that lie beside the repository, when they do: `../shared/cases`.
//!
//! They are not ours to ship. What we answer otherwise is listed with the reason, and counted.

#![expect(clippy::expect_used, clippy::panic, reason = "a case that cannot be read ends the test")]

mod robots;
mod url;

use std::path::Path;

use serde_json::Value;

/// The lines of a file of cases; nothing, said aloud, where it is not there.
#[expect(clippy::disallowed_methods, reason = "a test reads its cases from where they lie")]
#[expect(clippy::print_stderr, reason = "what was not tested is said")]
fn cases(name: &str) -> Option<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED cases: ../shared/cases/{name} is not there");
        return None;
    };
    Some(text.lines().map(read).collect())
}

/// A case. Half of a surrogate pair, which no text has, is U+FFFD, as browsers make of it.
fn read(line: &str) -> Value {
    serde_json::from_str(line).or_else(|_| serde_json::from_str(&whole(line))).expect("a case on each line")
}

fn whole(line: &str) -> String {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let is_high = |unit: u16| (0xD800..0xDC00).contains(&unit);
    let is_low = |unit: u16| (0xDC00..0xE000).contains(&unit);
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("\\u") {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let first = unit(rest);
        let second = rest.get(6..).and_then(unit);
        let kept = match first {
            Some(high) if is_high(high) && second.is_some_and(is_low) => 12,
            Some(half) if is_high(half) || is_low(half) => 0,
            _ => 6,
        };
        text.push_str(if kept == 0 { "\\ufffd" } else { &rest[..kept] });
        rest = &rest[kept.max(6)..];
    }
    text.push_str(rest);
    text
}
