//! Pure HTTP decisions: what to do with a ranged answer, Retry-After, redirects, safe names.
//!
//! Nothing here touches a file, a socket, a clock or the environment (`clippy.toml` of the folder above refuses it):
//! the caller sends requests, writes bytes and waits; this crate says which, where and how long.

pub mod content_range;
pub mod file_name;
pub mod range;
pub mod redact;
pub mod redirect;
pub mod retry_after;
pub mod validator;
