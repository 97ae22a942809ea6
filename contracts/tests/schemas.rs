//! Types, JSON Schemas and golden examples say the same.
//!
//! Each example of `examples/v1/<schema>[.<case>].json` is written down a second time as a value, with every field
//! named, so that a new field does not compile until it has a golden example.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use corpora_contracts::config::{Format, OnBadDocument, PiiPolicy, Split, Use};
use corpora_contracts::ids::Digest;
use corpora_contracts::ledger::Row;
use corpora_contracts::progress::{Done, Event, Kind};
use corpora_contracts::raw::RawDocument;
use corpora_contracts::receipt::{Part, Receipt, SplitSettings};
use corpora_contracts::summary::{Entry, EntryError, FetchSummary, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

const TINY: &str = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b";
const JANUARY: &str = "2026-01-01T00:00:00Z";

/// Values that a type takes and its schema refuses: the object that a stage printed is any JSON to the type.
const LOOSER_TYPES: [(&str, &str); 1] = [("done", "/result")];

#[test]
fn ledger_row() {
    let row = |notes: &str, revoked| Row {
        source_id: "tiny".parse().unwrap(),
        url: "http://127.0.0.1:8765/tiny.jsonl".into(),
        license_spdx: "CC-BY-4.0".into(),
        retrieved_at: JANUARY.parse().unwrap(),
        sha256: TINY.parse().unwrap(),
        n_docs: 2,
        allowed_uses: vec![Use::Train, Use::Eval],
        pii_policy: PiiPolicy::Scrub,
        filters_applied: vec![],
        kept: 2,
        dropped: 0,
        notes: notes.into(),
        revoked,
    };
    let revoked = row("withdrawn by its author", Some(true));
    agree("ledger-row", Unknown::Refused, &[("", row("", None)), (".revoked", revoked)]);
}

#[test]
fn receipt() {
    let documents = Split {
        format: Format::Jsonl,
        text_field: "text".into(),
        meta_fields: vec![],
        on_bad_document: OnBadDocument::Fail,
        max_line_bytes: 64 << 20,
    };
    let part = Part {
        name: "part-00000.jsonl.zst".into(),
        sha256: "17b88f8e80903682a8c8d893da945a6bd2b1a7f7ea766f50cff17845916ba060".parse().unwrap(),
        bytes: 153,
        n_docs: 2,
    };
    let receipt = Receipt {
        source_id: "tiny".parse().unwrap(),
        sha256: TINY.parse().unwrap(),
        bytes: 54,
        retrieved_at: JANUARY.parse().unwrap(),
        n_docs: 2,
        dropped: BTreeMap::new(),
        split: SplitSettings { documents, part_docs: 100_000 },
        parts: vec![part],
    };
    agree("receipt", Unknown::Refused, &[("", receipt)]);
}

#[test]
fn raw_document() {
    let line = RawDocument {
        url: "http://127.0.0.1:8765/tiny.jsonl#1".into(),
        fetched_at: JANUARY.parse().unwrap(),
        license_spdx: "CC-BY-4.0".into(),
        text: "Tom has a red ball.".into(),
        content_type: None,
        meta: None,
    };
    let page = RawDocument {
        url: "https://example.org/naps".into(),
        text: "<p>Mia naps.</p>".into(),
        content_type: Some("text/html".into()),
        meta: Some(object(&json!({"charset": "utf-8", "depth": 0, "status": 200}))),
        ..line.clone()
    };
    agree("raw-document", Unknown::Refused, &[("", line), (".page", page)]);
}

#[test]
fn progress_event() {
    let event = |ts, kind| Event { ts, attempt: 1, kind };
    let (stage, source) = ("fetch".to_owned(), "tiny".to_owned());
    let step =
        Kind::Step { stage: stage.clone(), source: source.clone(), done: 20, total: Some(54), unit: "bytes".into() };
    let metric = Kind::Metric { name: "retry_after_s".into(), value: 120.0, source: source.clone() };
    let ckpt = Kind::Ckpt { stage, source, path: "corpus/raw/tiny/20260101".into() };
    let done = Kind::Done { outputs: vec!["corpus/LEDGER.jsonl".into(), "corpus/raw/tiny/20260101".into()] };
    let events = [
        (".step", event(1_767_225_600.25, step)),
        (".metric", event(1_767_225_600.5, metric)),
        (".ckpt", event(1_767_225_600.75, ckpt)),
        (".done", event(1_767_225_601.0, done)),
    ];
    agree("progress-event", Unknown::Ignored, &events);
}

#[test]
fn done() {
    let result =
        serde_json::to_value(FetchSummary { clock: Some("fixed".into()), ..summary(vec![fetched()]) }).unwrap();
    let done = Done {
        outputs: vec!["corpus/LEDGER.jsonl".into(), "corpus/raw/tiny/20260101".into()],
        spec_sha256: Digest::of(b"{}"),
        result,
    };
    agree("done", Unknown::Refused, &[("", done)]);
}

#[test]
fn fetch_summary() {
    let fixed = FetchSummary { clock: Some("fixed".into()), ..summary(vec![fetched()]) };
    let cached = Entry { status: Status::Cached, bytes: 0, requests: 0, ..fetched() };
    let failed = Entry {
        source_id: "far".parse().unwrap(),
        status: Status::Failed,
        raw_dir: String::new(),
        sha256: TINY.into(),
        bytes: 0,
        n_docs: 0,
        retrieved_at: String::new(),
        requests: 1,
        error: Some(EntryError {
            kind: "retry_after".into(),
            message: "source `far`: the server asks to wait 120 s".into(),
            retry_after_s: Some(120),
        }),
    };
    let message = "read the ledger; restore the line, or the file from a backup: line 3 of the ledger is not a row";
    let uncommitted = FetchSummary {
        ok: false,
        error: Some(EntryError { kind: "commit".into(), message: message.into(), retry_after_s: None }),
        ..summary(vec![fetched()])
    };
    let examples = [("", fixed), (".failed", summary(vec![cached, failed])), (".uncommitted", uncommitted)];
    agree("fetch-summary", Unknown::Ignored, &examples);
}

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

/// What a reader does with a key it does not know.
#[derive(Clone, Copy, PartialEq)]
enum Unknown {
    /// Evidence at rest: a key nobody knows is an error.
    Refused,
    /// Said to other programs: a later release may say more.
    Ignored,
}

/// Holds the type `T`, the schema and the golden examples to each other.
fn agree<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    name: &str,
    unknown: Unknown,
    examples: &[(&str, T)],
) {
    let schema = read_json(&root().join(format!("schemas/{name}.schema.json")));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut seen = BTreeMap::new();
    for (case, value) in examples {
        let golden = fs::read_to_string(root().join(format!("examples/v1/{name}{case}.json"))).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&golden).unwrap(), value, "{name}{case}");
        assert_eq!(serde_json::to_string(value).unwrap() + "\n", golden, "{name}{case}");
        let golden: Value = serde_json::from_str(&golden).unwrap();
        assert!(
            validator.is_valid(&golden),
            "{name}{case}: {:?}",
            validator.validate(&golden).err().map(|error| error.to_string())
        );
        collect(&schema, &schema, &golden, &mut seen);

        for bad in bad_variants(&schema, &golden, unknown) {
            let refused = format!("{name}{case}, {}: {}", bad.what, bad.value);
            let loose = LOOSER_TYPES.contains(&(name, &bad.pointer));
            assert_eq!(
                serde_json::from_value::<T>(bad.value.clone()).is_ok(),
                bad.accepted || loose,
                "type, {refused}"
            );
            assert_eq!(validator.is_valid(&bad.value), bad.accepted, "schema, {refused}");
        }
    }
    for keys in seen.values() {
        assert_eq!(keys.in_schema, keys.in_type, "keys of an object in {name}: schema, then type");
    }
    let files = names("examples/v1").iter().filter(|file| stem(file) == name).count();
    assert_eq!(files, examples.len(), "golden examples of {name} and values here");
}

