//! Configs, written as a person would write them.

use corpora_contracts::ids::Digest;
use serde_json::{Map, Value, json};

/// A config under construction; renders as TOML and as the JSON of a spec.
#[derive(Debug, Clone, Default)]
pub struct ConfigToml {
    top: Vec<(String, Value)>,
    sources: Vec<SourceToml>,
}

impl ConfigToml {
    /// Dataset `small`, version `v1`, these sources.
    #[must_use]
    pub fn new(sources: impl Into<Vec<SourceToml>>) -> Self {
        let top = vec![("dataset".to_owned(), json!("small")), ("version".to_owned(), json!("v1"))];
        Self { top, sources: sources.into() }
    }

    /// Small shards in both forms, and one document in five held out.
    #[must_use]
    pub fn shelved(sources: impl Into<Vec<SourceToml>>) -> Self {
        Self::new(sources).with("store", json!({ "shard_rows": 16, "val_permille": 200 }))
    }

    /// One more key beside `dataset`, also one that is set already.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.top.retain(|(name, _)| name != key);
        self.top.push((key.to_owned(), value.into()));
        self
    }

    /// The config as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = lines(&self.top);
        for source in &self.sources {
            text.push_str("\n[[sources]]\n");
            text.push_str(&lines(&source.keys));
        }
        text
    }

    /// The config as the JSON of `spec.json`, without `base`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let sources = self.sources.iter().map(|source| source.keys.iter().cloned().collect());
        let mut spec: Map<String, Value> = self.top.iter().cloned().collect();
        spec.insert("sources".to_owned(), Value::Array(sources.map(Value::Object).collect()));
        spec
    }
}

impl From<SourceToml> for ConfigToml {
    fn from(source: SourceToml) -> Self {
        Self::new([source])
    }
}

impl From<Vec<SourceToml>> for ConfigToml {
    fn from(sources: Vec<SourceToml>) -> Self {
        Self::new(sources)
    }
}

impl<const N: usize> From<[SourceToml; N]> for ConfigToml {
    fn from(sources: [SourceToml; N]) -> Self {
        Self::new(sources)
    }
}

/// One `[[sources]]` table.
#[derive(Debug, Clone)]
pub struct SourceToml {
    keys: Vec<(String, Value)>,
}

impl SourceToml {
    /// A source under CC-BY-4.0 whose pin is the digest of `bytes`.
    #[must_use]
    pub fn new(id: &str, url: &str, bytes: &[u8]) -> Self {
        Self { keys: Vec::new() }
            .with("id", id)
            .with("url", url)
            .with("sha256", Digest::of(bytes).to_string())
            .with("license_spdx", "CC-BY-4.0")
    }

    /// Sets a key, also one that is set already.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        match self.keys.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.keys.push((key.to_owned(), value)),
        }
        self
    }

    /// Leaves a key out.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.keys.retain(|(name, _)| name != key);
        self
    }
}

fn lines(keys: &[(String, Value)]) -> String {
    keys.iter().map(|(key, value)| format!("{key} = {}\n", toml_value(value))).collect()
}

/// A JSON value as TOML; JSON strings and numbers are TOML already, objects become inline tables.
fn toml_value(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let pairs: Vec<String> =
                object.iter().map(|(key, value)| format!("{key} = {}", toml_value(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
