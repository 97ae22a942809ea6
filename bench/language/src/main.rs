//! Measures language identifiers on texts whose language is known; see README.md.
//!
//!     cargo run --release -- texts.jsonl [all]

mod identifiers;

use std::collections::BTreeMap;

use serde::Deserialize;

use identifiers::Identifier;

/// A line of `texts.jsonl`.
#[derive(Deserialize)]
struct Text {
    set: String,
    lang: String,
    text: String,
}

/// Texts of one set in one language count at most so often.
const MOST: usize = 150;

/// The first so many characters of a text, up to the last white space where there is one; the last is a document.
const LENGTHS: [usize; 8] = [20, 50, 100, 200, 400, 600, 1000, 5000];

/// Answers below these confidences count as `und`.
const THRESHOLDS: [f64; 5] = [0.0, 0.1, 0.3, 0.6, 0.9];

fn main() {
    let path = std::env::args().nth(1).expect("the path of texts.jsonl");
    let only = std::env::args().nth(2);
    let sets = read(&path);
    for identifier in identifiers::all() {
        if only.as_ref().is_some_and(|only| !identifier.name.contains(only.as_str())) {
            continue;
        }
        println!("\n## {} ({} languages)", identifier.name, identifier.knows.len());
        speed(&identifier, &sets);
        for (set, texts) in &sets {
            report(&identifier, set, texts);
        }
    }
}

/// By set, then by language: whole paragraphs.
type Sets = BTreeMap<String, BTreeMap<String, Vec<String>>>;

fn read(path: &str) -> Sets {
    let mut sets = Sets::new();
    for line in std::fs::read_to_string(path).expect("texts.jsonl").lines() {
        let text: Text = serde_json::from_str(line).expect("a line of texts.jsonl");
        sets.entry(text.set).or_default().entry(text.lang).or_default().push(text.text);
    }
    sets
}

/// Pieces of about `length` characters.
fn pieces(paragraphs: &[String], length: usize) -> Vec<String> {
    if length > 200 {
        let all = paragraphs.join("\n");
        let characters: Vec<char> = all.chars().collect();
        return characters.chunks(length).map(|piece| piece.iter().collect()).take(MOST).collect();
    }
    let step = paragraphs.len().div_ceil(MOST).max(1);
    paragraphs.iter().step_by(step).map(|paragraph| cut(paragraph, length).to_owned()).collect()
}

fn cut(text: &str, length: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(length) else { return text };
    let head = &text[..end];
    head.rfind(' ').filter(|&at| at * 2 > end).map_or(head, |at| &head[..at])
}

fn report(identifier: &Identifier, set: &str, texts: &BTreeMap<String, Vec<String>>) {
    println!("set {set}: accuracy in % over languages (mean of each language's), `known` are those it can answer");
    println!("| characters | threshold | major | known | wrong of known | und of known | foreign called something |");
    println!("|---|---|---|---|---|---|---|");
    for length in LENGTHS {
        let mut answers: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
        for (lang, paragraphs) in texts {
            let pieces = pieces(paragraphs, length);
            if pieces.len() * length < 20 {
                continue;
            }
            answers.insert(lang, pieces.iter().map(|piece| (identifier.identify)(piece)).collect());
        }
        for threshold in THRESHOLDS {
            print_row(identifier, length, threshold, &answers);
        }
        if length == 200 || length == 50 {
            worst(identifier, &answers);
        }
    }
}

fn print_row(identifier: &Identifier, length: usize, least: f64, answers: &BTreeMap<&str, Vec<(String, f64)>>) {
    let share = |lang: &str, test: &dyn Fn(&str) -> bool| {
        let all = &answers[lang];
        let said = all.iter().map(|(said, confidence)| if *confidence < least { "und" } else { said });
        said.filter(|said| test(said)).count() as f64 / all.len() as f64
    };
    let mean = |langs: &[&str], test: &dyn Fn(&str, &str) -> bool| {
        let sum: f64 = langs.iter().map(|lang| share(lang, &|said| test(lang, said))).sum();
        100.0 * sum / langs.len().max(1) as f64
    };
    let right = |lang: &str, said: &str| lang == said;
    let major: Vec<&str> = answers.keys().copied().filter(|lang| lang.len() == 2).collect();
    let known: Vec<&str> = answers.keys().copied().filter(|lang| identifier.knows.contains(*lang)).collect();
    let foreign: Vec<&str> = answers.keys().copied().filter(|lang| !identifier.knows.contains(*lang)).collect();
    println!(
        "| {length} | {least} | {:.1} ({}) | {:.1} ({}) | {:.1} | {:.1} | {:.1} ({}) |",
        mean(&major, &right),
        major.len(),
        mean(&known, &right),
        known.len(),
        mean(&known, &|lang, said| said != "und" && lang != said),
        mean(&known, &|_, said| said == "und"),
        mean(&foreign, &|_, said| said != "und"),
        foreign.len()
    );
}

fn worst(identifier: &Identifier, answers: &BTreeMap<&str, Vec<(String, f64)>>) {
    let mut all: Vec<(f64, String)> = Vec::new();
    for (lang, answers) in answers.iter().filter(|(lang, _)| identifier.knows.contains(**lang)) {
        let wrong: Vec<&str> = answers.iter().map(|(said, _)| said.as_str()).filter(|said| said != lang).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        wrong.iter().for_each(|said| *counts.entry(said).or_default() += 1);
        let most = counts.iter().max_by_key(|(_, count)| **count);
        let share = 100.0 * (1.0 - wrong.len() as f64 / answers.len() as f64);
        all.push((share, format!("{lang} {share:.0} ({})", most.map_or("", |(said, _)| said))));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let worst: Vec<&str> = all.iter().take(14).map(|(_, text)| text.as_str()).collect();
    println!("worst, with what they are most often taken for: {}", worst.join(", "));
}

fn speed(identifier: &Identifier, sets: &Sets) {
    let paragraphs = || sets["help"].values().flat_map(|paragraphs| paragraphs.iter().take(40));
    for length in [50, 200, 400, 600, 1000, 5000] {
        let all: String = paragraphs().map(String::as_str).collect::<Vec<_>>().join(" ");
        let characters: Vec<char> = all.chars().collect();
        let pieces: Vec<String> = characters.chunks(length).map(|piece| piece.iter().collect()).collect();
        let bytes: usize = pieces.iter().map(String::len).sum();
        let (start, mut rounds) = (cpu_seconds(), 0);
        while cpu_seconds() - start < 1.0 {
            pieces.iter().for_each(|piece| {
                std::hint::black_box((identifier.identify)(piece));
            });
            rounds += 1;
        }
        let seconds = cpu_seconds() - start;
        let texts = (pieces.len() * rounds) as f64;
        let (rate, each) = ((bytes * rounds) as f64 / seconds / 1e6, 1e6 * seconds / texts);
        println!("{length} characters: {rate:.1} MB per CPU second, {each:.1} us a text");
    }
}

/// CPU time of this thread: the machine may be busy with other things.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
