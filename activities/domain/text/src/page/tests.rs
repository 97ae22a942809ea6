//! Pages of our own, each with a kind of markup that extractors are known to get wrong.

mod charsets;
mod code;
mod content;
mod hostile;
mod lists;
mod metadata;
mod odd;
mod properties;
mod rights;
mod tables;

use super::*;

/// A page around this content: navigation before it, a footer behind, paragraphs so that it is a page about something.
fn around(content: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=en><head><title>The weir</title></head><body>\
         <nav><ul><li><a href=/>Start</a></li><li><a href=/shop>Our shop</a></li><li><a href=/in>Log in</a></li></ul></nav>\
         <main><article><h1>The weir below the mill</h1><p>{FIRST}</p>{content}<p>{LAST}</p></article></main>\
         <footer><p>Copyright 2024 The Mill Press. All rights reserved.</p><a href=/privacy>Privacy</a></footer></body></html>"
    )
}

const FIRST: &str = "Two carpenters spent most of the winter on the weir, because the old boards had swollen and no longer let \
     the water through when the river stood high.";
const LAST: &str = "By the end of March the gates moved freely again, and the miller could close them with one hand while \
     he held his hat with the other.";

fn read(source: &str, format: Format) -> String {
    extract_str(source, &Hints::default(), &Options { format, ..Options::default() }).text
}

/// The text between the first paragraph and the last.
fn between(content: &str, format: Format) -> String {
    let text = read(&around(content), format);
    let (_, behind) = text.split_once(FIRST).unwrap_or_else(|| panic!("the first paragraph is missing: {text}"));
    let (inside, _) = behind.split_once(LAST).unwrap_or_else(|| panic!("the last paragraph is missing: {text}"));
    inside.trim().to_owned()
}

fn text(content: &str) -> String {
    between(content, Format::Text)
}

fn markdown(content: &str) -> String {
    between(content, Format::Markdown)
}
