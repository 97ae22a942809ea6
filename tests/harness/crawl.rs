//! Configs with one crawl.

use serde_json::{Map, Value, json};

use super::config::ConfigToml;

/// The product token of the crawls under test.
pub const AGENT: &str = "corpora-test/0.1 (+https://example.org/bot)";

/// A config with the crawl `site` from these seeds: loopback allowed, no delay, and these keys in place of others.
#[must_use]
pub fn crawl_config(seeds: &[String], keys: &Value) -> ConfigToml {
    let mut crawl = Map::from_iter([
        ("id".to_owned(), json!("site")),
        ("seed_urls".to_owned(), json!(seeds)),
        ("allowed_domains".to_owned(), json!(["127.0.0.1", "127.0.0.2", "127.0.0.3"])),
        ("max_depth".to_owned(), json!(50)),
        ("user_agent".to_owned(), json!(AGENT)),
        ("license_spdx".to_owned(), json!("CC-BY-4.0")),
        ("delay".to_owned(), json!(0)),
        ("allow_private_networks".to_owned(), json!(true)),
    ]);
    crawl.extend(keys.as_object().cloned().unwrap_or_default());
    ConfigToml::new([]).with("crawls", json!([crawl]))
}
