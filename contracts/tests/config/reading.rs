//! What a document says as a whole: all problems at once, rules between keys, warnings, secrets, syntax errors.

use corpora_contracts::config::{
    Extract, Seconds, decode, parse_json, parse_toml, redact, unbuilt, validate, validate_policy,
};

use crate::sample::{DIGEST, document, problems, read};

/// A source with these further lines.
fn source(id: &str, url: &str, more: &str) -> String {
    format!("[[sources]]\nid = '{id}'\nurl = '{url}'\nsha256 = '{DIGEST}'\nlicense_spdx = 'MIT'\n{more}\n")
}

/// A config of sources.
fn config(sources: &[String]) -> String {
    format!("dataset = 'd'\nversion = 'v'\n{}", sources.concat())
}

const MANY: &str = r#"datset = "small"
version = 3
keep_downloads = "yes"

[[sources]]
id = "Tiny"
url = "https://user:hunter2@host/x?X-Amz-Signature=hunter3"
sha256 = "zz"
allowed_uses = [
  "train",
  "train",
  "sell",
]
format = "parquet"
auth = { bearer = "hunter4", bearer_env = "hunter-5" }

[[sources]]
id = "b"
url = "ftp://host/x"
sha256 = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b"
license_spdx = "MIT"
format = "text"
text_field = "content"
max_line_bytes = 0

[[sources]]
id = "b"
url = "x.jsonl"
sha256 = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b"
license_spdx = "MIT"
mirrors = ["ok.jsonl", ""]

[[crawls]]
id = "b"
seed_urls = []
allowed_domains = ["https://example.org"]
max_depth = -1
license_spdx = "MIT"
user_agent = ""
delay = -1
include = ["("]
exclude = "x"

[store]
val_permille = 1001

[extract]
time_budget = inf

[licenses]
CC-BY-4.0 = ["train"]
MIT = "train"

[later]
"#;

const MANY_PROBLEMS: &str = r#"c.toml:1: `datset` is `small`: no such key in the corpus config; did you mean `dataset`?; the keys are `dataset`, `version`, `keep_downloads`, `sources`, `crawls`, `extract`, `store` and `licenses`
c.toml:1: `dataset` is missing: expected a name of at most 200 characters that matches `^[a-z0-9][a-z0-9._-]*$`
c.toml:2: `version` is `3`: expected a string, a name of at most 200 characters that matches `^[a-z0-9][a-z0-9._-]*$` and does not end with `.staged`
c.toml:3: `keep_downloads` is `yes`: expected `true` or `false`
c.toml:5: `sources[0].license_spdx` is missing: expected an SPDX expression
c.toml:6: `sources[0].id` is `Tiny`: expected a name of at most 200 characters that matches `^[a-z0-9][a-z0-9._-]*$`
c.toml:7: `sources[0].url` is `https://***@host/x?X-Amz-Signature=***`: expected a URL without user name and password; name the credential with `auth = { bearer_env = … }` or in a netrc file
c.toml:8: `sources[0].sha256` is `zz`: expected 64 lowercase hex digits
c.toml:11: `sources[0].allowed_uses[1]` is `train`: expected every element once
c.toml:12: `sources[0].allowed_uses[2]` is `sell`: expected `train` or `eval`
c.toml:14: `sources[0].format` is `parquet`: format `parquet` is not built yet; built are `jsonl`, `text`, `html`, `warc` and `wet`
c.toml:15: `sources[0].auth.bearer` is `***`: no such key in `auth`; did you mean `bearer_env`?; the keys are `bearer_env`
c.toml:15: `sources[0].auth.bearer_env` is `***`: expected the name of an environment variable, `^[A-Za-z_][A-Za-z0-9_]*$`, never the token itself
c.toml:19: `sources[1].url` is `ftp://host/x`: expected an http(s): or file: URL, or a path relative to the config's folder; a path with a colon starts with `./`
c.toml:23: `sources[1].text_field` is `content`: no such key for format `text`, which has no named fields
c.toml:24: `sources[1].max_line_bytes` is `0`: expected a whole number of at least 1
c.toml:27: `sources[2].id` is `b`: expected an id of its own; `sources[1]` on line 18 has it
c.toml:31: `sources[2].mirrors[1]` is ``: expected an http(s): or file: URL, or a path relative to the config's folder
c.toml:34: `crawls[0].id` is `b`: expected an id of its own; `sources[1]` on line 18 has it
c.toml:35: `crawls[0].seed_urls` is `[]`: expected a list with at least one element, each an absolute http(s): URL
c.toml:36: `crawls[0].allowed_domains[0]` is `https://example.org`: expected a host name or an IP address, without scheme, port and path; subdomains are included
c.toml:37: `crawls[0].max_depth` is `-1`: expected a whole number from 0 to 4294967295
c.toml:39: `crawls[0].user_agent` is ``: expected a product token of letters, `-` and `_`, then anything visible, `corpora/0.1 (+https://…)`
c.toml:40: `crawls[0].delay` is `-1`: expected a number of seconds from 0 to 31536000
c.toml:41: `crawls[0].include[0]` is `(`: expected a regular expression: unclosed group
c.toml:42: `crawls[0].exclude` is `x`: expected a list, each element a regular expression
c.toml:45: `store.val_permille` is `1001`: expected a whole number from 0 to 1000
c.toml:48: `extract.time_budget` is `inf`: expected a number of seconds above 0, at most 31536000
c.toml:51: `licenses.CC-BY-4` is `{…}`: expected a list of uses; an id with a dot is written in quotes, `"CC-BY-4.0" = ["eval"]`
c.toml:52: `licenses.MIT` is `train`: expected a list, each element `train` or `eval`
c.toml:54: `later` is `{…}`: no such key in the corpus config; the keys are `dataset`, `version`, `keep_downloads`, `sources`, `crawls`, `extract`, `store` and `licenses`"#;

