//! What every implementation of [`FrontierStore`] does, as one function that a test calls.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a suite is test code: it stops where the store is wrong")]

use super::{
    Answer, FrontierStore, HostId, HostRecord, Link, NewUrl, Queued, State, StoredPage, Tally, UrlId, UrlRecord,
};

/// Holds an implementation to the port. `empty` gives a store in which nothing was found yet.
///
/// # Panics
/// At the first thing that the store does otherwise.
pub fn run<S: FrontierStore>(mut empty: impl FnMut() -> S) {
    hosts_are_known_by_name(&mut empty());
    urls_are_known_by_their_canonical_form(&mut empty());
    queued_urls_come_in_order(&mut empty());
    what_was_under_way_is_queued_again(&mut empty());
    what_is_queued_is_settled_at_once(&mut empty());
    ways_and_notes_are_kept(&mut empty());
    stored_pages_come_sorted(&mut empty());
    urls_are_counted_by_state_and_reason(&mut empty());
    what_is_not_known_is_an_error(&mut empty());
    everything_is_forgotten(&mut empty());
}

/// A URL of `host` under this key.
fn new(key: &str, host: HostId, depth: u32) -> NewUrl<'_> {
    NewUrl { key, address: key, host, depth, state: State::Queued, reason: "", parent: None, found: 7 }
}

fn change(store: &mut impl FrontierStore, id: UrlId, change: impl FnOnce(&mut UrlRecord)) {
    let mut url = store.get(id).unwrap().unwrap();
    change(&mut url);
    store.put(&url).unwrap();
}

fn hosts_are_known_by_name(store: &mut impl FrontierStore) {
    let (a, b) = (store.host("http://a").unwrap(), store.host("http://b:8080").unwrap());
    assert_eq!((a, b), (HostId(0), HostId(1)));
    assert_eq!(store.host("http://a").unwrap(), a, "asked again");
    let changed = HostRecord { id: b, name: "ignored".to_owned(), asked: 7, rest: u64::from(u32::MAX) * 1000 };
    store.put_host(&changed).unwrap();
    store.commit().unwrap();
    let hosts = store.hosts().unwrap();
    assert_eq!(hosts[0], HostRecord { id: a, name: "http://a".to_owned(), asked: 0, rest: 0 });
    assert_eq!(hosts[1], HostRecord { name: "http://b:8080".to_owned(), ..changed });
    let answer = |about: &str, at: u64| Answer {
        about: about.to_owned(),
        at,
        verdict: "rules".to_owned(),
        body: vec![0, 255, b'\n', b'\''],
    };
    store.put_answer(a, &answer("tdmrep", 1)).unwrap();
    store.put_answer(a, &answer("robots", 2)).unwrap();
    store.put_answer(a, &answer("robots", 3)).unwrap();
    assert_eq!(store.answers(a).unwrap(), [answer("robots", 3), answer("tdmrep", 1)]);
    assert_eq!(store.answers(b).unwrap(), []);
}

fn urls_are_known_by_their_canonical_form(store: &mut impl FrontierStore) {
    let host = store.host("http://h").unwrap();
    let seed = store.add(&NewUrl { address: "http://h/?b&a", ..new("http://h/?a&b", host, 0) }).unwrap();
    let left = NewUrl { state: State::Left, reason: "robots", parent: Some(seed), ..new("http://h/x", host, 3) };
    let other = store.add(&left).unwrap();
    assert_eq!((seed, other), (UrlId(1), UrlId(2)));
    assert_eq!(store.find("http://h/?b&a").unwrap(), None, "not by its address");
    let found = store.find("http://h/?a&b").unwrap().unwrap();
    assert_eq!(found, store.get(seed).unwrap().unwrap());
    let expected = UrlRecord {
        id: seed,
        key: "http://h/?a&b".to_owned(),
        address: "http://h/?b&a".to_owned(),
        host,
        depth: 0,
        state: State::Queued,
        reason: String::new(),
        parent: None,
        found: 7,
        attempts: 0,
        due: 0,
        asked: false,
    };
    assert_eq!(found, expected);
    let refused = store.find("http://h/x").unwrap().unwrap();
    assert_eq!((refused.state, refused.reason.as_str(), refused.parent), (State::Left, "robots", Some(seed)));
    let changed = UrlRecord {
        address: "http://h/x2".to_owned(),
        depth: 1,
        state: State::Failed,
        reason: "http_503".to_owned(),
        attempts: 4,
        due: 1_800_000_000_000,
        asked: true,
        ..refused
    };
    store.put(&changed).unwrap();
    assert_eq!(store.get(other).unwrap().unwrap(), changed);
    assert!(store.add(&new("http://h/x", host, 0)).is_err(), "a canonical form is one URL");
}