#[derive(Default)]
struct Keys {
    in_schema: BTreeSet<String>,
    in_type: BTreeSet<String>,
}

/// Adds, for every object of `value` that the schema describes key by key, the keys on both sides, by the address of the
/// description in the schema.
fn collect(root: &Value, schema: &Value, value: &Value, seen: &mut BTreeMap<usize, Keys>) {
    let schema = resolve(root, schema, value);
    match value {
        Value::Object(object) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
            let keys = seen.entry(std::ptr::from_ref(properties).addr()).or_default();
            keys.in_schema.extend(properties.keys().cloned());
            keys.in_type.extend(object.keys().cloned());
            for (key, value) in object {
                if let Some(schema) = properties.get(key) {
                    collect(root, schema, value, seen);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(root, &schema["items"], item, seen)),
        _ => {}
    }
}

/// The schema node that applies to `value`: references followed, the branch of its `kind` taken.
fn resolve<'a>(root: &'a Value, schema: &'a Value, value: &Value) -> &'a Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return resolve(root, root.pointer(&reference[1..]).unwrap(), value);
    }
    let Some(branches) = schema.get("oneOf").and_then(Value::as_array) else { return schema };
    let branch = |schema: &&Value| schema["properties"]["kind"]["const"] == value["kind"];
    branches.iter().map(|schema| resolve(root, schema, value)).find(branch).unwrap()
}

