//! Hostile pages through the program: within memory, within time, and what is cut is said.

use std::fmt::Write as _;
use std::time::Duration;

use corpora_tests::harness::{Lab, Outcome};
use serde_json::Value;

fn read(lab: &Lab, page: &str) -> (Value, Outcome) {
    let file = lab.work.place("page.html", page);
    let run = lab.program(["page"]).arg(file).run().exits(0);
    (serde_json::from_str(&run.stdout).unwrap(), run)
}

fn list(entries: usize) -> String {
    let mut page = "<html><body><h1>Terms</h1><dl>".to_owned();
    for at in 0..entries {
        let _ = write!(page, "<dt>Term {at}<dd>What term {at} stands for in this list of terms.");
    }
    page + "</dl>"
}

#[test]
fn twenty_thousand_nested_elements_are_read_to_the_innermost() {
    let lab = Lab::new();
    let deep = |tag: &str, closed: bool| {
        let end = if closed { format!("</{tag}>").repeat(20_000) } else { String::new() };
        format!("<p>Words before it.</p>{}<p>The innermost sentence.</p>{end}", format!("<{tag}>").repeat(20_000))
    };
    for (tag, closed) in
        [("div", true), ("div", false), ("b", true), ("span", false), ("ul><li", false), ("table><td", false)]
    {
        let (object, run) = read(&lab, &deep(tag, closed));
        let text = object["text"].as_str().unwrap();
        assert!(text.contains("The innermost sentence."), "{tag}: {}", text.len());
        assert!(object["metadata"]["cut"]["max_depth"].as_u64().unwrap() > 10_000, "{tag}: {}", object["metadata"]);
        assert!(run.stderr.contains("max_depth"), "{}", run.stderr);
        assert!(run.took < Duration::from_secs(20) && run.peak_memory < 100 << 20, "{tag}: {:?}", run.took);
    }
}

#[test]
fn a_huge_list_is_read_whole_in_linear_time() {
    let lab = Lab::new();
    let took = |entries| {
        let (object, run) = read(&lab, &list(entries));
        let text = object["text"].as_str().unwrap().to_owned();
        assert!(text.contains("Term 0\n") && text.contains(&format!("What term {} stands", entries - 1)));
        assert!(object["metadata"]["cut"].is_null(), "{}", object["metadata"]);
        run.took
    };
    // Four times the page takes some four times as long; a quadratic one would take sixteen times. The machine may be held
    // up in one of them, but not every time.
    let is_linear = || took(60_000) < 10 * took(15_000) + Duration::from_secs(1);
    assert!((0..3).any(|_| is_linear()), "quadratic");
}

#[test]
fn memory_is_bounded_by_the_limits_whatever_the_page() {
    let lab = Lab::new();
    let attributes: String = (0..100_000).map(|at| format!(" a{at}={at}")).collect();
    for (name, page, limit) in [
        ("longer than the limit", "<p>Words and more words. </p>".repeat(800_000), "page_bytes"),
        ("of nothing but tags", "<p>x".repeat(1_300_000), "max_nodes"),
        ("of attributes", format!("<p{attributes} title='{}'>Words.", "y".repeat(4 << 20)), "attribute_bytes"),
    ] {
        let (object, run) = read(&lab, &page);
        assert!(!object["metadata"]["cut"][limit].is_null(), "{name}: {}", object["metadata"]);
        assert!(!object["text"].as_str().unwrap().is_empty(), "{name}");
        assert!(run.peak_memory < 400 << 20, "{name}: {} bytes", run.peak_memory);
    }
}

#[test]
fn a_page_ends_when_its_time_is_up_and_says_so() {
    let lab = Lab::new();
    let file = lab.work.place("page.html", list(40_000));
    let config = corpora_tests::harness::ConfigToml::new([lab.tiny()]);
    lab.work.configure(config.with("extract", serde_json::json!({ "time_budget": 0.000_001 })));
    let run = lab.program(["page"]).arg(file).arg("--config").arg(lab.work.config_file()).run().exits(0);
    let object: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(object["metadata"]["cut"]["time_budget"], true, "{}", object["metadata"]);
    assert!(!object["text"].as_str().unwrap().contains("What term 39999"));
    assert!(run.stderr.contains("time_budget"), "{}", run.stderr);
}
