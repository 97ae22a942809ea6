use proptest::prelude::*;

use super::*;

fn allows(robots: &str, agent: &str, path: &str) -> bool {
    Robots::parse(robots.as_bytes()).allows(agent, path)
}

/// RFC 9309 section 2.2.1: groups of one agent are merged, tokens match in any case, and nobody else's rules count.
#[test]
fn an_agent_obeys_all_groups_that_name_it() {
    let robots = "User-Agent: ExampleBot\nDisallow: /foo\nDisallow: /bar\n\nUser-Agent: *\nDisallow: /other\n\nuser-agent: EXAMPLEBOT\nDisallow: /baz\n";
    for path in ["/foo", "/bar", "/baz/x"] {
        assert!(!allows(robots, "examplebot", path), "{path}");
    }
    assert!(allows(robots, "examplebot", "/other"));
    assert!(!allows(robots, "anybot", "/other") && allows(robots, "anybot", "/foo"));
}

/// RFC 9309 section 2.2.1: no group matches, so the rules for `*` count; without those there are none.
#[test]
fn who_is_not_named_obeys_the_rules_for_everyone() {
    assert!(!allows("User-agent: *\nDisallow: /", "corpora", "/"));
    assert!(allows("User-agent: other\nDisallow: /", "corpora", "/"));
    assert!(allows("User-agent: *\nDisallow: /\nUser-agent: corpora", "corpora", "/"), "a group without rules");
    assert!(!allows("User-agent: a\nUser-agent: corpora\nDisallow: /x", "corpora", "/x"));
    assert!(allows("User-agent: corporate\nDisallow: /", "corpora", "/"), "another product");
    assert!(!allows("User-agent: corpora/2.0 (x)\nDisallow: /", "corpora", "/"));
}

/// RFC 9309 section 2.2.2: the most octets win, of two alike the one that allows, and what no rule is about is allowed.
#[test]
fn the_longest_match_counts() {
    let robots = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\nDisallow: /same\nAllow: /same\n";
    assert!(allows(robots, "foobot", "/example/page/a"));
    assert!(!allows(robots, "foobot", "/example/page/disallowed.gif"));
    assert!(allows(robots, "foobot", "/same"));
    assert!(allows(robots, "foobot", "/elsewhere"));
    assert!(allows("User-agent: *\nDisallow:", "foobot", "/"), "a rule about nothing");
}

/// RFC 9309 section 2.2.2: `/robots.txt` is implicitly allowed.
#[test]
fn robots_txt_itself_is_always_allowed() {
    let policy = Robots::parse(b"User-agent: *\nDisallow: /").policy("corpora");
    assert!(policy.allows("/robots.txt"));
    assert_eq!(policy.refused_by("/robots.txt?x"), Some("/"));
}

/// RFC 9309 section 2.2.2, its table: octets are compared in one spelling, in which reserved ones stay as they were.
#[test]
fn octets_are_compared_in_one_spelling() {
    let table = [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", true),
        ("/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar", true),
        ("/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", false),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", true),
        ("/foo/bar/ツ", "/foo/bar/ツ", true),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", true),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", true),
        ("/100%", "/100%25", true),
        ("/A", "/a", false),
    ];
    for (pattern, path, matches) in table {
        let robots = format!("User-agent: *\nDisallow: {pattern}");
        assert_eq!(!allows(&robots, "corpora", path), matches, "{pattern} {path}");
    }
}

/// RFC 9309 section 2.2.3: `*`, `$`, `#`, and how to mean the characters themselves.
#[test]
fn special_characters() {
    let table = [
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true),
        ("/path/foo-%24", "/path/foo-$", true),
        ("/*.gif$", "/a/b.gif", true),
        ("/*.gif$", "/a/b.gif?x", false),
        ("/a*b*c", "/a__b__c", true),
        ("/a*b*c", "/a__c__b", false),
        ("/a*a$", "/a", false),
        ("/a*a$", "/a_a_a", true),
        ("/$", "/", true),
        ("/$", "/x", false),
        ("/x$y", "/x$yz", true),
        ("*/x", "/y/x", true),
        ("/**/", "/a/", true),
        ("/x # a comment", "/x", true),
        ("*", "/", true),
        ("fish", "/fish", true),
    ];
    for (pattern, path, matches) in table {
        let robots = format!("User-agent: *\nDisallow: {pattern}");
        assert_eq!(!allows(&robots, "corpora", path), matches, "{pattern} {path}");
    }
}

