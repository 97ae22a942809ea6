//! `corpora pin`: downloads a file that is not pinned yet and tells what there is to review.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use corpora_contracts::config::{Auth, Format};
use corpora_contracts::ids::Digest;
use corpora_contracts::progress::Kind;
use corpora_stage::Context;
use corpora_web::file_name;
use serde::Serialize;

use crate::credentials;
use crate::download::Downloader;
use crate::error::SourceError;
use crate::exchange::{Tally, Target, Wire};
use crate::http::Client;
use crate::location::Location;
use crate::options::Options;
use crate::publish;

/// What a file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pin {
    /// As given.
    pub url: String,
    /// The last segment of its path, made safe.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its digest.
    pub sha256: Digest,
    /// What its name and first bytes look like.
    pub format: Format,
}

/// Downloads `url` into `scratch`, whole and verified against nothing, and looks at it; a local file is read in place.
///
/// # Errors
/// [`SourceError`], as fetch has it.
pub async fn pin(
    url: &str,
    auth: Option<&Auth>,
    scratch: &Path,
    options: &Options,
    context: &Context,
) -> Result<Pin, SourceError> {
    match Location::of(url, Path::new(""))? {
        Location::File(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let unreadable = |source| SourceError::Local { path: path.clone(), source };
            let digest = publish::digest_file(&path, &context.cancel).map_err(unreadable)?;
            let (sha256, bytes) = digest.ok_or(SourceError::Cancelled)?;
            let format = guess(&name, &first_bytes(&path).map_err(unreadable)?);
            Ok(Pin { url: url.to_owned(), name, bytes, sha256, format })
        }
        Location::Http(parsed) => {
            let name = file_name::from_url(&parsed);
            let target = Target {
                configured: url,
                credential: credentials::find(auth, &parsed)?,
                // Nothing is pinned yet; within this download the url's own digest stands for the pin.
                sha256: Digest::of(url.as_bytes()),
                part: scratch.join(format!("{name}.part")),
                url: parsed,
            };
            let downloaded = download(&target, options, context).await?;
            let path = downloaded.part.path().to_owned();
            let unreadable = |source| SourceError::Local { path: path.clone(), source };
            let format = guess(&name, &first_bytes(&path).map_err(unreadable)?);
            let bytes = downloaded.part.bytes();
            Ok(Pin { url: url.to_owned(), name, bytes, sha256: downloaded.sha256, format })
        }
    }
}

async fn download(
    target: &Target<'_>,
    options: &Options,
    context: &Context,
) -> Result<crate::download::Downloaded, SourceError> {
    let client = Client::new(options.timeout, context.cancel.clone()).map_err(Arc::new)?;
    let (progress, source) = (context.progress.clone(), target.configured.to_owned());
    let watch = move |done, total| {
        let (stage, unit) = ("pin".to_owned(), "bytes".to_owned());
        progress.emit(Kind::Step { stage, source: source.clone(), done, total, unit });
    };
    let downloader = Downloader {
        wire: Wire { client: &client, cancel: &context.cancel, watch: &watch },
        attempts: options.attempts,
        base_delay: options.base_delay,
    };
    Ok(downloader.download(target, &mut Tally::default()).await?)
}

fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(512).read_to_end(&mut start)?;
    Ok(start)
}

/// The format by the name without `.gz` or `.zst`, else by the first bytes.
fn guess(name: &str, start: &[u8]) -> Format {
    let name = name.to_ascii_lowercase();
    let unpacked = [".gz", ".zst", ".zstd"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
    match unpacked.rsplit_once('.').map(|(_, suffix)| suffix) {
        Some("jsonl" | "ndjson" | "json") => return Format::Jsonl,
        Some("txt" | "text" | "md") => return Format::Text,
        Some("parquet") => return Format::Parquet,
        Some("html" | "htm" | "xhtml") => return Format::Html,
        Some("warc") => return Format::Warc,
        Some("wet") => return Format::Wet,
        _ => {}
    }
    let text = String::from_utf8_lossy(start).trim_start().to_ascii_lowercase();
    match () {
        () if start.starts_with(b"PAR1") => Format::Parquet,
        () if start.starts_with(b"WARC/") => Format::Warc,
        () if text.starts_with("<!doctype html") || text.starts_with("<html") => Format::Html,
        () if text.starts_with('{') => Format::Jsonl,
        () => Format::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_guessed_by_name_then_by_content() {
        for (name, start, expected) in [
            ("a.jsonl", "", Format::Jsonl),
            ("a.ndjson.gz", "\u{1f}", Format::Jsonl),
            ("book.TXT.zst", "", Format::Text),
            ("crawl.warc.gz", "", Format::Warc),
            ("crawl.warc.wet.gz", "", Format::Wet),
            ("data.parquet", "", Format::Parquet),
            ("page.html", "", Format::Html),
            ("download", "PAR1\u{15}", Format::Parquet),
            ("download", "\n {\"text\":1}", Format::Jsonl),
            ("download", "<!DOCTYPE html><p>", Format::Html),
            ("download", "WARC/1.0\r\n", Format::Warc),
            ("download", "Call me Ishmael.", Format::Text),
        ] {
            assert_eq!(guess(name, start.as_bytes()), expected, "{name} {start}");
        }
    }
}
