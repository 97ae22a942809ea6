//! Collected pages become a raw directory: written aside, receipt synced, directory renamed into place.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use corpora_contracts::config::{Crawl, Engine};
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::RawVersion;
use corpora_contracts::receipt::{Receipt, SplitSettings};
use corpora_crawl::collect::{CollectError, Collected, Collection, Content};
use corpora_crawl::runs::Run;
use corpora_crawl::storage;
use corpora_local::frontier::SqliteFrontier;
use corpora_stage::holdings::Holding;
use corpora_stage::{durable, fault};

use super::queues;
use crate::error::SourceError;
use crate::source::Shop;
use crate::split::{Outcome, PageWriter};

/// What was collected.
struct Written {
    sha256: Digest,
    bytes: u64,
    outcome: Outcome,
}

/// Publishes the pages of a run that has ended. Pages that stand already, the very same, are not published again: then
/// nothing is new but that somebody has looked.
///
/// # Errors
/// [`SourceError`]; the next run collects again.
pub(super) async fn publish(
    shop: &Shop,
    crawl: &Crawl,
    settings: &SplitSettings,
    run: &mut Run,
    held: &[Holding],
) -> Result<Holding, SourceError> {
    let layout = &shop.context.layout;
    let Some(mut ending) = run.note.ended.clone() else { return Err(SourceError::Cancelled) };
    let taken: Vec<RawVersion> = held.iter().map(|holding| holding.version.clone()).collect();
    let version = RawVersion::first_free(&ending.at.date_stamp(), &taken);
    let aside = layout.raw_tmp(&crawl.id, &version);
    durable::remove_tree(&aside)?;
    durable::create_folder(&aside)?;
    let written = write(shop, crawl, settings, run, &aside).await;
    if written.is_err() {
        // A full disk gets its room back; the first error is the one to report.
        let _ = durable::remove_tree(&aside);
        durable::remove_folder_if_empty(&layout.raw(&crawl.id));
    }
    let Written { sha256, bytes, outcome } = written?;
    let newest = held.iter().rev().find(|holding| holding.receipt.split == *settings);
    if let Some(same) = newest.filter(|held| held.receipt.sha256 == sha256 && held.receipt.n_docs == outcome.n_docs) {
        durable::remove_tree(&aside)?;
        ending.raw = Some(same.version.clone());
        run.note.ended = Some(ending);
        run.save()?;
        return Ok(same.clone());
    }
    durable::sync_folder(&aside)?;
    let receipt = Receipt {
        source_id: crawl.id.clone(),
        sha256,
        bytes,
        retrieved_at: ending.at,
        n_docs: outcome.n_docs,
        dropped: BTreeMap::new(),
        split: settings.clone(),
        parts: outcome.parts,
        crawl: Some(ending.report.clone()),
    };
    // Said before it is so: a raw directory that is not there leaves the run unfinished all the same.
    ending.raw = Some(version.clone());
    run.note.ended = Some(ending);
    run.save()?;
    let path = layout.receipt(&crawl.id, &version);
    let text = receipt.to_line().map_err(io::Error::from).map_err(durable::on("write", &path))?;
    durable::write_atomic(&path, text.as_bytes(), Some(["receipt.before", "receipt.after"]))?;
    fault::point("raw.before");
    durable::rename(&aside, &layout.raw_dir(&crawl.id, &version))?;
    fault::point("raw.after");
    Ok(Holding { version, receipt })
}

async fn write(
    shop: &Shop,
    crawl: &Crawl,
    settings: &SplitSettings,
    run: &Run,
    aside: &Path,
) -> Result<Written, SourceError> {
    let frontier = SqliteFrontier::open(&run.frontier()).map_err(CollectError::from)?;
    let folder = match crawl.engine {
        Engine::Embedded => run.folder.clone(),
        Engine::Queues => queues::store(&shop.context.layout, &crawl.id)?,
    };
    let mut collection = Collection::begin(frontier, storage::local_objects(&folder)?).await?;
    let mut writer = PageWriter::new(aside, settings.part_docs)?;
    let mut bytes = 0;
    while let Some(page) = collection.next().await? {
        if shop.stop.is_cancelled() {
            return Err(SourceError::Cancelled);
        }
        let content = collection.open(&page)?;
        bytes += put(&mut writer, crawl, &page, &content)?;
    }
    let (sha256, _) = collection.digest();
    Ok(Written { sha256, bytes, outcome: writer.finish()? })
}

/// Writes one page as a raw document; how many bytes its decoded source has.
fn put(
    writer: &mut PageWriter<'_>,
    crawl: &Crawl,
    page: &Collected,
    content: &Content<'_>,
) -> Result<u64, SourceError> {
    let (document, metadata) = (&content.document, &content.document.metadata);
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let mut line = format!(
        "{{\"url\":{},\"fetched_at\":\"{}\",\"license_spdx\":{},\"text\":",
        quoted(&page.url),
        content.fetched_at,
        quoted(&crawl.license_spdx)
    )
    .into_bytes();
    let html = document.html.get();
    line.reserve(html.len() + 1024);
    line.extend_from_slice(html.as_bytes());
    let charset = metadata.charset.as_deref().unwrap_or_default();
    let mut meta = format!("{{\"charset\":{},\"depth\":{}", quoted(charset), page.depth);
    if let Some(rights) = metadata.rights {
        meta += &format!(",\"rights\":{}", rights.get());
    }
    if let Some(sha256) = metadata.body_sha256 {
        meta += &format!(",\"sha256\":\"{sha256}\"");
    }
    meta += &format!(",\"status\":{}}}", content.status_code);
    let content_type = quoted(metadata.content_type.as_deref().unwrap_or("text/html"));
    line.extend_from_slice(format!(",\"content_type\":{content_type},\"meta\":{meta}}}\n").as_bytes());
    writer.put(&line)?;
    Ok(decoded_bytes(html))
}

/// How many bytes a JSON string of ours stands for: what is escaped is one byte, since only control characters, quotes and
/// backslashes are (`serde_json`).
fn decoded_bytes(quoted: &str) -> u64 {
    let inner = quoted.as_bytes();
    let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or_default();
    let (mut rest, mut bytes) = (inner, inner.len() as u64);
    while let Some(escape) = memchr::memchr(b'\\', rest) {
        let width = if rest.get(escape + 1) == Some(&b'u') { 6 } else { 2 };
        bytes -= width - 1;
        rest = rest.get(escape + width as usize..).unwrap_or_default();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_text_and_not_of_its_escapes() {
        for text in ["", "a", "\"q\" \\ \n\t\u{1}\u{1f}", "äöü \u{2028} 🐢", "\\u0041", "ends with \\"] {
            let quoted = serde_json::to_string(text).unwrap();
            assert_eq!(decoded_bytes(&quoted), text.len() as u64, "{quoted}");
        }
    }
}
