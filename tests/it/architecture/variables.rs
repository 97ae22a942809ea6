//! Every environment variable that the programs read stands in one table of the README, and no other does.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Context as _;

use super::{assert_none, docs, tree};

/// Where the programs are; tests set variables, they promise none.
const PROGRAMS: [&str; 3] = ["activities", "contracts", "workflows"];

/// Variables that a library reads for the programs: the code does not show them, the README has to.
const BY_LIBRARIES: &[(&str, &str)] = &[
    ("HTTP_PROXY", "reqwest"),
    ("HTTPS_PROXY", "reqwest"),
    ("ALL_PROXY", "reqwest"),
    ("NO_PROXY", "reqwest"),
    ("SSL_CERT_FILE", "rustls-native-certs"),
    ("SSL_CERT_DIR", "rustls-native-certs"),
    ("NETRC", "rust-netrc"),
    ("HOME", "rust-netrc, for `~/.netrc`"),
    ("NO_COLOR", "console, for bars"),
    ("TEMPORAL_ADDRESS", "temporalio-client, as all that follow"),
    ("TEMPORAL_NAMESPACE", ""),
    ("TEMPORAL_API_KEY", ""),
    ("TEMPORAL_CONFIG_FILE", ""),
    ("TEMPORAL_PROFILE", ""),
    ("TEMPORAL_TLS", ""),
    ("TEMPORAL_TLS_CLIENT_CERT_PATH", ""),
    ("TEMPORAL_TLS_CLIENT_CERT_DATA", ""),
    ("TEMPORAL_TLS_CLIENT_KEY_PATH", ""),
    ("TEMPORAL_TLS_CLIENT_KEY_DATA", ""),
    ("TEMPORAL_TLS_SERVER_CA_CERT_PATH", ""),
    ("TEMPORAL_TLS_SERVER_CA_CERT_DATA", ""),
    ("TEMPORAL_TLS_SERVER_NAME", ""),
    ("TEMPORAL_TLS_DISABLE_HOST_VERIFICATION", ""),
];

/// Variables of the feature `faults`, which no release has.
const OF_TESTS: [&str; 2] = ["CORPORA_FAILPOINT", "CORPORA_PITFALL"];

/// Files that read a variable by a name that does not stand in the call, and why. All that looks like a variable's
/// name there counts as read.
const NAMED_ELSEWHERE: &[(&str, &str)] = &[
    ("activities/corpora/src/environment.rs", "a closure is handed the names"),
    ("activities/fetch/src/credentials.rs", "the config names the variable of a token"),
    ("activities/http/src/proxies.rs", "the names are those that the HTTP library reads"),
    ("workflows/temporal/src/environment.rs", "a child inherits all but the orchestrator's own"),
];

/// How the code reads a variable. `vars` reads all of them and has no name.
const READS: [&str; 4] = ["env::var(", "env::var_os(", "env::vars(", "env::vars_os("];

/// A source file, by its path from the root.
type Source = (String, String);

/// What the sources read, and the files that read what they do not name.
fn read_by(sources: &[Source]) -> (BTreeSet<String>, BTreeSet<String>) {
    let code: Vec<Source> = sources.iter().map(|(file, text)| (file.clone(), without_comments(text))).collect();
    let (mut names, mut unnamed) = (BTreeSet::new(), BTreeSet::new());
    for (file, text) in &code {
        names.extend(literals(text).filter(|literal| is_ours(literal)).map(str::to_owned));
        names.extend(after_word(text, "env = ").filter_map(literal_at).map(str::to_owned));
        for argument in READS.iter().flat_map(|read| after(text, read)) {
            match literal_at(argument).map(str::to_owned).or_else(|| constant(argument, &code)) {
                Some(name) => names.insert(name),
                None => unnamed.insert(file.clone()),
            };
        }
        if unnamed.contains(file) {
            names.extend(literals(text).filter(|literal| looks_like_a_name(literal)).map(str::to_owned));
        }
    }
    (names, unnamed)
}

