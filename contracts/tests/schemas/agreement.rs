//! One type, its schema and its golden examples, held to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Values that a type takes and its schema refuses: the object that a stage printed is any JSON to the type.
const LOOSER_TYPES: [(&str, &str); 1] = [("done", "/result")];

/// What a reader does with a key it does not know.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unknown {
    /// Evidence at rest: a key nobody knows is an error.
    Refused,
    /// Said to other programs: a later release may say more.
    Ignored,
}

/// Holds the type `T`, the schema and the golden examples to each other.
pub(crate) fn agree<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
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

/// The schema node that applies to `value`: references followed, the branch of its `kind` or `stage` taken.
fn resolve<'a>(root: &'a Value, schema: &'a Value, value: &Value) -> &'a Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return resolve(root, root.pointer(&reference[1..]).unwrap(), value);
    }
    let Some(branches) = schema.get("oneOf").and_then(Value::as_array) else { return schema };
    let is_of = |told: &Value, key: &str| {
        let is_one = |all: &Value| all.as_array().is_some_and(|all| value.get(key).is_some_and(|it| all.contains(it)));
        told.get("const").is_some_and(|told| value.get(key) == Some(told)) || told.get("enum").is_some_and(is_one)
    };
    let branch = |schema: &&Value| ["kind", "stage"].iter().any(|key| is_of(&schema["properties"][key], key));
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
        if node.get("properties").is_none() || !here.is_object() {
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
        Value::Null => json!(true),
        _ => json!("seven"),
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The name of the schema that a schema or an example is named after.
pub(crate) fn stem(name: &str) -> String {
    name.split('.').next().unwrap().to_owned()
}

pub(crate) fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
