//! A crawl as a source of a build: cached, its terms, other settings, how it ends, and what a cancel leaves.

use std::time::Duration;

use corpora_contracts::ids::Digest;
use corpora_contracts::receipt::CrawlEnd;
use corpora_contracts::summary::Status;
use corpora_local::SqliteMetadata;
use corpora_local::frontier::SqliteFrontier;
use corpora_ports::frontier::FrontierStore as _;
use corpora_ports::metadata::{MetadataStore as _, PageStatus};
use corpora_tests::harness::{ConfigToml, Lab, PUBLISHED, Signal, TINY, crawl_config, wait_until};
use corpora_tests::servers::{Answer, Gate, Site, html};
use serde_json::{Value, json};

/// A page with a text worth keeping, and these links.
fn page(name: &str, links: &[&str]) -> Answer {
    let links: String = links.iter().map(|link| format!("<li><a href=\"{link}\">{link}</a></li>")).collect();
    html(&format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>{name}</title></head><body><ul>{links}</ul><main><h1>{name}</h1>\
         <p>The garden of {name} lies behind the house, and nobody who walks through it at noon finds the gate of the \
         day before. It has many paths and a bench beside each of them.</p></main></body></html>\n"
    ))
}

/// A lab whose server has `/` with a link to `/b` and `/a`, and `/a` with one to `/gone`.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.server.serve_the_rest(Answer::status(404));
    lab.server.serve("/", page("home", &["/b", "/a"]));
    lab.server.serve("/a", page("a", &["/gone"]));
    lab.server.serve("/b", page("b", &["/", "/a#part"]));
    lab
}

fn config(lab: &Lab, keys: &Value) -> ConfigToml {
    crawl_config(&[lab.url("/")], keys)
}

/// What was asked for, without robots.txt and what is well known.
fn asked(lab: &Lab) -> Vec<String> {
    let targets = lab.server.log().into_iter().map(|logged| logged.request.target);
    targets.filter(|target| target != "/robots.txt" && !target.starts_with("/.well-known/")).collect()
}

#[test]
fn a_site_becomes_a_verified_dataset_and_a_second_build_asks_nothing() {
    let lab = lab();
    let run = lab.build_config(config(&lab, &json!({}))).exits(0);
    let statuses: Vec<String> = run.build_statuses().into_iter().map(|(_, _, status)| status).collect();
    assert_eq!(statuses, ["fetched", "done", "done", "done"]);
    assert_eq!(asked(&lab), ["/", "/b", "/a", "/gone"]);
    assert!(run.stderr.contains("1 not stored: http_404"), "{}", run.stderr);

    let raw = lab.work.raw_documents("site");
    let urls: Vec<&str> = raw.iter().map(|document| document.url.as_str()).collect();
    assert_eq!(urls, ["/", "/a", "/b"].map(|path| lab.url(path)), "by canonical URL");
    let digests = raw.iter().map(|document| (document.url.clone(), Digest::of(document.text.as_bytes())));
    let lines: String = digests.clone().map(|(url, digest)| format!("{url}\t{digest}\n")).collect();
    for (document, depth) in raw.iter().zip([0, 1, 1]) {
        assert_eq!(
            (document.content_type.as_deref(), document.license_spdx.as_str()),
            (Some("text/html"), "CC-BY-4.0")
        );
        let expected = json!({
            "charset": "UTF-8", "depth": depth, "sha256": Digest::of(document.text.as_bytes()), "status": 200,
        });
        assert_eq!(json!(document.meta), expected, "{}", document.url);
    }

    let receipt = lab.work.receipt("site", "20260101");
    let report = receipt.crawl.clone().expect("what the crawl came to");
    assert_eq!((report.ended, report.asked), (CrawlEnd::Complete, 4));
    assert_eq!(report.not_stored.into_iter().collect::<Vec<_>>(), [("http_404".to_owned(), 1)]);
    let rows = lab.work.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].url.as_str(), rows[0].sha256), (lab.url("/").as_str(), Digest::of(lines.as_bytes())));
    assert_eq!((rows[0].n_docs, receipt.sha256, receipt.n_docs), (3, rows[0].sha256, 3));
    let entry = match run.build_summary().stages.swap_remove(0) {
        corpora_contracts::summary::StageResult::Fetch(mut fetch) => fetch.entries.swap_remove(0),
        other => panic!("{other:?}"),
    };
    assert_eq!((entry.sha256, entry.n_docs, entry.requests), (rows[0].sha256.to_string(), 3, 6));
    assert_eq!(entry.raw_dir, "corpus/raw/site/20260101");

    let documents = lab.work.documents("site");
    assert_eq!(documents.iter().map(|it| it.title.as_str()).collect::<Vec<_>>(), ["home", "a", "b"]);
    assert!(documents[1].text.contains("The garden of a lies"), "{}", documents[1].text);
    assert_eq!((documents[1].id.as_str(), documents[1].url.clone()), ("site:1", lab.url("/a")));
    let verdict = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run().exits(0);
    assert!(verdict.stdout.contains("\"verdict\":\"verified\""), "{}", verdict.stdout);
    let told = lab.dry_run([]);
    assert_eq!((&told["up_to_date"], &told["sources"][0]["source_id"]), (&json!(true), &json!("site")));
    let _ = lab.assert_rebuild_is_free(lab.build());
    let _ = lab.program(["ledger", "verify", "--full", "--config"]).arg(lab.work.config_file()).run().exits(0);
    let swept = lab.program(["gc", "--config"]).arg(lab.work.config_file()).run().exits(0);
    assert!(swept.stdout.contains("\"items\":[]"), "{}", swept.stdout);
}

