//! Every key of the corpus config: its rule, whether it is required, its default. The only place where they stand.

use super::rules::Rule;
use super::source::{Format, OnBadDocument, PiiPolicy, Use};
use super::{Engine, Extract, Favor, MetadataKind, Redirects, Seconds, ShardFormat, TextFormat};

/// The largest count: every JSON reader holds it exactly (RFC 8259 section 6).
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// The keys of one table.
#[derive(Debug)]
pub struct Keys {
    /// What the table is called in messages.
    pub table: &'static str,
    /// Its keys, in the order documented.
    pub keys: &'static [Key],
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// As written.
    pub name: &'static str,
    /// What happens without it.
    pub need: Need,
    /// What its value must be.
    pub kind: Kind,
}

/// What happens when a key is not written.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// A problem.
    Required,
    /// Nothing.
    Optional,
    /// This value stands for it.
    Default(Literal),
}

/// A default.
#[derive(Debug, Clone, Copy)]
pub enum Literal {
    /// `true` or `false`.
    Flag(bool),
    /// A count.
    Count(u64),
    /// Seconds.
    Seconds(f64),
    /// A string.
    Text(&'static str),
    /// A list of strings.
    Texts(&'static [&'static str]),
    /// An empty list of tables.
    NoTables,
    /// A table of nothing but defaults.
    Table,
}

/// What a value must be.
#[derive(Debug)]
pub enum Kind {
    /// A string under a rule.
    Text(Rule),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number within these bounds.
    Count {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A finite number of seconds, at most [`Seconds::MAX`].
    Seconds {
        /// Whether zero is one.
        zero: bool,
    },
    /// A list without repetition.
    List {
        /// What each element must be.
        of: &'static Kind,
        /// The fewest elements.
        min: usize,
    },
    /// A table.
    Table(&'static Keys),
    /// A list of tables.
    Tables(&'static Keys),
    /// `[licenses]`: SPDX id to uses, or `file`.
    Policy,
}

impl Key {
    const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, need: Need::Required, kind }
    }

    const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { name, need: Need::Optional, kind }
    }

    const fn with(name: &'static str, kind: Kind, default: Literal) -> Self {
        Self { name, need: Need::Default(default), kind }
    }
}

/// The top level.
pub static CORPUS: Keys = Keys {
    table: "the corpus config",
    keys: &[
        Key::required("dataset", Kind::Text(Rule::Name)),
        Key::required("version", Kind::Text(Rule::Version)),
        Key::with("keep_downloads", Kind::Flag, Literal::Flag(false)),
        Key::optional("base", Kind::Text(Rule::Base)),
        Key::with("sources", Kind::Tables(&SOURCE), Literal::NoTables),
        Key::with("crawls", Kind::Tables(&CRAWL), Literal::NoTables),
        Key::with("extract", Kind::Table(&EXTRACT), Literal::Table),
        Key::with("store", Kind::Table(&STORE), Literal::Table),
        Key::optional("licenses", Kind::Policy),
    ],
};

/// `[[sources]]`.
pub static SOURCE: Keys = Keys {
    table: "`[[sources]]`",
    keys: &[
        Key::required("id", Kind::Text(Rule::Name)),
        Key::required("url", Kind::Text(Rule::Location)),
        Key::required("sha256", Kind::Text(Rule::Digest)),
        Key::required("license_spdx", Kind::Text(Rule::License)),
        Key::optional("license_url", Kind::Text(Rule::WebUrl)),
        Key::with("allowed_uses", USES, Literal::Texts(Use::WORDS)),
        Key::with("format", Kind::Choice(Format::WORDS), word(Format::WORDS, 0)),
        Key::with("pii_policy", Kind::Choice(PiiPolicy::WORDS), word(PiiPolicy::WORDS, 0)),
        Key::with("mirrors", Kind::List { of: &Kind::Text(Rule::Location), min: 0 }, Literal::Texts(&[])),
        Key::optional("auth", Kind::Table(&AUTH)),
        Key::with("text_field", Kind::Text(Rule::Field), Literal::Text("text")),
        Key::with("meta_fields", Kind::List { of: &Kind::Text(Rule::Field), min: 0 }, Literal::Texts(&[])),
        Key::with("on_bad_document", Kind::Choice(OnBadDocument::WORDS), word(OnBadDocument::WORDS, 0)),
        Key::with("max_line_bytes", COUNT, Literal::Count(64 << 20)),
        Key::with("page_bytes", COUNT, Literal::Count(10 << 20)),
    ],
};

/// `auth` of a source.
pub static AUTH: Keys =
    Keys { table: "`auth`", keys: &[Key::required("bearer_env", Kind::Text(Rule::EnvironmentVariable))] };

