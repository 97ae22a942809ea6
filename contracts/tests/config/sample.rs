//! Configs for tests: a whole one in which one key of one table has the value under test.

use corpora_contracts::config::keys::{self, Keys};
use corpora_contracts::config::{Document, Node, Reading, Value, parse_toml, validate};
use serde_json::{Map, json};

/// A digest that is well-formed.
pub(crate) const DIGEST: &str = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b";

/// A table of the config, as tests address it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// The top level.
    Top,
    /// The first `[[sources]]`.
    Source,
    /// `auth` of the first source.
    Auth,
    /// The first `[[crawls]]`.
    Crawl,
    /// `[extract]`.
    Extract,
    /// `[store]`.
    Store,
}

impl Where {
    /// Every table.
    pub(crate) const ALL: [Self; 6] = [Self::Top, Self::Source, Self::Auth, Self::Crawl, Self::Extract, Self::Store];

    /// The path of a key in it.
    pub(crate) fn path(self, key: &str) -> String {
        match self {
            Self::Top => key.to_owned(),
            Self::Source => format!("sources[0].{key}"),
            Self::Auth => format!("sources[0].auth.{key}"),
            Self::Crawl => format!("crawls[0].{key}"),
            Self::Extract => format!("extract.{key}"),
            Self::Store => format!("store.{key}"),
        }
    }

    /// Its keys.
    pub(crate) fn keys(self) -> &'static Keys {
        match self {
            Self::Top => &keys::CORPUS,
            Self::Source => &keys::SOURCE,
            Self::Auth => &keys::AUTH,
            Self::Crawl => &keys::CRAWL,
            Self::Extract => &keys::EXTRACT,
            Self::Store => &keys::STORE,
        }
    }

    fn header(self) -> &'static str {
        match self {
            Self::Top => "",
            Self::Source => "[[sources]]",
            Self::Auth => "[sources.auth]",
            Self::Crawl => "[[crawls]]",
            Self::Extract => "[extract]",
            Self::Store => "[store]",
        }
    }

    fn required(self) -> Vec<(&'static str, String)> {
        let text = |text: &str| format!("{text:?}");
        match self {
            Self::Top => vec![("dataset", text("small")), ("version", text("v1"))],
            Self::Source => vec![
                ("id", text("tiny")),
                ("url", text("https://example.org/tiny.jsonl")),
                ("sha256", text(DIGEST)),
                ("license_spdx", text("CC-BY-4.0")),
            ],
            Self::Auth => vec![("bearer_env", text("HF_TOKEN"))],
            Self::Crawl => vec![
                ("id", text("docs")),
                ("seed_urls", r#"["https://example.org/"]"#.to_owned()),
                ("allowed_domains", r#"["example.org"]"#.to_owned()),
                ("max_depth", "2".to_owned()),
                ("user_agent", text("corpora/0.1 (+https://example.org/bot)")),
                ("license_spdx", text("CC-BY-4.0")),
            ],
            Self::Extract | Self::Store => Vec::new(),
        }
    }
}

/// A config whose key `key` of the table is written as `value`, or left out; and the line of the key, or of its table.
pub(crate) fn with(place: Where, key: &str, value: Option<&str>) -> (String, usize) {
    let mut lines: Vec<String> = Vec::new();
    let mut found = 1;
    for table in Where::ALL {
        // A key of the top level that is a table of its own takes that table's place.
        let replaced = place == Where::Top && table.path("").split(['[', '.']).next() == Some(key);
        let replaced = replaced || (place, key, table) == (Where::Source, "auth", Where::Auth);
        if replaced && table != Where::Top {
            continue;
        }
        if table != Where::Top {
            lines.push(table.header().to_owned());
        }
        if table == place {
            found = lines.len().max(1);
        }
        let others = table.required().into_iter().filter(|(name, _)| table != place || *name != key);
        lines.extend(others.map(|(name, value)| format!("{name} = {value}")));
        if table == place && (place, key) == (Where::Source, "page_bytes") {
            // The default format has no pages.
            lines.push("format = 'warc'".to_owned());
        }
        if let Some(value) = value.filter(|_| table == place) {
            lines.push(format!("{key} = {value}"));
            found = lines.len();
        }
    }
    (lines.join("\n"), found)
}

/// Reads TOML that is well-formed.
pub(crate) fn read(text: &str) -> Reading {
    validate(&document(text))
}

/// Parses TOML that is well-formed.
pub(crate) fn document(text: &str) -> Document {
    parse_toml(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// The problems other than those of what is not built yet.
pub(crate) fn problems(reading: &Reading) -> Vec<String> {
    let all = reading.problems.iter().map(|problem| problem.at("c.toml"));
    all.filter(|problem| !problem.contains("not built yet")).collect()
}

/// A document as plain JSON, for the schema.
pub(crate) fn to_json(document: &Document) -> serde_json::Value {
    node_to_json(&Node { line: 1, value: Value::Table(document.root.clone()) })
}

fn node_to_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Text(text) | Value::Datetime(text) => json!(text),
        Value::Integer { value, .. } => match value.map(i64::try_from) {
            Some(Ok(value)) => json!(value),
            _ => json!(1e300),
        },
        Value::Float { value, .. } => json!(value),
        Value::Flag(flag) => json!(flag),
        Value::Null => json!(null),
        Value::List(items) => items.iter().map(node_to_json).collect(),
        Value::Table(table) => {
            let members = table.entries.iter().map(|entry| (entry.key.clone(), node_to_json(&entry.node)));
            members.collect::<Map<_, _>>().into()
        }
    }
}
