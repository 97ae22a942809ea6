//! What a page says of itself in JSON-LD and microdata.

use serde_json::Value;

use super::tag::{Name, Tag};
use super::tree::{Index, Tree};
use super::words::one_line;

/// What describes the page as a whole; the first statement of each kind counts.
#[derive(Debug, Default)]
pub(crate) struct Structured {
    pub(crate) headline: String,
    pub(crate) description: String,
    pub(crate) author: String,
    pub(crate) date: String,
    pub(crate) keywords: Vec<String>,
    pub(crate) license: String,
    /// The text of the article or the description of the product, where it is stated in full.
    pub(crate) body: String,
    /// Types in lower case, such as `newsarticle`, `product`.
    pub(crate) types: Vec<String>,
}

/// Items of one script beyond so many tell nothing of the page.
const MOST_ITEMS: usize = 1000;

pub(crate) fn structured(tree: &Tree) -> Structured {
    let mut found = Structured::default();
    for at in 0..tree.len() {
        match tree.tag(at) {
            Tag::Script => found.read_script(&tree.inner_text(at)),
            Tag::Text => {}
            _ => found.read_microdata(tree, at),
        }
    }
    found
}

impl Structured {
    fn read_script(&mut self, script: &str) {
        let json = script.trim().trim_start_matches("<!--").trim_end_matches("-->").trim();
        if json.is_empty() {
            return;
        }
        // Line breaks inside strings are no JSON, and common.
        let parsed = serde_json::from_str::<Value>(json)
            .or_else(|_| serde_json::from_str(&json.replace(['\n', '\r', '\t'], " ")));
        let Ok(root) = parsed else { return };
        let mut open = vec![&root];
        let mut items = 0;
        while let Some(value) = open.pop() {
            items += 1;
            match value {
                _ if items > MOST_ITEMS => return,
                Value::Array(values) => open.extend(values.iter().rev()),
                Value::Object(item) => {
                    self.read_item(value);
                    let inner = ["@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item"];
                    open.extend(inner.iter().rev().filter_map(|key| item.get(*key)));
                }
                _ => {}
            }
        }
    }

    fn read_item(&mut self, item: &Value) {
        let types = types(item);
        let is = |ends: &[&str]| types.iter().any(|name| ends.iter().any(|end| name.ends_with(end)));
        let is_text = is(&["article", "posting", "report", "recipe", "howto", "review"]);
        let is_thing = is(&["product", "productgroup", "event", "book", "movie", "course", "softwareapplication"]);
        let is_page = is(&["webpage", "itempage", "collectionpage", "aboutpage", "faqpage"]);
        self.types.extend(types.iter().cloned());
        if is_text || is_thing {
            set(&mut self.headline, words(item, &["headline", "name"]));
            set(&mut self.body, words(item, &["articleBody"]));
            set(&mut self.author, people(item.get("author")));
        }
        if is_thing {
            set(&mut self.body, words(item, &["description"]));
        }
        if is_text || is_thing || is_page {
            set(&mut self.description, words(item, &["description"]));
            set(&mut self.date, words(item, &["datePublished", "dateCreated"]));
            set(&mut self.license, words(item, &["license"]));
            if self.keywords.is_empty() {
                self.keywords = keywords(item.get("keywords"));
            }
        }
    }

    fn read_microdata(&mut self, tree: &Tree, at: Index) {
        if let Some(kind) = tree.attribute(at, Name::Itemtype) {
            self.types.push(last_segment(kind));
        }
        let Some(property) = tree.attribute(at, Name::Itemprop) else { return };
        let value = || {
            let stated = [Name::Content, Name::Datetime].iter().find_map(|&name| tree.attribute(at, name));
            one_line(&stated.map_or_else(|| tree.inner_text(at), str::to_owned))
        };
        match property.trim() {
            "headline" if self.headline.is_empty() => self.headline = value(),
            "datePublished" if self.date.is_empty() => self.date = value(),
            "author" if self.author.is_empty() => {
                let name =
                    (at + 1..tree.end(at)).find(|&inside| tree.attribute(inside, Name::Itemprop) == Some("name"));
                self.author = name.map_or_else(value, |name| one_line(&tree.inner_text(name)));
            }
            _ => {}
        }
    }
}

fn set(place: &mut String, value: String) {
    if place.is_empty() {
        *place = value;
    }
}

fn types(item: &Value) -> Vec<String> {
    match item.get("@type") {
        Some(Value::String(name)) => vec![last_segment(name)],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(last_segment).collect(),
        _ => Vec::new(),
    }
}

/// The name at the end of a type's address, in lower case.
fn last_segment(name: &str) -> String {
    name.rsplit(['/', '#', ':']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The first of the keys that holds words; markup in them is left out.
fn words(item: &Value, keys: &[&str]) -> String {
    let stated = keys.iter().filter_map(|key| item.get(*key)).find_map(Value::as_str);
    one_line(&plain(stated.unwrap_or_default()))
}

/// Without tags and the entities that hide them: strings of JSON-LD are text, and often are not.
fn plain(stated: &str) -> String {
    let decoded = stated.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ");
    let decoded = decoded.replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
    let mut out = String::with_capacity(decoded.len());
    let mut rest = decoded.as_str();
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        let is_tag = rest[start + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/');
        match rest[start..].find('>') {
            Some(end) if is_tag => {
                out.push(' ');
                rest = &rest[start + end + 1..];
            }
            _ => {
                out.push('<');
                rest = &rest[start + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn people(author: Option<&Value>) -> String {
    let name = |person: &Value| match person {
        Value::String(name) => one_line(name),
        person => one_line(person.get("name").and_then(Value::as_str).unwrap_or_default()),
    };
    let names: Vec<String> = match author {
        Some(Value::Array(people)) => people.iter().map(name).collect(),
        Some(person) => vec![name(person)],
        None => Vec::new(),
    };
    let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty() && !name.starts_with("http")).collect();
    names.join(", ")
}

fn keywords(stated: Option<&Value>) -> Vec<String> {
    match stated {
        Some(Value::String(list)) => list.split(',').map(one_line).filter(|word| !word.is_empty()).collect(),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(one_line).collect(),
        _ => Vec::new(),
    }
}