fn queued_urls_come_in_order(store: &mut impl FrontierStore) {
    let (host, other) = (store.host("http://h").unwrap(), store.host("http://o").unwrap());
    let [deep, first, second, retry] = ["deep", "first", "second", "retry"].map(|key| {
        let depth = if key == "deep" { 5 } else { 1 };
        store.add(&new(key, host, depth)).unwrap()
    });
    store.add(&new("elsewhere", other, 0)).unwrap();
    change(store, retry, |url| url.due = 900);
    let ids = |urls: Vec<UrlRecord>| urls.into_iter().map(|url| url.id).collect::<Vec<_>>();
    assert_eq!(ids(store.due(host, 899, 10).unwrap()), [first, second, deep]);
    assert_eq!(ids(store.due(host, 900, 10).unwrap()), [first, second, deep, retry]);
    assert_eq!(ids(store.due(host, 900, 2).unwrap()), [first, second]);
    for id in [first, second, deep] {
        change(store, id, |url| url.state = State::InFlight);
    }
    assert_eq!(store.due(host, 899, 10).unwrap(), []);
    assert_eq!(store.next_due(host).unwrap(), Some(900));
    change(store, retry, |url| url.state = State::Stored);
    assert_eq!(store.next_due(host).unwrap(), None);
    assert_eq!(store.next_due(other).unwrap(), Some(0));
}

fn what_was_under_way_is_queued_again(store: &mut impl FrontierStore) {
    let host = store.host("http://h").unwrap();
    let states = [State::Queued, State::InFlight, State::Stored, State::Left, State::Failed];
    for (index, state) in states.into_iter().enumerate() {
        let id = store.add(&new(&format!("{index}"), host, 0)).unwrap();
        change(store, id, |url| {
            (url.state, url.attempts, url.due, url.asked) = (state, 2, 50, true);
            url.reason = "why".to_owned();
        });
    }
    assert_eq!(store.reopen(State::InFlight).unwrap(), 1);
    assert_eq!(store.due(host, 0, 10).unwrap().len(), 1);
    assert_eq!(store.reopen(State::Failed).unwrap(), 1);
    assert_eq!(store.reopen(State::Failed).unwrap(), 0);
    let after = |id: u64, store: &mut _| {
        let url = FrontierStore::get(store, UrlId(id)).unwrap().unwrap();
        (url.state, url.attempts, url.due, url.asked, url.reason)
    };
    assert_eq!(after(1, store), (State::Queued, 2, 50, true, "why".to_owned()), "it was queued already");
    assert_eq!(after(2, store), (State::Queued, 0, 0, true, String::new()));
    assert_eq!(after(3, store).0, State::Stored);
    assert_eq!(after(4, store).0, State::Left);
    assert_eq!(after(5, store), (State::Queued, 0, 0, true, String::new()));
    assert_eq!(store.due(host, 0, 10).unwrap().len(), 2);
}

fn what_is_queued_is_settled_at_once(store: &mut impl FrontierStore) {
    let (host, other) = (store.host("http://h").unwrap(), store.host("http://o").unwrap());
    let ids = ["a", "b", "c"].map(|key| store.add(&new(key, host, 0)).unwrap());
    store.add(&new("elsewhere", other, 0)).unwrap();
    change(store, ids[0], |url| url.state = State::Stored);
    assert_eq!(store.settle_queued(Queued::OfHost(host), State::Failed, "robots_unreachable").unwrap(), 2);
    assert_eq!(store.settle_queued(Queued::OfHost(host), State::Left, "max_pages").unwrap(), 0);
    let again = store.add(&new("again", other, 0)).unwrap();
    change(store, again, |url| url.asked = true);
    assert_eq!(store.settle_queued(Queued::NeverAsked, State::Left, "max_pages").unwrap(), 1);
    assert_eq!(store.next_due(other).unwrap(), Some(0));
    assert_eq!(store.settle_queued(Queued::All, State::Left, "max_bytes").unwrap(), 1);
    assert_eq!((store.next_due(host).unwrap(), store.next_due(other).unwrap()), (None, None));
    let last = store.get(ids[2]).unwrap().unwrap();
    assert_eq!((last.state, last.reason.as_str()), (State::Failed, "robots_unreachable"));
    assert_eq!(store.get(ids[0]).unwrap().unwrap().state, State::Stored);
}

