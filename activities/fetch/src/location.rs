//! Where a source's bytes are: a URL to ask, or a local file to read in place.

use std::path::{Path, PathBuf};

use corpora_contracts::config::redact;
use url::Url;

/// A place of a source's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Over HTTP or HTTPS.
    Http(Url),
    /// A local file, read in place and never altered.
    File(PathBuf),
}

/// Why a location cannot be used; the config check refuses such urls first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLocation {
    /// It names no place that can be read.
    #[error("read `{}`, which is neither an http(s) or file url nor a path", redact(url))]
    NotAPlace {
        /// As configured.
        url: String,
    },
    /// It holds a user or a password, which would end up in logs and ledgers.
    #[error("read `{}`, which holds a user or password; use netrc or `bearer_env` instead", redact(url))]
    Userinfo {
        /// As configured.
        url: String,
    },
}

impl Location {
    /// The place that a configured url names; a relative path starts at `base`, the config's folder.
    ///
    /// # Errors
    /// When the url names no such place.
    pub fn of(url: &str, base: &Path) -> Result<Self, InvalidLocation> {
        let invalid = || InvalidLocation::NotAPlace { url: url.to_owned() };
        match Url::parse(url) {
            Ok(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
                Err(InvalidLocation::Userinfo { url: url.to_owned() })
            }
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(Self::Http(parsed)),
            Ok(parsed) if parsed.scheme() == "file" => parsed.to_file_path().map(Self::File).map_err(|()| invalid()),
            Ok(_) => Err(invalid()),
            // What looks like a URL and is none is no path either: it may hold a password, and no file is named so.
            Err(_) if url.contains("://") || url.starts_with("//") => Err(invalid()),
            Err(_) => Ok(Self::File(base.join(url))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths_are_told_apart() {
        let base = Path::new("/configs");
        let file = |path: &str| Location::File(PathBuf::from(path));
        assert_eq!(Location::of("data/a b.jsonl", base).unwrap(), file("/configs/data/a b.jsonl"));
        assert_eq!(Location::of("/data/a.jsonl", base).unwrap(), file("/data/a.jsonl"));
        assert_eq!(Location::of("file:///data/a%20b.jsonl", base).unwrap(), file("/data/a b.jsonl"));
        assert!(matches!(Location::of("https://host/a", base).unwrap(), Location::Http(_)));
        for url in [
            "ftp://user:secret@host/a",
            "https://user:secret@host:99999/a",
            "https://user:secret@ho st/a",
            "http://user:secret@[::1/a",
            "file://user:secret@host/a",
            "//user:secret@host/a",
        ] {
            let message = Location::of(url, base).unwrap_err().to_string();
            assert!(message.contains("***") && !message.contains("secret"), "{message}");
        }
    }
}
