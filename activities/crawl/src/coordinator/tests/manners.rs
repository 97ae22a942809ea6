//! robots.txt, patience, retries, sitemaps.

use super::world::{World, error, file, page, patience, reasons, redirect, status};

const PRIVATE: &str = "User-agent: *\nDisallow: /private\n\nUser-agent: corpora\nDisallow: /ours\n";

fn site(keys: &str) -> World {
    World::new(keys).serve("http://h/", page(&["http://h/private", "http://h/ours", "http://h/a"]))
}

#[test]
fn robots_is_asked_first_and_once_and_decides() {
    let mut world = site("").serve("http://h/robots.txt", file(PRIVATE));
    let ended = world.run();
    assert_eq!(world.asked_all(), ["http://h/robots.txt", "http://h/", "http://h/private", "http://h/a"]);
    assert_eq!(reasons(&ended), [("http_404", 2), ("robots", 1)], "the group of our name alone");
}

#[test]
fn a_status_of_robots_means_what_the_rfc_says() {
    for (reply, goes_on) in [
        (status(404), true),
        (status(403), true),
        (file("<html>not here</html>"), true),
        (status(500), false),
        (error("timeout"), false),
        (error("page_timeout"), false),
        (error("content_encoding"), false),
    ] {
        let mut world = site("").serve("http://h/robots.txt", reply.clone());
        let ended = world.run();
        assert_eq!(world.asked().len(), if goes_on { 4 } else { 0 }, "{reply:?}");
        let unreachable = [("http://h".to_owned(), "robots_unreachable".to_owned())];
        assert_eq!(ended.unreachable, if goes_on { &[][..] } else { &unreachable[..] });
        assert_eq!(ended.retryable, u64::from(!goes_on));
    }
    let mut world = site("").on("http://h/robots.txt", [status(500), status(500), file(PRIVATE)]);
    let _ = world.run();
    assert_eq!(
        world.log[..3].iter().map(|request| request.at).collect::<Vec<_>>(),
        [0, 500, 1500],
        "attempts and waits"
    );
    assert_eq!(world.asked().len(), 3);
}

#[test]
fn a_host_whose_robots_will_never_come_is_lost() {
    for word in ["certificate", "private_network"] {
        let mut world = site("").serve("http://h/robots.txt", error(word));
        let ended = world.run();
        assert_eq!((world.log.len(), ended.retryable, ended.seeds_failed), (1, 0, true), "{word}");
        assert_eq!(reasons(&ended), [(word, 1)]);
    }
}

#[test]
fn robots_may_redirect_five_times_anywhere() {
    for (hops, goes_on) in [(5, true), (6, false)] {
        let mut world = site("").serve("http://h/robots.txt", redirect("http://away/1"));
        for hop in 1..hops {
            world = world.serve(&format!("http://away/{hop}"), redirect(&format!("http://away/{}", hop + 1)));
        }
        world = world.serve(&format!("http://away/{hops}"), file("User-agent: *\nDisallow: /\n"));
        let _ = world.run();
        assert_eq!(world.asked().is_empty(), goes_on, "after {hops} redirects the file counts: {goes_on}");
        assert_eq!(world.log.iter().filter(|request| request.url.starts_with("http://away/")).count(), 5);
    }
}

#[test]
fn a_429_for_robots_is_waited_for_once() {
    let mut world = site("").on("http://h/robots.txt", [patience(429, Some(7)), file("")]);
    let _ = world.run();
    assert_eq!((world.log[0].at, world.log[1].at, world.log[1].url.as_str()), (0, 7000, "http://h/robots.txt"));
    assert_eq!(world.asked().len(), 4);
    let mut world = site("").serve("http://h/robots.txt", patience(429, Some(7)));
    let ended = world.run();
    assert_eq!((world.log.len(), ended.retryable), (2, 1));
}

#[test]
fn retry_after_rests_the_whole_host_and_too_much_ends_it() {
    let mut world = World::new("")
        .serve("http://h/", page(&["http://h/a", "http://h/b"]))
        .on("http://h/a", [patience(503, Some(30)), page(&[])])
        .serve("http://h/b", page(&[]));
    let ended = world.run();
    assert_eq!(world.asked(), ["http://h/", "http://h/a", "http://h/b", "http://h/a"]);
    assert!(world.log[3].at >= 30_000, "{:?}", world.log);
    assert_eq!((ended.stored, ended.pages), (3, 3), "a second attempt is no second page");
    let mut world = World::new("")
        .serve("http://h/", page(&["http://h/a", "http://h/b"]))
        .serve("http://h/a", patience(429, Some(86_400)));
    let ended = world.run();
    assert_eq!(world.asked(), ["http://h/", "http://h/a"]);
    assert_eq!(ended.unreachable, [("http://h".to_owned(), "retry_after".to_owned())]);
    assert_eq!((reasons(&ended), ended.retryable), (vec![("retry_after", 2)], 2));
}

#[test]
fn what_may_pass_is_tried_again_and_what_stays_is_not() {
    for (reply, attempts, reason) in [
        (status(500), 3, "http_500"),
        (status(502), 3, "http_502"),
        (error("cut"), 3, "cut"),
        (status(404), 1, "http_404"),
        (status(408), 1, "http_408"),
        (error("page_bytes"), 1, "page_bytes"),
        (error("page_timeout"), 1, "page_timeout"),
        (error("content_types"), 1, "content_types"),
    ] {
        let mut world = World::new("").serve("http://h/", page(&["http://h/x"])).serve("http://h/x", reply);
        let ended = world.run();
        assert_eq!(world.asked().len(), 1 + attempts, "{reason}");
        assert_eq!(reasons(&ended), [(reason, 1)]);
        assert_eq!(ended.retryable, u64::from(attempts > 1), "{reason}");
    }
}

