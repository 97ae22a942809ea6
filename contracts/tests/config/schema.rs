//! The JSON Schema says what the rules say, key by key.

use std::sync::OnceLock;

use corpora_contracts::config::keys::{CRAWL, Key, Keys, Kind, Literal, MAX_COUNT, Need};
use corpora_contracts::config::{SCHEMA, Seconds};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::sample::{Where, document, to_json};

/// What the schema has against a config.
pub(crate) fn errors(text: &str) -> Vec<String> {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    let validator = VALIDATOR.get_or_init(|| jsonschema::validator_for(&schema()).unwrap());
    validator.iter_errors(&to_json(&document(text))).map(|error| error.to_string()).collect()
}

/// What the schema has against a document as JSON.
pub(crate) fn errors_of(instance: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    validator.iter_errors(instance).map(|error| error.to_string()).collect()
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

#[test]
fn the_schema_is_a_schema() {
    assert_eq!(schema()["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(jsonschema::meta::is_valid(&schema()));
}

#[test]
fn tables_have_the_same_keys_needs_and_defaults() {
    let schema = schema();
    for place in Where::ALL {
        let table = match place {
            Where::Top => &schema,
            Where::Source => &schema["$defs"]["source"],
            Where::Auth => &schema["$defs"]["auth"],
            Where::Crawl => &schema["$defs"]["crawl"],
            Where::Extract => &schema["$defs"]["extract"],
            Where::Store => &schema["$defs"]["store"],
        };
        same_table(table, place.keys());
    }
}

fn same_table(table: &Value, keys: &Keys) {
    assert_eq!(table["additionalProperties"], false, "{}", keys.table);
    let properties = table["properties"].as_object().unwrap();
    let mut named: Vec<_> = properties.keys().map(String::as_str).collect();
    let mut known: Vec<_> = keys.keys.iter().map(|key| key.name).collect();
    named.sort_unstable();
    known.sort_unstable();
    assert_eq!(named, known, "{}", keys.table);
    let required: Vec<_> =
        table["required"].as_array().into_iter().flatten().map(|key| key.as_str().unwrap()).collect();
    let needed: Vec<_> =
        keys.keys.iter().filter(|key| matches!(key.need, Need::Required)).map(|key| key.name).collect();
    assert_eq!(required, needed, "{}", keys.table);
    for key in keys.keys {
        same_key(&properties[key.name], key);
    }
}

fn same_key(property: &Value, key: &Key) {
    assert!(property["description"].as_str().is_some_and(|text| text.len() > 10), "{} has no description", key.name);
    let default = match key.need {
        Need::Default(literal) => literal_to_json(literal),
        Need::Required | Need::Optional => Value::Null,
    };
    assert_eq!(property["default"], default, "default of {}", key.name);
    same_kind(property, &key.kind, key.name);
}

fn literal_to_json(literal: Literal) -> Value {
    match literal {
        Literal::Flag(flag) => json!(flag),
        Literal::Count(count) => json!(count),
        #[expect(clippy::cast_possible_truncation, reason = "defaults in seconds are small whole numbers")]
        Literal::Seconds(seconds) => json!(seconds as i64),
        Literal::Text(text) => json!(text),
        Literal::Texts(texts) => json!(texts),
        Literal::NoTables => json!([]),
        Literal::Table => json!({}),
    }
}

fn same_kind(property: &Value, kind: &Kind, name: &str) {
    match kind {
        Kind::Text(_) => assert_eq!(property["type"], "string", "{name}"),
        Kind::Choice(words) => {
            assert_eq!((&property["type"], &property["enum"]), (&json!("string"), &json!(words)), "{name}");
        }
        Kind::Flag => assert_eq!(property["type"], "boolean", "{name}"),
        Kind::Count { min, max } => {
            assert_eq!(property["type"], "integer", "{name}");
            assert_eq!((&property["minimum"], &property["maximum"]), (&json!(min), &json!(max)), "{name}");
            assert!(*max <= MAX_COUNT, "{name}");
        }
        Kind::Seconds { zero } => {
            assert_eq!(property["type"], "number", "{name}");
            assert_eq!(property["maximum"].as_f64(), Some(Seconds::MAX), "{name}");
            let bound = if *zero { "minimum" } else { "exclusiveMinimum" };
            assert_eq!(property[bound], 0, "{name}");
        }
        Kind::List { of, min } => {
            assert_eq!((&property["type"], &property["uniqueItems"]), (&json!("array"), &json!(true)), "{name}");
            assert_eq!(property["minItems"].as_u64().unwrap_or(0), *min as u64, "{name}");
            same_kind(&property["items"], of, name);
        }
        Kind::Table(_) => assert!(property["$ref"].as_str().is_some_and(|it| it.starts_with("#/$defs/")), "{name}"),
        Kind::Tables(_) => assert!(property["items"]["$ref"].is_string(), "{name}"),
        Kind::Policy => assert_eq!(property["additionalProperties"]["$ref"], "#/$defs/uses"),
    }
}

#[test]
fn the_schema_asks_for_a_source_or_a_crawl() {
    for (text, ok) in [
        ("dataset = 'a'\nversion = 'a'", false),
        ("dataset = 'a'\nversion = 'a'\nsources = []", false),
        ("dataset = 'a'\nversion = 'a'\nsources = []\ncrawls = []", false),
    ] {
        assert_eq!(errors(text).is_empty(), ok, "{text}");
        assert!(!crate::sample::problems(&crate::sample::read(text)).is_empty(), "{text}");
    }
}

#[test]
fn defaults_are_the_published_ones() {
    let of = |name: &str| match CRAWL.keys.iter().find(|key| key.name == name).unwrap().need {
        Need::Default(literal) => literal_to_json(literal),
        _ => Value::Null,
    };
    for (key, default) in [
        ("max_pages", json!(10_000)),
        ("max_bytes", json!(10_737_418_240_u64)),
        ("max_duration", json!(86_400)),
        ("page_timeout", json!(30)),
        ("page_bytes", json!(10_485_760)),
        ("delay", json!(1)),
        ("concurrency", json!(8)),
        ("per_host", json!(1)),
        ("sitemaps", json!(false)),
        ("redirects", json!("coordinator")),
        ("respect_rights", json!(true)),
        ("allow_private_networks", json!(false)),
        ("engine", json!("embedded")),
        ("content_types", json!(["text/html", "application/xhtml+xml"])),
        ("allowed_uses", json!(["train", "eval"])),
        ("pii_policy", json!("scrub")),
    ] {
        assert_eq!(of(key), default, "{key}");
    }
}
