//! Bounds, and what goes on after a kill.

use std::collections::BTreeSet;

use super::super::*;
use super::rights::Shared;
use super::world::{World, error, file, page, patience, reasons, status as status_of};

fn many(keys: &str) -> World {
    let links: Vec<String> = (0..100).map(|number| format!("http://h/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let mut world = World::new(keys).serve("http://h/", page(&links));
    for link in links {
        world = world.serve(link, file(&"x".repeat(1000)));
    }
    world
}

#[test]
fn pages_are_counted_by_url_and_the_rest_is_told() {
    let mut world = many("max_pages = 10");
    let ended = world.run();
    assert_eq!((world.asked().len(), ended.pages, ended.stored), (10, 10, 10));
    assert_eq!((reasons(&ended), ended.end), (vec![("max_pages", 91)], End::Bound("max_pages")));
    let mut world = World::new("max_pages = 1")
        .on("http://h/", [status_of(500), patience(503, Some(1)), page(&["http://h/a", "http://h/b"])]);
    let ended = world.run();
    assert_eq!((world.asked().len(), ended.pages, ended.stored), (3, 1, 1), "retries do not count, and are made");
    assert_eq!(reasons(&ended), [("max_pages", 2)]);
}

#[test]
fn bytes_and_time_are_soft_ends() {
    let mut world = many("max_bytes = 4500");
    let ended = world.run();
    assert_eq!((ended.stored, ended.end), (6, End::Bound("max_bytes")), "the seed has none; the fifth page is over it");
    assert_eq!(reasons(&ended), [("max_bytes", 95)]);
    let mut world = many("delay = 10\nmax_duration = 60");
    let ended = world.run();
    assert_eq!((world.log.len(), ended.end), (6, End::Bound("max_duration")), "at 0, 10, 20, 30, 40, 50 s");
}

#[test]
fn a_host_and_a_pattern_have_their_share() {
    let calendar = |day: u64| format!("http://h/cal?day={day}");
    let mut world = World::new("max_pages_per_pattern = 5\nmax_depth = 50")
        .serve("http://h/", page(&[&calendar(0), "http://h/a", "http://o/"]));
    for day in 0..9 {
        world = world.serve(&calendar(day), page(&[&calendar(day + 1)]));
    }
    world = world.serve("http://h/a", page(&[])).serve("http://o/", page(&[]));
    let ended = world.run();
    assert_eq!(world.asked().iter().filter(|url| url.contains("cal")).count(), 5);
    assert_eq!((ended.stored, reasons(&ended)), (3 + 5, vec![("max_pages_per_pattern", 1)]));
    let mut world = many("max_pages_per_pattern = 5\nmax_depth = 1");
    let ended = world.run();
    assert_eq!(
        (ended.stored, reasons(&ended)),
        (6, vec![("max_pages_per_pattern", 95)]),
        "all numbers are one pattern"
    );
    let mut world = many("max_pages_per_host = 7").on("http://h/3", [status_of(500), page(&[])]);
    let ended = world.run();
    assert_eq!((ended.stored, world.asked().len()), (7, 8), "a retry is no page");
    assert_eq!(reasons(&ended), [("max_pages_per_host", 94)]);
}

#[test]
fn a_kill_costs_what_was_under_way_and_nothing_else() {
    for kill_after in 0..25 {
        let mut world = many("max_depth = 1");
        let store = Shared::default();
        let mut coordinator = world.coordinator(Box::new(store.clone()));
        let mut under_way = BTreeSet::new();
        for round in 0..=kill_after {
            let due = coordinator.hand_out(world.now).unwrap();
            coordinator.commit(world.now).unwrap();
            if round == kill_after {
                under_way = due.jobs.into_iter().map(|job| job.url).collect();
                break;
            }
            world.answer_all(&mut coordinator, due);
        }
        drop(coordinator);
        let before: Vec<String> = world.asked().into_iter().map(str::to_owned).collect();
        let coordinator = world.coordinator(Box::new(store.clone()));
        let ended = world.run_on(coordinator);
        assert_eq!((ended.stored, ended.pages, world.kept.len()), (101, 101, 101), "killed after {kill_after}");
        let again: Vec<&str> = world.asked().split_off(before.len());
        assert!(again.iter().all(|url| !before.iter().any(|asked| asked == url)), "nothing that was answered");
        assert!(under_way.iter().all(|url| again.contains(&url.as_str())), "all that was under way");
        let robots = world.asked_all().iter().filter(|url| url.ends_with("robots.txt")).count();
        assert!(robots <= 1, "its answer is durable");
    }
}

#[test]
fn bounds_hold_over_a_kill() {
    let mut world = many("max_pages = 20");
    let store = Shared::default();
    let mut coordinator = world.coordinator(Box::new(store.clone()));
    for _round in 0..8 {
        let due = coordinator.hand_out(world.now).unwrap();
        coordinator.commit(world.now).unwrap();
        world.answer_all(&mut coordinator, due);
    }
    drop(coordinator);
    let coordinator = world.coordinator(Box::new(store));
    let ended = world.run_on(coordinator);
    assert_eq!((ended.pages, ended.stored, world.asked().len()), (20, 20, 20));
}

#[test]
fn after_an_end_what_could_not_be_had_is_asked_for_again() {
    let mut world =
        World::new("").on("http://h/robots.txt", [status_of(500), status_of(500), status_of(500), file("")]);
    world = world.on("http://h/", [error("timeout"), error("timeout"), error("timeout"), page(&[])]);
    let store = Shared::default();
    for (run, retryable, stored) in [("robots", 1, 0), ("the page", 1, 0), ("nothing", 0, 1), ("nothing", 0, 1)] {
        let coordinator = world.coordinator(Box::new(store.clone()));
        let ended = world.run_on(coordinator);
        assert_eq!((ended.retryable, ended.stored), (retryable, stored), "{run} is in the way");
    }
    assert_eq!(world.asked_all().len(), 4 + 4, "the last run asks for nothing");
}

#[test]
fn the_state_says_how_far_a_crawl_is() {
    let mut store = Shared::default();
    assert_eq!(status(&mut store).unwrap(), None);
    let mut world = many("max_pages = 50\ndelay = 2").serve("http://h/7", status_of(404));
    let mut coordinator = world.coordinator(Box::new(store.clone()));
    for _round in 0..40 {
        let due = coordinator.hand_out(world.now).unwrap();
        coordinator.commit(world.now).unwrap();
        if let (Rest::Until(moment), true) = (due.then, due.jobs.is_empty() && due.errands.is_empty()) {
            world.now = moment;
        }
        world.answer_all(&mut coordinator, due);
    }
    let told = status(&mut store).unwrap().unwrap();
    assert!(!told.ended && told.pages > 5 && told.stored == told.pages - 1, "{told:?}");
    assert_eq!(told.pages + told.queued, 101, "{told:?}");
    let rate = told.pages_per_s.unwrap();
    assert!((0.4..0.6).contains(&rate), "a page in two seconds: {told:?}");
    assert!(told.eta_s.unwrap() >= told.queued);
    assert_eq!(told.hosts.len(), 1);
    assert_eq!(
        (told.hosts[0].host.as_str(), told.hosts[0].pages, &told.hosts[0].reasons),
        ("http://h", told.pages, &told.reasons)
    );
    drop(coordinator);
    let coordinator = world.coordinator(Box::new(store.clone()));
    let ended = world.run_on(coordinator);
    let told = status(&mut store).unwrap().unwrap();
    assert_eq!((told.ended, told.pages, told.stored, told.queued), (true, 50, 49, 0));
    assert_eq!(told.reasons, ended.reasons);
}

#[test]
fn another_config_is_another_crawl() {
    let store = Shared::default();
    let mut first = many("max_pages = 5");
    let coordinator = first.coordinator(Box::new(store.clone()));
    let id = coordinator.crawl_id().to_owned();
    let _ = first.run_on(coordinator);
    let mut second = many("max_pages = 7");
    let coordinator = second.coordinator(Box::new(store));
    assert_ne!(coordinator.crawl_id(), id);
    assert_eq!(second.run_on(coordinator).stored, 7);
}

#[test]
fn a_second_delivery_changes_nothing() {
    let mut world = World::new("").serve("http://h/", page(&["http://h/a"]));
    let mut coordinator = world.coordinator(Box::new(Shared::default()));
    let mut seen = 0;
    for _round in 0..6 {
        let due = coordinator.hand_out(world.now).unwrap();
        for job in &due.jobs {
            let visit = world.visit(job);
            let timing = Timing { began: world.now, ended: world.now };
            seen += usize::from(coordinator.on_visit(visit.clone(), timing).unwrap().is_some());
            assert!(coordinator.on_visit(visit, timing).unwrap().is_none());
        }
        world.answer_errands(&mut coordinator, due.errands);
    }
    assert_eq!((seen, coordinator.standing().in_flight), (1, 0));
}