#[test]
fn the_table_of_pages_says_what_became_of_every_url() {
    let lab = lab();
    lab.server.serve("/b", page("b", &["/old", "/private", "http://elsewhere.example/"]));
    lab.server.serve("/old", Answer::redirect(301, "/a"));
    lab.server.serve("/robots.txt", Answer::object("User-agent: *\nDisallow: /private\n"));
    let _ = lab.fetch_config(config(&lab, &json!({}))).exits(0);
    let run = lab.work.artifacts().join("corpus/crawls/site/1");
    let mut frontier = SqliteFrontier::open_to_read(&run.join("frontier.sqlite")).unwrap().unwrap();
    let crawl_id = frontier.note("crawl_id").unwrap().unwrap();
    let table = SqliteMetadata::open(&run.join("metadata.sqlite")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rows = runtime.block_on(table.list(&crawl_id, None, 100)).unwrap().into_iter().map(|(_, row)| row);
    let mut told: Vec<(String, PageStatus, Option<u16>, bool)> = rows
        .map(|row| (row.url.replace(&lab.url(""), ""), row.status, row.status_code, row.s3_key.is_some()))
        .collect();
    told.sort();
    let expected = [
        ("/", PageStatus::Success, Some(200), true),
        ("/a", PageStatus::Success, Some(200), true),
        ("/b", PageStatus::Success, Some(200), true),
        ("/gone", PageStatus::Failed, Some(404), false),
        ("/old", PageStatus::Redirect, None, false),
        ("/private", PageStatus::Refused, None, false),
        ("http://elsewhere.example/", PageStatus::Refused, None, false),
    ];
    assert_eq!(told, expected.map(|(url, status, code, is_stored)| (url.to_owned(), status, code, is_stored)));
}

#[test]
fn terms_cost_no_request_and_every_other_key_a_new_crawl() {
    let lab = lab();
    let _ = lab.fetch_config(config(&lab, &json!({}))).exits(0);
    lab.server.forget();
    let licensed = json!({ "license_spdx": "CC0-1.0", "pii_policy": "none" });
    let run = lab.fetch_config(config(&lab, &licensed)).exits(0);
    assert_eq!((run.entry("site").status, run.entry("site").requests), (Status::Cached, 0));
    let rows = lab.work.rows();
    assert_eq!((rows.len(), rows[1].license_spdx.as_str(), rows[1].sha256), (2, "CC0-1.0", rows[0].sha256));
    let documents = lab.fetch().args(["--part-docs", "1"]).run().exits(0);
    assert_eq!((documents.entry("site").status, documents.entry("site").requests), (Status::Fetched, 0));
    assert_eq!(lab.work.raw_parts("site", "20260101.2").len(), 3, "the pages are here; they are only cut otherwise");
    assert_eq!(lab.server.log().len(), 0);

    let shallow = config(&lab, &json!({ "max_depth": 0 }));
    lab.work.configure(shallow);
    let told = lab.dry_run([]);
    assert_eq!(told["sources"][0]["fetch"], json!({ "state": "due", "because": ["a key of its table changed"] }));
    let run = lab.fetch().run().exits(0);
    assert_eq!((run.entry("site").status, run.entry("site").n_docs), (Status::Fetched, 1));
    assert_eq!(asked(&lab), ["/"]);
    lab.assert_rerun_is_free();
}

#[test]
fn the_state_of_other_settings_can_be_freed_and_the_current_one_not() {
    let lab = lab();
    let _ = lab.fetch_config(config(&lab, &json!({ "max_depth": 0 }))).exits(0);
    let _ = lab.fetch_config(config(&lab, &json!({}))).exits(0);
    let gc = || lab.program(["gc", "--yes", "--config"]).arg(lab.work.config_file()).run().exits(0);
    assert!(!gc().stdout.contains("corpus/crawls"), "what a refresh would ask about is kept");
    lab.work.configure(config(&lab, &json!({ "max_depth": 7 })));
    assert!(gc().stdout.contains("\"path\":\"corpus/crawls/site/2\""));
    assert!(!lab.work.path("corpus/crawls/site/2").exists());
    assert_eq!(lab.fetch().run().exits(0).entry("site").n_docs, 3);
}

#[test]
fn the_example_is_a_config_that_is_accepted() {
    let config = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/crawl/corpus.toml");
    let lab = Lab::new();
    let checked = lab.program(["config", "check", "--config"]).arg(config).run().exits(0);
    assert!(
        checked.stdout.contains("\"crawls\":1") && checked.stdout.contains("\"warnings\":[]"),
        "{}",
        checked.stdout
    );
}

#[test]
fn a_bound_ends_a_crawl_softly_and_says_which() {
    let lab = lab();
    let run = lab.fetch_config(config(&lab, &json!({ "max_pages": 2 }))).exits(0);
    assert_eq!((run.entry("site").n_docs, asked(&lab).len()), (2, 2));
    assert!(run.stderr.contains("max_pages"), "{}", run.stderr);
    let report = lab.work.receipt("site", "20260101").crawl.unwrap();
    assert_eq!((report.ended, report.asked), (CrawlEnd::MaxPages, 2));
    lab.assert_rerun_is_free();
}

#[test]
fn what_the_owner_refuses_is_not_stored_and_is_counted_by_reason() {
    let lab = lab();
    let noindex = "<meta name=robots content=noindex><a href=/behind>behind</a>";
    let nofollow = "<meta name=robots content=nofollow><p>stored</p><a href=/never>never</a>";
    lab.server.serve("/", page("home", &["/noindex", "/nofollow", "/noai", "/private"]));
    lab.server.serve("/robots.txt", Answer::object("User-agent: *\nDisallow: /private\n"));
    lab.server.serve("/noindex", html(noindex));
    lab.server.serve("/behind", page("behind", &[]));
    lab.server.serve("/nofollow", html(nofollow));
    lab.server.serve("/noai", page("noai", &[]).header("X-Robots-Tag", "noai"));
    let stored = |lab: &Lab| {
        let urls = lab.work.raw_documents("site").into_iter().map(|document| document.url);
        urls.map(|url| url.rsplit('/').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let run = lab.fetch_config(config(&lab, &json!({}))).exits(0);
    assert_eq!(stored(&lab), ["", "behind", "nofollow"]);
    let report = lab.work.receipt("site", "20260101").crawl.unwrap();
    let reasons: Vec<(&str, u64)> = report.not_stored.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(reasons, [("noai", 1), ("noindex", 1), ("robots", 1)], "{}", run.stderr);
    assert!(!asked(&lab).iter().any(|target| target == "/never" || target == "/private"), "{:?}", asked(&lab));

    for keys in [json!({ "respect_rights": false }), json!({ "allowed_uses": ["eval"] })] {
        let other = self::lab();
        other.server.serve("/", page("home", &["/noai"]));
        other.server.serve("/noai", page("noai", &[]).header("X-Robots-Tag", "noai"));
        let _ = other.fetch_config(config(&other, &keys)).exits(0);
        assert_eq!(stored(&other), ["", "noai"], "{keys}");
        let rights = &other.work.raw_documents("site")[1].meta.clone().unwrap()["rights"];
        assert!(rights.to_string().contains("noai"), "the signal is kept: {rights}");
    }
}

#[test]
fn seeds_that_fail_for_good_are_an_error_that_is_asked_again() {
    let lab = Lab::new();
    lab.server.serve_the_rest(Answer::status(404));
    lab.server.serve("/", Answer::status(403));
    let run = lab.fetch_config(config(&lab, &json!({}))).exits(65);
    let entry = run.entry("site");
    assert_eq!((entry.status, entry.sha256.as_str(), entry.n_docs), (Status::Failed, "", 0));
    let error = entry.error.expect("why");
    assert!(error.kind == "seeds" && error.message.contains("http_403"), "{error:?}");
    assert_eq!(lab.work.ledger(), "");
    lab.server.serve("/", page("home", &[]));
    assert_eq!(lab.fetch().run().exits(0).entry("site").n_docs, 1);
    lab.assert_rerun_is_free();
}

#[test]
fn a_site_that_is_down_is_for_a_later_run_which_goes_on() {
    let lab = Lab::new();
    lab.server.serve_the_rest(Answer::status(404));
    lab.server.serve("/", Answer::status(503));
    lab.work.configure(config(&lab, &json!({})));
    let run = lab.fetch().args(["--attempts", "2"]).run().exits(75);
    let error = run.entry("site").error.expect("why");
    assert_eq!((error.kind.as_str(), asked(&lab).len()), ("unreachable", 2));
    assert_eq!((lab.work.ledger().as_str(), lab.work.receipts("site").len()), ("", 0));
    lab.server.serve("/", page("home", &["/a"]));
    lab.server.serve("/a", page("a", &[]));
    lab.server.forget();
    assert_eq!(lab.fetch().run().exits(0).entry("site").n_docs, 2);
    assert_eq!(asked(&lab), ["/", "/a"]);
    assert_eq!(lab.server.requests("/robots.txt").len(), 0, "an answer of robots.txt is durable");
    lab.assert_rerun_is_free();
}

#[test]
fn a_site_whose_pages_may_not_be_kept_is_a_result_without_documents() {
    let lab = Lab::new();
    lab.server.serve_the_rest(Answer::status(404));
    lab.server.serve("/", html("<meta name=robots content=none>"));
    let seeds = [lab.url("/"), lab.url("/gone")];
    let run = lab.build_config(crawl_config(&seeds, &json!({}))).exits(0);
    assert_eq!(run.build_summary().n_docs, 0);
    assert_eq!(lab.work.rows()[0].sha256, Digest::of(b""));
    let _ = lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn a_host_that_is_down_beside_one_that_is_not_is_named() {
    let lab = lab();
    // Nothing listens there.
    let down = "http://127.0.0.2:9/";
    lab.server.serve("/", page("home", &["/a", down]));
    lab.work.configure(config(&lab, &json!({})));
    let run = lab.fetch().args(["--attempts", "1"]).run().exits(0);
    assert_eq!(run.entry("site").n_docs, 2);
    assert!(run.stderr.contains("http://127.0.0.2:9"), "{}", run.stderr);
    assert_eq!(lab.work.receipt("site", "20260101").crawl.unwrap().unreachable, ["http://127.0.0.2:9"]);
    lab.assert_rerun_is_free();
}

#[test]
fn loopback_is_refused_unless_the_config_allows_it() {
    let lab = lab();
    let run = lab.fetch_config(config(&lab, &json!({ "allow_private_networks": false }))).exits(65);
    assert_eq!(lab.server.log().len(), 0, "{}", run.stderr);
}

#[test]
fn a_failed_crawl_leaves_the_other_sources_theirs_when_it_is_to_be_left_alone() {
    let lab = Lab::new();
    lab.server.serve_the_rest(Answer::status(404));
    lab.server.serve("/", Answer::status(403));
    let both = || {
        let crawl = json!({
            "id": "site", "seed_urls": [lab.url("/")], "allowed_domains": ["127.0.0.1"], "max_depth": 1,
            "user_agent": "bot", "license_spdx": "MIT", "delay": 0, "allow_private_networks": true,
        });
        ConfigToml::new([lab.serve("tiny", TINY)]).with("crawls", json!([crawl]))
    };
    lab.work.configure(both());
    let run = lab.fetch().arg("--keep-going").run().exits(65);
    let ids = [("tiny", Status::Fetched), ("site", Status::Failed)].map(|(id, status)| (id.to_owned(), status));
    assert_eq!(run.statuses(), ids, "sources, then crawls");
    assert_eq!(lab.work.ledger_ids(), ["tiny"]);
    lab.server.serve("/", page("home", &[]));
    let run = lab.fetch().args(["--source", "site"]).run().exits(0);
    assert_eq!(run.statuses(), [("site".to_owned(), Status::Fetched)]);
    assert_eq!(lab.work.ledger_ids(), ["tiny", "site"]);
    let unknown = lab.fetch().args(["--source", "stranger"]).run().exits(2);
    assert!(unknown.stderr.contains("tiny, site"), "{}", unknown.stderr);
    let revoke = ["ledger", "revoke", "--source", "site", "--reason", "asked", "--config"];
    let _ = lab.program(revoke).arg(lab.work.config_file()).run().exits(0);
    lab.server.forget();
    assert_eq!(lab.fetch().arg("--refresh").run().exits(0).entry("site").status, Status::Revoked);
    assert_eq!(lab.server.log().len(), 0);
}

#[test]
fn a_cancelled_crawl_goes_on_where_it_was() {
    let (lab, gate) = (lab(), Gate::closed());
    lab.server.serve("/b", page("b", &["/c"]).held_at(&gate));
    lab.server.serve("/c", page("c", &[]));
    lab.work.configure(config(&lab, &json!({})));
    let run = lab.fetch().start();
    wait_until(|| asked(&lab).contains(&"/b".to_owned()));
    run.signal(Signal::Terminate);
    let run = run.wait().exits(130);
    assert_eq!(run.entry("site").status, Status::Cancelled);
    assert_eq!((lab.work.ledger().as_str(), lab.work.receipts("site").len()), ("", 0));
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
    gate.open();
    let run = lab.fetch().run().exits(0);
    assert_eq!(run.entry("site").n_docs, 4);
    let mut all = asked(&lab);
    all.sort();
    assert_eq!(all, ["/", "/a", "/b", "/b", "/c", "/gone"], "what was in flight is asked for again, and nothing else");
    lab.assert_rerun_is_free();
}

#[test]
fn a_kill_on_the_way_to_the_ledger_costs_no_request_and_changes_no_byte() {
    let points =
        ["raw-part.after", "receipt.before", "receipt.after", "raw.before", "raw.after", "ledger.torn", "ledger.after"];
    for point in points {
        let lab = lab();
        lab.work.configure(config(&lab, &json!({})));
        let killed = lab.fetch().env("CORPORA_FAILPOINT", point).run();
        assert_eq!(killed.signal, Some(9), "{point}: {}", killed.stderr);
        lab.server.forget();
        let run = lab.fetch().run().exits(0);
        assert_eq!((run.entry("site").n_docs, lab.server.log().len()), (3, 0), "{point}");
        assert_eq!((lab.work.versions("site"), lab.work.rows().len()), (vec!["20260101".to_owned()], 1), "{point}");
        assert_eq!(lab.work.receipt("site", "20260101").sha256, lab.work.rows()[0].sha256, "{point}");
        // What was published is what is collected of a state that nobody disturbed.
        let before = lab.work.tree();
        std::fs::remove_dir_all(lab.work.path("corpus/raw/site/20260101")).unwrap();
        let _ = lab.fetch().run().exits(0);
        assert_eq!((lab.work.tree(), lab.server.log().len()), (before, 0), "{point}");
        lab.assert_rerun_is_free();
    }
}

#[test]
fn the_order_of_arrival_stands_nowhere() {
    let crawl = |slow: [u64; 2]| {
        let lab = Lab::new();
        let far = Site::start(2, 9, &[]);
        let near = Site::start(3, 9, &[far.url("/")]);
        for (site, millis) in [&near, &far].into_iter().zip(slow) {
            site.be_slow(Duration::from_millis(millis));
        }
        let seeds = [near.url("/"), far.url("/")];
        let run = lab.build_config(crawl_config(&seeds, &json!({ "concurrency": 2 }))).exits(0);
        assert_eq!(run.build_summary().n_docs, 20);
        // The two sites have other ports in each world.
        let told = |text: String| {
            let ports = [near.url(""), far.url("")];
            text.replace(&ports[0], "http://near").replace(&ports[1], "http://far")
        };
        let raw = lab.work.raw_documents("site").into_iter().map(|it| {
            (
                told(it.url),
                told(it.text),
                it.meta.map(|mut meta| {
                    // The digest is of the bytes, ports included.
                    meta.remove("sha256");
                    json!(meta)
                }),
            )
        });
        let mut raw: Vec<_> = raw.collect();
        raw.sort_by(|a, b| a.0.cmp(&b.0));
        let sorted: Vec<String> = lab.work.raw_documents("site").into_iter().map(|it| it.url).collect();
        assert!(sorted.is_sorted(), "{sorted:?}");
        raw
    };
    assert_eq!(crawl([0, 7]), crawl([7, 0]));
}