#[test]
fn a_host_that_is_gone_costs_the_attempts_of_one_page() {
    let mut world = World::new("")
        .serve("http://h/", page(&["http://h/1", "http://h/2", "http://h/3", "http://o/"]))
        .serve("http://h/1", error("connect"))
        .serve("http://o/", page(&[]));
    let ended = world.run();
    assert_eq!(world.asked().iter().filter(|url| url.starts_with("http://h/")).count(), 1 + 3 + 2);
    assert_eq!(ended.unreachable, [("http://h".to_owned(), "host_unreachable".to_owned())]);
    assert_eq!(ended.stored, 2, "the other host is not touched by it");
}

#[test]
fn a_crawl_delay_above_the_cap_gives_one_page() {
    let robots = "User-agent: *\nCrawl-delay: 3600\n";
    let mut world = site("").serve("http://h/robots.txt", file(robots));
    let ended = world.run();
    assert_eq!(world.asked(), ["http://h/"]);
    assert_eq!(reasons(&ended), [("crawl_delay", 3)]);
    for (value, gap) in [("120", 120_000), ("2.5", 2500), ("-1", 0), ("1e77x", 0), ("soon", 0)] {
        let robots = format!("User-agent: *\nCrawl-delay: {value}\n");
        let mut world = site("").serve("http://h/robots.txt", file(&robots));
        let _ = world.run();
        assert_eq!(world.asked().len(), 4, "{value}");
        assert!(world.log.windows(2).all(|pair| pair[1].at - pair[0].at == gap), "{value}: {:?}", world.log);
    }
}

#[test]
fn sitemaps_give_candidates_at_depth_0_when_they_are_wanted() {
    let robots =
        "Sitemap: http://h/map.xml\nSitemap: /more.txt\nSitemap: http://evil/map.xml\nUser-agent: *\nDisallow: /no\n";
    let index = "<sitemapindex><sitemap><loc>http://h/pages.xml</loc></sitemap><sitemap><loc>http://h/map.xml</loc></sitemap></sitemapindex>";
    let pages = "<urlset><url><loc>http://h/p</loc></url><url><loc>http://h/no</loc></url><url><loc>http://evil/p</loc></url></urlset>";
    let world = |keys: &str| {
        World::new(keys)
            .serve("http://h/robots.txt", file(robots))
            .serve("http://h/map.xml", file(index))
            .serve("http://h/pages.xml", file(pages))
            .serve("http://h/more.txt", file("http://h/q\n"))
            .serve("http://h/", page(&[]))
            .serve("http://h/p", page(&["http://h/r"]))
    };
    let mut without = world("");
    let _ = without.run();
    assert_eq!(without.asked_all(), ["http://h/robots.txt", "http://h/"]);
    let mut with = world("sitemaps = true");
    let ended = with.run();
    let maps: Vec<_> = with
        .asked_all()
        .into_iter()
        .filter(|url| url.contains("map") || url.contains("more") || url.contains("pages"))
        .collect();
    assert_eq!(maps, ["http://h/map.xml", "http://h/more.txt", "http://h/pages.xml"], "each once, none elsewhere");
    assert_eq!(with.kept(), [("http://h/", 0), ("http://h/p", 0)]);
    assert_eq!(reasons(&ended), [("allowed_domains", 1), ("http_404", 2), ("robots", 1)]);
}

#[test]
fn requests_about_a_host_keep_its_pace() {
    let robots = "Sitemap: http://h/map.xml\n";
    let mut world = World::new("delay = 2\nsitemaps = true\nrespect_rights = true")
        .serve("http://h/robots.txt", file(robots))
        .serve("http://h/", page(&["http://h/a", "http://o/"]));
    let _ = world.run();
    let of_h: Vec<_> = world.log.iter().filter(|request| request.url.starts_with("http://h/")).collect();
    assert_eq!(of_h.len(), 5, "{of_h:?}");
    assert!(of_h.windows(2).all(|pair| pair[1].at - pair[0].at == 2000), "{of_h:?}");
}

#[test]
fn an_old_robots_is_asked_for_again() {
    let links: Vec<String> = (0..40).map(|number| format!("http://h/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let mut world = World::new("delay = 3600\nmax_duration = 1_000_000").serve("http://h/", page(&links));
    let _ = world.run();
    let robots = world.log.iter().filter(|request| request.url.ends_with("/robots.txt"));
    let at: Vec<u64> = robots.map(|request| request.at / 3_600_000).collect();
    assert_eq!(
        at,
        [0, 25],
        "in hours: the first request that would rest on an answer of a day ago waits for a new one"
    );
    let mut asked = world.asked();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!((asked.len(), world.asked().len()), (41, 41));
    let mut world = World::new("delay = 3600\nmax_duration = 1_000_000")
        .on("http://h/robots.txt", [file(""), file("User-agent: *\nDisallow: /\n")])
        .serve("http://h/", page(&links));
    let ended = world.run();
    assert_eq!((world.asked().len(), reasons(&ended)), (23, vec![("http_404", 22), ("robots", 18)]), "new rules hold");
}
