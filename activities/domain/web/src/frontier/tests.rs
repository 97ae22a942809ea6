//! Single rules by table, then whole crawls against a simulated clock.

mod simulation;

use proptest::prelude::*;

use super::*;
use simulation::{Site, World};

const A: HostId = HostId(1);
const B: HostId = HostId(2);

fn manners() -> Manners {
    Manners { delay: Duration::from_secs(1), per_host: 1, concurrency: 8, window: 4 }
}

fn at(millis: u64) -> Moment {
    Moment::from_millis(millis)
}

/// A frontier with these hosts, open and with these URLs in their windows.
fn open(manners: Manners, hosts: &[(HostId, &[u64])]) -> Frontier<&'static str> {
    let mut frontier = Frontier::new(manners);
    for (id, urls) in hosts {
        frontier.add(*id, Moment::START);
        frontier.open(*id, None, 0);
        frontier.filled(*id, urls.iter().map(|url| UrlId(*url)), None);
    }
    frontier
}

fn page(host: HostId, url: u64) -> Next<&'static str> {
    Next::Ask(host, What::Page(UrlId(url)))
}

#[test]
fn a_host_is_asked_once_a_delay_and_never_before_its_answer_ended() {
    let mut frontier = open(manners(), &[(A, &[1, 2, 3])]);
    assert_eq!(frontier.next(at(0)), page(A, 1));
    assert_eq!(frontier.next(at(0)), Next::Busy);
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(999)), Next::Wait(at(1000)), "from start to start");
    assert_eq!(frontier.next(at(1000)), page(A, 2));
    assert_eq!(frontier.next(at(5000)), Next::Busy, "the answer takes longer than the delay");
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(5000)), page(A, 3), "no wait on top of a slow answer");
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(9000)), Next::Idle);
}

#[test]
fn a_crawl_delay_holds_for_errands_too_once_it_is_known() {
    let mut frontier: Frontier<&str> = Frontier::new(manners());
    frontier.add(A, Moment::START);
    frontier.errand(A, "robots");
    assert_eq!(frontier.next(at(0)), Next::Ask(A, What::Errand("robots")));
    frontier.ended(A, None);
    frontier.heed(A, Some(Duration::from_secs(3)));
    frontier.errand(A, "reservations");
    assert_eq!(frontier.next(at(1000)), Next::Wait(at(3000)));
    frontier.heed(A, Some(LONGEST_CRAWL_DELAY + Duration::from_secs(1)));
    assert_eq!(frontier.next(at(1000)), Next::Wait(at(3000)), "never faster than asked before");
    frontier.heed(A, None);
    assert_eq!(frontier.next(at(1000)), Next::Ask(A, What::Errand("reservations")), "robots.txt was asked for anew");
}

#[test]
fn the_delay_counts_from_when_the_request_really_began() {
    let mut frontier = open(manners(), &[(A, &[1, 2])]);
    assert_eq!(frontier.next(at(0)), page(A, 1));
    frontier.began(A, at(300));
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(1000)), Next::Wait(at(1300)));
}

#[test]
fn without_a_delay_one_request_at_a_time_is_left() {
    let mut frontier = open(Manners { delay: Duration::ZERO, ..manners() }, &[(A, &[1, 2])]);
    assert_eq!(frontier.next(at(0)), page(A, 1));
    assert_eq!(frontier.next(at(0)), Next::Busy);
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(0)), page(A, 2));
}

#[test]
fn per_host_raises_the_number_at_the_same_pace() {
    let mut frontier = open(Manners { per_host: 2, ..manners() }, &[(A, &[1, 2, 3])]);
    assert_eq!(frontier.next(at(0)), page(A, 1));
    assert_eq!(frontier.next(at(0)), Next::Wait(at(1000)));
    assert_eq!(frontier.next(at(1000)), page(A, 2));
    assert_eq!(frontier.next(at(2000)), Next::Busy);
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(2000)), page(A, 3));
}