/// The code without `//` comments; a `//` inside a URL follows a `:`.
fn without_comments(text: &str) -> String {
    let code = |line: &str| {
        let comment = line.match_indices("//").find(|(at, _)| !line[..*at].ends_with(':'));
        comment.map_or(line, |(at, _)| &line[..at]).to_owned()
    };
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// What follows each `needle`.
fn after<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(needle).map(|(at, _)| text[at + needle.len()..].trim_start())
}

/// What follows each `needle` that no word ends with: `env = ` of clap, and not `bearer_env = ` of a config.
fn after_word<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = &'a str> {
    let is_whole = move |at: usize| !text[..at].ends_with(|char: char| char == '_' || char.is_ascii_alphanumeric());
    text.match_indices(needle)
        .filter(move |(at, _)| is_whole(*at))
        .map(|(at, _)| text[at + needle.len()..].trim_start())
}

/// The string literal that the text starts with.
fn literal_at(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.split('"').next()
}

/// Every string literal, and what stands between two: only names that are surely ours are taken from it.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split('"')
}

/// Whether a literal is a variable of ours, wherever it stands.
fn is_ours(literal: &str) -> bool {
    literal.strip_prefix("CORPORA_").is_some_and(looks_like_a_name)
}

/// Capitals, digits and `_`; neither a number nor, with a `_` at the end, what several names start with.
fn looks_like_a_name(literal: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_whole = literal.starts_with(|char: char| char.is_ascii_uppercase()) && !literal.ends_with('_');
    literal.len() > 1 && is_whole && literal.bytes().all(is_part)
}

/// The value of the constant that an argument names, such as `clock::CLOCK_VARIABLE`.
fn constant(argument: &str, code: &[Source]) -> Option<String> {
    let is_path = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == ':';
    let path = argument.split(|char| !is_path(char)).next()?;
    let name = path.rsplit(':').next().filter(|name| !name.is_empty())?;
    let declared = format!("const {name}: &str =");
    code.iter().find_map(|(_, text)| literal_at(after(text, &declared).next()?).map(str::to_owned))
}

/// Whether a literal of the code is this name, as where a function is handed the names that it looks up.
fn is_named(name: &str, sources: &[Source]) -> bool {
    sources.iter().any(|(_, text)| literals(&without_comments(text)).any(|literal| literal == name))
}

/// Where table and code differ; what the code names somewhere counts as read.
fn differences(
    names: &BTreeSet<String>,
    documented: &BTreeSet<String>,
    is_named: impl Fn(&str) -> bool,
) -> Vec<String> {
    let by_libraries = BY_LIBRARIES.iter().map(|(name, _)| (*name).to_owned());
    let of_tests = |name: &&String| OF_TESTS.contains(&name.as_str());
    let read: BTreeSet<String> = names.iter().filter(|name| !of_tests(name)).cloned().chain(by_libraries).collect();
    let unsaid = read.difference(documented).map(|name| format!("`{name}` is read and not in the README's table"));
    let unread = documented
        .difference(&read)
        .filter(|name| !is_named(name))
        .map(|name| format!("`{name}` is in the README's table and never read"));
    unsaid.chain(unread).collect()
}

/// The variables of the README's table: the code spans of its column `Variable`.
fn documented(readme: &str) -> Option<BTreeSet<String>> {
    let rows = docs::table(readme, "variable")?;
    let spans = rows.iter().flat_map(|row| docs::code_spans(&row[0]).map(str::to_owned).collect::<Vec<_>>());
    Some(spans.collect())
}

fn programs() -> anyhow::Result<Vec<Source>> {
    let mut sources: Vec<(PathBuf, String)> = Vec::new();
    for folder in PROGRAMS {
        sources.extend(tree::texts(&tree::root().join(folder), ".rs")?);
    }
    let sources = sources.into_iter().map(|(path, text)| (tree::shown(&path), without_unit_tests(&text).to_owned()));
    Ok(sources.filter(|(file, _)| !file.contains("/tests/") && !file.ends_with("/tests.rs")).collect())
}

