//! The corpus config: a document with lines, its validation, and the config that is complete and valid.
//!
//! People write it as TOML, orchestrators as JSON (`spec.json`: the same keys plus `base`). The way is
//! [`parse_toml`] or [`parse_json`] → [`Document`] → [`validate`] → [`Reading`]: nothing stops at the first problem,
//! and a [`Config`] has no defaults left to apply. The keys, their rules and their defaults stand once, in [`keys`];
//! [`SCHEMA`] says the same for editors, and a test holds the two together.

mod build;
mod canonical;
mod check;
mod crawl;
mod document;
mod json;
pub mod keys;
mod locations;
mod number;
mod policy;
mod problem;
mod redact;
mod rules;
mod source;
mod stages;
mod tree_toml;
mod unbuilt;
mod validate;
mod warnings;
mod words;

use serde::Serialize;

pub use self::canonical::digest_of;
pub use self::crawl::{Crawl, Engine, Redirects};
pub use self::document::{Document, Entry, Malformed, Node, Syntax, Table, Value, decode};
pub use self::json::parse_json;
pub use self::number::Seconds;
pub use self::policy::{LicensePolicy, PolicyEntry, PolicyFile, PolicyReading, validate_policy};
pub use self::problem::Problem;
pub use self::redact::redact;
pub use self::source::{Auth, Format, OnBadDocument, PiiPolicy, Source, Split, Use};
pub use self::stages::{Extract, Favor, MetadataKind, ShardFormat, Store, TextFormat};
pub use self::tree_toml::parse_toml;
pub use self::unbuilt::unbuilt;
pub use self::validate::{LicenseClaim, Reading, validate};
use crate::ids::Name;

/// The JSON Schema (2020-12) of the corpus config, for editors and other programs.
pub const SCHEMA: &str = include_str!("../schemas/corpus-config.schema.json");

/// A reviewed list of sources and what to make of them, complete and valid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    /// The dataset's name.
    pub dataset: Name,
    /// The dataset's version.
    pub version: Name,
    /// Whether a complete download stays after its raw directory is published.
    pub keep_downloads: bool,
    /// Pinned files, in the order written.
    pub sources: Vec<Source>,
    /// Polite crawls of named domains, in the order written.
    pub crawls: Vec<Crawl>,
    /// How pages become text.
    pub extract: Extract,
    /// How documents become a dataset.
    pub store: Store,
    /// What the corpus's owner permits beyond the default licence policy.
    pub licenses: LicensePolicy,
    /// What the crawls gave, as sources pinned to it, for the stages that work on that; empty until it was looked up, and
    /// no part of the document.
    #[serde(skip)]
    pub crawled: Vec<Source>,
}

impl Config {
    /// The ids of every source, then of every crawl, each in the order written.
    pub fn ids(&self) -> impl Iterator<Item = &Name> {
        self.sources.iter().map(|source| &source.id).chain(self.crawls.iter().map(|crawl| &crawl.id))
    }

    /// Every source, then every crawl as far as it was looked up, each in the order written.
    pub fn pinned(&self) -> impl DoubleEndedIterator<Item = &Source> {
        self.sources.iter().chain(&self.crawled)
    }
}
