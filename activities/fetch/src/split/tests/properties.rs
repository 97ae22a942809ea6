//! Properties of whole splits, and the generators of spellings that other tests share.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Characters with the way each is spelt.
pub(in super::super) fn spelt_text() -> impl Strategy<Value = Vec<(char, u8)>> {
    let character = prop_oneof![
        4 => any::<char>(),
        4 => prop::char::range(' ', '~'),
        2 => prop::char::range('\0', '\u{1f}'),
        2 => prop::sample::select(vec!['"', '\\', '/', '\n', '\u{7f}', '\u{2028}', '\u{feff}', '\u{1f600}']),
    ];
    prop::collection::vec((character, 0_u8..4), 0..40)
}

/// The text, and a JSON spelling of it without its quotes.
pub(in super::super) fn spelt(characters: &[(char, u8)]) -> (String, String) {
    let mut spelling = String::new();
    for &(character, way) in characters {
        let minimal = serde_json::to_string(&character).unwrap();
        let minimal = &minimal[1..minimal.len() - 1];
        let units = character.encode_utf16(&mut [0; 2]).to_vec();
        match way {
            0 => units.iter().for_each(|unit| spelling.push_str(&format!("\\u{unit:04x}"))),
            1 => units.iter().for_each(|unit| spelling.push_str(&format!("\\u{unit:04X}"))),
            2 if character == '/' => spelling.push_str("\\/"),
            _ => spelling.push_str(minimal),
        }
    }
    (characters.iter().map(|&(character, _)| character).collect(), spelling)
}

/// Any JSON value whose numbers fit and whose keys do not repeat, so that `serde_json::Value` is its equal.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-e\"é]{0,2}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A JSON line that holds a text, as (text, line): the text in any place, among other members, with any white space.
fn document() -> impl Strategy<Value = (String, String)> {
    let blank = "[ \t\r]{0,2}";
    let members = prop::collection::vec(("[a-d]{1,3}", json(), blank), 0..4);
    (members, spelt_text(), any::<prop::sample::Index>(), any::<bool>(), blank, blank).prop_map(
        |(members, characters, place, escaped_key, before, after)| {
            let (text, spelling) = spelt(&characters);
            let key = if escaped_key { r"t\u0065xt" } else { "text" };
            let mut all: Vec<String> = members
                .iter()
                .map(|(key, value, blank)| format!("{blank}\"{key}\"{blank}:{blank}{value}{blank}"))
                .collect();
            all.insert(place.index(all.len() + 1), format!("{before}\"{key}\"{after}:{before}\"{spelling}\"{after}"));
            (text, format!("{before}{{{}}}{after}", all.join(",")))
        },
    )
}

/// What a line holds according to `serde_json::Value`: none when that refuses it or finds no text.
fn oracle(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    Some(value.get("text")?.as_str()?.to_owned())
}

/// The blocks of lines of a file, by definition.
fn model_blocks(file: &str) -> Vec<(u64, String)> {
    let mut blocks: Vec<(u64, String)> = Vec::new();
    let mut open = false;
    for (number, raw) in (1..).zip(file.split_inclusive('\n')) {
        let line = raw.strip_suffix('\n').map_or(raw, |line| line.strip_suffix('\r').unwrap_or(line));
        if line.trim().is_empty() {
            open = false;
        } else if let Some((_, block)) = blocks.last_mut().filter(|_| open) {
            block.push('\n');
            block.push_str(line);
        } else {
            blocks.push((number, line.to_owned()));
            open = true;
        }
    }
    blocks
}

