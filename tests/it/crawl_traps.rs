//! What breaks crawlers, each against a real server: the right thing happens, and it is said.

use std::time::{Duration, Instant};

use corpora_tests::harness::{Lab, Outcome, crawl_config, pack_gzip};
use corpora_tests::servers::{Answer, Site, html};
use serde_json::{Value, json};

/// Crawls a site that has a page `/` with these links, and what `serve` puts there.
fn crawl(links: &[&str], keys: &Value, serve: impl FnOnce(&Site)) -> (Lab, Site, Outcome) {
    let (lab, site) = (Lab::new(), Site::start(1, 0, &[]));
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">x</a> ")).collect();
    site.server.serve("/", html(&format!("<html><body>{links}<p>Start</p></body></html>")));
    serve(&site);
    let mut all = json!({ "respect_rights": false });
    all.as_object_mut().unwrap().extend(keys.as_object().cloned().unwrap_or_default());
    lab.work.configure(crawl_config(&[site.url("/")], &all));
    let run = lab.fetch().run();
    (lab, site, run)
}

fn stored(lab: &Lab, site: &Site) -> Vec<String> {
    let base = site.url("");
    let urls = lab.work.raw_documents("site").into_iter().map(|document| document.url);
    urls.map(|url| url.strip_prefix(&base).unwrap_or(&url).to_owned()).collect()
}

/// The line of stderr that counts pages of this reason.
#[track_caller]
fn assert_told(run: &Outcome, reason: &str) {
    assert!(run.stderr.lines().any(|line| line.contains(reason)), "{reason} is not told: {}", run.stderr);
}

fn page(text: &str) -> Answer {
    html(&format!("<html><body><p>{text}</p></body></html>"))
}

#[test]
fn redirects_end_and_are_checked_on_every_hop() {
    let (lab, site, run) = crawl(&["/a", "/out", "/in", "/chain"], &json!({}), |site| {
        site.server.serve("/a", Answer::redirect(301, "/b"));
        site.server.serve("/b", Answer::redirect(302, "/a"));
        site.server.serve("/out", Answer::redirect(302, "http://elsewhere.example/"));
        site.server.serve("/in", Answer::redirect(308, "/private/x"));
        site.server.serve("/chain", Answer::redirect(307, "/end"));
        site.server.serve("/end", page("the end"));
    });
    let _ = run.exits(0);
    assert_eq!(stored(&lab, &site), ["/", "/end"]);
    for (target, times) in [("/a", 1), ("/b", 1), ("/private/x", 0), ("/chain", 1), ("/end", 1)] {
        assert_eq!(site.count(target), times, "{target}");
    }
}

#[test]
fn a_worker_that_may_follows_redirects_within_a_host_and_what_it_comes_to_is_checked() {
    let (lab, site, run) = crawl(&["/a", "/out", "/in", "/chain"], &json!({ "redirects": "worker" }), |site| {
        site.server.serve("/a", Answer::redirect(301, "/b"));
        site.server.serve("/b", Answer::redirect(302, "/a"));
        site.server.serve("/out", Answer::redirect(302, "http://elsewhere.example/"));
        site.server.serve("/in", Answer::redirect(308, "/private/x"));
        site.server.serve("/private/x", page("not for robots"));
        site.server.serve("/chain", Answer::redirect(307, "/middle"));
        site.server.serve("/middle", Answer::redirect(302, "/end"));
        site.server.serve("/end", html("<p>the end</p><a href=/more>more</a>"));
        site.server.serve("/more", page("more"));
    });
    let run = run.exits(0);
    assert_eq!(stored(&lab, &site), ["/", "/end", "/more"]);
    for (target, times) in [("/chain", 1), ("/end", 1), ("/more", 1)] {
        assert_eq!(site.count(target), times, "{target}");
    }
    assert!(site.count("/a") <= 2 && site.count("/b") <= 2, "a circle ends");
    assert_told(&run, "not stored: robots");
    assert_told(&run, "not stored: allowed_domains");
}

