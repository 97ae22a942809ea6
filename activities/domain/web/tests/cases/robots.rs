//! `robots.jsonl`: Google's parser and its port, Protego, temoto, texting_robots, and the statuses of RFC 9309.

use std::collections::BTreeMap;

use corpora_web::robots::{Meaning, Robots, meaning, product_token};
use serde_json::Value;
use url::{Position, Url};

use super::cases;

/// Where we answer otherwise, by suite and test, each with how many of its cases and why.
const OTHERWISE: &[(&str, &str, usize, &str)] = &[
    (
        "google/robotstxt",
        "ID_UTF8ByteOrderMarkIsSkipped/broken",
        1,
        "its one group is illegible, so its rules name nobody",
    ),
    ("scrapy/protego", "test_grouping_unknown_keys", 3, "a line that is not known never ends a group (RFC 9309 2.2.4)"),
    ("texting_robots", "test_reppy_grouping_unknown_keys", 1, "the same"),
    ("scrapy/protego", "test_generosity", 2, "words without a colon, and a `*` within an agent's name"),
    ("scrapy/protego", "test_user_agent_precedence", 5, "a token is matched whole (RFC 9309 2.2.1)"),
    ("scrapy/protego", "test_unicode_url_and_useragent", 1, "the product is the first token, not one in a comment"),
    ("temoto/robotstxt", "RobotstxtOrg(prefix UA match, not RFC)", 1, "the same"),
    ("texting_robots", "test_reppy_separates_agents", 1, "a delay ends the list of its agents, as in its other cases"),
    (
        "texting_robots",
        "test_reppy_skips_malformed_line",
        1,
        "a blank is read as a colon, as Google and its other cases do",
    ),
    ("RFC9309 2.3.1", "status", 1, "429 is about us: it waits once, and is unreachable then"),
];

#[test]
fn robots_are_read_as_others_read_them() {
    let Some(cases) = cases("robots.jsonl") else { return };
    let cases: Vec<Value> = cases.into_iter().filter(|case| !is_contradicted(case)).collect();
    let mut wrong: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for case in cases.iter().filter(|case| answer(case) != case["expect"]) {
        let from = (case["src"].as_str().unwrap_or_default(), case["test"].as_str().unwrap_or_default());
        wrong.entry(from).or_default().push(told(case));
    }
    let count: usize = wrong.values().map(Vec::len).sum();
    for (suite, test, count, reason) in OTHERWISE {
        let found = wrong.remove(&(*suite, *test)).unwrap_or_default();
        assert_eq!(found.len(), *count, "{suite} {test}: {reason}: {found:#?}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count * 100 <= cases.len() * 2, "{count} of {} are answered otherwise", cases.len());
}

/// Whether another suite expects the opposite: Google leaves it to its caller to spell the URL as the rule is spelt, RFC 9309
/// section 2.2.2 has both spelt alike, and so has Protego.
fn is_contradicted(case: &Value) -> bool {
    const NAMES: [&str; 3] = ["ID_Encoding", "test_google_encoding", "test_percentage_encoding"];
    const PATHS: [&str; 2] = ["/foo/bar/\u{30c4}", "/foo/bar/baz"];
    let is_of =
        |key: &str, all: &[&str]| case[key].as_str().is_some_and(|text| all.iter().any(|one| text.ends_with(one)));
    let rule = case["robots"].as_str().unwrap_or_default();
    let is_spelt_otherwise =
        rule.contains("%62%61%7A") || rule.contains("/foo/bar/%E3%83%84") || rule.contains('\u{30c4}');
    is_of("test", &NAMES) && is_of("url", &PATHS) && is_spelt_otherwise
}

fn answer(case: &Value) -> Value {
    let bytes = bytes(case);
    let agent = agent(case);
    let url = case["url"].as_str().unwrap_or_default();
    match case["kind"].as_str() {
        Some("allow") => Robots::parse(&bytes).allows(agent, &path_and_query(url)).into(),
        Some("crawl_delay") => Robots::parse(&bytes).crawl_delay(agent).into(),
        Some("sitemaps") => Robots::parse(&bytes).sitemaps().into(),
        Some("status") => {
            let status = case["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(0);
            match meaning(status, 0, false) {
                Meaning::Rules => Robots::parse(&bytes).allows(agent, &path_and_query(url)),
                meaning => meaning == Meaning::NoRules,
            }
            .into()
        }
        other => panic!("a case of kind {other:?}"),
    }
}

fn told(case: &Value) -> String {
    let mut told = format!("{} of {}: {}", case["ua"], case["url"], case["robots"]);
    told.truncate(told.floor_char_boundary(300));
    told
}

/// Path and query of a URL, percent-encoded as it is asked for. Some are longer than what a crawl asks for.
fn path_and_query(url: &str) -> String {
    let base = Url::parse("http://h.example/").expect("a URL");
    let url = base.join(url).expect("a URL");
    url[Position::BeforePath..Position::AfterQuery].to_owned()
}

/// The product of a case: some suites give a whole header.
fn agent(case: &Value) -> &str {
    let agent = case["ua"].as_str().unwrap_or_default();
    if agent.contains(['/', '(']) { product_token(agent) } else { agent }
}

fn bytes(case: &Value) -> Vec<u8> {
    match case["robots_b64"].as_str() {
        Some(encoded) => decoded(encoded),
        None => case["robots"].as_str().unwrap_or_default().as_bytes().to_vec(),
    }
}

/// Base64 (RFC 4648 section 4).
fn decoded(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values: Vec<usize> = text.chars().filter_map(|digit| digits.find(digit)).collect();
    let joined = |group: &[usize]| group.iter().fold(0, |bits, value| bits << 6 | value) << (6 * (4 - group.len()));
    let bytes = values.chunks(4).flat_map(|group| {
        let bits = joined(group);
        [bits >> 16, bits >> 8, bits].into_iter().take(group.len() - 1).map(|byte| (byte & 255) as u8)
    });
    bytes.collect()
}