proptest! {
    #[test]
    fn documents_keep_their_texts_in_any_spelling(documents in prop::collection::vec(document(), 0..8), most in 1_usize..60) {
        let file: Vec<String> = documents.iter().map(|(_, line)| line.clone()).collect();
        let file = file.join("\n");
        for (_, line) in &documents {
            prop_assert!(oracle(line.as_bytes()).is_some(), "{}", line);
        }
        let settings = settings(Format::Jsonl);
        let mut source = Dribble { bytes: file.as_bytes(), most };
        let done = split_reader(&mut source, "f", &settings).unwrap();
        let expected: Vec<_> = (1..).zip(documents.into_iter().map(|(text, _)| text)).collect();
        prop_assert_eq!(done.documents(), expected);
    }

    /// One byte replaced, removed or added: what `serde_json::Value` refuses is refused, and nearly nothing else. It takes
    /// the last of two equal keys and refuses numbers that are too big for it; here it is the other way round.
    #[test]
    fn mutated_lines_are_judged_as_the_oracle_judges(
        (_, line) in document(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), prop::sample::select(&b"\"\\{}[]:,u0de\x00\x80"[..])],
        way in 0_u8..3,
    ) {
        let mut line = line.into_bytes();
        let at = at.index(line.len());
        match way {
            0 => line[at] = byte,
            1 => drop(line.remove(at)),
            _ => line.insert(at, byte),
        }
        prop_assume!(!line.contains(&b'\n'));
        prop_assume!(!std::str::from_utf8(&line).is_ok_and(|line| line.trim().is_empty()));
        let expected = oracle(&line);
        match split_bytes(&line, &settings(Format::Jsonl)) {
            Ok(done) => {
                let found = done.documents().remove(0).1;
                if let Some(expected) = expected {
                    prop_assert_eq!(found, expected);
                } else {
                    let error = serde_json::from_slice::<Value>(&line).unwrap_err().to_string();
                    prop_assert!(error.starts_with("number out of range"), "{}", error);
                }
            }
            Err(SplitError::Document { line: 1, problem: Problem::DuplicateKey { .. } }) => {}
            Err(error) => prop_assert_eq!(expected, None, "{}", error),
        }
    }

    #[test]
    fn blocks_are_those_of_the_model(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "\n", "\n", "\n", "\r\n", "\r", " ", "\t", "a", "bc", "\"", "\\", "\u{85}", "\u{2028}", "\u{a0}", "\u{feff}", "é", "\u{1}",
        ]), 0..60),
        most in 1_usize..60,
    ) {
        let file = format!("x{}", pieces.concat());
        let mut source = Dribble { bytes: file.as_bytes(), most };
        let done = split_reader(&mut source, "f", &settings(Format::Text)).unwrap();
        prop_assert_eq!(done.documents(), model_blocks(&file));
    }

    #[test]
    fn any_bytes_end_in_a_result(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        head in prop::sample::select(vec![&b""[..], b"\x1f\x8b\x08\0\0\0\0\0\0\x03", b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfd\x04\x58", b"{\"text\":\""]),
        name in prop::sample::select(vec!["f", "f.gz", "f.zst"]),
        format in prop::sample::select(vec![Format::Jsonl, Format::Text]),
        limit in 0_u64..50,
    ) {
        let bytes = [head, &bytes].concat();
        let mut settings = dropping(format);
        settings.documents.max_line_bytes = limit;
        if let Ok(done) = split_reader(&mut &bytes[..], name, &settings) {
            done.documents();
        }
    }

    #[test]
    fn parts_do_not_depend_on_reads_or_workers(
        texts in prop::collection::vec("[a-z \"é\n]{0,400}", 0..40),
        most in 1_usize..2000,
        workers in 1_u32..5,
        part_docs in 1_u64..50,
    ) {
        let file: Vec<String> = texts.iter().map(|text| format!("{{\"text\":{}}}\n", serde_json::to_string(text).unwrap())).collect();
        let file = file.concat();
        let settings = SplitSettings { part_docs, ..settings(Format::Jsonl) };
        let whole = split_reader(&mut file.as_bytes(), "f", &settings).unwrap();
        let pieces = split_on(workers, &mut Dribble { bytes: file.as_bytes(), most }, "f", &settings).unwrap();
        prop_assert_eq!(&whole.outcome, &pieces.outcome);
        prop_assert_eq!(pieces.documents().len(), texts.len());
    }
}
