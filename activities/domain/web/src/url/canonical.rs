//! What a page is known by.

use std::borrow::Cow;

use url::{Position, Url};

/// Parameters that tell who came from where, or which visit it is, and never what the page says. In lower case; a `*` at
/// the end stands for any end.
const DROPPED: &[&str] = &[
    // Campaigns: Google Analytics and its followers, Matomo, Mailchimp, HubSpot, Marketo, Olytics, Vero.
    "utm_*",
    "_ga",
    "_gl",
    "mtm_*",
    "pk_campaign",
    "pk_kwd",
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    // Click identifiers: Google, Facebook, Microsoft, Yandex, X, TikTok, LinkedIn, Instagram.
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "li_fat_id",
    "igshid",
    // Sessions: PHP, Java, ASP, ColdFusion.
    "phpsessid",
    "jsessionid",
    "aspsessionid*",
    "cfid",
    "cftoken",
];

/// The parameter of a path's segment in which Java servers carry a session, in lower case.
const SESSION_IN_PATH: &str = ";jsessionid=";

/// Whether a parameter of a query is dropped from canonical URLs: `utm_*`, `gclid`, `fbclid`, `PHPSESSID` and others that
/// name a campaign, a click or a session, in any case.
#[must_use]
pub fn is_dropped_parameter(name: &str) -> bool {
    let starts = |start: &str| name.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
    // Most names are short and none of these: their first letter tells.
    let first = name.bytes().next().unwrap_or_default().to_ascii_lowercase();
    DROPPED.iter().filter(|dropped| dropped.as_bytes()[0] == first).any(|dropped| match dropped.strip_suffix('*') {
        Some(start) => starts(start),
        None => dropped.len() == name.len() && starts(dropped),
    })
}

/// The canonical form of a normal URL.
pub(super) fn of(url: &Url) -> String {
    let path = without_session(url.path());
    if let Cow::Owned(path) = path {
        // A segment that was hidden behind its session may be `..`.
        let mut cleaned = url.clone();
        cleaned.set_path(&path);
        return with_sorted_query(&cleaned);
    }
    with_sorted_query(url)
}

fn with_sorted_query(url: &Url) -> String {
    let Some(query) = url.query() else { return url.as_str().to_owned() };
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| is_kept(pair)).collect();
    pairs.sort_unstable_by_key(|pair| (pair.split_once('=').unwrap_or((pair, "")), pair.len()));
    let mut canonical = String::with_capacity(url.as_str().len());
    canonical.push_str(&url[..Position::AfterPath]);
    for (index, pair) in pairs.iter().enumerate() {
        canonical.push(if index == 0 { '?' } else { '&' });
        canonical.push_str(pair);
    }
    canonical
}

fn is_kept(pair: &str) -> bool {
    let name = pair.split_once('=').map_or(pair, |(name, _)| name);
    !pair.is_empty() && !is_dropped_parameter(name)
}

/// The path without the sessions that its segments carry: each ends before the next `;` or `/`.
fn without_session(path: &str) -> Cow<'_, str> {
    let Some(mut at) = find_session(path) else { return Cow::Borrowed(path) };
    let mut kept = String::with_capacity(path.len());
    let mut rest = path;
    loop {
        kept.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        rest = behind.find([';', '/']).map_or("", |end| &behind[end..]);
        match find_session(rest) {
            Some(next) => at = next,
            None => break,
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

fn find_session(path: &str) -> Option<usize> {
    let is_it = |at: &usize| {
        path.get(*at..*at + SESSION_IN_PATH.len()).is_some_and(|found| found.eq_ignore_ascii_case(SESSION_IN_PATH))
    };
    path.match_indices(';').map(|(at, _)| at).find(is_it)
}