#[test]
fn every_problem_is_reported_at_once_with_its_line() {
    let reading = read(MANY);
    let lines: Vec<_> = reading.problems.iter().map(|problem| problem.at("c.toml")).collect();
    assert_eq!(lines.join("\n"), MANY_PROBLEMS);
    assert!(reading.config.is_none());
    assert!(!format!("{:?} {:?}", reading.problems, reading.warnings).contains("hunter"));
}

#[test]
fn formats_that_are_not_built_are_refused_by_name() {
    let format = "parquet";
    let text = config(&[source("a", "x", &format!("format = '{format}'"))]);
    let found = unbuilt(&document(&text));
    let expected = format!(
        "`sources[0].format` is `{format}`: format `{format}` is not built yet; built are `jsonl`, `text`, `html`, `warc` and `wet`"
    );
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    assert_eq!(found[0].line, Some(8));
    let reading = read(&text);
    assert_eq!(reading.problems, found);
    assert!(reading.config.is_some(), "the config itself is valid");
    for format in ["jsonl", "text", "html", "warc", "wet"] {
        assert_eq!(read(&config(&[source("a", "x", &format!("format = '{format}'"))])).problems, []);
    }
}

#[test]
fn places_of_a_dataset_that_are_not_built_are_refused_by_name() {
    let base = config(&[source("a", "x", "")]);
    for (line, expected) in [
        (
            "target = 's3://bucket/prefix'",
            Some(
                "`store.target` is `s3://bucket/prefix`: target `s3://bucket/prefix` is not built yet; built is `artifacts`",
            ),
        ),
        (
            "metadata = 'postgres'",
            Some("`store.metadata` is `postgres`: metadata `postgres` is not built yet; built is `sqlite`"),
        ),
        ("target = 'artifacts'", None),
        ("metadata = 'sqlite'", None),
    ] {
        let reading = read(&format!("{base}\n[store]\n{line}\n"));
        let found: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{line}");
        assert!(reading.config.is_some(), "the config itself is valid");
    }
}