#[test]
fn concurrency_counts_hosts() {
    let manners = Manners { concurrency: 1, per_host: 2, delay: Duration::ZERO, ..manners() };
    let mut frontier = open(manners, &[(A, &[1, 2, 3]), (B, &[9])]);
    assert_eq!(frontier.next(at(0)), page(A, 1));
    assert_eq!(frontier.next(at(0)), page(A, 2), "the host that has the place may use it twice");
    assert_eq!(frontier.next(at(0)), Next::Busy);
    frontier.ended(A, None);
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(0)), page(B, 9), "who waited longest comes first");
}

#[test]
fn errands_come_first_at_the_same_pace_and_pages_wait_for_the_gate() {
    let mut frontier = Frontier::new(manners());
    frontier.add(A, Moment::START);
    frontier.found(A, Moment::START);
    assert_eq!(frontier.next(at(0)), Next::Idle, "its robots.txt is not known");
    frontier.errand(A, "robots");
    assert_eq!(frontier.next(at(0)), Next::Ask(A, What::Errand("robots")));
    frontier.ended(A, None);
    frontier.open(A, None, 0);
    frontier.errand(A, "sitemap");
    assert_eq!(frontier.next(at(500)), Next::Wait(at(1000)));
    assert_eq!(frontier.next(at(1000)), Next::Ask(A, What::Errand("sitemap")));
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(2000)), Next::Read(A, 4));
    frontier.filled(A, [UrlId(7)], Some(at(9000)));
    assert_eq!(frontier.next(at(2000)), page(A, 7));
    frontier.ended(A, None);
    assert_eq!(frontier.next(at(3000)), Next::Wait(at(9000)), "the next one is a retry");
    assert_eq!(frontier.next(at(9000)), Next::Read(A, 4));
}

#[test]
fn a_crawl_delay_slows_down_and_never_hurries() {
    let seconds = Duration::from_secs;
    let table = [
        (None, Opened::At(seconds(1))),
        (Some(Duration::ZERO), Opened::At(seconds(1))),
        (Some(Duration::from_millis(200)), Opened::At(seconds(1))),
        (Some(seconds(10)), Opened::At(seconds(10))),
        (Some(seconds(120)), Opened::At(seconds(120))),
        (Some(seconds(121)), Opened::TooSlow(seconds(121))),
        (Some(Duration::MAX), Opened::TooSlow(Duration::MAX)),
    ];
    for (asked, expected) in table {
        let mut frontier: Frontier<()> = Frontier::new(manners());
        frontier.add(A, Moment::START);
        assert_eq!(frontier.open(A, asked, 0), expected);
    }
}

#[test]
fn above_the_cap_a_host_gives_one_page_in_all_its_runs() {
    let hour = Some(Duration::from_secs(3600));
    for (asked, pages) in [(0, 1), (1, 0), (5, 0)] {
        let mut frontier: Frontier<()> = Frontier::new(manners());
        frontier.add(A, Moment::START);
        frontier.filled(A, [UrlId(1), UrlId(2)], None);
        frontier.open(A, hour, asked);
        let mut got = 0;
        while let Next::Ask(..) = frontier.next(at(1_000_000 * (got + 1))) {
            frontier.ended(A, None);
            got += 1;
        }
        assert_eq!(got, pages, "after {asked}");
        assert!(frontier.is_closed(A));
    }
}

#[test]
fn a_rest_holds_for_the_whole_host_and_for_no_other() {
    let mut frontier = open(manners(), &[(A, &[1, 2]), (B, &[8, 9])]);
    assert_eq!(frontier.next(at(0)), page(A, 1));
    assert_eq!(frontier.next(at(0)), page(B, 8));
    frontier.ended(A, Some(at(30_000)));
    frontier.ended(B, None);
    assert_eq!(frontier.next(at(1000)), page(B, 9));
    frontier.ended(B, None);
    frontier.errand(A, "sitemap");
    assert_eq!(frontier.next(at(2000)), Next::Wait(at(30_000)), "errands rest too");
}

#[test]
fn closed_and_abandoned_hosts_are_left_alone() {
    let mut frontier = open(manners(), &[(A, &[1, 2]), (B, &[3])]);
    frontier.close(A);
    frontier.found(A, Moment::START);
    frontier.filled(A, [UrlId(4)], None);
    frontier.errand(B, "sitemap");
    frontier.abandon(B);
    assert!(frontier.is_closed(A) && frontier.is_closed(B));
    assert_eq!(frontier.next(at(0)), Next::Idle);
    assert_eq!(frontier.held(), 0);
}

