//! Any bytes as robots.txt, as a sitemap, as tdmrep.json and as a URL: nothing panics, `/robots.txt` is always allowed, a delay
//! is a number, and what is canonical stays so.

#![no_main]

use corpora_web::rights::Reservations;
use corpora_web::robots::Robots;
use corpora_web::sitemap;
use corpora_web::url::{canonicalize, normalize};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = String::from_utf8_lossy(&bytes[..bytes.len().min(64)]);
    let policy = Robots::parse(bytes).policy("corpora");
    assert!(policy.allows("/robots.txt"));
    assert_eq!(policy.allows(&path), policy.refused_by(&path).is_none());
    assert!(policy.crawl_delay().is_none_or(|seconds| seconds.is_finite() && seconds >= 0.0));
    let _ = policy.stated(&path);
    let _ = Reservations::parse(bytes).of(&path);
    assert!(sitemap::parse(bytes).pages.len() <= sitemap::MOST_ADDRESSES);
    if let Ok(url) = normalize(&path) {
        assert_eq!(normalize(url.as_str()).as_ref(), Ok(&url));
        let known_by = canonicalize(&url);
        let again = normalize(known_by.as_str()).expect("a canonical URL is one");
        assert_eq!(canonicalize(&again), known_by);
    }
});
