//! What a page and its host say of the use of what was read, and what follows for a crawl.
//!
//! | signal | where | read as |
//! |---|---|---|
//! | directives for robots: `noindex`, `nofollow`, `none`, `noai`, `noimageai`, … | `X-Robots-Tag`, `<meta name="robots">`, `<meta name="<our token>">` | [`Signals::robots`] |
//! | TDM Reservation Protocol (W3C Community Group, 2024) | `/.well-known/tdmrep.json`, header and meta `tdm-reservation`, `tdm-policy` | [`Signals::tdm_reservation`], the page before the header before the file |
//! | `Content-Signal` | robots.txt, header | [`Signals::content_signal`] |
//! | `Content-Usage` (IETF AI Preferences) | robots.txt, header | [`Signals::content_usage`] |
//! | licences, those of Really Simple Licensing too | `License` in robots.txt, header `Link` and `<link>` with `rel=license` | [`Signals::licenses`] |
//!
//! Signals are kept as stated. [`Signals::decide`] says what a crawl does about them; `noimageai` and licences are kept and
//! nothing more.

use serde::{Deserialize, Serialize};

mod tdmrep;

pub use tdmrep::{Reservation, Reservations};

/// A page that states more than this of one kind is not read further.
const MOST_STATED: usize = 100;

/// Directives that have a value behind a colon, which therefore is no agent's name.
const WITH_VALUE: &[&str] = &["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// What is stated of a page's use, in the order found, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// Directives for robots that address everyone or us, in lower case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub robots: Vec<String>,
    /// Whether rights to text and data mining are reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdm_reservation: Option<bool>,
    /// The address of the policy under which they may be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdm_policy: Option<String>,
    /// Values of `Content-Signal`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content_signal: Vec<String>,
    /// Values of `Content-Usage`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content_usage: Vec<String>,
    /// Addresses of licences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub licenses: Vec<String>,
}

/// What robots.txt says of the use of one path; see [`crate::robots::Policy::stated`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stated {
    /// Values of `Content-Signal` in the group that applies.
    pub content_signal: Vec<String>,
    /// Values of `Content-Usage` in the group that applies.
    pub content_usage: Vec<String>,
    /// Values of `License`, which are about the whole host.
    pub licenses: Vec<String>,
}

/// What the crawl is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purpose {
    /// Whether `allowed_uses` has `train`.
    pub trains: bool,
    /// `respect_rights`.
    pub respects_rights: bool,
}

/// Why a page is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// `noindex` or `none`.
    Noindex,
    /// `noai`.
    Noai,
    /// `tdm-reservation: 1`.
    TdmReservation,
    /// `Content-Signal` with `ai-train=no`.
    ContentSignal,
    /// `Content-Usage` with `train-ai=n`.
    ContentUsage,
}

impl Refusal {
    /// The reason's name, by which refused pages are counted.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Noindex => "noindex",
            Self::Noai => "noai",
            Self::TdmReservation => "tdm-reservation",
            Self::ContentSignal => "content-signal",
            Self::ContentUsage => "content-usage",
        }
    }
}

/// What follows from the signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Why the page is not stored; nothing where it is.
    pub refusal: Option<Refusal>,
    /// Whether the page's links are followed.
    pub follows: bool,
}

impl Signals {
    /// Reads a header of the answer: `X-Robots-Tag`, `TDM-Reservation`, `TDM-Policy`, `Content-Signal`, `Content-Usage`,
    /// `Link`; passes over others. `agent` is our product token. Headers are read before the page.
    pub fn read_header(&mut self, name: &str, value: &str, agent: &str) {
        match name.to_ascii_lowercase().as_str() {
            "x-robots-tag" => self.read_tag(value, agent),
            "tdm-reservation" => self.reserve(value),
            "tdm-policy" => self.tdm_policy = Some(value.trim().to_owned()),
            "content-signal" => state(&mut self.content_signal, value),
            "content-usage" => state(&mut self.content_usage, value),
            "link" => licenses_of(value).for_each(|license| state(&mut self.licenses, license)),
            _ => {}
        }
    }

    /// Reads `<meta name="…" content="…">`. What the page says of its reservation counts more than what came before.
    pub fn read_meta(&mut self, name: &str, content: &str, agent: &str) {
        let name = name.trim();
        if name.eq_ignore_ascii_case("robots") || (!agent.is_empty() && name.eq_ignore_ascii_case(agent)) {
            content.split(',').for_each(|directive| state_lower(&mut self.robots, directive));
        } else if name.eq_ignore_ascii_case("tdm-reservation") {
            self.reserve(content);
        } else if name.eq_ignore_ascii_case("tdm-policy") {
            self.tdm_policy = Some(content.trim().to_owned());
        }
    }

