//! Where a source's bytes are: a URL to ask, or a local file to read in place.

use std::path::{Path, PathBuf};

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
#[error("`{}` is neither an http(s) or file url nor a path", corpora_web::redact::redact(url))]
pub struct InvalidLocation {
    /// As configured.
    pub url: String,
}

impl Location {
    /// The place that a configured url names; a relative path starts at `base`, the config's folder.
    ///
    /// # Errors
    /// When the url names no such place.
    pub fn of(url: &str, base: &Path) -> Result<Self, InvalidLocation> {
        let invalid = || InvalidLocation { url: url.to_owned() };
        match Url::parse(url) {
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(Self::Http(parsed)),
            Ok(parsed) if parsed.scheme() == "file" => parsed.to_file_path().map(Self::File).map_err(|()| invalid()),
            Ok(_) => Err(invalid()),
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
        assert!(Location::of("ftp://user:secret@host/a", base).unwrap_err().to_string().contains("***"));
    }
}