fn ways_and_notes_are_kept(store: &mut impl FrontierStore) {
    let host = store.host("http://h").unwrap();
    let id = store.add(&new("a", host, 0)).unwrap();
    assert_eq!(store.links(id).unwrap(), []);
    for count in [0u64, 1, 3, 1000] {
        let to = |n: u64| Link { to: UrlId(n * n * 1_000_003 + 1), is_redirect: n.is_multiple_of(3) };
        let links: Vec<Link> = (0..count).map(to).collect();
        store.put_links(id, &links).unwrap();
        assert_eq!(store.links(id).unwrap(), links);
    }
    assert_eq!(store.note("pages").unwrap(), None);
    for value in ["1", "", "two\n'\""] {
        store.put_note("pages", value).unwrap();
        assert_eq!(store.note("pages").unwrap().as_deref(), Some(value));
    }
}

fn stored_pages_come_sorted(store: &mut impl FrontierStore) {
    let host = store.host("http://h").unwrap();
    for key in ["http://h/b", "http://h/é", "http://h/a", "http://h/Z", "http://h/a/1", "http://h/queued"] {
        let id = store.add(&new(key, host, 2)).unwrap();
        if key != "http://h/queued" {
            change(store, id, |url| url.state = State::Stored);
        }
    }
    let page = |key: &str| StoredPage { key: key.to_owned(), depth: 2 };
    let all = ["http://h/Z", "http://h/a", "http://h/a/1", "http://h/b", "http://h/é"].map(page);
    assert_eq!(store.stored(None, 100).unwrap(), all);
    assert_eq!(store.stored(None, 2).unwrap(), all[..2]);
    assert_eq!(store.stored(Some("http://h/a"), 2).unwrap(), all[2..4]);
    assert_eq!(store.stored(Some("http://h/é"), 2).unwrap(), []);
    let keys = |urls: Vec<UrlRecord>| urls.into_iter().map(|url| url.key).collect::<Vec<_>>();
    assert_eq!(keys(store.list(None, 2).unwrap()), ["http://h/b", "http://h/é"], "in the order of discovery");
    assert_eq!(keys(store.list(Some(UrlId(4)), 9).unwrap()), ["http://h/a/1", "http://h/queued"]);
}

fn urls_are_counted_by_state_and_reason(store: &mut impl FrontierStore) {
    let (host, other) = (store.host("http://h").unwrap(), store.host("http://o").unwrap());
    let states = [
        (State::Queued, ""),
        (State::InFlight, ""),
        (State::Stored, ""),
        (State::Left, "robots"),
        (State::Left, "robots"),
        (State::Left, "http_404"),
        (State::Failed, "timeout"),
    ];
    for (index, (state, reason)) in states.into_iter().enumerate() {
        let id = store.add(&new(&format!("{index}"), host, 0)).unwrap();
        change(store, id, |url| (url.state, url.reason) = (state, reason.to_owned()));
    }
    let tallies = store.tally().unwrap();
    let expected = Tally {
        queued: 1,
        in_flight: 1,
        stored: 1,
        left: [("http_404".to_owned(), 1), ("robots".to_owned(), 2)].into(),
        failed: [("timeout".to_owned(), 1)].into(),
    };
    assert_eq!(tallies.get(&host), Some(&expected));
    assert_eq!(tallies.get(&other), None, "a host without URLs has none to count");
}

fn what_is_not_known_is_an_error(store: &mut impl FrontierStore) {
    assert_eq!(store.get(UrlId(0)).unwrap(), None);
    assert_eq!(store.get(UrlId(99)).unwrap(), None);
    let host = store.host("http://h").unwrap();
    let id = store.add(&new("a", host, 0)).unwrap();
    let mut url = store.get(id).unwrap().unwrap();
    url.id = UrlId(99);
    let Err(error) = store.put(&url) else { panic!("a URL without a record was kept") };
    assert_eq!(error.to_string(), "write the state of the crawl");
    let nobody = HostRecord { id: HostId(99), name: String::new(), asked: 0, rest: 0 };
    assert!(store.put_host(&nobody).is_err());
}

fn everything_is_forgotten(store: &mut impl FrontierStore) {
    let host = store.host("http://h").unwrap();
    let id = store.add(&new("a", host, 0)).unwrap();
    store.put_links(id, &[Link { to: id, is_redirect: false }]).unwrap();
    store.put_note("n", "1").unwrap();
    store.commit().unwrap();
    store.clear().unwrap();
    store.commit().unwrap();
    assert_eq!(store.hosts().unwrap(), []);
    assert_eq!(store.find("a").unwrap(), None);
    assert_eq!(store.note("n").unwrap(), None);
    let host = store.host("http://other").unwrap();
    assert_eq!((host, store.add(&new("b", host, 0)).unwrap()), (HostId(0), UrlId(1)), "numbers start again");
    assert_eq!(store.links(UrlId(1)).unwrap(), []);
}