#[test]
fn a_source_that_is_one_page_is_told_from_those_that_have_pages() {
    for (format, has_pages, is_one_page) in [
        ("jsonl", false, false),
        ("text", false, false),
        ("html", true, true),
        ("warc", true, false),
        ("wet", true, false),
    ] {
        let text = config(&[source("a", "x", &format!("format = '{format}'"))]);
        let mut split = read(&text).config.unwrap().sources.remove(0).split;
        assert_eq!((split.format.has_pages(), split.is_one_page()), (has_pages, is_one_page), "{format}");
        assert_eq!(split.page_bytes, has_pages.then_some(10 << 20), "{format}");
        split.crawl = Some(corpora_contracts::ids::Digest::of(b"a crawl"));
        assert!(!split.is_one_page(), "a crawl has pages: {format}");
    }
}

#[test]
fn without_the_table_pages_are_read_by_the_defaults() {
    let extract = read(&config(&[source("a", "x", "")])).config.unwrap().extract;
    assert_eq!(extract, Extract::DEFAULT);
    assert_eq!(extract.time_budget, Seconds::whole(10));
    assert!((extract.time_budget.as_f64() - 10.0).abs() < f64::EPSILON);
}

#[test]
fn keys_that_mean_nothing_for_a_format_are_refused() {
    for (format, meaningless) in [
        ("jsonl", &["page_bytes = 1"][..]),
        ("text", &["text_field = 'a'", "meta_fields = ['a']", "page_bytes = 1"][..]),
        ("parquet", &["max_line_bytes = 1", "page_bytes = 1"][..]),
        ("html", &["text_field = 'a'", "meta_fields = []", "max_line_bytes = 1"][..]),
        ("warc", &["max_line_bytes = 1"][..]),
        ("wet", &["text_field = 'a'"][..]),
    ] {
        for line in [
            "text_field = 'a'",
            "meta_fields = ['a']",
            "meta_fields = []",
            "max_line_bytes = 1",
            "page_bytes = 1",
            "on_bad_document = 'drop'",
        ] {
            let found = problems(&read(&config(&[source("a", "x", &format!("format = '{format}'\n{line}"))])));
            if meaningless.contains(&line) {
                assert!(found[0].contains("no such key for format"), "{format} {line} {found:?}");
                assert!(found[0].starts_with("c.toml:9: "), "{found:?}");
            }
            if format == "jsonl" && !meaningless.contains(&line) {
                assert_eq!(found, Vec::<String>::new(), "{format} {line}");
            }
        }
    }
}

#[test]
fn ids_are_unique_over_sources_and_crawls() {
    assert_eq!(problems(&read(&config(&[source("a", "x", ""), source("b", "x", "")]))), Vec::<String>::new());
    let found = problems(&read(&config(&[source("a", "x", ""), source("a", "y", ""), source("a", "z", "")])));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].ends_with("`sources[0]` on line 4 has it"), "{found:?}");
}

#[test]
fn a_table_in_the_place_of_a_list_of_tables_is_told() {
    let text = config(&[source("a", "x", "")]).replace("[[sources]]", "[sources]");
    let found = problems(&read(&text));
    assert_eq!(found, ["c.toml:3: `sources` is `{…}`: expected a list of tables, `[[sources]]`"]);
}

