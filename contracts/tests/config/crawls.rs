//! What decides that a crawl is another one, and what a finished one is to the stages behind it.

use std::collections::BTreeMap;

use corpora_contracts::config::{Config, Crawl, Format};
use corpora_contracts::ids::Digest;
use corpora_contracts::receipt::{Receipt, SplitSettings};
use corpora_contracts::time::Timestamp;

use crate::sample::read;

/// A config with one crawl, which has these lines beside the required ones.
fn config(lines: &str) -> Config {
    let text = format!(
        "dataset = 'd'\nversion = 'v'\n[[crawls]]\nid = 'docs'\nseed_urls = ['https://h.example/', 'https://h.example/b']\n\
         allowed_domains = ['h.example']\nmax_depth = 1\nuser_agent = 'bot/1'\n{lines}"
    );
    let reading = read(&text);
    reading.config.unwrap_or_else(|| panic!("{:?} in {text}", reading.problems))
}

fn crawl(lines: &str) -> Crawl {
    config(lines).crawls.swap_remove(0)
}

#[test]
fn terms_are_no_part_of_a_crawls_key_and_everything_else_is() {
    let key = crawl("license_spdx = 'MIT'").key;
    for same in [
        "license_spdx = 'CC0-1.0'",
        "license_spdx = 'MIT'\npii_policy = 'none'",
        "license_spdx = 'MIT'\nallowed_uses = ['eval', 'train']",
        "license_spdx = 'MIT'\ndelay = 1.0\nmax_pages = 10_000",
    ] {
        assert_eq!(crawl(same).key, key, "{same}");
    }
    for other in [
        "allowed_uses = ['eval']",
        "delay = 2",
        "max_pages = 9",
        "max_pages_per_host = 9",
        "include = ['x']",
        "respect_rights = false",
        "content_types = ['text/html']",
        "redirects = 'worker'",
    ] {
        assert_ne!(crawl(&format!("license_spdx = 'MIT'\n{other}")).key, key, "{other}");
    }
}

#[test]
fn a_finished_crawl_is_a_source_pinned_to_its_newest_pages() {
    let config = config("license_spdx = 'MIT'");
    let crawl = &config.crawls[0];
    assert_eq!(config.ids().map(ToString::to_string).collect::<Vec<_>>(), ["docs"]);
    assert_eq!(config.pinned().count(), 0, "nobody has looked yet");
    let nothing = crawl.pinned([].iter());
    assert_eq!((nothing.sha256, nothing.split.crawl), (crawl.key, Some(crawl.key)));
    let receipt = |pages: &str, split| Receipt {
        source_id: crawl.id.clone(),
        sha256: Digest::of(pages.as_bytes()),
        bytes: 1,
        retrieved_at: Timestamp::EPOCH,
        n_docs: 1,
        dropped: BTreeMap::new(),
        split: SplitSettings { documents: split, part_docs: 10 },
        parts: Vec::new(),
        crawl: None,
    };
    let other = self::crawl("license_spdx = 'MIT'\ndelay = 2").split();
    let receipts = [receipt("old", crawl.split()), receipt("new", crawl.split()), receipt("of another key", other)];
    let pinned = crawl.pinned(receipts.iter());
    assert_eq!(pinned.sha256, Digest::of(b"new"));
    assert_eq!((pinned.url.as_str(), pinned.split.format), ("https://h.example/", Format::Html));
    assert_eq!((&pinned.id, pinned.license_spdx.as_str()), (&crawl.id, "MIT"));
}
