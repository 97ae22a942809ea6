use proptest::prelude::*;

use super::*;

#[test]
fn each_rule_has_its_example() {
    for (text, normal) in [
        ("", ""),
        ("Tom has a red ball.", "Tom has a red ball."),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a\r\r\nb", "a\n\nb"),
        ("a\u{85}b\u{b}c\u{c}d\u{2028}e\u{2029}f", "a\nb\nc\nd\ne\nf"),
        ("a\0b\u{1b}[0mc\u{7f}d\u{9f}e\u{80}f", "ab[0mcdef"),
        ("\u{feff}a\u{feff}b", "ab"),
        ("a\tb", "a\tb"),
        ("\ta\n    b", "\ta\n    b"),
        ("a \t\nb\u{a0}\u{3000}\u{2003}\n", "a\nb"),
        ("a \0\nb", "a\nb"),
        ("a\n\nb", "a\n\nb"),
        ("a\n \n\t\n\u{3000}\nb", "a\n\nb"),
        ("\n\n  a\n\n\n", "  a"),
        (" \n\t", ""),
        ("\u{feff}", ""),
        ("cafe\u{301}", "caf\u{e9}"),
        ("e\0\u{301}", "\u{e9}"),
        ("a\u{327}\u{301}", "\u{e1}\u{327}"),
        ("\u{212b}\u{2126}", "\u{c5}\u{3a9}"),
        ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
        ("\u{958}", "\u{915}\u{93c}"),
        ("\u{fb01}\u{ff21}", "\u{fb01}\u{ff21}"),
        (
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
        ),
        ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{200d}\u{1f469}"),
        ("\u{2014}\u{ef}\u{fffd}\u{a0}x", "\u{2014}\u{ef}\u{fffd}\u{a0}x"),
    ] {
        assert_eq!(normalize(text), normal, "{text:?}");
    }
}

#[test]
fn a_normal_text_is_not_copied() {
    for text in ["", "a", "a\n\nb\n  c\td", "caf\u{e9} \u{65e5}\u{672c} \u{1f468}\u{200d}\u{1f469} \u{2014} \u{ef}"] {
        assert!(matches!(normalize(text), Cow::Borrowed(same) if std::ptr::eq(same, text)), "{text:?}");
    }
}

#[test]
fn work_grows_with_the_text_and_no_faster() {
    // Each would take hours if a rule looked back or forward over the whole text again and again.
    for piece in [" ", "\n", "\r", " \n", "\u{301}", "\0", "a \n\n\n", "\u{2028}", "\u{3000}\u{315}\u{300}"] {
        let text = format!("a{}b", piece.repeat(1_000_000));
        assert!(normalize(&text).len() <= text.len() + 1, "{piece:?}");
    }
}

/// Texts full of what the rules are about.
fn texts() -> impl Strategy<Value = String> {
    let special = "[\r\n\t \u{85}\u{b}\u{c}\u{2028}\u{2029}\u{feff}\u{a0}\u{3000}\0\u{7f}\u{9f}\u{1c}\u{200d}]{0,4}";
    let marks = "[ae\u{301}\u{327}\u{315}\u{1100}\u{1161}\u{11a8}\u{ac00}\u{915}\u{93c}\u{958}\u{212b}\u{2000}]{0,4}";
    prop::collection::vec(prop_oneof![special, marks, ".{0,5}", "[a-z]{1,3}"], 0..30).prop_map(|all| all.concat())
}

fn remains(text: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfc();
    let kept: String = text.chars().filter(|&c| !c.is_control() && c != '\u{feff}').collect();
    composed.normalize(&kept).chars().filter(|c| !c.is_whitespace()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn twice_is_once(text in texts()) {
        let once = normalize(&text);
        let twice = normalize(&once);
        prop_assert_eq!(&once, &twice);
        prop_assert!(matches!(twice, Cow::Borrowed(_)), "a normal text is not copied");
    }

    #[test]
    fn the_result_keeps_every_rule(text in texts()) {
        let normal = normalize(&text);
        let is_forbidden = |c: char| c == '\u{feff}' || (c.is_control() && c != '\n' && c != '\t');
        let is_line_end = |c: char| matches!(c, '\u{2028}' | '\u{2029}');
        prop_assert!(!normal.contains(is_forbidden) && !normal.contains(is_line_end));
        prop_assert!(ComposingNormalizerBorrowed::new_nfc().is_normalized(&normal));
        prop_assert!(normal.split('\n').all(|line| line.trim_end() == line));
        prop_assert!(!normal.contains("\n\n\n") && !normal.starts_with('\n') && !normal.ends_with('\n'));
    }

    /// Line breaks change where a mark has to combine, so words are compared line by line and joined.
    #[test]
    fn nothing_is_lost_but_white_space_and_controls(text in texts()) {
        let lines = |text: &str| -> String {
            let breaks = ['\r', '\n', '\u{85}', '\u{b}', '\u{c}', '\u{2028}', '\u{2029}'];
            text.split(breaks).map(remains).collect()
        };
        prop_assert_eq!(lines(&normalize(&text)), lines(&text));
    }

    #[test]
    fn lines_stay_lines(text in texts()) {
        let words = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        let simple = text.replace(['\r', '\u{85}', '\u{b}', '\u{c}', '\u{2028}', '\u{2029}'], "\n");
        let plain: String = simple.chars().filter(|&c| c == '\n' || c == '\t' || !is_dropped(c)).collect();
        prop_assert_eq!(words(&normalize(&text)), words(&plain));
    }
}
