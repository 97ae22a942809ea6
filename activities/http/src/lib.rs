//! What every HTTP client of ours shares: whom it trusts, which proxies it asks through, and how a failed request is told.
//!
//! A crate of its own, so that neither the stages nor the crawl know each other, and none but these two builds TLS.

pub mod client;
pub mod fault;
pub mod proxies;
pub mod trust;
