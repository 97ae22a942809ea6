//! What is read of a page: its source, its links, its signals.

use corpora_contracts::ids::Digest;
use corpora_contracts::message::{Document, Metadata};
use corpora_text::page::{Hints, Limits, Options, decode, extract_str};
use corpora_web::rights::Signals;
use corpora_web::scan::{Syntax, scan};
use corpora_web::url::NormalUrl;
use serde_json::Value;

use super::Settings;

/// The type of pages.
pub(super) const HTML: &str = "text/html";

/// The type of pages that are XML.
const XHTML: &str = "application/xhtml+xml";

/// A body and what is known of it.
pub(super) struct Reading<'r> {
    pub(super) url: &'r NormalUrl,
    pub(super) media: &'r str,
    /// The header as sent.
    pub(super) content_type: Option<&'r str>,
    pub(super) settings: &'r Settings,
    pub(super) agent: &'r str,
}

impl Reading<'_> {
    /// The document of a body, and its links. `signals` are those of the headers.
    pub(super) fn read(&self, body: &[u8], mut signals: Signals) -> (Document, Vec<String>) {
        let decoded = decode(body, self.content_type, body.len());
        let links = links_of(&decoded.text, self.media, self.url, self.agent, &mut signals);
        let metadata = Metadata {
            content_type: Some(self.media.to_owned()),
            body_sha256: Some(Digest::of(body)),
            charset: Some(decoded.charset.to_owned()),
            ..Metadata::default()
        };
        let mut document = Document { html: decoded.text.into_owned(), metadata, ..Document::default() };
        state(&mut document, &signals);
        if self.settings.reads_pages && syntax(self.media).is_some() {
            self.read_text(&mut document);
        }
        (document, links)
    }

    fn read_text(&self, document: &mut Document) {
        let hints = Hints { url: Some(self.url.as_str()), content_type: self.content_type, agent: Some(self.agent) };
        let limits = Limits { page_bytes: self.settings.page_bytes, ..Limits::default() };
        let page = extract_str(&document.html, &hints, &Options { limits, ..Options::default() });
        (document.title, document.language, document.text) = (page.title, page.language, page.text);
        (document.metadata.description, document.metadata.keywords) = (page.description, page.keywords);
    }
}

/// The links of a source; what it says of its use is added to the signals.
pub(super) fn links_of(source: &str, media: &str, url: &NormalUrl, agent: &str, signals: &mut Signals) -> Vec<String> {
    let Some(syntax) = syntax(media) else { return Vec::new() };
    scan(source, syntax, url.as_url(), agent, signals).links.iter().map(|link| link.as_str().to_owned()).collect()
}

/// The signals that a document carries.
pub(super) fn signals_of(document: &Document) -> Signals {
    let rights = document.metadata.rights.clone();
    rights.and_then(|rights| serde_json::from_value(Value::Object(rights)).ok()).unwrap_or_default()
}

/// Makes a document carry signals.
pub(super) fn state(document: &mut Document, signals: &Signals) {
    document.metadata.rights = match serde_json::to_value(signals) {
        Ok(Value::Object(rights)) if !rights.is_empty() => Some(rights),
        _ => None,
    };
}

/// The media type of a `Content-Type` header, in lower case and without parameters (RFC 9110 section 8.3.1).
pub(super) fn media_type(header: &str) -> String {
    header.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// How a source of this type is read for links; none has links that is no page.
fn syntax(media: &str) -> Option<Syntax> {
    match media {
        HTML => Some(Syntax::Html),
        XHTML => Some(Syntax::Xhtml),
        _ => None,
    }
}
