//! Pure decisions about the web: addresses of pages, robots.txt, rights signals, what to do with a ranged answer,
//! Retry-After, redirects, safe names.
//!
//! Nothing here touches a file, a socket, a clock or the environment (`clippy.toml` of the folder above refuses it):
//! the caller sends requests, writes bytes and waits; this crate says which, where and how long.

pub mod address;
pub mod content_range;
pub mod file_name;
pub mod frontier;
pub mod host;
pub mod range;
pub mod redact;
pub mod redirect;
pub mod retry_after;
pub mod rights;
pub mod robots;
pub mod scan;
pub mod scope;
pub mod sitemap;
pub mod url;
pub mod validator;
