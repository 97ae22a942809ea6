//! The lines of a robots.txt that say something, as Google's parser tells them.

/// The part of a line that is read, in bytes; Google's parser cuts there too.
const MOST_LINE: usize = 2083 * 8 - 1;

/// A byte order mark, of which each start is skipped.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
    ContentSignal,
    ContentUsage,
    License,
}

/// One line that says something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'b> {
    pub(super) field: Field,
    /// Without white space around it and without comment.
    pub(super) value: &'b [u8],
}

/// Names at the start of a line's key; what stands behind them is passed over.
const STARTS: &[(&str, Field)] = &[
    ("user-agent", Field::UserAgent),
    ("useragent", Field::UserAgent),
    ("user agent", Field::UserAgent),
    ("allow", Field::Allow),
    ("disallow", Field::Disallow),
    ("dissallow", Field::Disallow),
    ("dissalow", Field::Disallow),
    ("disalow", Field::Disallow),
    ("diasllow", Field::Disallow),
    ("disallaw", Field::Disallow),
    ("sitemap", Field::Sitemap),
    ("site-map", Field::Sitemap),
];

/// Names that are the whole key.
const NAMES: &[(&str, Field)] = &[
    ("crawl-delay", Field::CrawlDelay),
    ("crawl delay", Field::CrawlDelay),
    ("crawldelay", Field::CrawlDelay),
    ("content-signal", Field::ContentSignal),
    ("content-signals", Field::ContentSignal),
    ("content-usage", Field::ContentUsage),
    ("license", Field::License),
];

/// The lines of a file, which end with LF, CR or both.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let marked = bytes.iter().zip(MARK).take_while(|(byte, mark)| byte == mark).count();
    bytes[marked..].split(|byte| matches!(byte, b'\n' | b'\r')).filter_map(read)
}

fn read(line: &[u8]) -> Option<Line<'_>> {
    let line = &line[..line.len().min(MOST_LINE)];
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    let (key, value) = match line.iter().position(|&byte| byte == b':') {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => apart_by_a_blank(trimmed(line))?,
    };
    Some(Line { field: field(trimmed(key))?, value: trimmed(value) })
}

/// Some people forget the colon: two words are a key and its value then.
fn apart_by_a_blank(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let blank = line.iter().position(is_blank)?;
    let (key, value) = (&line[..blank], trimmed(&line[blank..]));
    (!value.iter().any(is_blank)).then_some((key, value))
}

fn field(key: &[u8]) -> Option<Field> {
    let starts = |name: &str| key.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
    let named = |name: &str| key.eq_ignore_ascii_case(name.as_bytes());
    let start = STARTS.iter().find(|(name, _)| starts(name));
    start.or_else(|| NAMES.iter().find(|(name, _)| named(name))).map(|&(_, field)| field)
}

/// Without white space at both ends; NUL is none of the text.
fn trimmed(text: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, 0 | 0x0B);
    let Some(start) = text.iter().position(is_text) else { return &[] };
    let end = text.iter().rposition(is_text).map_or(start, |last| last + 1);
    &text[start..end]
}