/// `[[crawls]]`.
pub static CRAWL: Keys = Keys {
    table: "`[[crawls]]`",
    keys: &[
        Key::required("id", Kind::Text(Rule::Name)),
        Key::required("seed_urls", Kind::List { of: &Kind::Text(Rule::WebUrl), min: 1 }),
        Key::required("allowed_domains", Kind::List { of: &Kind::Text(Rule::Domain), min: 1 }),
        Key::required("max_depth", Kind::Count { min: 0, max: u32::MAX as u64 }),
        Key::required("user_agent", Kind::Text(Rule::UserAgent)),
        Key::required("license_spdx", Kind::Text(Rule::License)),
        Key::with("allowed_uses", USES, Literal::Texts(Use::WORDS)),
        Key::with("pii_policy", Kind::Choice(PiiPolicy::WORDS), word(PiiPolicy::WORDS, 0)),
        Key::with("max_pages", COUNT, Literal::Count(10_000)),
        Key::optional("max_pages_per_host", COUNT),
        Key::optional("max_pages_per_pattern", COUNT),
        Key::with("max_bytes", COUNT, Literal::Count(10 << 30)),
        Key::with("max_duration", Kind::Seconds { zero: false }, Literal::Seconds(86_400.0)),
        Key::with("page_timeout", Kind::Seconds { zero: false }, Literal::Seconds(30.0)),
        Key::with("page_bytes", COUNT, Literal::Count(10 << 20)),
        Key::with("delay", Kind::Seconds { zero: true }, Literal::Seconds(1.0)),
        Key::with("concurrency", Kind::Count { min: 1, max: u32::MAX as u64 }, Literal::Count(8)),
        Key::with("per_host", Kind::Count { min: 1, max: u32::MAX as u64 }, Literal::Count(1)),
        Key::with("include", PATTERNS, Literal::Texts(&[])),
        Key::with("exclude", PATTERNS, Literal::Texts(&[])),
        Key::with(
            "content_types",
            Kind::List { of: &Kind::Text(Rule::MediaType), min: 1 },
            Literal::Texts(&["text/html", "application/xhtml+xml"]),
        ),
        Key::with("sitemaps", Kind::Flag, Literal::Flag(false)),
        Key::with("redirects", Kind::Choice(Redirects::WORDS), word(Redirects::WORDS, 0)),
        Key::with("respect_rights", Kind::Flag, Literal::Flag(true)),
        Key::with("allow_private_networks", Kind::Flag, Literal::Flag(false)),
        Key::with("engine", Kind::Choice(Engine::WORDS), word(Engine::WORDS, 0)),
    ],
};

/// `[extract]`.
pub static EXTRACT: Keys = Keys {
    table: "`[extract]`",
    keys: &[
        Key::with("format", Kind::Choice(TextFormat::WORDS), word(TextFormat::WORDS, 0)),
        Key::with("favor", Kind::Choice(Favor::WORDS), word(Favor::WORDS, 2)),
        Key::with("page_bytes", COUNT, Literal::Count(Extract::DEFAULT.page_bytes)),
        Key::with("max_depth", U32, Literal::Count(Extract::DEFAULT.max_depth as u64)),
        Key::with("max_nodes", U32, Literal::Count(Extract::DEFAULT.max_nodes as u64)),
        Key::with("attribute_bytes", U32, Literal::Count(Extract::DEFAULT.attribute_bytes as u64)),
        Key::with(
            "time_budget",
            Kind::Seconds { zero: false },
            Literal::Seconds(Extract::DEFAULT.time_budget.as_f64()),
        ),
    ],
};

/// `[store]`.
pub static STORE: Keys = Keys {
    table: "`[store]`",
    keys: &[
        Key::with("shard_rows", COUNT, Literal::Count(100_000)),
        Key::with("val_permille", Kind::Count { min: 0, max: 1000 }, Literal::Count(5)),
        Key::with(
            "formats",
            Kind::List { of: &Kind::Choice(ShardFormat::WORDS), min: 1 },
            Literal::Texts(ShardFormat::WORDS),
        ),
        Key::with("target", Kind::Text(Rule::Target), Literal::Text("artifacts")),
        Key::with("metadata", Kind::Choice(MetadataKind::WORDS), word(MetadataKind::WORDS, 0)),
    ],
};

/// The uses that one entry of `[licenses]` permits; none of them is a way to forbid a licence.
pub static POLICY_USES: Kind = Kind::List { of: &Kind::Choice(Use::WORDS), min: 0 };

const USES: Kind = Kind::List { of: &Kind::Choice(Use::WORDS), min: 1 };
/// A count that every machine holds in memory.
const U32: Kind = Kind::Count { min: 1, max: u32::MAX as u64 };
const COUNT: Kind = Kind::Count { min: 1, max: MAX_COUNT };
const PATTERNS: Kind = Kind::List { of: &Kind::Text(Rule::Pattern), min: 0 };

/// The default that is the word at this place; a place that is not there does not compile.
const fn word(words: &'static [&'static str], index: usize) -> Literal {
    Literal::Text(words[index])
}

impl Kind {
    /// What is allowed, as the end of a sentence that starts with "expected".
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::Text(rule) => rule.expected().to_owned(),
            Self::Choice(words) => super::problem::one_of(words),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Count { min, max } if *max == MAX_COUNT => format!("a whole number of at least {min}"),
            Self::Count { min, max } => format!("a whole number from {min} to {max}"),
            Self::Seconds { zero: true } => format!("a number of seconds from 0 to {}", Seconds::MAX),
            Self::Seconds { zero: false } => format!("a number of seconds above 0, at most {}", Seconds::MAX),
            Self::List { of, min: 0 } => format!("a list, each element {}", of.expected()),
            Self::List { of, .. } => format!("a list with at least one element, each {}", of.expected()),
            Self::Table(keys) => format!("a table, {}", keys.table),
            Self::Tables(keys) => format!("a list of tables, {}", keys.table),
            Self::Policy => "a table from SPDX ids to lists of uses, or with `file`".to_owned(),
        }
    }
}
