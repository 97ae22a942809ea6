//! Every key with good values, with values of a wrong type, out of range, malformed, repeated or unknown, and without.

use corpora_contracts::config::keys::{Key, Kind, MAX_COUNT, Need};

use crate::sample::{Where, problems, read, with};
use crate::schema;

/// A key with values beyond what its kind already says.
struct Case {
    place: Where,
    key: &'static str,
    good: &'static [&'static str],
    /// Malformed values, and whether the schema can tell.
    bad: &'static [(&'static str, bool)],
}

const fn case(
    place: Where,
    key: &'static str,
    good: &'static [&'static str],
    bad: &'static [(&'static str, bool)],
) -> Case {
    Case { place, key, good, bad }
}

const NAMES_GOOD: &[&str] = &["'a'", "'0'", "'cc-by.2024_v1'", "'a..b'"];
const NAMES_BAD: &[(&str, bool)] = &[
    ("''", true),
    ("'A'", true),
    ("'-a'", true),
    ("'.a'", true),
    ("'a b'", true),
    ("'a/b'", true),
    ("'é'", true),
    ("\"a\\n\"", true),
];
const VERSIONS_BAD: &[(&str, bool)] = &[("'v1.staged'", true), ("''", true), ("'V1'", true), ("'a/b'", true)];
const LICENSES_GOOD: &[&str] = &["'MIT'", "'MIT OR Apache-2.0'", "'LicenseRef-x'"];
const LICENSES_BAD: &[(&str, bool)] = &[("''", true), ("' '", false), ("\"MIT\\nMIT\"", false)];
const USES_GOOD: &[&str] = &["['train']", "['eval']", "['eval', 'train']"];
const USES_BAD: &[(&str, bool)] =
    &[("[]", true), ("['train', 'train']", true), ("['Train']", true), ("['sell']", true)];
const WEB_BAD: &[(&str, bool)] = &[
    ("''", true),
    ("'example.org'", true),
    ("'//example.org/'", true),
    ("'http:/example.org'", true),
    ("'http://'", true),
    ("'https://u:p@example.org/'", true),
    ("'https://u@example.org/'", true),
    ("'https://example.org:99999/'", false),
    ("' https://example.org/'", true),
    ("\"https://example.org/\\n\"", true),
    ("'ftp://example.org/'", true),
    ("'file:///etc/passwd'", true),
];
const PATTERNS_GOOD: &[&str] = &["[]", "['/docs/']", r"['\.pdf$', '(?i)x']", r"['\p{Greek}']"];
const PATTERNS_BAD: &[(&str, bool)] = &[
    ("['(']", false),
    ("['a{2,1}']", false),
    (r"['\y']", false),
    ("['(?=a)']", false),
    (r"['(?-u)\xff']", false),
    ("['']", true),
];