struct Variant {
    what: String,
    pointer: String,
    value: Value,
    accepted: bool,
}

/// `golden` with one thing wrong, everywhere: a required key missing, a key too many, a value of another type.
fn bad_variants(schema: &Value, golden: &Value, unknown: Unknown) -> Vec<Variant> {
    let mut variants = Vec::new();
    for pointer in pointers(golden, "") {
        let Some(node) = schema_at(schema, golden, &pointer) else { continue };
        let here = golden.pointer(&pointer).unwrap();
        let mut add = |what: String, accepted, change: &dyn Fn(&mut Value)| {
            let mut value = golden.clone();
            change(value.pointer_mut(&pointer).unwrap());
            variants.push(Variant {
                what: format!("{what} at `{pointer}`"),
                pointer: pointer.clone(),
                value,
                accepted,
            });
        };
        add("another type".into(), false, &|value| *value = other_type(here));
        if node.get("properties").is_none() {
            continue;
        }
        for key in node["required"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()) {
            add(format!("no `{key}`"), false, &|value| {
                value.as_object_mut().unwrap().remove(key).unwrap();
            });
        }
        add("a key too many".into(), unknown == Unknown::Ignored, &|value| {
            value.as_object_mut().unwrap().insert("surprise".into(), json!(1));
        });
    }
    assert!(variants.len() > 5, "the variants of {golden}");
    variants
}

/// The pointers of `value` and everything within it.
fn pointers(value: &Value, here: &str) -> Vec<String> {
    let within = |(key, value): (String, &Value)| pointers(value, &format!("{here}/{key}"));
    let mut all = vec![here.to_owned()];
    match value {
        Value::Object(object) => all.extend(object.iter().map(|(k, v)| (k.clone(), v)).flat_map(within)),
        Value::Array(items) => all.extend(items.iter().enumerate().map(|(i, v)| (i.to_string(), v)).flat_map(within)),
        _ => {}
    }
    all
}

/// The schema of the value at `pointer`; none where the schema leaves it open.
fn schema_at<'a>(root: &'a Value, golden: &Value, pointer: &str) -> Option<&'a Value> {
    let mut schema = resolve(root, root, golden);
    let mut value = golden;
    for key in pointer.split('/').skip(1) {
        let next =
            if value.is_array() { schema.get("items") } else { schema.get("properties").and_then(|p| p.get(key)) };
        value = value.pointer(&format!("/{key}")).unwrap();
        schema = resolve(root, next?, value);
    }
    Some(schema)
}

/// A value of another JSON type, one that no place of ours accepts beside its own.
fn other_type(value: &Value) -> Value {
    match value {
        Value::String(_) | Value::Bool(_) => json!(7),
        _ => json!("seven"),
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn summary(entries: Vec<Entry>) -> FetchSummary {
    let ok = entries.iter().all(|entry| entry.status.is_ok());
    FetchSummary { stage: "fetch".into(), ok, entries, error: None, clock: None }
}

/// The worked example of the fetch seed, section 3: one cut, two requests.
fn fetched() -> Entry {
    Entry {
        source_id: "tiny".parse().unwrap(),
        status: Status::Fetched,
        raw_dir: "corpus/raw/tiny/20260101".into(),
        sha256: TINY.into(),
        bytes: 54,
        n_docs: 2,
        retrieved_at: JANUARY.into(),
        requests: 2,
        error: None,
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The name of the schema that a schema or an example is named after.
fn stem(name: &str) -> String {
    name.split('.').next().unwrap().to_owned()
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