#[test]
fn a_shut_host_keeps_its_pages_and_what_is_not_wanted_is_let_go() {
    let mut frontier = open(Manners { delay: Duration::ZERO, ..manners() }, &[(A, &[1, 2, 3])]);
    frontier.shut(A);
    assert_eq!(frontier.next(at(0)), Next::Idle);
    frontier.retain(|url| url != UrlId(2));
    frontier.open(A, None, 0);
    for url in [1, 3] {
        assert_eq!(frontier.next(at(0)), page(A, url));
        frontier.ended(A, None);
    }
    assert_eq!(frontier.next(at(0)), Next::Idle);
}

#[test]
fn what_nobody_asked_for_changes_nothing() {
    let mut frontier: Frontier<()> = Frontier::new(manners());
    frontier.ended(A, Some(at(1)));
    frontier.errand(A, ());
    frontier.found(A, at(1));
    frontier.add(A, Moment::START);
    frontier.ended(A, None);
    assert_eq!(frontier.in_flight(), 0);
    assert_eq!(frontier.next(at(5)), Next::Idle);
}

#[test]
fn a_slow_host_starves_nobody() {
    let manners = Manners { delay: Duration::ZERO, concurrency: 2, ..manners() };
    let slow = Site { pages: 20, answer: 5000, crawl_delay: None };
    let fast = Site { pages: 200, answer: 10, crawl_delay: None };
    let mut world = World::new(manners, &[slow, fast, fast, fast]);
    world.run();
    for host in 1..4 {
        let last = world.log.iter().filter(|entry| entry.host == host).map(|entry| entry.end).max();
        assert!(last < Some(10_000), "host {host} is done at {last:?} ms, while the slow one takes 100 s");
    }
}

#[test]
fn memory_is_hosts_and_windows() {
    let manners = Manners { delay: Duration::ZERO, ..manners() };
    let site = Site { pages: 5000, answer: 1, crawl_delay: None };
    let mut world = World::new(manners, &[site, site]);
    world.run();
    assert_eq!(world.log.len(), 10_000);
    assert!(world.most_held <= 2 * 4, "{} URLs held", world.most_held);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every page once, each host at its pace, no more at a time than allowed, and an end.
    #[test]
    fn every_crawl_is_polite_and_ends(
        delay in prop::sample::select(vec![0u64, 7, 1000]),
        per_host in 1u32..4,
        concurrency in 1u32..5,
        window in 1usize..6,
        sites in prop::collection::vec(
            (0u64..30, 0u64..3000, prop::option::of(0u64..200_000))
                .prop_map(|(pages, answer, crawl_delay)| Site { pages, answer, crawl_delay }),
            1..6,
        ),
    ) {
        let delay = Duration::from_millis(delay);
        let manners = Manners { delay, per_host, concurrency, window };
        let mut world = World::new(manners.clone(), &sites);
        world.run();
        for (index, site) in sites.iter().enumerate() {
            let wanted = site.crawl_delay.map(Duration::from_millis).unwrap_or_default();
            let too_slow = wanted > LONGEST_CRAWL_DELAY;
            let pace = if too_slow { delay } else { wanted.max(delay) };
            let mine: Vec<_> = world.log.iter().filter(|entry| entry.host == index).collect();
            let pages = if too_slow { site.pages.min(1) } else { site.pages };
            prop_assert_eq!(mine.len() as u64, pages, "each page once");
            for pair in mine.windows(2) {
                prop_assert!(pair[1].start >= pair[0].start + u64::try_from(pace.as_millis()).unwrap());
            }
            for entry in &mine {
                let together = mine.iter().filter(|other| other.start <= entry.start && entry.start < other.end);
                prop_assert!(together.count() <= per_host as usize + usize::from(entry.start == entry.end));
            }
        }
        prop_assert!(world.most_hosts <= concurrency as usize);
        prop_assert!(world.most_held <= window * sites.len());
    }
}