#[rustfmt::skip]
const CASES: &[Case] = &[
    case(Where::Top, "dataset", NAMES_GOOD, NAMES_BAD),
    case(Where::Top, "version", NAMES_GOOD, VERSIONS_BAD),
    case(Where::Top, "keep_downloads", &["true", "false"], &[]),
    case(Where::Top, "sources", &[], &[("[1]", true), ("['a']", true)]),
    case(Where::Top, "crawls", &["[]"], &[("[1]", true)]),
    case(Where::Top, "extract", &["{}", "{ format = 'text' }"], &[]),
    case(Where::Top, "store", &["{}", "{ shard_rows = 1 }"], &[]),
    case(Where::Top, "licenses", &["{}", "{ MIT = [] }", "{ 'CC-BY-NC-4.0' = ['train', 'eval'] }", "{ file = 'l.toml' }"],
         &[("{ MIT = 'train' }", true), ("{ MIT = ['sell'] }", true), ("{ MIT = ['eval', 'eval'] }", true), ("{ MIT = {} }", true),
           ("{ file = 1 }", true), ("{ file = '' }", true), ("{ file = ['train'] }", true)]),
    case(Where::Source, "id", NAMES_GOOD, NAMES_BAD),
    case(Where::Source, "url",
         &["'https://example.org/a%20b.jsonl?x=1'", "'HTTP://example.org'", "'http://[::1]:8765/tiny.jsonl'", "'file:///data/tiny.jsonl'",
           "'file:/data/tiny.jsonl'", "'file://localhost/data/a'", "'data/a b.jsonl'", "'/data/tiny.jsonl'", "'../tiny.jsonl'", "'./a:b'", "'tiny@home.jsonl'",
           "'https://example.org/@user/x'"],
         &[("''", true), ("'https://u:p@example.org/'", true), ("'https://'", true), ("'https:example.org'", true), ("'https://example.org:x/'", false),
           ("'ftp://example.org/x'", true), ("'s3://bucket/x'", true), ("'a:b'", true), ("'file:tiny.jsonl'", true), ("'file://host/x'", false),
           ("'file:///x?y'", true), ("'file:///x#y'", true), ("' a'", true), ("'a '", false), ("\"a\\nb\"", false), ("\"a\\u0000b\"", false)]),
    case(Where::Source, "sha256", &["'e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b'"],
         &[("''", true), ("'zz'", true), ("'E9D5B783F9FBF6EC94F8144919E20E8FEA345376DF3AD331CC01DF785A7BD42B'", true),
           ("'e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42'", true), ("'sha256:e9d5'", true)]),
    case(Where::Source, "license_spdx", LICENSES_GOOD, LICENSES_BAD),
    case(Where::Source, "license_url", &["'https://example.org/license'"], WEB_BAD),
    case(Where::Source, "allowed_uses", USES_GOOD, USES_BAD),
    case(Where::Source, "format", &["'jsonl'", "'text'", "'parquet'", "'html'", "'warc'", "'wet'"], &[]),
    case(Where::Source, "pii_policy", &["'scrub'", "'drop'", "'none'"], &[]),
    case(Where::Source, "mirrors", &["[]", "['https://mirror.example.org/x', 'x.jsonl']"], &[("['']", true), ("['ftp://x/y']", true), ("['https://u:p@h/']", true)]),
    case(Where::Source, "auth", &["{ bearer_env = 'HF_TOKEN' }"], &[]),
    case(Where::Auth, "bearer_env", &["'HF_TOKEN'", "'_x9'"],
         &[("''", true), ("'9A'", true), ("'A-B'", true), ("'A B'", true), ("'A=B'", true), ("'hf_abcdefghijklmnopqrstuvwxyzABCDEFGH'", false)]),
    case(Where::Source, "text_field", &["'text'", "'a b'", "'été'"], &[("''", true)]),
    case(Where::Source, "meta_fields", &["[]", "['title', 'author']"], &[("['']", true), ("['a', 'a']", true)]),
    case(Where::Source, "on_bad_document", &["'fail'", "'drop'"], &[]),
    case(Where::Source, "max_line_bytes", &["1", "67_108_864", "0x10"], &[]),
    case(Where::Source, "page_bytes", &["1", "10_485_760"], &[]),
    case(Where::Crawl, "id", NAMES_GOOD, NAMES_BAD),
    case(Where::Crawl, "seed_urls", &["['https://example.org/', 'http://example.org/a']"], &[("[]", true), ("['example.org']", true), ("['https://u:p@example.org/']", true)]),
    case(Where::Crawl, "allowed_domains", &["['example.org', 'EXAMPLE.com', 'bücher.example', 'localhost', '127.0.0.1', '::1', '[2001:db8::1]']"],
         &[("[]", true), ("['']", true), ("['https://example.org']", true), ("['example.org:80']", true), ("['example.org/x']", true), ("['*.example.org']", true),
           ("['.example.org']", true), ("['a b']", true), ("['a..b']", false), ("['a@b']", true), ("['::1::']", false), ("['999.1.1.1']", false)]),
    case(Where::Crawl, "max_depth", &["0", "7"], &[]),
    case(Where::Crawl, "user_agent", &["'corpora/0.1 (+https://example.org/bot)'", "'x'"],
         &[("''", true), ("' x'", true), ("'x '", true), ("'1x'", true), ("'(x)'", true), ("\"a\\r\\nb: c\"", true), ("'é'", true)]),
    case(Where::Crawl, "license_spdx", LICENSES_GOOD, LICENSES_BAD),
    case(Where::Crawl, "allowed_uses", USES_GOOD, USES_BAD),
    case(Where::Crawl, "pii_policy", &["'scrub'", "'drop'", "'none'"], &[]),
    case(Where::Crawl, "max_pages", &["1", "1_000_000"], &[]),
    case(Where::Crawl, "max_pages_per_host", &["1", "1_000_000"], &[]),
    case(Where::Crawl, "max_pages_per_pattern", &["1", "1_000_000"], &[]),
    case(Where::Crawl, "max_bytes", &["1", "10_737_418_240"], &[]),
    case(Where::Crawl, "max_duration", &["1", "86400", "0.5"], &[]),
    case(Where::Crawl, "page_timeout", &["30", "0.25", "1e1"], &[]),
    case(Where::Crawl, "page_bytes", &["1", "10_485_760"], &[]),
    case(Where::Crawl, "delay", &["0", "0.0", "1.5", "31536000"], &[("999999999999999999999999999999999999999999999", true)]),
    case(Where::Crawl, "concurrency", &["1", "64"], &[]),
    case(Where::Crawl, "per_host", &["1", "2"], &[]),
    case(Where::Crawl, "include", PATTERNS_GOOD, PATTERNS_BAD),
    case(Where::Crawl, "exclude", PATTERNS_GOOD, PATTERNS_BAD),
    case(Where::Crawl, "content_types", &["['text/html', 'application/xhtml+xml']"],
         &[("[]", true), ("['html']", true), ("['text/*']", true), ("['Text/HTML']", true), ("['text/html; charset=utf-8']", true), ("['a/b/c']", true)]),
    case(Where::Crawl, "sitemaps", &["true", "false"], &[]),
    case(Where::Crawl, "redirects", &["'coordinator'", "'worker'"], &[]),
    case(Where::Crawl, "respect_rights", &["true", "false"], &[]),
    case(Where::Crawl, "allow_private_networks", &["true", "false"], &[]),
    case(Where::Crawl, "engine", &["'embedded'", "'queues'"], &[]),
    case(Where::Extract, "format", &["'text'", "'markdown'"], &[]),
    case(Where::Extract, "favor", &["'precision'", "'recall'", "'balanced'"], &[]),
    case(Where::Extract, "page_bytes", &["1"], &[]),
    case(Where::Extract, "max_depth", &["1", "512"], &[]),
    case(Where::Extract, "max_nodes", &["1", "1_000_000"], &[]),
    case(Where::Extract, "attribute_bytes", &["1", "16_384"], &[]),
    case(Where::Extract, "time_budget", &["0.1", "60"], &[]),
    case(Where::Store, "shard_rows", &["1", "100_000"], &[]),
    case(Where::Store, "val_permille", &["0", "1000"], &[]),
    case(Where::Store, "formats", &["['parquet']", "['jsonl', 'parquet']"], &[("[]", true), ("['csv']", true)]),
    case(Where::Store, "target", &["'artifacts'", "'s3://bucket/prefix/more'", "'s3://my.bucket-1'"],
         &[("''", true), ("'s3://'", true), ("'s3://B/x'", true), ("'s3://bucket/'", true), ("'s3://bucket/a//b'", true), ("'s3://bucket/../x'", false), ("'gs://bucket'", true), ("'/data'", true)]),
    case(Where::Store, "metadata", &["'sqlite'", "'postgres'"], &[]),
];