#[test]
fn base_belongs_to_json_and_is_needed_for_relative_paths() {
    let with = |base: &str, url: &str| {
        format!(
            r#"{{{base}"dataset":"d","version":"v",
"sources":[{{"id":"a",
"url":"{url}",
"sha256":"{DIGEST}","license_spdx":"MIT","mirrors":[
"https://h/x",
"m/x"]}}],"licenses":{{"file":"l.toml"}}}}"#
        )
    };
    let read = |text: &str| validate(&parse_json(text.as_bytes()).unwrap());
    assert_eq!(read(&with(r#""base":"/srv","#, "x")).problems, []);
    let found = problems(&read(&with("", "x")));
    let without = "expected a URL or an absolute path, because there is no `base` for it to be relative to";
    assert_eq!(
        found,
        [
            format!("c.toml:3: `sources[0].url` is `x`: {without}"),
            format!("c.toml:6: `sources[0].mirrors[1]` is `m/x`: {without}"),
            format!("c.toml:6: `licenses.file` is `l.toml`: {without}"),
        ]
    );
    for absolute in ["https://h/x", "/data/x", "file:///data/x"] {
        let text = with("", absolute).replace("\"m/x\"", "\"/m/x\"").replace("l.toml", "/l.toml");
        assert_eq!(read(&text).problems, [], "{absolute}");
    }
    for bad in [r#""base":"","#, r#""base":"srv","#, r#""base":5,"#, r#""base":null,"#] {
        let found = problems(&read(&with(bad, "x")));
        assert!(found[0].contains("`base`") && found[0].contains("an absolute path"), "{bad} {found:?}");
    }
    let in_toml = format!("base = '/srv'\n{}", config(&[source("a", "x", "")]));
    assert!(
        problems(&crate::sample::read(&in_toml))[0]
            .starts_with("c.toml:1: `base` is `/srv`: no such key in a TOML config")
    );
}

#[test]
fn json_problems_have_lines_and_null_is_no_value() {
    let text = r#"{
"dataset": null,
"version": "v", "sources": [
{"id": "a", "url": "/x",
"sha256": "zz",
"license_spdx": "MIT",
"max_line_bytes": 1.0}
]}"#;
    let found = problems(&validate(&parse_json(text.as_bytes()).unwrap()));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("c.toml:2: `dataset` is `null`: expected a string"), "{found:?}");
    assert!(found[1].starts_with("c.toml:5: `sources[0].sha256` is `zz`"), "{found:?}");
    assert!(found[2].starts_with("c.toml:7: `sources[0].max_line_bytes` is `1.0`"), "{found:?}");
}

#[test]
fn signed_urls_and_doubtful_credentials_are_warned_about() {
    let warnings = |url: &str, more: &str| {
        let reading = read(&config(&[source("a", url, more)]));
        assert_eq!(problems(&reading), Vec::<String>::new(), "{url}");
        reading.warnings.iter().map(|warning| warning.at("c.toml")).collect::<Vec<_>>()
    };
    for signed in [
        "https://h/x?X-Amz-Algorithm=A&X-Amz-Signature=hunter2&X-Amz-Expires=60",
        "https://h/x?X-Goog-Signature=hunter2",
        "https://h/x?se=1&sig=hunter2",
        "https://h/x?Expires=1&Signature=hunter2&Key-Pair-Id=K",
        "https://h/x?token=hunter2",
        "https://h/x?ACCESS_TOKEN=hunter2",
        "https://h/x?%74oken=hunter2",
    ] {
        let found = warnings(signed, "");
        assert_eq!(found.len(), 1, "{signed} {found:?}");
        assert!(found[0].starts_with("c.toml:5: `sources[0].url` is `https://h/x?"), "{found:?}");
        assert!(found[0].contains("signed URL") && !found[0].contains("hunter2"), "{found:?}");
    }
    for plain in ["https://h/x?download=true", "https://h/x?revision=token", "x.jsonl?token=1", "https://h/a@b"] {
        assert_eq!(warnings(plain, ""), Vec::<String>::new(), "{plain}");
    }
    let auth = "auth = { bearer_env = 'T' }";
    assert!(warnings("http://h/x", auth)[0].contains("without encryption"));
    assert_eq!(warnings("https://h/x", auth), Vec::<String>::new());
    assert!(warnings("x.jsonl", auth)[0].contains("this source has no such URL"));
    assert!(warnings("https://h/x#part", "")[0].contains("never sent"));
    let mirror = warnings("x.jsonl", "mirrors = [\n'y.jsonl',\n'https://h/x?sig=1',\n]");
    assert!(mirror[0].starts_with("c.toml:10: `sources[0].mirrors[1]`"), "{mirror:?}");
}

