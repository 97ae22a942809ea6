//! `meta` of a page's document: what the raw document knew, and what the page states of itself.
//!
//! What was known when the page was stored is evidence and wins over what the page says under the same name. Of `rights`, which
//! both may know, lists are joined, and what a page says of a reservation counts more than what came with it (TDM
//! Reservation Protocol).

use std::borrow::Cow;
use std::collections::BTreeMap;

use corpora_text::page::Page;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::page::{Metadata, RightsSaid};

/// The members of a JSON object as they are spelt, by name.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Members<'a>(#[serde(borrow)] BTreeMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Members<'a> {
    /// The members of an object; none of anything else.
    pub(crate) fn of(object: Option<&'a RawValue>) -> Self {
        object.and_then(|object| serde_json::from_str(object.get()).ok()).unwrap_or_default()
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// `meta` as it is written.
#[derive(Debug)]
pub(crate) struct Meta<'a> {
    pub(crate) content_type: &'a str,
    /// None of a text that somebody else made of a page.
    pub(crate) page: Option<&'a Page>,
    /// The raw document's.
    pub(crate) known: Members<'a>,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut put = Put { map: &mut map, known: &self.known };
        put.text("content_type", self.content_type)?;
        if let Some(page) = self.page {
            let Metadata { language, description, keywords, author, date, canonical, cut } = Metadata::of(page);
            put.text("language", language)?;
            put.text("description", description)?;
            put.value("keywords", &keywords, !keywords.is_empty())?;
            put.text("author", author)?;
            put.text("date", date)?;
            put.text("canonical", canonical)?;
            put.value("cut", &cut, cut.is_some())?;
            put.value("rights", &RightsSaid::of(&page.rights), !page.rights.is_silent())?;
        }
        for (name, value) in &self.known.0 {
            match self.page.filter(|page| name == "rights" && !page.rights.is_silent()) {
                Some(page) => map.serialize_entry(name, &Rights::of(page, value))?,
                None => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// Writes what is not known already.
struct Put<'a, M> {
    map: &'a mut M,
    known: &'a Members<'a>,
}

impl<M: SerializeMap> Put<'_, M> {
    fn text(&mut self, name: &str, text: &str) -> Result<(), M::Error> {
        self.value(name, text, !text.is_empty())
    }

    fn value<T: Serialize + ?Sized>(&mut self, name: &str, value: &T, is_stated: bool) -> Result<(), M::Error> {
        if !is_stated || self.known.has(name) {
            return Ok(());
        }
        self.map.serialize_entry(name, value)
    }
}

/// Signals that were known and those of the page.
struct Rights<'a> {
    said: RightsSaid<'a>,
    known: Members<'a>,
}

impl<'a> Rights<'a> {
    fn of(page: &'a Page, known: &'a RawValue) -> Self {
        Self { said: RightsSaid::of(&page.rights), known: Members::of(Some(known)) }
    }

    /// A list that was known, and what of the page's is not in it; none where what was known is no list of strings.
    fn joined(&self, name: &str, said: &'a [String]) -> Option<Vec<Cow<'a, str>>> {
        let known = self.known.0.get(name).map(|known| serde_json::from_str::<Vec<String>>(known.get()));
        let mut all: Vec<Cow<'a, str>> =
            known.transpose().ok()?.unwrap_or_default().into_iter().map(Cow::Owned).collect();
        for signal in said {
            if !all.iter().any(|known| known == signal) {
                all.push(Cow::Borrowed(signal));
            }
        }
        Some(all)
    }
}

impl Serialize for Rights<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let RightsSaid { robots, tdm_reservation, tdm_policy, licenses } = self.said;
        let lists = [("robots", self.joined("robots", robots)), ("licenses", self.joined("licenses", licenses))];
        for (name, list) in lists.iter().filter_map(|(name, list)| Some((name, list.as_ref()?))) {
            if !list.is_empty() {
                map.serialize_entry(name, list)?;
            }
        }
        if let Some(is_reserved) = tdm_reservation {
            map.serialize_entry("tdm_reservation", &is_reserved)?;
        }
        if let Some(policy) = tdm_policy {
            map.serialize_entry("tdm_policy", policy)?;
        }
        for (name, value) in &self.known.0 {
            let is_written = match name.as_ref() {
                "tdm_reservation" => tdm_reservation.is_some(),
                "tdm_policy" => tdm_policy.is_some(),
                name => lists.iter().any(|(list, all)| *list == name && all.is_some()),
            };
            if !is_written {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}