/// RFC 9309 sections 2.2.4 and 2.1: other lines are read where they stand and never end a group.
#[test]
fn other_lines_never_end_a_group() {
    let other = [
        "Sitemap: https://h.example/s.xml",
        "Content-Signal: ai-train=no",
        "License: x",
        "Crawl-delay: 1",
        "Foo: bar",
        "",
    ];
    for line in other {
        let robots =
            format!("User-agent: a\n{line}\nUser-agent: corpora\n{line}\nDisallow: /x\n{line}\nDisallow: /y\n");
        for agent in ["a", "corpora"] {
            assert!(!allows(&robots, agent, "/x") && !allows(&robots, agent, "/y"), "{line} {agent}");
        }
    }
    let robots = Robots::parse(b"Sitemap: https://h.example/a.xml\nUser-agent: x\nDisallow: /\nsite-map: /b.xml #c\n");
    assert_eq!(robots.sitemaps(), ["https://h.example/a.xml", "/b.xml"]);
}

/// RFC 9309 section 2.3.1: what the answer's status means.
#[test]
fn the_status_decides_what_is_asked() {
    use Meaning::{NoRules, Redirect, Rules, Unreachable, Wait};
    let table = [
        (200, Rules),
        (204, Rules),
        (301, Redirect),
        (308, Redirect),
        (400, NoRules),
        (401, NoRules),
        (403, NoRules),
        (404, NoRules),
        (410, NoRules),
        (429, Wait),
        (499, NoRules),
        (500, Unreachable),
        (503, Unreachable),
        (599, Unreachable),
        (100, Unreachable),
        (999, Unreachable),
    ];
    for (status, expected) in table {
        assert_eq!(meaning(status, 0, false), expected, "{status}");
    }
    assert_eq!(meaning(429, 0, true), Unreachable);
    assert_eq!(meaning(302, MOST_REDIRECTS - 1, false), Redirect);
    assert_eq!(meaning(302, MOST_REDIRECTS, false), NoRules, "a sixth redirect is not asked");
}

/// RFC 9309 section 2.4.
#[test]
fn a_file_is_asked_for_again_after_a_day() {
    assert_eq!(LONGEST_AGE.as_secs(), 86_400);
}

/// RFC 9309 section 2.5: at least 500 KiB are read, and a line that the limit cuts is not half a rule.
#[test]
fn a_long_file_is_read_to_its_limit() {
    let filler = "# filler\n".repeat(500 * 1024 / 9);
    assert!(!allows(&format!("User-agent: *\n{filler}Disallow: /x"), "corpora", "/x"));
    let start = "User-agent: *\n";
    let blanks = " ".repeat(MOST_BYTES - start.len() - "\nDisallow: /".len());
    let robots = Robots::parse(format!("{start}{blanks}\nDisallow: /private\nDisallow: /").as_bytes());
    assert!(robots.allows("corpora", "/public"));
    assert_eq!(robots.bytes_cut(), "Disallow: /private\nDisallow: /".len());
    assert_eq!(Robots::parse(start.as_bytes()).bytes_cut(), 0);
}

/// What stands above the first group is in none (RFC 9309 section 2.1); a file without any names nobody, and means everybody.
#[test]
fn rules_without_an_agent_count_where_there_is_none_at_all() {
    assert!(allows("Disallow: /\nUser-agent: other\nDisallow: /x", "corpora", "/"));
    assert!(allows("Disallow: /\nUser-agent: *\nDisallow: /x", "corpora", "/"));
    assert!(!allows("Disallow: /", "corpora", "/"));
}

#[test]
fn a_page_in_the_place_of_the_file_has_no_rules() {
    let page =
        "<!DOCTYPE html>\n<html><head><title>404</title></head>\n<body style=\"color: red\">Disallow: /</body>\n";
    let robots = Robots::parse(page.as_bytes());
    assert!(robots.allows("corpora", "/") && robots.sitemaps().is_empty() && robots.crawl_delay("corpora").is_none());
}

#[test]
fn a_delay_is_a_number_of_seconds() {
    let delay =
        |value: &str| Robots::parse(format!("User-agent: *\nCrawl-delay: {value}").as_bytes()).crawl_delay("corpora");
    assert_eq!(
        [delay("3600"), delay("0.5"), delay("0"), delay("1e77")],
        [Some(3600.0), Some(0.5), Some(0.0), Some(1e77)]
    );
    for nonsense in ["-1", "inf", "NaN", "1e999", "a word", "", "5 s", "1,5"] {
        assert_eq!(delay(nonsense), None, "{nonsense}");
    }
    let of = |robots: &str, agent: &str| Robots::parse(robots.as_bytes()).crawl_delay(agent);
    assert_eq!(of("User-agent: corpora\nCrawl-delay: 2\nCrawl-delay: 9\nCrawl-delay: 4", "corpora"), Some(9.0));
    assert_eq!(of("User-agent: a\nCrawl-delay: 5\nUser-agent: b\nCrawl-delay: 7", "a"), Some(5.0));
    assert_eq!(of("User-agent: *\nCrawl-delay: 5\nUser-agent: corpora\nDisallow: /x", "corpora"), None);
    assert_eq!(of("Crawl-delay: 5", "corpora"), Some(5.0));
    assert_eq!(of("Crawl-delay: 5\nUser-agent: *\nDisallow: /x", "corpora"), Some(5.0));
}

