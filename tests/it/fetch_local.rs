//! Sources on this machine: read where they lie, never altered.

use std::fs;

use corpora_contracts::ids::Digest;
use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, SourceToml, TINY, documents};

#[test]
fn a_path_or_file_url_is_read_and_left_as_it_is() {
    let lab = Lab::new();
    let file = lab.work.place("data/my file.jsonl", TINY);
    let plain = lab.work.place("plain.jsonl", TINY);
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    let encoded = format!("file://{}", file.display()).replace(' ', "%20");
    let urls = [
        ("relative", "data/my file.jsonl".to_owned()),
        ("dotted", "./data/../plain.jsonl".to_owned()),
        ("absolute", plain.display().to_string()),
        ("url", encoded),
    ];
    lab.work.configure(urls.clone().map(|(id, url)| SourceToml::new(id, &url, TINY)));
    let run = lab.fetch().run().exits(0);
    for (id, url) in &urls {
        let entry = run.entry(id);
        assert_eq!((entry.status, entry.requests, entry.n_docs), (Status::Fetched, 0, 2), "{id}");
        assert_eq!(lab.work.raw_documents(id)[0].url, format!("{url}#1"), "documents keep the url as written");
    }
    let rows: Vec<String> = lab.work.rows().into_iter().map(|row| row.url).collect();
    assert_eq!(rows, urls.map(|(_, url)| url));
    assert_eq!(fs::read(&file).unwrap(), TINY);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
    assert!(lab.work.tree().under("corpus/downloads/").is_empty());
    lab.assert_rerun_is_free();
}

#[test]
fn relative_urls_start_at_the_config_not_at_the_shell() {
    let lab = Lab::new();
    lab.work.place("tiny.jsonl", TINY);
    fs::write(lab.work.home().join("tiny.jsonl"), "another file").unwrap();
    let run = lab.fetch_config(SourceToml::new("tiny", "tiny.jsonl", TINY)).exits(0);
    assert_eq!(run.entry("tiny").status, Status::Fetched);
}

#[test]
fn a_file_that_is_not_there_or_no_file_is_final() {
    for url in ["gone.jsonl", "file:///nowhere/gone.jsonl", "folder"] {
        let lab = Lab::new();
        lab.work.place("folder/inside.jsonl", TINY);
        let run = lab.fetch_config(SourceToml::new("tiny", url, TINY)).exits(65);
        assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Failed, 0), "{url}");
        let name = url.rsplit('/').next().unwrap();
        assert!(run.error("tiny").message.contains(name), "{url}: {:?}", run.error("tiny"));
    }
}

#[test]
fn a_file_with_other_bytes_is_quarantined_and_stays() {
    let lab = Lab::new();
    let other = documents("other", 2);
    let file = lab.work.place("tiny.jsonl", &other);
    for _ in 0..2 {
        let run = lab.fetch_config(SourceToml::new("tiny", "tiny.jsonl", TINY)).exits(65);
        assert_eq!(run.entry("tiny").status, Status::Quarantined);
        assert_eq!(run.entry("tiny").sha256, Digest::of(&other).to_string());
        assert_eq!(fs::read(&file).unwrap(), other);
        assert!(lab.work.versions("tiny").is_empty() && lab.work.ledger().is_empty());
    }
}

#[test]
fn names_from_urls_stay_in_their_folder() {
    let lab = Lab::new();
    let long = "%C3%A9".repeat(300);
    let cases = [
        ("plain", "/a.jsonl?x=/../y", "a.jsonl".to_owned()),
        ("decoded", "/a%20b%c3%a9.jsonl", "a bé.jsonl".to_owned()),
        ("up", "/..%2f..%2fevil", "___.._evil".to_owned()),
        ("hidden", "/.hidden", "_hidden".to_owned()),
        ("drive", "/c:d%5Ce", "c_d_e".to_owned()),
        ("control", "/a%00b%0Ac%7F", "a_b_c_".to_owned()),
        ("folder", "/folder/", "download".to_owned()),
        ("root", "", "download".to_owned()),
        ("long", &format!("/{long}"), "é".repeat(100)),
    ];
    let swapped = documents("swapped", 1);
    lab.server.serve_the_rest(corpora_tests::servers::Answer::object(&swapped));
    lab.work.configure(cases.clone().map(|(id, path, _)| SourceToml::new(id, &lab.server.url(path), TINY)));
    let run = lab.fetch().run().exits(65);
    for (id, path, name) in cases {
        assert_eq!(run.entry(id).status, Status::Quarantined, "{path}");
        let kept = lab.work.read(&format!("corpus/quarantine/{id}/{name}"));
        assert_eq!(kept.as_ref(), Some(&swapped), "{path} is kept as {name:?}: {:?}", lab.work.tree());
    }
    let outside: Vec<String> = fs::read_dir(lab.work.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !["artifacts", "config", "home"].contains(&name.as_str()))
        .collect();
    assert_eq!(outside, [""; 0], "nothing is written outside");
}
