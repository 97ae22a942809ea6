//! What is asked for and what is not; redirects; depth.

use corpora_contracts::message::CrawlJob;
use corpora_ports::frontier::MemoryFrontier;

use super::super::*;
use super::world::{World, error, page, reasons, redirect, status};

#[test]
fn each_page_is_asked_for_once_and_the_rest_has_its_reason() {
    let links = [
        "http://h/a",
        "http://h/a#part",
        "http://user:secret@H:80/a",
        "http://h/a?utm_source=x",
        "http://h/gone",
        "http://elsewhere/x",
        "http://h/private",
        "javascript:void(0)",
        "mailto:a@h",
    ];
    let mut world = World::new("exclude = [\"private\"]")
        .serve("http://h/", page(&links))
        .serve("http://h/a", page(&["http://h/", "http://h/deep"]))
        .serve("http://h/deep", page(&[]));
    let ended = world.run();
    assert_eq!(world.asked(), ["http://h/", "http://h/a", "http://h/gone", "http://h/deep"]);
    assert_eq!(world.kept(), [("http://h/", 0), ("http://h/a", 1), ("http://h/deep", 2)]);
    assert_eq!(reasons(&ended), [("allowed_domains", 1), ("exclude", 1), ("http_404", 1)]);
    assert_eq!((ended.stored, ended.pages, ended.requests, ended.end), (3, 4, 5, End::Idle), "and robots.txt");
    assert_eq!(world.asked_all()[0], "http://h/robots.txt");
}

#[test]
fn a_job_says_what_the_seed_says_and_nothing_else() {
    let mut world = World::new("").serve("http://h/", page(&["http://h/a?b=2&a=1"]));
    let _ = world.run();
    let job: &CrawlJob = &world.jobs[1];
    assert_eq!((job.url.as_str(), job.depth), ("http://h/a?b=2&a=1", 1), "parameters as they were");
    assert_eq!(job.discovered_from.as_deref(), Some("http://h/"));
    assert_eq!(job.discovered_at.as_unix(), 1_800_000_000);
    assert_eq!((job.crawl_id.len(), job.job_id.len()), (36, 36));
    assert_ne!(world.jobs[0].job_id, job.job_id);
}

#[test]
fn depth_ends_where_the_config_says() {
    let mut world = World::new("max_depth = 1")
        .serve("http://h/", page(&["http://h/1"]))
        .serve("http://h/1", page(&["http://h/2", "http://h/"]));
    let ended = world.run();
    assert_eq!(world.asked(), ["http://h/", "http://h/1"]);
    assert_eq!(reasons(&ended), [("max_depth", 1)]);
}

#[test]
fn a_redirect_is_a_candidate_under_all_checks() {
    let mut world = World::new("max_depth = 0\nexclude = [\"secret\"]")
        .serve("http://h/", redirect("http://www.h/start"))
        .serve("http://www.h/start", page(&["http://h/too-deep"]));
    let ended = world.run();
    assert_eq!(world.kept(), [("http://www.h/start", 0)], "at the depth of what redirects");
    assert_eq!(reasons(&ended), [("max_depth", 1), ("redirect", 1)]);
    for (target, reason) in [("http://evil/x", "allowed_domains"), ("http://h/secret", "exclude")] {
        let mut world = World::new("exclude = [\"secret\"]").serve("http://h/", redirect(target));
        let ended = world.run();
        assert_eq!(world.asked(), ["http://h/"], "{target}");
        assert_eq!(reasons(&ended), [(reason, 1), ("redirect", 1)]);
        assert!(!ended.seeds_failed, "scope is a result");
    }
}

#[test]
fn cycles_of_redirects_end() {
    let mut world = World::new("")
        .serve("http://h/", redirect("http://h/b"))
        .serve("http://h/b", redirect("http://h/c"))
        .serve("http://h/c", redirect("http://h/"));
    let ended = world.run();
    assert_eq!(world.asked(), ["http://h/", "http://h/b", "http://h/c"]);
    assert_eq!(reasons(&ended), [("redirect", 3)]);
}

#[test]
fn a_redirect_to_another_spelling_of_the_page_is_followed_once() {
    let mut world =
        World::new("").serve("http://h/", redirect("http://h/?PHPSESSID=1")).serve("http://h/?PHPSESSID=1", page(&[]));
    let _ = world.run();
    assert_eq!(world.asked(), ["http://h/", "http://h/?PHPSESSID=1"]);
    assert_eq!(world.kept(), [("http://h/", 0)]);
    let mut world = World::new("")
        .serve("http://h/", redirect("http://h/?PHPSESSID=1"))
        .serve("http://h/?PHPSESSID=1", redirect("http://h/?PHPSESSID=2"));
    let ended = world.run();
    assert_eq!(world.asked().len(), 2);
    assert_eq!((reasons(&ended), ended.pages), (vec![("redirect_loop", 1)], 1));
}

