//! What hosts say of the use of their pages, and a state that outlives its coordinator.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use corpora_ports::frontier::{
    Answer, FrontierStore, HostId, HostRecord, Link, MemoryFrontier, NewUrl, Queued, Result, State, StoredPage, Tally,
    UrlId, UrlRecord,
};

use super::world::{World, file, page, reasons};

fn site(keys: &str) -> World {
    World::new(keys).serve("http://h/", page(&["http://h/free", "http://h/kept/x"])).serve("http://h/free", page(&[]))
}

#[test]
fn a_hosts_refusal_of_training_is_kept_and_acted_on() {
    let tdm = r#"[{"location":"/kept/*","tdm-reservation":1,"tdm-policy":"http://h/policy"}]"#;
    let signal = "User-agent: *\nContent-Signal: /kept/ search=yes, ai-train=no\n";
    for (about, body, reason) in [
        ("http://h/.well-known/tdmrep.json", tdm, "tdm-reservation"),
        ("http://h/robots.txt", signal, "content-signal"),
    ] {
        let world =
            |keys: &str| site(keys).serve(about, file(body)).serve("http://h/kept/x", page(&["http://h/behind"]));
        let mut respectful = world("respect_rights = true");
        let ended = respectful.run();
        assert_eq!(respectful.kept(), [("http://h/", 0), ("http://h/free", 1)]);
        let expected = BTreeMap::from([("http_404", 1), (reason, 1)]);
        assert_eq!(reasons(&ended), expected.into_iter().collect::<Vec<_>>());
        assert!(respectful.asked().contains(&"http://h/behind"), "its links are followed");
        let mut evaluating = world("respect_rights = true\nallowed_uses = [\"eval\"]");
        let _ = evaluating.run();
        let rights = evaluating.kept["http://h/kept/x"].document.metadata.rights.clone();
        assert!(rights.is_some_and(|rights| !rights.is_empty()), "kept beside the page");
        assert_eq!(evaluating.kept["http://h/free"].document.metadata.rights, None);
    }
}

#[test]
fn reservations_are_asked_for_once_and_only_where_they_matter() {
    let count = |keys: &str, robots: &str| {
        let mut world = site(keys).serve("http://h/robots.txt", file(robots));
        let _ = world.run();
        world.asked_all().iter().filter(|url| url.ends_with("tdmrep.json")).count()
    };
    assert_eq!(count("respect_rights = true", ""), 1);
    assert_eq!(count("respect_rights = false", ""), 0);
    assert_eq!(
        count("respect_rights = true", "User-agent: *\nDisallow: /.well-known/\n"),
        0,
        "robots.txt holds for it"
    );
}

/// A state that several coordinators hold one after the other. What was not committed is not undone, so a coordinator is
/// dropped right behind a commit.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<MemoryFrontier>>);

impl Shared {
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut MemoryFrontier) -> T) -> T {
        work(&mut self.0.lock().unwrap())
    }
}

impl FrontierStore for Shared {
    fn hosts(&mut self) -> Result<Vec<HostRecord>> {
        self.with(FrontierStore::hosts)
    }
    fn host(&mut self, name: &str) -> Result<HostId> {
        self.with(|store| store.host(name))
    }
    fn put_host(&mut self, host: &HostRecord) -> Result<()> {
        self.with(|store| store.put_host(host))
    }
    fn answers(&mut self, host: HostId) -> Result<Vec<Answer>> {
        self.with(|store| store.answers(host))
    }
    fn put_answer(&mut self, host: HostId, answer: &Answer) -> Result<()> {
        self.with(|store| store.put_answer(host, answer))
    }
    fn find(&mut self, key: &str) -> Result<Option<UrlRecord>> {
        self.with(|store| store.find(key))
    }
    fn get(&mut self, id: UrlId) -> Result<Option<UrlRecord>> {
        self.with(|store| store.get(id))
    }
    fn add(&mut self, url: &NewUrl<'_>) -> Result<UrlId> {
        self.with(|store| store.add(url))
    }
    fn put(&mut self, url: &UrlRecord) -> Result<()> {
        self.with(|store| store.put(url))
    }
    fn due(&mut self, host: HostId, now: u64, most: usize) -> Result<Vec<UrlRecord>> {
        self.with(|store| store.due(host, now, most))
    }
    fn next_due(&mut self, host: HostId) -> Result<Option<u64>> {
        self.with(|store| store.next_due(host))
    }
    fn links(&mut self, from: UrlId) -> Result<Vec<Link>> {
        self.with(|store| store.links(from))
    }
    fn put_links(&mut self, from: UrlId, links: &[Link]) -> Result<()> {
        self.with(|store| store.put_links(from, links))
    }
    fn note(&mut self, name: &str) -> Result<Option<String>> {
        self.with(|store| store.note(name))
    }
    fn put_note(&mut self, name: &str, value: &str) -> Result<()> {
        self.with(|store| store.put_note(name, value))
    }
    fn reopen(&mut self, state: State) -> Result<u64> {
        self.with(|store| store.reopen(state))
    }
    fn settle_queued(&mut self, which: Queued, state: State, reason: &str) -> Result<u64> {
        self.with(|store| store.settle_queued(which, state, reason))
    }
    fn stored(&mut self, after: Option<&str>, most: usize) -> Result<Vec<StoredPage>> {
        self.with(|store| store.stored(after, most))
    }
    fn list(&mut self, after: Option<UrlId>, most: usize) -> Result<Vec<UrlRecord>> {
        self.with(|store| store.list(after, most))
    }
    fn tally(&mut self) -> Result<BTreeMap<HostId, Tally>> {
        self.with(FrontierStore::tally)
    }
    fn clear(&mut self) -> Result<()> {
        self.with(FrontierStore::clear)
    }
    fn commit(&mut self) -> Result<()> {
        self.with(FrontierStore::commit)
    }
}
