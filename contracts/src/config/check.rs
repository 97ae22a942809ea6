//! The walk over a document by the tables of [`super::keys`]: every problem is found, none ends it.

use std::collections::BTreeMap;

use super::document::{Node, Table, Value};
use super::keys::{Key, Keys, Kind, Literal, Need};
use super::number::Seconds;
use super::problem::{Problem, did_you_mean, join, one_of};
use super::redact::redact;
use super::rules::Rule;
use crate::ids::{Digest, Name};

/// A value that keeps the rules of its key.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::config) enum Checked {
    Text(String),
    Flag(bool),
    Count(u64),
    Seconds(f64),
    List(Vec<Checked>),
    Row(Row),
}

/// A table whose keys were checked; a key that has a problem is not in it, a key that was left out has its default.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::config) struct Row {
    /// Where it stands: `sources[0]`.
    pub(in crate::config) path: String,
    /// The line of its header.
    pub(in crate::config) line: usize,
    values: BTreeMap<&'static str, Checked>,
    lines: BTreeMap<&'static str, usize>,
}

impl Row {
    /// The value of a key, taken out; none when it has a problem or is optional and not there.
    pub(in crate::config) fn take<T: Typed>(&mut self, key: &str) -> Option<T> {
        T::typed(self.values.remove(key)?)
    }

    /// The value of a key, copied.
    pub(in crate::config) fn get<T: Typed>(&self, key: &str) -> Option<T> {
        T::typed(self.values.get(key)?.clone())
    }

    /// The line of a key, when it is written.
    pub(in crate::config) fn written(&self, key: &str) -> Option<usize> {
        self.lines.get(key).copied()
    }

    /// The path of a key.
    pub(in crate::config) fn key(&self, key: &str) -> String {
        join(&self.path, key)
    }
}

/// A type that a checked value can be; the rules see to it that it is, none only says that the types do not fit.
pub(in crate::config) trait Typed: Sized {
    fn typed(checked: Checked) -> Option<Self>;
}

macro_rules! typed {
    ($($type:ty: $pattern:pat => $value:expr;)+) => {
        $(impl Typed for $type {
            fn typed(checked: Checked) -> Option<Self> {
                match checked { $pattern => $value, _ => None }
            }
        })+
    };
}

typed! {
    String: Checked::Text(text) => Some(text);
    Name: Checked::Text(text) => text.parse().ok();
    Digest: Checked::Text(text) => text.parse().ok();
    bool: Checked::Flag(flag) => Some(flag);
    u64: Checked::Count(count) => Some(count);
    u32: Checked::Count(count) => count.try_into().ok();
    Seconds: Checked::Seconds(seconds) => Seconds::new(seconds);
    Row: Checked::Row(row) => Some(row);
}

impl<T: Typed> Typed for Vec<T> {
    fn typed(checked: Checked) -> Option<Self> {
        match checked {
            Checked::List(items) => items.into_iter().map(T::typed).collect(),
            _ => None,
        }
    }
}

/// The walk, and what it found so far.
#[derive(Debug, Default)]
pub(in crate::config) struct Walk {
    pub(in crate::config) problems: Vec<Problem>,
}

impl Walk {
    /// Checks a table: unknown keys, missing keys, and each value.
    pub(in crate::config) fn row(&mut self, table: &Table, keys: &'static Keys, path: &str) -> Row {
        let (mut values, mut lines) = (BTreeMap::new(), BTreeMap::new());
        self.unknown_keys(table, keys, path);
        for key in keys.keys {
            let checked = match table.get(key.name) {
                Some(entry) => {
                    lines.insert(key.name, entry.node.line);
                    self.value(&entry.node, &key.kind, &join(path, key.name))
                }
                None => self.absent(key, table.line, path),
            };
            checked.and_then(|checked| values.insert(key.name, checked));
        }
        Row { path: path.to_owned(), line: table.line, values, lines }
    }

    /// Checks a value; none means that a problem was found in it, or that it is read elsewhere.
    pub(in crate::config) fn value(&mut self, node: &Node, kind: &Kind, path: &str) -> Option<Checked> {
        match (kind, &node.value) {
            (Kind::Text(rule), Value::Text(text)) => self.text(node, *rule, text, path),
            (Kind::Choice(words), Value::Text(text)) if words.contains(&text.as_str()) => {
                Some(Checked::Text(text.clone()))
            }
            (Kind::Flag, Value::Flag(flag)) => Some(Checked::Flag(*flag)),
            (Kind::Count { min, max }, Value::Integer { value: Some(value), .. }) if within(*value, *min, *max) => {
                u64::try_from(*value).ok().map(Checked::Count)
            }
            (Kind::Seconds { zero }, Value::Integer { .. } | Value::Float { .. }) => {
                let seconds = seconds(&node.value).filter(|&seconds| *zero || seconds > 0.0);
                seconds.map(Checked::Seconds).or_else(|| self.refuse(node, kind, path))
            }
            (Kind::List { of, min }, Value::List(items)) if items.len() >= *min => Some(self.list(items, of, path)),
            (Kind::Table(keys), Value::Table(table)) => Some(Checked::Row(self.row(table, keys, path))),
            (Kind::Tables(keys), Value::List(items)) => Some(self.tables(items, kind, keys, path)),
            // Read by `policy`, which keeps the line of every entry.
            (Kind::Policy, Value::Table(_)) => None,
            _ => self.refuse(node, kind, path),
        }
    }

