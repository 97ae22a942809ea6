//! The golden examples: they keep rules and schema, and say what the config types say.

use corpora_contracts::config::{Reading, SCHEMA, parse_json, parse_toml, validate, validate_policy};
use corpora_contracts::ids::Digest;
use serde_json::Value;

use crate::sample::{problems, to_json};
use crate::schema;

fn example(name: &str) -> String {
    let path = format!("{}/examples/v1/config/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn toml(name: &str) -> Reading {
    validate(&parse_toml(&example(name)).unwrap())
}

fn spec() -> Reading {
    validate(&parse_json(example("spec.json").as_bytes()).unwrap())
}

#[test]
fn examples_keep_rules_and_schema() {
    for name in ["minimal.toml", "full.toml"] {
        let reading = toml(name);
        assert_eq!(problems(&reading), Vec::<String>::new(), "{name}");
        assert!(reading.config.is_some(), "{name}");
        assert_eq!(reading.warnings, [], "{name}");
        assert_eq!(schema::errors(&example(name)), Vec::<String>::new(), "{name}");
    }
    assert_eq!((spec().problems, spec().base.as_deref()), (Vec::new(), Some("/srv/configs")));
    assert_eq!(schema::errors_of(&serde_json::from_str(&example("spec.json")).unwrap()), Vec::<String>::new());
    let policy = validate_policy(&parse_toml(&example("licenses.toml")).unwrap());
    assert_eq!((policy.entries.len(), policy.problems), (1, Vec::new()));
}

#[test]
fn the_full_example_has_every_key() {
    let written = to_json(&parse_toml(&example("full.toml")).unwrap());
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for (table, written) in [
        (&schema, &written),
        (&schema["$defs"]["source"], &all_keys(&written["sources"])),
        (&schema["$defs"]["auth"], &written["sources"][0]["auth"]),
        (&schema["$defs"]["crawl"], &written["crawls"][0]),
        (&schema["$defs"]["extract"], &written["extract"]),
        (&schema["$defs"]["store"], &written["store"]),
    ] {
        for key in table["properties"].as_object().unwrap().keys().filter(|key| *key != "base") {
            assert!(!written[key].is_null(), "{key} is not in the example");
        }
    }
}

/// The keys of all tables of a list: no format has every key.
fn all_keys(tables: &Value) -> Value {
    let tables = tables.as_array().unwrap().iter().map(|table| table.as_object().unwrap().clone());
    tables.reduce(|all, table| all.into_iter().chain(table).collect()).unwrap().into()
}

#[test]
fn a_written_out_config_reads_as_itself() {
    for reading in [toml("minimal.toml"), toml("full.toml"), spec()] {
        let config = reading.config.unwrap();
        let document = config.to_document().unwrap();
        assert_eq!(schema::errors_of(&document), Vec::<String>::new());
        let mut with_base = document.clone();
        with_base["base"] = Value::from("/elsewhere");
        let again = validate(&parse_json(with_base.to_string().as_bytes()).unwrap());
        assert_eq!(problems(&again), Vec::<String>::new(), "{document}");
        let again = again.config.unwrap();
        assert_eq!(again, config);
        assert_eq!(again.digest().unwrap(), config.digest().unwrap(), "`base` is not part of the digest");
    }
}

/// The canonical JSON of `minimal.toml`, by hand: every default, keys sorted.
const MINIMAL: &str = concat!(
    r#"{"crawls":[],"dataset":"small","extract":{"attribute_bytes":16384,"favor":"balanced","format":"text","#,
    r#""max_depth":512,"max_nodes":1000000,"page_bytes":10485760,"time_budget":10},"keep_downloads":false,"licenses":{},"sources":[{"#,
    r#""allowed_uses":["train","eval"],"format":"jsonl","id":"tiny","license_spdx":"CC-BY-4.0","#,
    r#""max_line_bytes":67108864,"meta_fields":[],"mirrors":[],"on_bad_document":"fail","pii_policy":"scrub","#,
    r#""sha256":"e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b","text_field":"text","#,
    r#""url":"https://example.org/tiny.jsonl"}],"store":{"formats":["parquet","jsonl"],"metadata":"sqlite","#,
    r#""shard_rows":100000,"target":"artifacts","val_permille":5},"version":"v1"}"#,
);

#[test]
fn the_digest_is_over_the_canonical_json() {
    assert_eq!(toml("minimal.toml").config.unwrap().digest().unwrap(), Digest::of(MINIMAL.as_bytes()));
}

#[test]
fn the_digest_sees_values_and_nothing_else() {
    let digest = |text: &str| validate(&parse_toml(text).unwrap()).config.unwrap().digest().unwrap();
    let minimal = example("minimal.toml");
    let reordered =
        minimal.replace("dataset = \"small\"\nversion = \"v1\"", "# a comment\n\nversion = 'v1'\ndataset = 'small'");
    assert_ne!(reordered, minimal);
    assert_eq!(digest(&reordered), digest(&minimal));
    for default in
        ["format = 'jsonl'", "allowed_uses = ['train', 'eval']", "[extract]\ntime_budget = 10.0", "[licenses]"]
    {
        assert_eq!(digest(&format!("{minimal}{default}")), digest(&minimal), "{default} is a default");
    }
    for change in ["allowed_uses = ['eval', 'train']", "[extract]\ntime_budget = 10.5", "[licenses]\nMIT = []"] {
        assert_ne!(digest(&format!("{minimal}{change}")), digest(&minimal), "{change}");
    }
}
