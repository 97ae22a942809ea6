//! Web archives and pages from a config to a verified dataset.

use std::path::Path;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{ConfigToml, Lab, SourceToml, pack_gzip, pack_zstd, warc_answer, warc_page, warc_record};
use corpora_tests::servers::Answer;
use serde_json::json;

/// A page with a menu, a title and this paragraph.
fn page(title: &str, paragraph: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=en><title>{title}</title><nav><a href=/>Home</a> <a href=/more>More</a></nav>\
         <main><h1>{title}</h1><p>{paragraph}</p></main></html>"
    )
}

/// The records of an archive, of which the second, the fourth and the last are pages.
fn records() -> Vec<Vec<u8>> {
    let tides = page("Tides", "The sea rises twice a day and falls twice a day, and nobody on the shore is surprised.");
    let moon = page("Moon", "The moon is <b>full</b> once a month; then there is much sand, and after it much water.");
    vec![
        warc_record("warcinfo", "", b"software: tests\r\n"),
        warc_page("https://sea.example/tides", tides.as_bytes()),
        warc_answer("https://sea.example/old", "404 Not Found", "text/html", b"<p>No such page.</p>"),
        warc_page("https://sea.example/moon", moon.as_bytes()),
        warc_record("metadata", "WARC-Target-URI: https://sea.example/moon\r\n", b"fetchTimeMs: 7"),
        warc_page("https://sea.example/empty", b"<html><script>fill()</script></html>"),
    ]
}

fn members() -> Vec<u8> {
    records().iter().flat_map(|record| pack_gzip(record)).collect()
}

fn archive(lab: &Lab, id: &str, name: &str, bytes: &[u8]) -> SourceToml {
    lab.server.serve(&format!("/{name}"), Answer::object(bytes));
    SourceToml::new(id, &lab.url(&format!("/{name}")), bytes).with("format", "warc")
}

/// An archive from a server, a page and texts of pages from disk.
fn sources(lab: &Lab) -> [SourceToml; 3] {
    let html = page("Wind", "A wind from the sea holds the water back, and whoever walks out then is late.");
    let text = warc_record(
        "conversion",
        "WARC-Target-URI: https://sea.example/sand\r\nContent-Type: text/plain\r\n",
        b"Sand is dry\r\nfor two hours.\r\n",
    );
    lab.work.place("wind.html", &html);
    lab.work.place("sand.warc.wet", &text);
    [
        archive(lab, "sea", "sea.warc.gz", &members()),
        SourceToml::new("wind", "wind.html", html.as_bytes()).with("format", "html"),
        SourceToml::new("sand", "sand.warc.wet", &text).with("format", "wet"),
    ]
}