#[test]
fn a_shorter_path_found_late_counts_and_nothing_is_asked_twice() {
    // The seed of the slow host comes last, and brings x from depth 3 to depth 1.
    let mut world = World::seeded(&["http://h/", "http://o/"], "max_depth = 3")
        .serve("http://h/", page(&["http://h/1"]))
        .serve("http://h/1", page(&["http://h/2"]))
        .serve("http://h/2", page(&["http://h/x"]))
        .serve("http://h/x", page(&["http://h/y"]))
        .serve("http://h/y", page(&["http://h/z"]))
        .serve("http://h/z", page(&["http://h/far"]))
        .on("http://o/", [error("timeout"), page(&["http://h/x"])]);
    let ended = world.run();
    let mut asked = world.asked();
    asked.sort_unstable();
    let once = ["http://h/", "http://h/1", "http://h/2", "http://h/x", "http://h/y", "http://h/z", "http://o/"];
    assert_eq!(asked, [&once[..], &["http://o/"]].concat(), "the seed of the slow host twice");
    assert_eq!(reasons(&ended), [("max_depth", 1)], "far is at depth 4");
    assert_eq!(world.kept["http://h/x"].depth, 3, "as far as was known then");
    let store = final_depths(&mut world);
    assert_eq!(store["http://h/x"], 1);
    assert_eq!(store["http://h/z"], 3);
}

/// The depths in the state after a run.
fn final_depths(world: &mut World) -> std::collections::BTreeMap<String, u32> {
    let shared = super::rights::Shared::default();
    let coordinator = world.coordinator(Box::new(shared.clone()));
    let _ = world.run_on(coordinator);
    let stored = shared.with(|store: &mut MemoryFrontier| store.stored(None, 100).unwrap());
    stored.into_iter().map(|page| (page.key, page.depth)).collect()
}

#[test]
fn a_worker_that_followed_redirects_is_checked_afterwards() {
    let answered = |by: &str| {
        let mut reply = page(&["http://h/next"]);
        reply.answered_by = Some(by.to_owned());
        reply
    };
    let robots = super::world::file("User-agent: *\nDisallow: /hidden\n");
    let mut world = World::new("redirects = \"worker\"")
        .serve("http://h/robots.txt", robots)
        .serve("http://h/", page(&["http://h/a", "http://h/b", "http://h/c", "http://h/d"]))
        .serve("http://h/a", answered("http://h/target"))
        .serve("http://h/b", answered("http://h/target"))
        .serve("http://h/c", answered("http://h/hidden"))
        .serve("http://h/d", answered("http://evil/"));
    let ended = world.run();
    let kept = world.kept();
    assert_eq!(kept, [("http://h/", 0), ("http://h/target", 1)], "once, and nothing that the checks refuse");
    assert!(!world.asked().contains(&"http://h/target"), "it has been answered");
    let reasons = reasons(&ended);
    assert_eq!(reasons, [("allowed_domains", 1), ("http_404", 1), ("redirect", 4), ("robots", 1)]);
}

#[test]
fn seeds_that_failed_for_good_are_told_from_results() {
    let run = |reply| World::new("").serve("http://h/", reply).run().seeds_failed;
    assert!(run(error("certificate")) && run(status(403)) && run(error("private_network")));
    assert!(!run(status(404)) && !run(status(410)) && !run(error("noindex")) && !run(status(500)));
    let mut world = World::new("").serve("http://h/", redirect("http://h/b")).serve("http://h/b", status(403));
    assert!(world.run().seeds_failed, "through a redirect");
}

#[test]
fn a_look_asks_for_seeds_alone_and_judges_what_they_lead_to() {
    let robots = "User-agent: *\nDisallow: /no\nCrawl-delay: 3\n";
    let mut world = World::new("exclude = [\"secret\"]\nmax_depth = 1")
        .serve("http://h/robots.txt", super::world::file(robots))
        .serve("http://h/", redirect("http://h/start"))
        .serve("http://h/start", page(&["http://h/a", "http://h/no", "http://h/secret", "http://o/b", "http://evil/"]))
        .serve("http://o/robots.txt", status(500));
    let mut coordinator = world.look();
    let look = coordinator.look().unwrap();
    assert_eq!(world.asked(), ["http://h/", "http://h/start"]);
    assert_eq!(look.would_fetch, ["http://h/start", "http://h/a"]);
    let left: Vec<(&str, &str)> = look.left_out.iter().map(|left| (left.url.as_str(), left.reason.as_str())).collect();
    let expected = [
        ("http://h/", "redirect"),
        ("http://h/no", "robots"),
        ("http://h/secret", "exclude"),
        ("http://o/b", "robots_unreachable"),
        ("http://evil/", "allowed_domains"),
    ];
    assert_eq!(left, expected);
    let hosts: Vec<_> =
        look.hosts.iter().map(|host| (host.host.as_str(), host.robots.as_str(), host.delay_s)).collect();
    assert_eq!(hosts, [("http://h", "rules", Some(3.0)), ("http://o", "robots_unreachable", Some(0.0))]);
}
