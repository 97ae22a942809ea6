//! What a page says of itself: title, language, description, keywords, author, date, address.

use super::blocks::is_left_out;
use super::links::{Base, links, rel};
use super::rights::rights;
use super::structured::Structured;
use super::tag::{Name, Tag};
use super::tree::Tree;
use super::words::one_line;
use super::{Hints, Page};

/// More keywords than this tell nothing: each is compared with all before.
const MOST_KEYWORDS: usize = 500;

/// Reads everything of a page but its text.
pub(crate) fn read(tree: &Tree, hints: &Hints<'_>, stated: &Structured) -> Page {
    let base = Base::of(tree, hints.url);
    let metas = Metas::of(tree);
    let mut rights = rights(tree, &base, hints);
    let license = if stated.license.starts_with("http") { base.resolve(&stated.license) } else { None };
    rights.licenses.extend(license.filter(|license| !rights.licenses.contains(license)));
    Page {
        title: title(tree, &base, &metas, stated),
        language: language(tree, &metas),
        description: metas
            .first(&["description", "og:description", "twitter:description", "dc.description"])
            .unwrap_or_else(|| stated.description.clone()),
        keywords: keywords(&metas, stated),
        author: author(tree, &metas, stated),
        date: date(tree, &metas, stated),
        canonical: canonical(tree, &base, &metas),
        links: links(tree, &base),
        rights,
        ..Page::default()
    }
}

/// `<meta>` elements: names in lower case with what they state, in order.
struct Metas(Vec<(String, String)>);

impl Metas {
    fn of(tree: &Tree) -> Self {
        let meta = |at| {
            let name = [Name::Property, Name::Named, Name::HttpEquiv, Name::Itemprop]
                .iter()
                .find_map(|&name| tree.attribute(at, name))?;
            let content = one_line(tree.attribute(at, Name::Content)?);
            (!content.is_empty()).then(|| (name.trim().to_ascii_lowercase(), content))
        };
        Self((0..tree.len()).filter(|&at| tree.tag(at) == Tag::Meta).filter_map(meta).collect())
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, content)| content.as_str())
    }

    /// What the first of these names states.
    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.all(name).next()).map(str::to_owned)
    }
}

/// The title: what several places agree on, since each alone may carry the site's name or a slogan.
fn title(tree: &Tree, base: &Base, metas: &Metas, stated: &Structured) -> String {
    let text = |tag: Tag| (0..tree.len()).filter(move |&at| tree.tag(at) == tag).map(|at| spaced_text(tree, at));
    let window = text(Tag::Title).find(|title| !title.is_empty()).unwrap_or_default();
    let headings: Vec<String> = text(Tag::H1).filter(|heading| !heading.is_empty()).collect();
    let shared = metas.first(&["og:title", "twitter:title", "dc.title"]).unwrap_or_default();
    // A word or two of a long title are no title, wherever they stand again.
    let lower = window.to_lowercase();
    let is_within = |short: &str| {
        let short = short.to_lowercase();
        let leads =
            lower.strip_prefix(&short).is_some_and(|behind| behind.starts_with([' ', ':']) && !short.is_empty());
        let is_set_apart = leads && lower[short.len()..].trim_start().starts_with(['|', '-', '–', '—', '·', ':', '«']);
        is_set_apart || (lower.contains(&short) && short.chars().count() * 3 > lower.chars().count())
    };
    if let Some(heading) = headings.iter().find(|heading| is_within(heading)) {
        return heading.clone();
    }
    if is_within(&stated.headline) {
        return stated.headline.clone();
    }
    match headings.as_slice() {
        [heading] if is_title_like(heading) => return heading.clone(),
        _ => {}
    }
    let site = metas.first(&["og:site_name", "application-name"]).unwrap_or_default();
    let best = if shared.is_empty() { &window } else { &shared };
    let best = without_site(best, &site, base.host());
    match headings.as_slice() {
        [heading, ..] if best.is_empty() => heading.clone(),
        _ => best,
    }
}

/// Whether a heading that stands alone on its page can be what the page is called.
fn is_title_like(heading: &str) -> bool {
    (2..=25).contains(&heading.split_whitespace().count()) && heading.chars().count() <= 200
}

/// The text of an element on one line, words of different children apart.
fn spaced_text(tree: &Tree, at: usize) -> String {
    let mut raw = String::new();
    let mut inside = at;
    while inside < tree.end(at) {
        match tree.tag(inside) {
            Tag::Text => raw.push_str(tree.text(inside)),
            // What one can press in a heading is no part of it.
            tag if tag == Tag::Button || (tag != Tag::Title && is_left_out(tree, inside)) => {
                inside = tree.end(inside);
                continue;
            }
            tag if tag.is_block() || tag == Tag::Br => raw.push(' '),
            _ => {}
        }
        inside += 1;
    }
    one_line(&raw)
}

/// `Tides | The Harbour Times` without what stands behind the bar, when that is the site's name: by the page's own word,
/// or by its host.
fn without_site(title: &str, site: &str, host: &str) -> String {
    let squashed =
        |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase();
    let host = squashed(host.strip_prefix("www.").unwrap_or(host));
    for separator in [" | ", " - ", " – ", " — ", " :: ", " · ", " • ", " « "] {
        let Some((page, name)) = title.rsplit_once(separator) else { continue };
        let name = squashed(name);
        let is_site = !name.is_empty() && (name == squashed(site) || (name.len() > 2 && host.contains(&name)));
        if is_site && !page.trim().is_empty() {
            return page.trim().to_owned();
        }
    }
    match title.rsplit_once(" | ") {
        Some((page, _)) if !page.trim().is_empty() => page.trim().to_owned(),
        _ => title.to_owned(),
    }
}

