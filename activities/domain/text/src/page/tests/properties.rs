//! What holds of every page.

use proptest::prelude::*;

use super::*;

/// Pieces of pages, broken in every way that their order can break them.
fn markup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{0,30}",
        2 => "(<|</)(p|div|b|i|a|ul|ol|li|table|tr|td|th|pre|code|h1|h3|span|section|article|nav|footer|form|select|svg|math|template|noscript|dl|dt|dd|blockquote|br|script|style|title|textarea|details)( (id|class|href|style|hidden|rel)(=(x|\"y z\"|'display:none'|https://a.example/))?){0,3}(>|/>|)",
        1 => "&(amp|lt|#[0-9]{1,8}|#x[0-9a-f]{1,6}|nosuch);?",
        1 => "<!--[a-z>-]{0,8}(-->)?|<!doctype html>|<!\\[CDATA\\[x\\]\\]>|<\\?xml\\?>",
        1 => "\\PC{0,6}|[\\x00-\\x1f]{0,3}",
        1 => Just(format!("<p>{FIRST}</p>")),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_page_has_its_text(source in markup()) {
        for format in [Format::Text, Format::Markdown] {
            let text = read(&source, format);
            prop_assert_eq!(crate::normalize::normalize(&text), text.as_str());
            prop_assert_eq!(&read(&source, format), &text);
        }
    }

    #[test]
    fn every_sequence_of_bytes_is_a_page(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let page = extract(&bytes, &Hints::default(), &Options::default());
        prop_assert!(page.text.len() <= 4 * bytes.len());
    }

    #[test]
    fn plain_words_come_out_as_they_went_in(words in "[A-Z][a-z]{2,9}( [a-z]{2,9}){25,40}\\.") {
        let text = read(&around(&format!("<p>{words}</p>")), Format::Text);
        prop_assert!(text.contains(&words), "{words} in {text}");
    }

    #[test]
    fn more_is_kept_the_more_recall_is_favoured(source in markup()) {
        let blocks = |favor| extract_str(&source, &Hints::default(), &Options { favor, ..Options::default() }).text.len();
        prop_assert!(blocks(Favor::Precision) <= blocks(Favor::Recall));
    }

    #[test]
    fn limits_bound_every_page(source in markup(), nodes in 1_usize..50, depth in 1_usize..8, bytes in 0_usize..200) {
        let limits = Limits { nodes, depth, page_bytes: bytes, attribute_bytes: 2 };
        let page = extract_str(&source, &Hints::default(), &Options { limits, ..Options::default() });
        prop_assert!(page.text.len() <= 4 * bytes);
    }
}