#[test]
fn seeds_outside_their_domains_are_warned_about() {
    for (seeds, domains, outside) in [
        ("['https://example.org/']", "['example.org']", 0),
        ("['https://a.b.Example.org./']", "['EXAMPLE.org']", 0),
        ("['https://bücher.example/']", "['xn--bcher-kva.example']", 0),
        ("['http://[::1]/', 'http://127.0.0.1/']", "['::1', '127.0.0.1']", 0),
        ("['https://notexample.org/', 'https://example.org/']", "['example.org']", 1),
        ("['http://1.127.0.0.1.example/']", "['127.0.0.1']", 1),
    ] {
        let text = format!(
            "dataset = 'd'\nversion = 'v'\n[[crawls]]\nid = 'c'\nseed_urls = {seeds}\nallowed_domains = {domains}\n\
             max_depth = 1\nuser_agent = 'x'\nlicense_spdx = 'MIT'\n"
        );
        let reading = read(&text);
        assert_eq!(problems(&reading), Vec::<String>::new(), "{seeds}");
        assert_eq!(reading.warnings.len(), outside, "{seeds} {:?}", reading.warnings);
    }
}

#[test]
fn claims_and_policy_come_with_their_places() {
    let text = format!(
        "{}[licenses]\nfile = 'l.toml'\nMIT = ['eval']\n'LicenseRef-x' = []\n",
        config(&[source("a", "x", "allowed_uses = ['eval']"), source("b", "ftp://x", "")])
    );
    let reading = read(&text);
    assert_eq!(reading.claims.len(), 2, "a claim is judged although its source has other problems");
    let claim = &reading.claims[0];
    assert_eq!(
        (claim.line, claim.key.as_str(), claim.license_spdx.as_str()),
        (Some(7), "sources[0].license_spdx", "MIT")
    );
    assert_eq!(format!("{:?}", claim.allowed_uses), "[Eval]");
    let entries: Vec<_> = reading.policy.iter().map(|entry| (entry.line, entry.key.as_str())).collect();
    assert_eq!(entries, [(Some(17), "licenses.MIT"), (Some(18), "licenses.LicenseRef-x")]);
    let file = reading.policy_file.unwrap();
    assert_eq!((file.line, file.path.as_str()), (Some(16), "l.toml"));
}

#[test]
fn a_policy_file_is_the_same_table() {
    for text in ["MIT = ['eval']\n", "[licenses]\nMIT = ['eval']\n"] {
        let reading = validate_policy(&parse_toml(text).unwrap());
        assert_eq!(reading.problems, [], "{text}");
        assert_eq!(reading.entries[0].license, "MIT");
    }
    let reading = validate_policy(&parse_toml("file = 'x'\nMIT = 'eval'").unwrap());
    assert_eq!(reading.problems.len(), 2);
    assert!(reading.file.is_none());
}

#[test]
fn malformed_documents_are_told_by_line() {
    for (text, line) in [
        ("a = 1\nb = 'x\n", 2),
        ("a = 1\na = 2\n", 2),
        ("[a]\n[a]\n", 2),
        ("[[a]]\nx = 1\n[a]\n", 3),
        ("x = 1 y\n", 1),
        ("x = \n", 1),
        ("\n\n= 1", 3),
        ("a.b = 1\n\na = 2", 3),
    ] {
        let error = parse_toml(text).unwrap_err();
        assert_eq!(error.line, Some(line), "{text:?} {error}");
        assert!(!error.message.contains('\n'), "{error:?}");
    }
    for (text, line) in [
        ("", 1),
        ("[]", 1),
        ("\n5", 2),
        ("{\"a\":1,\n\"a\":2}", 2),
        ("{\"a\":\n{\"b\":1,\n\"b\":2}}", 3),
        ("{\"a\":1,}", 1),
        ("{\"a\":1}\nx", 2),
        ("{\"a\":\n\n\"\\ud800\"}", 3),
        ("{\"a\":\nNaN}", 2),
    ] {
        let error = parse_json(text.as_bytes()).unwrap_err();
        assert_eq!(error.line, Some(line), "{text:?} {error}");
    }
}