#[test]
fn robots_that_is_a_page_allows_and_one_that_fails_refuses() {
    let (lab, site, run) = crawl(&["/a"], &json!({}), |site| {
        site.server.serve("/robots.txt", page("Not found"));
        site.server.serve("/a", page("a"));
    });
    let _ = run.exits(0);
    assert_eq!(stored(&lab, &site), ["/", "/a"]);
    let (_, site, run) = crawl(&["/a"], &json!({}), |site| site.server.serve("/robots.txt", Answer::status(500)));
    let run = run.exits(75);
    assert_eq!((site.count("/"), site.count("/robots.txt")), (0, 4), "four attempts, and no page");
    assert_told(&run, "robots");
}

#[test]
fn a_bomb_stops_at_the_bound_on_unpacked_bytes() {
    let bomb = pack_gzip(&vec![b' '; 64 << 20]);
    let (lab, site, run) = crawl(&["/bomb", "/long", "/a"], &json!({ "page_bytes": 100_000 }), |site| {
        let packed = html("").header("Content-Encoding", "gzip");
        site.server.serve("/bomb", packed.with_body(&bomb));
        site.server.serve("/long", html(&"x".repeat(200_000)));
        site.server.serve("/a", page("a"));
    });
    let run = run.exits(0);
    assert_eq!(stored(&lab, &site), ["/", "/a"]);
    assert_eq!((site.count("/bomb"), site.count("/long")), (1, 1), "not tried again");
    assert_told(&run, "page_bytes");
}

