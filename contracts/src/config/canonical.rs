//! The config as one canonical text, and its digest.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Config;
use crate::ids::Digest;

impl Config {
    /// The config as a document: what `spec.json` holds beside `base`, with every default written out.
    ///
    /// Reading it again gives an equal config. Keys that mean nothing for a source's format are left out.
    ///
    /// # Errors
    /// Never for a config that [`super::validate`] built; the serializer's error is passed on all the same.
    pub fn to_document(&self) -> Result<Value, serde_json::Error> {
        let mut document = serde_json::to_value(self)?;
        let sources = document.get_mut("sources").and_then(Value::as_array_mut);
        for (written, source) in sources.into_iter().flatten().zip(&self.sources) {
            let Some(table) = written.as_object_mut() else { continue };
            // The types keep what decides about documents apart; the document has one flat table.
            if let Some(Value::Object(split)) = table.remove("split") {
                table.extend(split);
            }
            let format = source.split.format;
            let is_meant = |key: &str| match key {
                "text_field" | "meta_fields" => format.has_fields(),
                "max_line_bytes" => format.has_lines(),
                "page_bytes" => format.has_pages(),
                _ => true,
            };
            table.retain(|key, value| !value.is_null() && is_meant(key));
        }
        Ok(document)
    }

    /// SHA-256 over the canonical JSON of [`Self::to_document`]: compact, keys sorted by their UTF-8 bytes.
    ///
    /// # Errors
    /// As [`Self::to_document`].
    pub fn digest(&self) -> Result<Digest, serde_json::Error> {
        digest_of(&self.to_document()?)
    }
}

/// SHA-256 over the canonical JSON of a value, such as one table of the config: compact, keys sorted by their UTF-8
/// bytes.
///
/// # Errors
/// Never for the types of the config; the serializer's error is passed on all the same.
pub fn digest_of(part: &impl Serialize) -> Result<Digest, serde_json::Error> {
    let mut text = String::new();
    write(&serde_json::to_value(part)?, &mut text)?;
    Ok(Digest::of(text.as_bytes()))
}

/// Writes a value with sorted keys, whatever order the map type keeps.
fn write(value: &Value, text: &mut String) -> Result<(), serde_json::Error> {
    match value {
        Value::Object(members) => write_object(members, text),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                write(item, text)?;
            }
            text.push(']');
            Ok(())
        }
        scalar => {
            text.push_str(&serde_json::to_string(scalar)?);
            Ok(())
        }
    }
}

fn write_object(members: &Map<String, Value>, text: &mut String) -> Result<(), serde_json::Error> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|&(key, _)| key);
    text.push('{');
    for (at, (key, value)) in members.into_iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "," });
        text.push_str(&serde_json::to_string(key)?);
        text.push(':');
        write(value, text)?;
    }
    text.push('}');
    Ok(())
}
