//! Why a record of a web archive is no document: counted by these names in the receipt.

/// Why a record is no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// It is a record of this type, which holds no page.
    Kind(&'static str),
    /// It has no address (`WARC-Target-URI`).
    NoUrl,
    /// It is no answer of HTTP.
    NotHttp,
    /// The status is not 200.
    Status,
    /// It is no HTML page.
    NotHtml,
    /// It is no plain text.
    NotText,
    /// The page is larger than `page_bytes`.
    PageBytes,
    /// Its content coding is unknown, or the body is not coded so.
    ContentEncoding,
}

impl LeftOut {
    /// A record of this `WARC-Type`, in lower case.
    pub(super) fn kind(kind: &str) -> Self {
        const KINDS: [&str; 8] =
            ["warcinfo", "request", "response", "resource", "metadata", "revisit", "conversion", "continuation"];
        Self::Kind(KINDS.into_iter().find(|known| *known == kind).unwrap_or("other_type"))
    }

    /// The name under which it is counted.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind,
            Self::NoUrl => "no_url",
            Self::NotHttp => "not_http",
            Self::Status => "status",
            Self::NotHtml => "not_html",
            Self::NotText => "not_text",
            Self::PageBytes => "page_bytes",
            Self::ContentEncoding => "content_encoding",
        }
    }
}