#[test]
fn a_body_that_never_ends_costs_its_time_and_no_more() {
    let started = Instant::now();
    let (lab, site, run) = crawl(&["/drip", "/a"], &json!({ "page_timeout": 1 }), |site| {
        site.server.serve("/drip", html(&"x".repeat(5000)).drip(1, Duration::from_millis(50)));
        site.server.serve("/a", page("a"));
    });
    let run = run.exits(0);
    assert_eq!(stored(&lab, &site), ["/", "/a"], "the host's slot is free again");
    assert_eq!(site.count("/drip"), 1);
    assert_told(&run, "page_timeout");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_truncated_body_is_tried_again_and_never_stored_as_whole() {
    let (lab, site, run) = crawl(&["/cut", "/mended"], &json!({}), |site| {
        site.server.serve("/cut", page("cut short").cut_after(20));
        site.server.script("/mended", [page("mended").cut_after(20), page("mended")]);
    });
    let run = run.exits(0);
    assert_eq!(stored(&lab, &site), ["/", "/mended"]);
    assert_eq!((site.count("/cut"), site.count("/mended")), (4, 2));
    assert_told(&run, "cut");
}

#[test]
fn links_are_read_as_browsers_read_them() {
    let text = "<html><head><base href='/docs/'><base href='http://elsewhere.example/'></head><body>\
        <a href=' a\n\tb '>1</a><a href='javascript:go()'>2</a><a href='mailto:a@b'>3</a><a href='data:,x'>4</a>\
        <a href='tel:1'>5</a><a href='#top'>6</a><a href='ab#x'>7</a><a href='//127.0.0.1:1x/'>8</a></body></html>";
    let (lab, site, run) = crawl(&["/base"], &json!({}), |site| {
        site.server.serve("/base", html(text));
        site.server.serve("/docs/ab", page("ab"));
    });
    let _ = run.exits(0);
    // `#top` is the base itself, which is not there.
    assert_eq!(site.asked(), ["/", "/base", "/docs/ab", "/docs/"]);
    assert_eq!(stored(&lab, &site), ["/", "/base", "/docs/ab"]);
}

#[test]
fn an_endless_calendar_and_session_ids_end() {
    let (lab, site, run) = crawl(&["/cal?day=1", "/a", "/b"], &json!({ "max_pages": 20 }), |site| {
        site.server.handle("/cal", |request, _| {
            let day: u64 = request.target.rsplit('=').next().unwrap().parse().unwrap();
            html(&format!("<a href='/cal?day={}'>next</a><a href='/a?PHPSESSID={day}'>a</a>", day + 1))
        });
        site.server.serve("/a", page("a"));
        site.server.serve("/b", page("b"));
    });
    let run = run.exits(0);
    let stored = stored(&lab, &site);
    assert_eq!(stored.len(), 20);
    assert!(stored.contains(&"/a".to_owned()) && stored.contains(&"/b".to_owned()), "what is less deep comes first");
    assert_eq!(site.count("/a"), 1, "a session is no page");
    assert_told(&run, "max_pages");
}

#[test]
fn a_host_that_asks_for_patience_gets_it() {
    let (lab, site, run) = crawl(&["/busy", "/other"], &json!({}), |site| {
        site.server.script("/busy", [Answer::status(503).header("Retry-After", "2"), page("busy")]);
        site.server.serve("/other", page("other"));
    });
    let _ = run.exits(0);
    assert_eq!(stored(&lab, &site), ["/", "/busy", "/other"]);
    let log = site.server.log();
    let at = log.iter().position(|logged| logged.request.target == "/busy").unwrap();
    assert!(log[at + 1].request.at - log[at].request.at >= Duration::from_millis(1900), "the whole host waits");
    let (_, site, run) = crawl(&["/busy"], &json!({}), |site| {
        site.server.serve("/busy", Answer::status(429).header("Retry-After", "86400"));
    });
    let run = run.exits(0);
    assert_eq!(site.count("/busy"), 1);
    assert_told(&run, "retry_after");
}

#[test]
fn a_crawl_delay_beyond_the_cap_is_said_aloud() {
    let robots = "User-agent: *\nCrawl-delay: 3600\n";
    let (lab, site, run) = crawl(&["/a"], &json!({}), |site| site.server.serve("/robots.txt", Answer::object(robots)));
    let run = run.exits(0);
    assert_eq!((stored(&lab, &site), site.count("/a")), (vec!["/".to_owned()], 0));
    assert!(run.stderr.contains("3600") && run.stderr.contains("120"), "value and cap: {}", run.stderr);
    for nonsense in ["-1", "1e999", "soon"] {
        let robots = format!("User-agent: *\nCrawl-delay: {nonsense}\n");
        let (_, site, run) =
            crawl(&["/a"], &json!({}), |site| site.server.serve("/robots.txt", Answer::object(&robots)));
        let _ = run.exits(0);
        assert_eq!(site.count("/a"), 1, "{nonsense}");
    }
}

#[test]
fn private_networks_are_refused_at_every_door() {
    let (_, site, run) = crawl(&["/a"], &json!({ "allow_private_networks": false }), |_| ());
    let _ = run.exits(65);
    assert!(site.server.log().is_empty(), "robots.txt is not asked for, either");
    let (lab, site) = (Lab::new(), Site::start(1, 0, &[]));
    let seeds = [format!("http://localhost:{}/", site.server.port())];
    let keys = json!({ "allow_private_networks": false, "allowed_domains": ["localhost"] });
    lab.work.configure(crawl_config(&seeds, &keys));
    let _ = lab.fetch().run().exits(65);
    assert!(site.server.log().is_empty(), "a name that leads there is the same");
}

#[test]
fn a_robots_file_that_never_ends_is_one_that_cannot_be_had() {
    let keys = json!({ "page_timeout": 0.5 });
    let (_, site, run) = crawl(&["/a"], &keys, |site| {
        let endless = Answer::object("x".repeat(5000)).drip(1, Duration::from_millis(50));
        site.server.serve("/robots.txt", endless);
    });
    let run = run.exits(75);
    assert_eq!((site.count("/robots.txt"), site.count("/")), (4, 0), "four attempts, and no page");
    assert_told(&run, "robots_unreachable");
}