#[test]
fn archives_and_pages_become_a_verified_dataset() {
    let lab = Lab::new();
    let run = lab.build_config(ConfigToml::shelved(sources(&lab))).exits(0);
    for told in ["1 `metadata`, 1 `status`, 1 `warcinfo`", "left out 1 pages without any text"] {
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
    let rows = lab.work.shard_rows();
    let mut found: Vec<[&str; 4]> =
        rows.iter().map(|row| ["id", "url", "title", "text"].map(|key| row[key].as_str().unwrap())).collect();
    found.sort_unstable();
    let sea = "The sea rises twice a day and falls twice a day, and nobody on the shore is surprised.";
    let moon = "The moon is full once a month; then there is much sand, and after it much water.";
    let wind = "A wind from the sea holds the water back, and whoever walks out then is late.";
    assert_eq!(
        found,
        [
            ["sand:0", "https://sea.example/sand", "", "Sand is dry\nfor two hours."],
            ["sea:0", "https://sea.example/tides", "Tides", &format!("Tides\n\n{sea}")],
            ["sea:1", "https://sea.example/moon", "Moon", &format!("Moon\n\n{moon}")],
            ["wind:0", "wind.html", "Wind", &format!("Wind\n\n{wind}")],
        ]
    );
    let manifest = lab.work.manifest().unwrap();
    let dropped = [("empty_page", 1), ("metadata", 1), ("status", 1), ("warcinfo", 1)];
    assert_eq!(manifest.dropped, dropped.map(|(reason, count)| (reason.to_owned(), count)).into());
    assert_eq!(lab.work.receipt("sea", "20260101").n_docs, 3, "what has no text is a page all the same");
    assert_eq!(lab.work.rows()[0].n_docs, 3);
    let raw = &lab.work.raw_documents("sea")[0];
    assert_eq!((raw.url.as_str(), raw.content_type.as_deref()), ("https://sea.example/tides", Some("text/html")));
    let verdict = lab.program(["verify"]).arg(lab.work.path("corpus/datasets/small/v1")).run().exits(0);
    assert!(verdict.stdout.contains("\"verdict\":\"verified\""), "{}", verdict.stdout);
    let full = lab.program(["ledger", "verify", "--full", "--config"]).arg(lab.work.config_file()).run().exits(0);
    assert!(full.stdout.contains("\"ok\":true"), "{}", full.stdout);
    let _ = lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn another_extract_table_makes_pages_anew_and_asks_nothing() {
    let lab = Lab::new();
    let shelf = sources(&lab);
    let _ = lab.build_config(ConfigToml::shelved(shelf.clone())).exits(0);
    let asked = lab.server.log().len();
    let markdown = ConfigToml::shelved(shelf).with("extract", json!({ "format": "markdown" }));
    let run = lab.build_config(markdown).exits(0);
    let anew = ["extract sea", "extract wind", "extract sand", "store small/v1", "verify-ledger small/v1"];
    assert_eq!(run.worked_on(), anew);
    assert_eq!(lab.server.log().len(), asked, "no request");
    let moon = &lab.work.documents("sea")[1];
    assert!(moon.text.starts_with("# Moon\n\nThe moon is"), "{}", moon.text);
    let _ = lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn a_page_bound_is_part_of_the_split() {
    let lab = Lab::new();
    let source = archive(&lab, "sea", "sea.warc.gz", &members());
    let _ = lab.build_config(source.clone()).exits(0);
    let run = lab.build_config(source.with("page_bytes", 100)).exits(0);
    assert_eq!(run.worked_on()[0], "fetch sea");
    let receipt = lab.work.receipt("sea", "20260101.2");
    assert_eq!((receipt.n_docs, receipt.dropped["page_bytes"]), (1, 2));
    assert_eq!(lab.work.manifest().unwrap().n_docs, 0, "the only page left has no text");
}

#[test]
fn a_damaged_archive_is_a_data_error_that_publishes_nothing() {
    let plain = records().concat();
    let packed = pack_gzip(&plain);
    let second = records()[0].len();
    let short = String::from_utf8(plain.clone()).unwrap().replacen("Content-Length: 17", "Content-Length: 16", 1);
    let cases = [
        (
            "cut",
            "cut.warc",
            plain[..second + 300].to_vec(),
            format!("record 2, at byte {second} of the unpacked file: the file ends inside it"),
        ),
        ("tail", "tail.warc", plain[..plain.len() - 1].to_vec(), "record 6, at byte".to_owned()),
        ("gzip", "cut.warc.gz", packed[..packed.len() - 20].to_vec(), "ends before its last member does".to_owned()),
        ("frame", "cut.warc.zst", pack_zstd(&plain)[..200].to_vec(), "ends before its last frame does".to_owned()),
        (
            "length",
            "length.warc",
            short.into_bytes(),
            "record 1, at byte 0 of the unpacked file: no two line ends".to_owned(),
        ),
        ("other", "other.warc", b"{\"text\":\"a\"}\n".to_vec(), "does not start with `WARC/1.0`".to_owned()),
    ];
    let lab = Lab::new();
    lab.work.configure(cases.clone().map(|(id, name, bytes, _)| {
        lab.work.place(name, &bytes);
        SourceToml::new(id, name, &bytes).with("format", "warc")
    }));
    let run = lab.fetch().args(["--keep-going"]).run().exits(65);
    for (id, _, _, expected) in &cases {
        let (entry, error) = (run.entry(id), run.error(id));
        assert_eq!((entry.status, error.kind.as_str()), (Status::Failed, "archive"), "{id}: {}", error.message);
        assert!(error.message.contains(expected.as_str()), "{id}: {}", error.message);
        assert!(lab.work.versions(id).is_empty(), "{id}: nothing of it is published");
    }
    assert_eq!(lab.work.ledger(), "");
}

#[test]
fn an_archive_passes_in_the_memory_of_a_page() {
    let body = page("Long", &"All that is on the shore is washed away in the end. ".repeat(4000));
    let mut bytes = Vec::new();
    for number in 0..300 {
        bytes.extend(pack_gzip(&warc_page(&format!("https://sea.example/{number}"), body.as_bytes())));
        bytes.extend(pack_gzip(&warc_answer("https://sea.example/v", "200 OK", "video/mp4", &vec![0; 300_000])));
    }
    let lab = Lab::new();
    lab.work.place("long.warc.gz", &bytes);
    let source = SourceToml::new("long", "long.warc.gz", &bytes).with("format", "warc");
    let run = lab.fetch_config(source).exits(0);
    assert_eq!(run.entry("long").n_docs, 300, "60 MB of pages");
    assert!(run.peak_memory < 64 << 20, "{} bytes", run.peak_memory);
}

#[test]
fn the_example_of_pages_is_built() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/pages/corpus.toml");
    let lab = Lab::new();
    let run = lab.program(["build", "--config"]).arg(&config).run().exits(0);
    assert_eq!(run.build_summary().n_docs, 4);
    let again = lab.program(["build", "--config"]).arg(&config).run().exits(0);
    assert_eq!(again.worked_on(), [""; 0]);
}
