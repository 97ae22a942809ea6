//! `corpora page`: one page as JSON, text, Markdown or links.

use std::path::{Path, PathBuf};

use corpora_tests::harness::{ConfigToml, Lab, Outcome, pack_gzip, pack_zstd};
use serde_json::{Map, Value, json};

const PAGE: &str = "<html lang=en-GB><head><title>Tides</title><meta name=description content='Of the sea.'>\
    <meta name=keywords content='sea, moon'><meta name=robots content='noai'><meta name=date content='2026-01-31'>\
    <link rel=license href='https://creativecommons.org/licenses/by/4.0/'></head><body><nav><a href=/>Home</a></nav>\
    <main><h1>Tides</h1><p>The sea rises twice a day, and why it does so is told by <a href=moon rel=nofollow>the \
    moon</a>, to whom we listen.</p></main></body></html>";

fn page(lab: &Lab, file: &Path, flags: &[&str]) -> Outcome {
    lab.program(["page"]).arg(file).args(flags).run()
}

#[test]
fn a_page_is_one_compact_object() {
    let lab = Lab::new();
    let file = lab.work.place("tides.html", PAGE);
    let run = page(&lab, &file, &["--url", "https://sea.example/a/b"]).exits(0);
    assert_eq!((run.stdout.lines().count(), run.stderr.as_str()), (1, ""));
    let object: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = "Tides\n\nThe sea rises twice a day, and why it does so is told by the moon, to whom we listen.";
    let license = "https://creativecommons.org/licenses/by/4.0/";
    assert_eq!(
        object,
        json!({
            "title": "Tides", "language": "en", "text": text,
            "links": [
                { "url": license, "text": "", "rel": "license", "kind": "page" },
                { "url": "https://sea.example/", "text": "Home", "kind": "anchor" },
                { "url": "https://sea.example/a/moon", "text": "the moon", "rel": "nofollow", "kind": "anchor" },
            ],
            "metadata": {
                "charset": "UTF-8", "language": "en-GB", "description": "Of the sea.", "keywords": ["sea", "moon"],
                "date": "2026-01-31",
            },
            "rights": { "robots": ["noai"], "licenses": [license] },
        })
    );
    let keys = ["{\"title\":", ",\"language\":", ",\"text\":", ",\"links\":", ",\"metadata\":", ",\"rights\":"];
    let places: Vec<usize> = keys.iter().map(|key| run.stdout.find(key).unwrap()).collect();
    assert!(places.is_sorted() && !run.stdout.contains("\": "), "{}", run.stdout);
    assert_eq!(page(&lab, &file, &["--json", "--url", "https://sea.example/a/b"]).exits(0).stdout, run.stdout);
    let piped = lab.program(["page", "-", "--url", "https://sea.example/a/b"]).stdin(&file).run().exits(0);
    assert_eq!(piped.stdout, run.stdout);
}

#[test]
fn a_page_is_its_text_its_markdown_or_its_links() {
    let lab = Lab::new();
    let file = lab.work.place("tides.html", PAGE);
    let told = |flags: &[&str]| page(&lab, &file, flags).exits(0).stdout;
    assert!(told(&["--text"]).starts_with("Tides\n\nThe sea rises twice a day,"));
    assert!(told(&["--markdown"]).starts_with("# Tides\n\nThe sea rises twice a day,"));
    let links = "https://creativecommons.org/licenses/by/4.0/\t\n/\tHome\nmoon\tthe moon\n";
    assert_eq!(told(&["--links"]), links);
    for favor in ["precision", "balanced", "recall"] {
        assert!(told(&["--text", "--favor", favor]).contains("The sea rises"), "{favor}");
    }
    lab.work.configure(ConfigToml::new([lab.tiny()]).with("extract", json!({ "format": "markdown", "max_nodes": 5 })));
    let config = lab.work.config_file();
    let config = config.to_str().unwrap();
    let run = page(&lab, &file, &["--config", config]).exits(0);
    assert!(run.stdout.contains("\"cut\":{\"max_nodes\":true}"), "{}", run.stdout);
    assert!(run.stderr.contains("cut the page"), "{}", run.stderr);
}

#[test]
fn whatever_the_bytes_are_they_are_a_page() {
    let lab = Lab::new();
    for bytes in [&b""[..], b"\0\xff\xfe", b"plain words, no tag", &[0xff; 4096], b"<<<>>>&&&"] {
        let file = lab.work.place("any", bytes);
        let run = page(&lab, &file, &[]).exits(0);
        assert!(serde_json::from_str::<Value>(&run.stdout).is_ok(), "{}", run.stdout);
        let _ = page(&lab, &file, &["--links"]).exits(0);
        let _ = page(&lab, &file, &["--text"]).exits(0);
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let lab = Lab::new();
    let file = lab.work.place("tides.html", PAGE);
    let (gzip, zstd) = (lab.work.place("a.gz", pack_gzip(b"<p>")), lab.work.place("a.zst", pack_zstd(b"<p>")));
    let missing = lab.work.config_folder().join("missing.html");
    for (path, told) in [
        (missing.clone(), "No such file"),
        (lab.work.config_folder(), "directory"),
        (gzip, "gzip -dc"),
        (zstd, "zstd -dc"),
    ] {
        let run = page(&lab, &path, &[]).exits(65);
        assert!(run.stderr.contains(told) && run.stderr.contains(path.to_str().unwrap()), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    let _ = page(&lab, &file, &["--config", missing.to_str().unwrap()]).exits(65);
    for flags in [&["--text", "--links"][..], &["--url", "sea.example"], &["--favor", "speed"], &["--no-such-flag"]] {
        let _ = page(&lab, &file, flags).exits(2);
    }
    let _ = lab.program(["page"]).run().exits(2);
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested is said")]
fn pages_of_reports_are_read_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/html");
    let Ok(snippets) = std::fs::read(folder.join("snippets.json")) else {
        eprintln!("SKIPPED pages of reports: ../shared/cases/html is not there");
        return;
    };
    let cases: Map<String, Value> = serde_json::from_slice(&snippets).unwrap();
    let lab = Lab::new();
    let problems: Vec<String> =
        cases.iter().flat_map(|(name, case)| problems(&lab, &folder.join(name), case)).collect();
    assert!(!cases.is_empty() && problems.is_empty(), "{}", problems.join("\n"));
}

/// The snippets that the page of a report lacks, and those that it has and should not.
fn problems(lab: &Lab, folder: &Path, case: &Value) -> Vec<String> {
    let file: PathBuf = folder.join("input.html");
    let text = page(lab, &file, &["--text"]).exits(0).stdout;
    let snippets = |key: &str| -> Vec<String> {
        case[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let name = folder.display();
    let lacks = snippets("with_").into_iter().filter(|words| !text.contains(words.as_str()));
    let has = snippets("without").into_iter().filter(|words| text.contains(words.as_str()));
    let lacks = lacks.map(|words| format!("{name} lacks {words:?}"));
    lacks.chain(has.map(|words| format!("{name} has {words:?}"))).collect()
}
