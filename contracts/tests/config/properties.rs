//! Whatever is written, reading ends with problems, not with a panic; and no message repeats a credential.

use corpora_contracts::config::{Document, Value, parse_json, parse_toml, redact, validate};
use proptest::prelude::*;

use crate::sample::{DIGEST, read};

const FULL: &str = include_str!("../../examples/v1/config/full.toml");
const SPEC: &str = include_str!("../../examples/v1/config/spec.json");

/// What a person, or a cosmic ray, does to a text.
#[derive(Debug, Clone)]
enum Edit {
    Delete(usize, usize),
    Insert(usize, String),
    Repeat(usize, usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let pieces = prop_oneof![
        "\\PC{0,8}",
        prop::sample::select(vec![
            "[[sources]]\n",
            "[",
            "]",
            "{",
            "}",
            "\"",
            "'",
            "\n",
            " = ",
            "0",
            "-",
            "1e999",
            "null",
            "\u{0}",
            "\u{feff}",
            ",",
            "= []\n",
            "= {}\n",
            "@",
            "?token="
        ])
        .prop_map(str::to_owned),
    ];
    let edit = prop_oneof![
        (0..4000_usize, 0..40_usize).prop_map(|(at, length)| Edit::Delete(at, length)),
        (0..4000_usize, pieces).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (0..4000_usize, 0..80_usize).prop_map(|(at, length)| Edit::Repeat(at, length)),
    ];
    prop::collection::vec(edit, 1..4)
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits {
        let bounds = |at: usize, length: usize| {
            let start = at % (chars.len() + 1);
            start..(start + length).min(chars.len())
        };
        match edit {
            Edit::Delete(at, length) => drop(chars.drain(bounds(*at, *length))),
            Edit::Insert(at, piece) => {
                let at = bounds(*at, 0).start;
                drop(chars.splice(at..at, piece.chars()));
            }
            Edit::Repeat(at, length) => {
                let piece: Vec<_> = chars[bounds(*at, *length)].to_vec();
                let at = bounds(*at, 0).start;
                drop(chars.splice(at..at, piece));
            }
        }
    }
    chars.into_iter().collect()
}

/// A reading has a config or says why not, and every line it names is one of the text.
fn is_consistent(document: &Document, text: &str) {
    let reading = validate(document);
    let lines = text.split('\n').count();
    assert!(reading.config.is_some() || !reading.problems.is_empty());
    for problem in reading.problems.iter().chain(&reading.warnings) {
        assert!(problem.line.is_some_and(|line| (1..=lines).contains(&line)), "{problem:?} of {lines}");
        assert!(!problem.at("c").contains('\n'), "{problem}");
    }
    if let Some(config) = &reading.config {
        config.digest().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}|(.|\n){0,200}") {
        if let Ok(document) = parse_toml(&text) {
            is_consistent(&document, &text);
        }
        if let Ok(document) = parse_json(text.as_bytes()) {
            is_consistent(&document, &text);
        }
    }

    #[test]
    fn any_text_is_shown_without_a_panic(text in "\\PC{0,60}") {
        let _ = redact(&text);
    }

    #[test]
    fn no_password_is_printed(user in "[a-z]{0,5}", port in "(:[0-9]{1,7}|:x|)", noise in "[ -~]{0,6}") {
        let printed = redact(&format!("https://{user}:{noise}HUNTER2@h{port}/x"));
        // Where the parser ends the authority inside the password, the URL has no userinfo.
        let ends_early = noise.contains(['/', '\\', '?', '#']);
        prop_assert!(ends_early || !printed.contains("HUNTER2"), "{}", printed);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_json(&bytes);
    }

    #[test]
    fn mangled_configs_are_read_without_a_panic(edits in edits()) {
        let text = edited(FULL, &edits);
        if let Ok(document) = parse_toml(&text) {
            is_consistent(&document, &text);
        }
        let text = edited(SPEC, &edits);
        if let Ok(document) = parse_json(text.as_bytes()) {
            is_consistent(&document, &text);
        }
    }

    /// Only values are exchanged, so that every case reaches the rules.
    #[test]
    fn exchanged_values_are_judged_without_a_panic(at in 0..60_usize, text in "\\PC{0,20}", number in any::<f64>(), pick in 0..6_u8) {
        let mut document = parse_toml(FULL).unwrap();
        let value = match pick {
            0 => Value::Text(text),
            1 => Value::Float { written: number.to_string(), value: number },
            2 => Value::Integer { written: number.to_string(), value: None },
            3 => Value::Flag(true),
            4 => Value::List(Vec::new()),
            _ => Value::Null,
        };
        let mut left = at;
        exchange(&mut document.root, &mut left, &value);
        is_consistent(&document, FULL);
    }

    #[test]
    fn no_message_repeats_a_password(
        user in "[a-z]{1,5}", before in "[!-~&&[^@/?#\\\\']]{0,6}", after in "[!-~&&[^'\\\\]]{0,6}", scheme in "https|http|ftp|HTTPS|s3"
    ) {
        let secret = "Hunter2Secret";
        let url = format!("{scheme}://{user}:{before}{secret}{after}@host/x");
        for line in [format!("url = '{url}'"), format!("url = 'x'\nmirrors = ['{url}']"), format!("url = 'x'\nlicense_url = '{url}'")] {
            let text = format!("dataset = 'd'\nversion = 'v'\n[[sources]]\nid = 'a'\nsha256 = '{DIGEST}'\nlicense_spdx = 'MIT'\n{line}\n");
            let reading = read(&text);
            prop_assert!(!reading.problems.is_empty());
            for problem in reading.problems.iter().chain(&reading.warnings) {
                prop_assert!(!problem.to_string().contains(secret), "{problem}");
            }
        }
    }
}

/// Puts `value` in the place of the value that is reached after `left` others.
fn exchange(table: &mut corpora_contracts::config::Table, left: &mut usize, value: &Value) {
    for entry in &mut table.entries {
        exchange_node(&mut entry.node, left, value);
    }
}

fn exchange_node(node: &mut corpora_contracts::config::Node, left: &mut usize, value: &Value) {
    if *left == 0 {
        node.value = value.clone();
        *left = usize::MAX;
        return;
    }
    *left -= 1;
    match &mut node.value {
        Value::Table(table) => exchange(table, left, value),
        Value::List(items) => items.iter_mut().for_each(|item| exchange_node(item, left, value)),
        _ => {}
    }
}