#[test]
fn every_key_has_its_cases() {
    for place in Where::ALL {
        for Key { name, .. } in place.keys().keys {
            let cases = CASES.iter().filter(|case| case.place == place && case.key == *name).count();
            // `base` is a key of spec.json alone and has tests of its own.
            assert_eq!(cases, usize::from(*name != "base"), "{}", place.path(name));
        }
    }
    assert_eq!(CASES.len(), Where::ALL.iter().map(|place| place.keys().keys.len()).sum::<usize>() - 1);
}

#[test]
fn good_values_are_accepted_by_rules_and_schema() {
    for Case { place, key, good, .. } in CASES {
        for value in *good {
            let (text, _) = with(*place, key, Some(value));
            let reading = read(&text);
            assert_eq!(problems(&reading), Vec::<String>::new(), "{key} = {value}");
            assert!(reading.config.is_some(), "{key} = {value}");
            assert_eq!(schema::errors(&text), Vec::<String>::new(), "{key} = {value}");
        }
    }
}

#[test]
fn bad_values_are_refused_with_key_and_line() {
    let mut unexpected: Vec<String> = Vec::new();
    for Case { place, key, bad, .. } in CASES {
        let kind = &place.keys().keys.iter().find(|known| known.name == *key).unwrap().kind;
        let of_kind = bad_of(kind);
        let of_kind = of_kind.iter().map(|(value, schema_tells)| (value.as_str(), *schema_tells));
        for (value, schema_tells) in of_kind.chain(bad.iter().copied()) {
            let (text, line) = with(*place, key, Some(value));
            let reading = read(&text);
            let path = place.path(key);
            let ours: Vec<_> = reading.problems.iter().filter(|problem| problem.key.starts_with(&path)).collect();
            assert!(!ours.is_empty(), "{path} = {value} is accepted");
            assert!(reading.config.is_none(), "{path} = {value}");
            for problem in &ours {
                assert_eq!(problem.line, Some(line), "{path} = {value}: {problem}");
                assert!(problem.value.is_some() && problem.expected.len() > 10, "{problem}");
            }
            let others =
                problems(&reading).len() - ours.iter().filter(|it| !it.expected.contains("not built yet")).count();
            assert_eq!(others, 0, "{path} = {value}: {:?}", problems(&reading));
            if schema::errors(&text).is_empty() == schema_tells {
                unexpected.push(format!("{path} = {value}: {:?}", schema::errors(&text)));
            }
        }
    }
    assert_eq!(unexpected, Vec::<String>::new(), "the schema tells more or less than said");
}

