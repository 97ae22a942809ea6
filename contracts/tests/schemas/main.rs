//! Types, JSON Schemas and golden examples say the same.
//!
//! Each example of `examples/v1/<schema>[.<case>].json` is written down a second time as a value, with every field
//! named, so that a new field does not compile until it has a golden example.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod datasets;
mod fetches;
mod messages;
mod workflows;

use std::collections::BTreeSet;

use agreement::{names, read_json, root, stem};

const TINY: &str = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b";
const JANUARY: &str = "2026-01-01T00:00:00Z";

#[test]
fn every_schema_is_valid_and_has_an_example() {
    let mut schemas: BTreeSet<_> = names("schemas").iter().map(|name| stem(name)).collect();
    // Written by people as TOML: its examples are in `config/`, its tests beside the type.
    assert!(schemas.remove("corpus-config"));
    let examples: BTreeSet<_> = names("examples/v1").iter().map(|name| stem(name)).collect();
    assert_eq!(schemas, examples, "schemas, and the schemas that golden examples are named after");
    for name in schemas {
        let schema = read_json(&root().join(format!("schemas/{name}.schema.json")));
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(schema["$id"], format!("urn:corpora:v1:{name}"));
    }
}