fn language(tree: &Tree, metas: &Metas) -> String {
    let of = |wanted: Tag| {
        let lang = |at| tree.attribute(at, Name::Lang).or_else(|| tree.attribute(at, Name::XmlLang));
        (0..tree.len()).filter(|&at| tree.tag(at) == wanted).find_map(lang).map(str::trim)
    };
    let stated = of(Tag::Html).filter(|lang| !lang.is_empty()).or_else(|| of(Tag::Body)).unwrap_or_default().to_owned();
    let stated = if stated.is_empty() {
        let meta = metas.first(&["content-language", "language", "dc.language", "og:locale"]).unwrap_or_default();
        meta.split(',').next().unwrap_or_default().trim().to_owned()
    } else {
        stated
    };
    let is_tag =
        stated.len() <= 35 && stated.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_tag { stated.replace('_', "-") } else { String::new() }
}

fn keywords(metas: &Metas, stated: &Structured) -> Vec<String> {
    let lists = ["keywords", "news_keywords", "parsely-tags"].iter().flat_map(|name| metas.all(name));
    let listed = lists.flat_map(|list| list.split([',', ';', '，'])).map(one_line);
    let tags = ["article:tag", "og:video:tag", "book:tag"].iter().flat_map(|name| metas.all(name)).map(one_line);
    let mut found = Vec::new();
    for word in listed.chain(tags).chain(stated.keywords.iter().cloned()) {
        if found.len() == MOST_KEYWORDS {
            break;
        }
        if !word.is_empty() && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

fn author(tree: &Tree, metas: &Metas, stated: &Structured) -> String {
    let is_name = |name: &str| !name.is_empty() && !name.contains("://") && name.chars().count() <= 200;
    let names =
        ["author", "article:author", "dc.creator", "dc.creator.name", "parsely-author", "sailthru.author", "byl"];
    let named = names.iter().flat_map(|name| metas.all(name)).find(|name| is_name(name)).map(str::to_owned);
    let linked = || {
        let is_author = |&at: &usize| {
            matches!(tree.tag(at), Tag::A | Tag::Link) && rel(tree, at).split(' ').any(|token| token == "author")
        };
        (0..tree.len()).filter(is_author).map(|at| spaced_text(tree, at)).find(|name| is_name(name))
    };
    let name = if stated.author.is_empty() { named.or_else(linked).unwrap_or_default() } else { stated.author.clone() };
    name.strip_prefix("By ").or_else(|| name.strip_prefix("by ")).unwrap_or(&name).to_owned()
}

fn date(tree: &Tree, metas: &Metas, stated: &Structured) -> String {
    let names = [
        "article:published_time",
        "datepublished",
        "og:published_time",
        "article:published",
        "date",
        "dc.date",
        "dc.date.issued",
        "dcterms.date",
        "dcterms.issued",
        "pubdate",
        "publishdate",
        "publish-date",
        "publication_date",
        "parsely-pub-date",
        "sailthru.date",
        "cxenseparse:recs:publishtime",
        "citation_publication_date",
    ];
    let named = names.iter().flat_map(|name| metas.all(name)).find_map(iso);
    let times = || {
        let is_time = |&at: &usize| tree.tag(at) == Tag::Time;
        (0..tree.len()).filter(is_time).filter_map(|at| tree.attribute(at, Name::Datetime)).find_map(iso)
    };
    iso(&stated.date).or(named).or_else(times).unwrap_or_default()
}

/// The value if it is a date of ISO 8601 in its extended form, with or without a time; `2026/01/31` is taken for one.
fn iso(stated: &str) -> Option<String> {
    let stated = stated.trim();
    let bytes = stated.as_bytes();
    let is_digits =
        |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let separators = (bytes.get(4)?, bytes.get(7)?);
    let is_date = is_digits(0, 4) && is_digits(5, 7) && is_digits(8, 10);
    let is_apart = matches!(separators, (b'-', b'-') | (b'/', b'/'));
    let ends = bytes.get(10).is_none_or(|byte| matches!(byte, b'T' | b't' | b' '));
    let year_sane = matches!(bytes.first(), Some(b'1' | b'2'));
    (is_date && is_apart && ends && year_sane && stated.len() <= 40).then(|| {
        let day = stated[..10].replace('/', "-");
        let time = stated[10..].replacen([' ', 't'], "T", 1);
        day + &time.replace(' ', "")
    })
}

fn canonical(tree: &Tree, base: &Base, metas: &Metas) -> String {
    let is_canonical =
        |&at: &usize| tree.tag(at) == Tag::Link && rel(tree, at).split(' ').any(|token| token == "canonical");
    let linked = (0..tree.len())
        .filter(is_canonical)
        .find_map(|at| tree.attribute(at, Name::Href).and_then(|href| base.resolve(href)));
    linked.or_else(|| metas.first(&["og:url"]).and_then(|url| base.resolve(&url))).unwrap_or_default()
}