    fn text(&mut self, node: &Node, rule: Rule, text: &str, path: &str) -> Option<Checked> {
        let Some(fault) = rule.fault(text) else { return Some(Checked::Text(text.to_owned())) };
        let problem = if rule.hides_value() { Problem::secret } else { Problem::of };
        self.problems.push(problem(node, path, fault));
        None
    }

    fn list(&mut self, items: &[Node], of: &Kind, path: &str) -> Checked {
        let mut checked: Vec<Checked> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match self.value(item, of, &path) {
                Some(value) if checked.contains(&value) => {
                    self.problems.push(Problem::of(item, &path, "expected every element once"));
                }
                Some(value) => checked.push(value),
                None => {}
            }
        }
        Checked::List(checked)
    }

    fn tables(&mut self, items: &[Node], kind: &Kind, keys: &'static Keys, path: &str) -> Checked {
        let mut rows = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match &item.value {
                Value::Table(table) => rows.push(Checked::Row(self.row(table, keys, &path))),
                _ => rows.extend(self.refuse(item, kind, &path)),
            }
        }
        Checked::List(rows)
    }

    fn absent(&mut self, key: &'static Key, line: usize, path: &str) -> Option<Checked> {
        match key.need {
            Need::Default(literal) => Some(self.default(literal, &key.kind, line, &join(path, key.name))),
            Need::Optional => None,
            Need::Required => {
                let expected = format!("expected {}", key.kind.expected());
                self.problems.push(Problem::missing(line, &join(path, key.name), expected));
                None
            }
        }
    }

    fn default(&mut self, literal: Literal, kind: &Kind, line: usize, path: &str) -> Checked {
        match (literal, kind) {
            (Literal::Table, Kind::Table(keys)) => {
                Checked::Row(self.row(&Table { line, entries: Vec::new() }, keys, path))
            }
            (Literal::Table | Literal::NoTables, _) => Checked::List(Vec::new()),
            (Literal::Flag(flag), _) => Checked::Flag(flag),
            (Literal::Count(count), _) => Checked::Count(count),
            (Literal::Seconds(seconds), _) => Checked::Seconds(seconds),
            (Literal::Text(text), _) => Checked::Text(text.to_owned()),
            (Literal::Texts(texts), _) => {
                Checked::List(texts.iter().map(|text| Checked::Text((*text).to_owned())).collect())
            }
        }
    }

    fn unknown_keys(&mut self, table: &Table, keys: &'static Keys, path: &str) {
        let is_known = |name: &str| keys.keys.iter().any(|key| key.name == name);
        // `base` is for programs: nobody who writes a config is to think of it.
        let for_people = keys.keys.iter().filter(|key| !matches!(key.kind, Kind::Text(Rule::Base)));
        let known: Vec<_> = for_people.map(|key| key.name).collect();
        for entry in table.entries.iter().filter(|entry| !is_known(&entry.key)) {
            let meant = did_you_mean(&entry.key, &known);
            let expected = format!("no such key in {}{meant}; the keys are {}", keys.table, one_of(&known));
            let problem = if names_secret(path, &entry.key) { Problem::secret } else { Problem::of };
            self.problems.push(problem(
                &entry.node,
                &join(path, &redact(&entry.key)),
                expected.replace(" or `", " and `"),
            ));
        }
    }

    /// A value of a wrong type, or outside what its kind allows.
    fn refuse(&mut self, node: &Node, kind: &Kind, path: &str) -> Option<Checked> {
        let expected = match (kind, &node.value) {
            (Kind::Text(_), _) => format!("expected a string, {}", kind.expected()),
            (Kind::Choice(words), Value::Text(text)) => {
                format!("expected {}{}", kind.expected(), did_you_mean(text, words))
            }
            _ => format!("expected {}", kind.expected()),
        };
        let hidden = matches!(kind, Kind::Text(rule) if rule.hides_value());
        let problem = if hidden { Problem::secret } else { Problem::of };
        self.problems.push(problem(node, path, expected));
        None
    }
}

fn within(value: i128, min: u64, max: u64) -> bool {
    (i128::from(min)..=i128::from(max)).contains(&value)
}

/// A finite number of seconds between 0 and [`Seconds::MAX`].
fn seconds(value: &Value) -> Option<f64> {
    let seconds = match value {
        Value::Float { value, .. } => *value,
        // Below a year a whole number of seconds fits in 32 bits.
        Value::Integer { value: Some(value), .. } => f64::from(u32::try_from(*value).ok()?),
        _ => return None,
    };
    Seconds::new(seconds).map(Seconds::as_f64)
}

/// Whether an unknown key may have been meant for a credential, whose value no message repeats.
fn names_secret(path: &str, key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let words = ["auth", "bearer", "cookie", "credential", "key", "passw", "secret", "token"];
    path.ends_with(".auth") || words.iter().any(|word| key.contains(word))
}