#[test]
fn a_missing_key_is_a_problem_only_when_it_is_required() {
    for Case { place, key, .. } in CASES {
        let need = place.keys().keys.iter().find(|known| known.name == *key).unwrap().need;
        let (text, line) = with(*place, key, None);
        let reading = read(&text);
        if matches!(need, Need::Required) {
            let expected = format!("c.toml:{line}: `{}` is missing: expected ", place.path(key));
            assert!(problems(&reading)[0].starts_with(&expected), "{:?} {expected}", problems(&reading));
            assert_eq!(problems(&reading).len(), 1);
            assert!(!schema::errors(&text).is_empty(), "{key}");
        } else {
            assert_eq!(problems(&reading), Vec::<String>::new(), "{key}");
            assert_eq!(schema::errors(&text), Vec::<String>::new(), "{key}");
        }
    }
}

#[test]
fn unknown_keys_are_found_in_every_table() {
    for place in Where::ALL {
        let (text, line) = with(place, "no_such_thing", Some("1"));
        let reading = read(&text);
        let expected = format!("c.toml:{line}: `{}` is `", place.path("no_such_thing"));
        assert!(problems(&reading)[0].starts_with(&expected), "{:?}", problems(&reading));
        assert!(problems(&reading)[0].contains("no such key"), "{:?}", problems(&reading));
        assert!(!schema::errors(&text).is_empty(), "{place:?}");
    }
}

#[test]
fn misspelt_keys_and_words_are_corrected() {
    for (place, written, meant) in [
        (Where::Top, "keep_download", "keep_downloads"),
        (Where::Source, "sha265", "sha256"),
        (Where::Source, "licence_spdx", "license_spdx"),
        (Where::Source, "mirror", "mirrors"),
        (Where::Crawl, "seeds_urls", "seed_urls"),
        (Where::Store, "shards_rows", "shard_rows"),
    ] {
        let (text, _) = with(place, written, Some("1"));
        assert!(problems(&read(&text))[0].contains(&format!("did you mean `{meant}`?")), "{written}");
    }
    let (text, _) = with(Where::Source, "format", Some("'json'"));
    assert!(problems(&read(&text))[0].contains("`parquet`, `html`, `warc` or `wet`; did you mean `jsonl`?"));
}

/// Values that the kind of a key refuses, and whether the schema can tell.
fn bad_of(kind: &Kind) -> Vec<(String, bool)> {
    let not_text = ["5", "1.5", "true", "[]", "{}"];
    let told = |values: &[&str]| values.iter().map(|value| ((*value).to_owned(), true)).collect::<Vec<_>>();
    match kind {
        // A date is a string to the schema, which knows no dates.
        Kind::Text(_) => told(&not_text),
        Kind::Choice(_) => [told(&not_text), told(&["''", "'no_such_word'"])].concat(),
        Kind::Flag => told(&["'true'", "1", "0", "[]", "{}"]),
        Kind::Count { min, max } => {
            let mut bad = told(&["'1'", "1.5", "true", "[]", "{}", "-1"]);
            bad.push(((*max + 1).to_string(), true));
            if *min > 0 {
                bad.push(((*min - 1).to_string(), true));
            }
            bad.push((i64::MAX.to_string(), *max <= MAX_COUNT));
            // A whole number with a fraction is an integer to JSON Schema.
            bad.push(("1.0".to_owned(), *max == 0));
            bad
        }
        Kind::Seconds { zero } => {
            let mut bad = told(&["'1'", "true", "[]", "{}", "-1", "-0.5", "31_536_000.5", "31_536_001"]);
            // JSON has no infinity; it becomes null, which is no number.
            bad.extend(told(&["inf", "-inf", "nan"]));
            bad.extend((!zero).then(|| ("0".to_owned(), true)));
            bad.extend((!zero).then(|| ("-0.0".to_owned(), true)));
            bad
        }
        Kind::List { of, .. } => {
            let mut bad = told(&["'train'", "5", "true", "{}"]);
            bad.extend(bad_of(of).into_iter().map(|(value, schema_tells)| (format!("[{value}]"), schema_tells)));
            bad
        }
        Kind::Table(_) | Kind::Policy => told(&["'x'", "5", "true", "[]", "[{}]"]),
        Kind::Tables(_) => told(&["'x'", "5", "true", "{}"]),
    }
}
