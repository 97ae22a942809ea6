//! `--refresh`: conditional requests, what a 304 keeps, what changed, and a refresh that fails.

use std::sync::{Arc, Mutex};

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, crawl_config};
use corpora_tests::servers::{Answer, html};
use serde_json::json;

/// What is true of one page.
#[derive(Clone)]
struct Version {
    text: String,
    /// An entity tag, or a time.
    validator: Validator,
}

#[derive(Clone)]
enum Validator {
    Tag(&'static str),
    Time(&'static str),
    None,
}

/// Serves a page that can change, and answers conditional requests about it as RFC 9110 section 13 says.
fn serve(lab: &Lab, target: &str, version: Version) -> Arc<Mutex<Version>> {
    let current = Arc::new(Mutex::new(version));
    let served = Arc::clone(&current);
    lab.server.handle(target, move |request, _| {
        let Version { text, validator } = served.lock().unwrap().clone();
        let is_known = match validator {
            Validator::Tag(tag) => request.header("if-none-match") == Some(tag),
            Validator::Time(time) => request.header("if-modified-since") == Some(time),
            Validator::None => false,
        };
        if is_known {
            return Answer::status(304).with_body(b"");
        }
        match validator {
            Validator::Tag(tag) => html(&text).header("ETag", tag),
            Validator::Time(time) => html(&text).header("Last-Modified", time),
            Validator::None => html(&text),
        }
    });
    current
}

fn version(text: &str, validator: Validator) -> Version {
    Version { text: text.to_owned(), validator }
}

const MONDAY: &str = "Mon, 01 Dec 2025 00:00:00 GMT";

/// A lab where three pages were crawled: one with an entity tag, one with a time, one with neither.
fn crawled() -> (Lab, [Arc<Mutex<Version>>; 3]) {
    let lab = Lab::new();
    lab.server.serve_the_rest(Answer::status(404));
    let pages = [
        serve(
            &lab,
            "/",
            version("<p>home</p><a href=/time>time</a><a href=/plain>plain</a>", Validator::Tag("\"h1\"")),
        ),
        serve(&lab, "/time", version("<p>time</p>", Validator::Time(MONDAY))),
        serve(&lab, "/plain", version("<p>plain</p>", Validator::None)),
    ];
    let run = lab.fetch_config(crawl_config(&[lab.url("/")], &json!({}))).exits(0);
    assert_eq!(run.entry("site").n_docs, 3, "{}", run.stderr);
    lab.server.forget();
    (lab, pages)
}

/// What the last crawl sent with the request for a page.
fn condition(lab: &Lab, target: &str, header: &str) -> Option<String> {
    let requests = lab.server.requests(target);
    assert_eq!(requests.len(), 1, "{target} once");
    requests[0].request.header(header).map(str::to_owned)
}

#[test]
fn what_has_not_changed_is_kept_and_its_links_are_followed() {
    let (lab, _pages) = crawled();
    let before = lab.work.raw_documents("site");
    let told = lab.dry_run(["--refresh"]);
    assert_eq!(told["sources"][0]["fetch"]["state"], "due");
    let run = lab.fetch().arg("--refresh").run().exits(0);
    let entry = run.entry("site");
    assert_eq!((entry.status, entry.n_docs), (Status::Fetched, 3));
    assert!(entry.requests >= 3, "{entry:?}");
    assert_eq!(condition(&lab, "/", "if-none-match").as_deref(), Some("\"h1\""));
    assert_eq!(condition(&lab, "/time", "if-modified-since").as_deref(), Some(MONDAY));
    assert_eq!(condition(&lab, "/plain", "if-none-match"), None);
    assert_eq!(lab.work.raw_documents("site"), before);
    assert_eq!((lab.work.receipts("site").len(), lab.work.rows().len()), (1, 1), "the same pages are the same version");
    lab.assert_rerun_is_free();
}

#[test]
fn what_has_changed_is_a_new_version_with_a_row_of_its_own() {
    let (lab, [home, time, _]) = crawled();
    *time.lock().unwrap() = version("<p>another time</p>", Validator::Time("Tue, 02 Dec 2025 00:00:00 GMT"));
    *home.lock().unwrap() = version("<p>home</p><a href=/time>time</a>", Validator::Tag("\"h2\""));
    let run = lab.fetch().arg("--refresh").run().exits(0);
    assert_eq!(run.entry("site").n_docs, 2, "what is linked no more is gone");
    let parts = lab.work.raw_parts("site", "20260101.2").concat();
    assert!(parts.contains("another time") && !parts.contains("<p>time"), "{parts}");
    let rows = lab.work.rows();
    assert_eq!((rows.len(), rows[1].n_docs), (2, 2));
    assert_ne!(rows[0].sha256, rows[1].sha256);
    assert_eq!(lab.work.versions("site"), ["20260101", "20260101.2"]);
    lab.assert_rerun_is_free();
    lab.server.forget();
    let _ = lab.fetch().arg("--refresh").run().exits(0);
    assert_eq!(condition(&lab, "/", "if-none-match").as_deref(), Some("\"h2\""), "of the pages that stand now");
}

#[test]
fn a_refresh_that_finds_nobody_leaves_what_was_there() {
    let (lab, _pages) = crawled();
    let before = lab.work.raw_documents("site");
    for target in ["/", "/time", "/plain"] {
        lab.server.serve(target, Answer::status(503));
    }
    let run = lab.fetch().args(["--refresh", "--attempts", "1"]).run().exits(75);
    assert_eq!(run.entry("site").status, Status::Failed);
    assert_eq!(lab.work.raw_documents("site"), before);
    lab.server.forget();
    lab.assert_rerun_is_free();
    assert_eq!(lab.server.log().len(), 0, "without --refresh it is cached as before");
    let home = "<p>home</p>";
    serve(&lab, "/", version(home, Validator::Tag("\"h1\"")));
    let run = lab.fetch().arg("--refresh").run().exits(0);
    assert_eq!(condition(&lab, "/", "if-none-match").as_deref(), Some("\"h1\""), "it still knows what it asks about");
    assert_eq!(run.entry("site").status, Status::Fetched);
}