    /// Adds the address of a licence that the page links to.
    pub fn add_license(&mut self, license: &str) {
        state(&mut self.licenses, license);
    }

    /// Adds what robots.txt says of the page's path.
    pub fn add_stated(&mut self, stated: &Stated) {
        stated.content_signal.iter().for_each(|value| state(&mut self.content_signal, value));
        stated.content_usage.iter().for_each(|value| state(&mut self.content_usage, value));
        stated.licenses.iter().for_each(|value| state(&mut self.licenses, value));
    }

    /// Adds what `tdmrep.json` says of the page's path, unless the page or its headers have said it.
    pub fn add_reservation(&mut self, reservation: &Reservation) {
        if self.tdm_reservation.is_none() {
            self.tdm_reservation = Some(reservation.is_reserved);
            self.tdm_policy = self.tdm_policy.take().or_else(|| reservation.policy.clone());
        }
    }

    /// Whether nothing is stated.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// What follows for a crawl. `noindex` and `nofollow` always count; a refusal of training counts for one who trains and
    /// respects rights.
    #[must_use]
    pub fn decide(&self, purpose: Purpose) -> Decision {
        let stated = |directive: &str| self.robots.iter().any(|stated| stated == directive);
        let is_not_indexed = stated("noindex") || stated("none");
        let refusal = if is_not_indexed { Some(Refusal::Noindex) } else { self.refused_training(purpose) };
        Decision { refusal, follows: !(stated("nofollow") || stated("none")) }
    }

    fn refused_training(&self, purpose: Purpose) -> Option<Refusal> {
        if !(purpose.trains && purpose.respects_rights) {
            return None;
        }
        let noai = self.robots.iter().any(|directive| directive == "noai");
        let table = [
            (noai, Refusal::Noai),
            (self.tdm_reservation == Some(true), Refusal::TdmReservation),
            (denies(&self.content_signal, "ai-train"), Refusal::ContentSignal),
            (denies(&self.content_usage, "train-ai"), Refusal::ContentUsage),
        ];
        table.into_iter().find_map(|(is_stated, refusal)| is_stated.then_some(refusal))
    }

    fn reserve(&mut self, value: &str) {
        match value.trim() {
            "1" => self.tdm_reservation = Some(true),
            "0" => self.tdm_reservation = Some(false),
            _ => {}
        }
    }

    /// `noindex, otherbot: nofollow, ourbot: noai`: directives behind an agent's name are that agent's.
    fn read_tag(&mut self, value: &str, agent: &str) {
        let mut is_ours = true;
        for part in value.split(',') {
            let directive = match part.split_once(':') {
                Some((name, behind)) if is_agent(name.trim()) => {
                    let name = name.trim();
                    is_ours = name == "*" || name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(agent);
                    behind
                }
                _ => part,
            };
            if is_ours {
                state_lower(&mut self.robots, directive);
            }
        }
    }
}

fn is_agent(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'(' | b')');
    !name.is_empty()
        && name.bytes().all(is_token)
        && !WITH_VALUE.iter().any(|directive| name.eq_ignore_ascii_case(directive))
}

/// The targets of a `Link` header whose relation is `license` (RFC 8288 section 3).
fn licenses_of(value: &str) -> impl Iterator<Item = &str> {
    value.split('<').skip(1).filter_map(|link| {
        let (target, parameters) = link.split_once('>')?;
        let relation = parameters.split([';', ',']).find_map(|parameter| {
            let (name, relation) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("rel").then(|| relation.trim().trim_matches('"'))
        })?;
        relation.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case("license")).then_some(target)
    })
}

/// Whether a list of `name=value` denies a use.
fn denies(values: &[String], usage: &str) -> bool {
    values.iter().flat_map(|value| value.split(',')).any(|pair| {
        let Some((name, value)) = pair.split_once('=') else { return false };
        // A value may have parameters (RFC 9651 section 3.1.2).
        let value = value.split(';').next().unwrap_or_default().trim();
        name.trim().eq_ignore_ascii_case(usage) && (value.eq_ignore_ascii_case("n") || value.eq_ignore_ascii_case("no"))
    })
}

fn state_lower(list: &mut Vec<String>, value: &str) {
    state(list, &value.to_lowercase());
}

fn state(list: &mut Vec<String>, value: &str) {
    let value = value.trim();
    if !value.is_empty() && list.len() < MOST_STATED && !list.iter().any(|stated| stated == value) {
        list.push(value.to_owned());
    }
}

#[cfg(test)]
mod tests;
