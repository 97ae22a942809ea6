//! Runs one extractor over pages; see README.md.
//!
//!     cargo run --release -- TOOL < pages.jsonl > texts.jsonl

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

/// A line of `pages.jsonl`.
#[derive(Deserialize)]
struct Source {
    id: String,
    url: String,
    html: String,
}

/// A line of the answer.
#[derive(Serialize)]
struct Extracted {
    id: String,
    title: String,
    text: String,
    cpu_s: f64,
}

fn main() {
    let tool = std::env::args().nth(1).expect("a tool");
    if let Some(format) = tool.strip_prefix("file-") {
        return file(format, &std::env::args().nth(2).expect("a file"));
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let source: Source = serde_json::from_str(&line.expect("a line")).expect("a page");
        if tool == "observe" {
            observe(&source, &mut out);
            continue;
        }
        let before = cpu_seconds();
        let (title, text) = extract(&tool, &source);
        let cpu_s = cpu_seconds() - before;
        let extracted = Extracted { id: source.id, title, text, cpu_s };
        serde_json::to_writer(&mut out, &extracted).expect("stdout");
        out.write_all(b"\n").expect("stdout");
    }
}

/// The text of one page, to look at.
fn file(format: &str, path: &str) {
    use corpora_text::page::{Format, Hints, Options, extract};
    let format = if format == "markdown" { Format::Markdown } else { Format::Text };
    let bytes = std::fs::read(path).expect("the file");
    println!("{}", extract(&bytes, &Hints::default(), &Options { format, ..Options::default() }).text);
}

/// What the model is trained on: a line of JSON a page, with the blocks' texts and features.
fn observe(source: &Source, out: &mut impl Write) {
    use corpora_text::page::{Hints, Limits, observations};
    let hints = Hints { url: Some(&source.url), ..Hints::default() };
    let blocks = observations(&source.html, &hints, &Limits::default());
    let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).collect();
    let features: Vec<&[f32]> = blocks.iter().map(|block| block.features.as_slice()).collect();
    let line = serde_json::json!({ "id": source.id, "texts": texts, "features": features });
    writeln!(out, "{line}").expect("stdout");
}

fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn extract(tool: &str, source: &Source) -> (String, String) {
    match tool {
        "corpora" => corpora(source, corpora_text::page::Favor::Balanced),
        "corpora-precision" => corpora(source, corpora_text::page::Favor::Precision),
        "corpora-recall" => corpora(source, corpora_text::page::Favor::Recall),
        #[cfg(feature = "peers")]
        _ => peers(tool, source),
        #[cfg(not(feature = "peers"))]
        _ => panic!("unknown tool `{tool}`; peers need the feature `peers`"),
    }
}

fn corpora(source: &Source, favor: corpora_text::page::Favor) -> (String, String) {
    use corpora_text::page::{Hints, Options, extract};
    let hints = Hints { url: Some(&source.url), ..Hints::default() };
    let page = extract(source.html.as_bytes(), &hints, &Options { favor, ..Options::default() });
    (page.title, page.text)
}

#[cfg(feature = "peers")]
fn peers(tool: &str, source: &Source) -> (String, String) {
    let html = source.html.as_str();
    match tool {
        "trafilatura-crate" | "trafilatura-crate-precision" => {
            let focus = match tool {
                "trafilatura-crate" => trafilatura::ExtractionFocus::Balanced,
                _ => trafilatura::ExtractionFocus::FavorPrecision,
            };
            let options = trafilatura::Options::default().with_focus(focus).with_fallback(true);
            trafilatura::extract(html, &options)
                .map(|found| (found.metadata.title, found.content_text))
                .unwrap_or_default()
        }
        "rs-trafilatura" => {
            let options =
                rs_trafilatura::Options { url: Some(source.url.clone()), ..rs_trafilatura::Options::default() };
            let found = rs_trafilatura::extract_with_options(html, &options);
            found.map(|found| (found.metadata.title.unwrap_or_default(), found.content_text)).unwrap_or_default()
        }
        "libreadability" => {
            let found = libreadability::extract(html, Some(&source.url));
            found.map(|found| (found.title, found.text_content)).unwrap_or_default()
        }
        "dom_smoothie" => {
            let found = dom_smoothie::Readability::new(html, Some(&source.url), None).and_then(|mut read| read.parse());
            found.map(|found| (found.title, found.text_content.to_string())).unwrap_or_default()
        }
        _ => panic!("unknown tool `{tool}`"),
    }
}