/// The file without its tests, which stand at its end: their variables are those of a test.
fn without_unit_tests(text: &str) -> &str {
    text.split_once("\n#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code)
}

#[test]
fn every_variable_stands_in_the_readme() -> anyhow::Result<()> {
    let sources = programs()?;
    let documented =
        documented(&docs::read("README.md")?).context("README.md has no table with a column `Variable`")?;
    assert_none(&differences(&read_by(&sources).0, &documented, |name| is_named(name, &sources)));
    Ok(())
}

#[test]
fn only_listed_files_read_variables_by_another_name() -> anyhow::Result<()> {
    let (_, unnamed) = read_by(&programs()?);
    let listed = NAMED_ELSEWHERE.iter().map(|(file, _)| (*file).to_owned()).collect();
    assert_eq!(unnamed, listed);
    Ok(())
}

#[test]
fn reads_are_found_however_they_are_written() {
    let source = |file: &str, text: &str| (file.to_owned(), text.to_owned());
    let sources = [
        source("a.rs", "let a = std::env::var(\"PLAIN\"); // env::var(\"COMMENT\")\n/// env::var(\"DOC\")"),
        source("b.rs", "let url = \"https://h\"; env::var_os(\n    \"BROKEN_LINE\",\n)"),
        source("c.rs", "pub const NAME: &str = \"BY_CONSTANT\";"),
        source("d.rs", "env::var(c::NAME); #[arg(long, env = \"BY_CLAP\")]"),
        source("e.rs", "lookup(\"CORPORA_INDIRECT\"); \"a CORPORA_PROSE text\""),
        source("f.rs", "env::var(&auth.bearer_env)"),
        source("h.rs", "let value = |name: &str| env::var(name); (value(\"BY_CLOSURE\"), \"Text\", \"\")"),
        source("g.rs", "for (name, value) in std::env::vars() {}; (\"01\", b\"PREFIX_\")"),
        source("i.rs", "auth = { bearer_env = \"OF_A_CONFIG\" }"),
    ];
    let (names, unnamed) = read_by(&sources);
    let expected = ["BROKEN_LINE", "BY_CLAP", "BY_CLOSURE", "BY_CONSTANT", "CORPORA_INDIRECT", "PLAIN"];
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    assert_eq!(unnamed.iter().map(String::as_str).collect::<Vec<_>>(), ["f.rs", "g.rs", "h.rs"]);
}

#[test]
fn tests_at_the_end_of_a_file_are_no_program() {
    let code = "fn a() {}\n";
    assert_eq!(without_unit_tests(&format!("{code}\n#[cfg(test)]\nmod tests {{\n    \"CORPORA_TEST\"\n}}\n")), code);
    assert_eq!(without_unit_tests(code), code);
}

#[test]
fn both_directions_of_the_table_are_compared() {
    let libraries: String = BY_LIBRARIES.iter().map(|(name, _)| format!("| `{name}` | … |\n")).collect();
    let readme = format!(
        "| Variable | What for |\n|---|---|\n| `CORPORA_OLD`, `CORPORA_CLOCK`, `TRACEPARENT` | … |\n{libraries}\n"
    );
    let documented = documented(&readme).unwrap();
    let names = ["CORPORA_CLOCK", "CORPORA_NEW", "CORPORA_PITFALL"].map(str::to_owned).into();
    let expected = [
        "`CORPORA_NEW` is read and not in the README's table",
        "`CORPORA_OLD` is in the README's table and never read",
    ];
    let sources = [("a.rs".to_owned(), "lookup(\"TRACEPARENT\") // \"CORPORA_OLD\"".to_owned())];
    assert_eq!(differences(&names, &documented, |name| is_named(name, &sources)), expected);
}