#[test]
fn nesting_cannot_exhaust_the_stack() {
    let many = 200_000;
    assert!(parse_toml(&format!("{}=1", vec!["a"; many].join("."))).is_err());
    assert!(parse_toml(&format!("x={}", "[".repeat(many))).is_err());
    assert!(parse_toml(&format!("[{}]", vec!["a"; many].join("."))).is_err());
    assert!(parse_json(format!("{{\"a\":{}{}}}", "[".repeat(many), "]".repeat(many)).as_bytes()).is_err());
    assert!(parse_json("{\"a\":".repeat(many).as_bytes()).is_err());
}

#[test]
fn byte_order_marks_are_skipped_and_other_encodings_told() {
    assert_eq!(decode(b"\xef\xbb\xbfa = 1").unwrap(), "a = 1");
    assert_eq!(parse_toml("\u{feff}a = 1\nb = 2").unwrap().root.get("b").unwrap().node.line, 2);
    assert_eq!(parse_json(b"\xef\xbb\xbf{\"a\":1}").unwrap().root.entries.len(), 1);
    let error = decode(b"a = 1\nb = '\xff'").unwrap_err();
    assert_eq!((error.line, error.message.as_str()), (Some(2), "byte `0xff` is not UTF-8"));
    assert!(decode(b"\xff\xfea\0").unwrap_err().message.contains("UTF-16"));
}

#[test]
fn values_are_shown_on_one_line_and_cut() {
    let text = config(&[source("a", "x", "")]).replace("'d'", &format!("\"\\u001b[31m\\n{}\"", "x".repeat(500)));
    let found = problems(&read(&text));
    assert!(!found[0].contains('\u{1b}') && !found[0].contains('\n'), "{found:?}");
    assert!(found[0].chars().count() < 350 && found[0].contains('…'), "{found:?}");
}

#[test]
fn secrets_of_urls_are_masked() {
    for (text, shown) in [
        ("https://host/x", "https://host/x"),
        ("https://u:p@host/x", "https://***@host/x"),
        ("https://u@host/a@b", "https://***@host/a@b"),
        ("https://u:p@ss@host/x", "https://***@host/x"),
        ("https://u:p/w@host:bad/x", "https://***@host:bad/x"),
        ("ftp://u:p@host", "ftp://***@host"),
        ("http:u:p@host", "http:***@host"),
        ("http:\\\\u:p@host", "http:\\\\***@host"),
        ("//u:p@host/x", "//***@host/x"),
        ("//p@host:80/x", "//***@host:80/x"),
        ("u:p@host", "u:***@host"),
        ("https://host/@user/x", "https://host/@user/x"),
        ("https://host/?to=a@b", "https://host/?to=a@b"),
        ("https://:p@host/", "https://***@host/"),
        ("https://u:p/w@host/x", "https://***@host/x"),
        ("https://u:p@", "https://***@"),
        ("s3://key:p@bucket/prefix", "s3://***@bucket/prefix"),
        ("file://u:p@host/x", "file://***@host/x"),
        ("my_user:p@host/x", "my_user:***@host/x"),
        ("data/a@b.jsonl", "data/a@b.jsonl"),
        ("@", "@"),
        ("https://host/x?sig=abc&v=1#f", "https://host/x?sig=***&v=1#f"),
        ("x?token=abc", "x?token=***"),
        ("x?token=", "x?token="),
        ("x?%74oken=abc", "x?%74oken=***"),
        ("just text?", "just text?"),
        ("", ""),
    ] {
        assert_eq!(redact(text), shown, "{text}");
    }
}
