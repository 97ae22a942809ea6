use proptest::prelude::*;

use super::super::tests::properties::{spelt, spelt_text};
use super::*;

fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<(), SplitError>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn inside(json: &str) -> &str {
    json.strip_prefix('"').unwrap().strip_suffix('"').unwrap()
}

#[test]
fn every_ascii_character_is_escaped_as_serde_json_does() {
    for character in ('\0'..='\u{ff}').chain(['\u{2028}', '\u{feff}', '\u{ffff}', '\u{1f600}', '\u{10ffff}']) {
        let text = format!("a{character}{character}b");
        let expected = serde_json::to_string(&text).unwrap();
        assert_eq!(written(|out| escape(text.as_bytes(), out)), inside(&expected));
        let unit = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        assert_eq!(written(|out| respell(&unit, out)), inside(&expected), "{unit}");
        assert_eq!(written(|out| respell(&unit.to_uppercase().replace("\\U", "\\u"), out)), inside(&expected));
    }
}

#[test]
fn escapes_in_other_spellings_become_the_one() {
    for (spelt, expected) in [
        ("", ""),
        (r"a\/b\/", "a/b/"),
        (r"\u002f", "/"),
        (r"\u0022\u005c", r#"\"\\"#),
        (r"\u0008\u0009\u000A\u000c\u000d", r"\b\t\n\f\r"),
        (r"\u001F\u007f", "\\u001f\u{7f}"),
        (r"\\u0041\\\u0041", r"\\u0041\\A"),
        (r"\ud83d\ude00\uD83D\uDE00", "😀😀"),
        (r"\u00e9é", "éé"),
    ] {
        assert_eq!(written(|out| respell(spelt, out)), expected, "{spelt}");
    }
}

#[test]
fn half_a_pair_is_found_anywhere() {
    for (json, expected) in [
        (r#""\ud800""#, Some(1)),
        (r#""\uDFFF""#, Some(1)),
        (r#""a\\\ud800b""#, Some(4)),
        (r#""\ud800\ud800\udc00""#, Some(1)),
        (r#""\ud83d\u0041""#, Some(1)),
        (r#""\ud83d\n""#, Some(1)),
        (r#""\ude00\ud83d""#, Some(1)),
        (r#"{"a":[{"\udc00":1}]}"#, Some(8)),
        (r#""\ud83d","\ude00""#, Some(1)),
        (r#""\ud83d\ude00""#, None),
        (r#""\\ud800 \\\\udc00""#, None),
        (r#""\u0041\ud7ff\ue000\uffff""#, None),
        (r#""ud800""#, None),
    ] {
        assert_eq!(lone_surrogate(json), expected, "{json}");
    }
}

#[test]
fn values_lose_their_white_space_only() {
    for (value, expected) in [
        ("1e999", "1e999"),
        ("-0.10E+05", "-0.10E+05"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("[ 1 ,\t2 , [ ] ]", "[1,2,[]]"),
        ("{ \"a b\" : \" c \\\" d \" ,\r\"e\" : null }", r#"{"a b":" c \" d ","e":null}"#),
        (r#"" \u0041 \\""#, r#"" A \\""#),
        (r#"["\"", " ]"]"#, r#"["\""," ]"]"#),
        ("true", "true"),
    ] {
        assert_eq!(written(|out| compact(value, out)), expected);
    }
}

#[test]
fn depth_counts_open_brackets_outside_strings() {
    for (value, expected) in
        [("1", 0), ("\"[[{\\\"[\"", 0), ("[]", 1), ("[[],[{\"a\":[]}],{}]", 4), ("[\"\\\\\",[]]", 2)]
    {
        assert_eq!(depth(value), expected, "{value}");
    }
    assert_eq!(depth(&"[".repeat(100_000)), 100_000);
}

proptest! {
    #[test]
    fn texts_are_written_as_serde_json_does(text in any::<String>()) {
        let expected = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(written(|out| escape(text.as_bytes(), out)), inside(&expected));
    }

    #[test]
    fn any_spelling_is_respelt_as_serde_json_writes_it(spelling in spelt_text()) {
        let (text, spelling) = spelt(&spelling);
        prop_assert_eq!(lone_surrogate(&format!("\"{spelling}\"")), None);
        let expected = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(written(|out| respell(&spelling, out)), inside(&expected));
    }

    /// Proven by the parser elsewhere; here any bytes at all must do no harm.
    #[test]
    fn nonsense_does_no_harm(text in r#"[\\u"d8{} \[\]0-9a-f]{0,40}"#) {
        written(|out| respell(&text, out));
        written(|out| compact(&text, out));
        depth(&text);
        lone_surrogate(&text);
    }
}
