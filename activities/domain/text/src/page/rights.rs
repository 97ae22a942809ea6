//! What a page says of its use.

use super::Hints;
use super::links::{Base, rel};
use super::tag::{Name, Tag};
use super::tree::{Index, Tree};

/// A page that states more licences or directives than this is not read further: each is compared with all before.
const MOST_STATED: usize = 100;

/// What a page says of its use. Signals are kept as stated; who acts on them is another question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights {
    /// Directives of `<meta name="robots">` and of the one that addresses [`Hints::agent`], in lower case, each once:
    /// `noindex`, `nofollow`, `none`, `noai`, `noimageai`, `max-snippet:0`, ….
    pub robots: Vec<String>,
    /// `<meta name="tdm-reservation">` (W3C TDM Reservation Protocol, section 6.2): whether rights are reserved.
    pub tdm_reservation: Option<bool>,
    /// `<meta name="tdm-policy">`: the address of the policy.
    pub tdm_policy: Option<String>,
    /// Addresses behind `rel=license`, and of Creative Commons licences that the page links to, each once, in order.
    pub licenses: Vec<String>,
}

impl Rights {
    /// Whether a directive stands among those for robots. `none` is `noindex` and `nofollow`.
    #[must_use]
    pub fn has(&self, directive: &str) -> bool {
        let means =
            |stated: &String| stated == directive || (stated == "none" && matches!(directive, "noindex" | "nofollow"));
        self.robots.iter().any(means)
    }

    /// Whether the page says nothing of its use.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn rights(tree: &Tree, base: &Base, hints: &Hints<'_>) -> Rights {
    let mut rights = Rights::default();
    for at in 0..tree.len() {
        match tree.tag(at) {
            Tag::Meta => rights.read_meta(tree, at, base, hints),
            Tag::A | Tag::Area | Tag::Link => rights.read_link(tree, at, base),
            _ => {}
        }
    }
    rights
}

impl Rights {
    fn read_meta(&mut self, tree: &Tree, at: Index, base: &Base, hints: &Hints<'_>) {
        let Some(name) = tree.attribute(at, Name::Named) else { return };
        let Some(content) = tree.attribute(at, Name::Content) else { return };
        let name = name.trim().to_ascii_lowercase();
        let is_agent = hints.agent.is_some_and(|agent| agent.eq_ignore_ascii_case(&name));
        match name.as_str() {
            "tdm-reservation" => match content.trim() {
                "1" => self.tdm_reservation = Some(true),
                "0" => self.tdm_reservation = Some(false),
                _ => {}
            },
            "tdm-policy" => self.tdm_policy = base.resolve(content),
            "robots" => self.add_directives(content),
            _ if is_agent => self.add_directives(content),
            _ => {}
        }
    }

    fn add_directives(&mut self, content: &str) {
        for directive in content.split(',').map(|directive| directive.trim().to_lowercase()) {
            let is_new = !directive.is_empty() && !self.robots.contains(&directive);
            if is_new && self.robots.len() < MOST_STATED {
                self.robots.push(directive);
            }
        }
    }

    fn read_link(&mut self, tree: &Tree, at: Index, base: &Base) {
        let Some(url) = tree.attribute(at, Name::Href).and_then(|href| base.resolve(href)) else { return };
        let is_license = rel(tree, at).split(' ').any(|token| matches!(token, "license" | "copyright"));
        let is_stated = is_license || is_creative_commons(&url);
        if is_stated && self.licenses.len() < MOST_STATED && !self.licenses.contains(&url) {
            self.licenses.push(url);
        }
    }
}

/// The addresses that Creative Commons gives its licences and dedications.
fn is_creative_commons(url: &str) -> bool {
    let behind = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
    let path = behind.strip_prefix("www.").unwrap_or(behind).strip_prefix("creativecommons.org/").unwrap_or_default();
    ["licenses/", "publicdomain/"].iter().any(|start| path.len() > start.len() && path.starts_with(start))
}