#[test]
fn what_is_said_of_use_is_that_of_the_smallest_part() {
    let robots = "Content-Signal: ai-train=yes\nUser-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=y\nAllow: /\nLicense: https://h.example/rsl.xml\nUser-agent: other\nContent-Signal: ai-train=yes\nDisallow:\n";
    let robots = Robots::parse(robots.as_bytes());
    let stated = robots.policy("corpora").stated("/a");
    assert_eq!(stated.content_signal, ["search=yes, ai-train=no"]);
    assert_eq!(stated.content_usage, ["train-ai=n"]);
    assert_eq!(stated.licenses, ["https://h.example/rsl.xml"]);
    assert_eq!(robots.policy("corpora").stated("/free/a").content_usage, ["train-ai=y"]);
    assert_eq!(robots.policy("other").stated("/a").content_signal, ["ai-train=yes"]);
}

#[test]
fn the_rule_that_refuses_is_told_as_written() {
    let policy =
        Robots::parse("User-agent: *\nDisallow: /Käse*$\nAllow: /index.html\nDisallow: /".as_bytes()).policy("corpora");
    assert_eq!(policy.refused_by("/K%C3%A4se/1"), Some("/Käse*$"));
    assert_eq!(policy.refused_by("/a"), Some("/"));
    assert_eq!(policy.refused_by("/"), None, "its index is allowed, and so is the folder");
}

#[test]
fn the_product_is_the_first_token() {
    let table = [
        ("corpora/0.1 (+https://example.org/bot)", "corpora"),
        ("corpora", "corpora"),
        (" Corpora-Bot (x)", "Corpora-Bot"),
        ("Mozilla/5.0 (compatible; x)", "Mozilla"),
        ("", ""),
    ];
    for (header, token) in table {
        assert_eq!(product_token(header), token);
    }
}

/// A pattern of nothing but `*` and letters has as many ways to match as one likes; one pass decides.
#[test]
fn many_wildcards_cost_one_pass() {
    let robots = format!("User-agent: *\nDisallow: /{}b$\n", "*a".repeat(8000)).repeat(60);
    let policy = Robots::parse(robots.as_bytes()).policy("corpora");
    let path = format!("/{}", "a".repeat(7999));
    for _ in 0..20 {
        assert!(policy.allows(&path));
    }
}

/// What [`Pattern::matches`] says, by trying everything.
fn tried(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        b"$" => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skipped| tried(rest, &path[skipped..])),
        [first, rest @ ..] => path.first() == Some(first) && tried(rest, &path[1..]),
    }
}

proptest! {
    #[test]
    fn no_bytes_are_an_error(bytes: Vec<u8>, agent in ".{0,8}", path in ".{0,20}") {
        let robots = Robots::parse(&bytes);
        let policy = robots.policy(&agent);
        prop_assert_eq!(policy.allows(&path), robots.allows(&agent, &path));
        let _ = policy.stated(&path);
        prop_assert!(policy.crawl_delay().is_none_or(|delay| delay.is_finite() && delay >= 0.0));
    }

    #[test]
    fn no_lines_are_an_error(lines in prop::collection::vec(
        "(User-agent|Allow|Disallow|Crawl-delay|Sitemap|Content-Usage|Content-Signal|x):? ?[*a/%$# .0-9]{0,6}", 0..20), end in "[\r\n]{1,2}")
    {
        let text = lines.join(&end);
        let policy = Robots::parse(text.as_bytes()).policy("a");
        let _ = (policy.allows("/a"), policy.stated("/a"));
        prop_assert!(policy.allows("/robots.txt"));
    }

    #[test]
    fn a_pattern_matches_as_if_everything_were_tried(pattern in "/[ab*]{0,8}\\$?", path in "/[ab]{0,8}") {
        prop_assert_eq!(Pattern::new(pattern.as_bytes()).matches(path.as_bytes()), tried(pattern.as_bytes(), path.as_bytes()));
    }
}
