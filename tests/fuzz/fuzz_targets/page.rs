//! Any bytes as a page: a text in its normal form, the same in every reading, within the limits; the first byte chooses
//! how it is read.

#![no_main]

use corpora_text::normalize::normalize;
use corpora_text::page::{Favor, Format, Hints, Limits, Options, extract};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let tight = Limits { page_bytes: 4096, depth: 12, nodes: 500, attribute_bytes: 16 };
    let options = Options {
        favor: [Favor::Precision, Favor::Balanced, Favor::Recall][usize::from(choice & 3) % 3],
        format: if choice & 4 == 0 { Format::Text } else { Format::Markdown },
        limits: if choice & 8 == 0 { Limits::default() } else { tight },
    };
    let hints = Hints {
        url: (choice & 16 == 0).then_some("https://example.org/a/b?c=d"),
        content_type: (choice & 32 == 0).then_some("text/html; charset=utf-8"),
        agent: None,
    };
    let page = extract(bytes, &hints, &options);
    assert_eq!(normalize(&page.text), page.text);
    assert_eq!(extract(bytes, &hints, &options), page);
    // Nothing is said more often than it stands there, but for the marks of quotes, items and tables on every line.
    assert!(page.text.len() <= 64 * bytes.len() + 64, "{} bytes of {}", page.text.len(), bytes.len());
});
