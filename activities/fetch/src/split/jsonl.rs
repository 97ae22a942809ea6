//! JSON Lines: a document is the string at `text_field` of each line that is not blank.
//!
//! The line is parsed once, by `serde_json`, which only finds where its values are; it neither decodes strings nor
//! recurses into values that are left out.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use corpora_contracts::config::Split;

use super::documents::Documents;
use super::error::{Problem, SplitError};
use super::json_string::{Put as _, compact, depth, escape, lone_surrogate, respell};
use super::lines::{Lines, Step, utf8};

/// The deepest nesting of a value kept in `meta`; with the two levels around it a raw line stays within the 128 that
/// `serde_json` reads.
const META_DEPTH: usize = 100;

/// Splits JSON Lines.
pub(super) fn split(lines: &mut Lines<'_>, settings: &Split, documents: &mut Documents<'_>) -> Result<(), SplitError> {
    let fields = Fields::new(settings);
    loop {
        lines.release();
        let step = lines.next(documents.n_docs())?;
        let number = lines.number();
        let outcome = match step {
            Step::End => return Ok(()),
            Step::TooLong => Err(Problem::LineTooLong { limit: settings.max_line_bytes }),
            Step::Line(range) => fields.find(&lines.held()[range]),
        };
        match outcome {
            Ok(Some(found)) => write(&found, &fields, number, documents)?,
            Ok(None) => {}
            Err(problem) => documents.reject(number, problem)?,
        }
    }
}

/// Writes one raw document.
fn write(found: &Found<'_>, fields: &Fields<'_>, line: u64, documents: &mut Documents<'_>) -> Result<(), SplitError> {
    documents.begin(line)?;
    respell(found.text, documents)?;
    if fields.meta.is_empty() {
        return documents.end(b"\"}\n");
    }
    documents.put(b"\",\"meta\":{")?;
    let mut separator: &[u8] = b"\"";
    for (name, value) in fields.meta.iter().zip(&found.meta) {
        let Some(value) = value else { continue };
        documents.put(separator)?;
        escape(name.as_bytes(), documents)?;
        documents.put(b"\":")?;
        compact(value, documents)?;
        separator = b",\"";
    }
    documents.end(b"}}\n")
}

/// Which keys of a line are of interest.
struct Fields<'s> {
    text: &'s str,
    /// Each once.
    meta: Vec<&'s str>,
}

/// What a line holds, as it is spelt there.
struct Found<'l> {
    /// The inside of the string.
    text: &'l str,
    /// In the order of [`Fields::meta`].
    meta: Vec<Option<&'l str>>,
}

impl<'s> Fields<'s> {
    fn new(settings: &'s Split) -> Self {
        let mut meta: Vec<&str> = Vec::new();
        for name in &settings.meta_fields {
            if !meta.contains(&name.as_str()) {
                meta.push(name);
            }
        }
        Self { text: &settings.text_field, meta }
    }

    /// Looks for the fields in a line; none in a blank one.
    fn find<'l>(&self, line: &'l [u8]) -> Result<Option<Found<'l>>, Problem> {
        let line = utf8(line)?;
        if line.trim_start().is_empty() {
            return Ok(None);
        }
        let members = self.parse(line)?;
        if let Some(at) = lone_surrogate(line) {
            return Err(Problem::LoneSurrogate { column: at + 1 });
        }
        if let Some(key) = members.duplicate {
            return Err(Problem::DuplicateKey { key: key.to_owned() });
        }
        for (name, value) in self.meta.iter().zip(&members.meta) {
            if value.is_some_and(|value| depth(value) > META_DEPTH) {
                return Err(Problem::TooDeep { key: (*name).to_owned(), limit: META_DEPTH });
            }
        }
        let inside = members.text.and_then(|value| value.strip_prefix('"')?.strip_suffix('"'));
        let text = inside.ok_or_else(|| Problem::NoText { key: self.text.to_owned() })?;
        Ok(Some(Found { text, meta: members.meta }))
    }

    fn parse<'l>(&'s self, line: &'l str) -> Result<Members<'s, 'l>, Problem> {
        let mut parser = serde_json::Deserializer::from_str(line);
        if line.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{') {
            let members = parser.deserialize_map(self).map_err(not_json)?;
            parser.end().map_err(not_json)?;
            return Ok(members);
        }
        serde_json::from_str::<IgnoredAny>(line).map_err(not_json)?;
        Err(Problem::NotObject)
    }
}

/// The members of an object that are of interest.
struct Members<'s, 'l> {
    text: Option<&'l str>,
    meta: Vec<Option<&'l str>>,
    duplicate: Option<&'s str>,
}

impl<'s, 'l> Visitor<'l> for &'s Fields<'s> {
    type Value = Members<'s, 'l>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members { text: None, meta: vec![None; self.meta.len()], duplicate: None };
        while let Some(key) = map.next_key_seed(KeyOf(self))? {
            if !key.is_text && key.meta.is_none() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value::<&RawValue>()?.get();
            if key.is_text && members.text.replace(value).is_some() {
                members.duplicate.get_or_insert(self.text);
            }
            if let Some(index) = key.meta
                && members.meta[index].replace(value).is_some()
            {
                members.duplicate.get_or_insert(self.meta[index]);
            }
        }
        Ok(members)
    }
}

/// What a key of a line means.
struct Key {
    is_text: bool,
    meta: Option<usize>,
}

/// Compares a key, decoded, with the fields: `"te\u0078t"` is a spelling of `"text"`.
struct KeyOf<'s>(&'s Fields<'s>);

impl<'l> DeserializeSeed<'l> for KeyOf<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyOf<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        let meta = self.0.meta.iter().position(|&name| name == key);
        Ok(Key { is_text: key == self.0.text, meta })
    }
}

/// What the parser says, without its `line 1`: which line it is the caller knows better.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
fn not_json(error: serde_json::Error) -> Problem {
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    Problem::NotJson { reason: format!("{what} at byte {}", error.column()) }
}

#[cfg(test)]
mod tests;
