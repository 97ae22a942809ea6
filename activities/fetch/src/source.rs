//! One source from config to raw directory: nothing to do, or bytes had, verified and published.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use corpora_contracts::config::{Auth, Config, Format, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::ledger::Ledger;
use corpora_contracts::progress::Kind;
use corpora_contracts::receipt::SplitSettings;
use corpora_contracts::summary::Status;
use corpora_http::client::ClientError;
use corpora_stage::durable;
use corpora_stage::fault;
use corpora_stage::holdings::{self, Holding};
use corpora_stage::lock::Lock;
use corpora_stage::{Context, Progress};
use corpora_web::{file_name, redirect};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::credentials;
use crate::download::{Downloaded, Downloader};
use crate::error::SourceError;
use crate::exchange::{Tally, Target, Wire};
use crate::http::Client;
use crate::location::Location;
use crate::options::Options;
use crate::part;
use crate::plan::{self, Action};
use crate::publish::{self, Publication, REPORT_EVERY};
use crate::tidy;

/// What the sources of one run share.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) context: Context,
    pub(crate) options: Options,
    pub(crate) base: PathBuf,
    pub(crate) config: Config,
    pub(crate) ledger: Ledger,
    /// Made when the first request is due: a run that asks nothing needs no proxies and trusts nobody.
    pub(crate) client: OnceLock<Result<Client, Arc<ClientError>>>,
    /// Stops every source: the run's cancel, or another source's failure.
    pub(crate) stop: CancellationToken,
    /// Bounds the splits at a time, each of which uses several cores.
    pub(crate) splits: Semaphore,
}

impl Shop {
    fn client(&self) -> Result<&Client, SourceError> {
        let client = || Client::new(self.options.timeout, self.stop.clone()).map_err(Arc::new);
        self.client.get_or_init(client).as_ref().map_err(|error| Arc::clone(error).into())
    }
}

/// One source's way through a run.
#[derive(Debug)]
pub(crate) struct Visit<'a> {
    shop: &'a Shop,
    source: Arc<Source>,
    settings: SplitSettings,
    /// Held while the source downloads, given back before it is split.
    pub(crate) slot: Option<OwnedSemaphorePermit>,
    taken: Vec<Holding>,
    pub(crate) tally: Tally,
}

impl<'a> Visit<'a> {
    pub(crate) fn new(shop: &'a Shop, source: Arc<Source>, slot: Option<OwnedSemaphorePermit>) -> Self {
        let settings = SplitSettings { documents: source.split.clone(), part_docs: shop.options.part_docs };
        Self { shop, source, settings, slot, taken: Vec::new(), tally: Tally::default() }
    }

    /// Does what is to be done about the source and tells what became of it.
    pub(crate) async fn run(&mut self) -> Result<(Status, Option<Holding>), SourceError> {
        let held = holdings::read(&self.shop.context.layout, &self.source.id)?;
        let leftover = !self.shop.config.keep_downloads && self.shop.context.layout.downloads(&self.source.id).exists();
        match self.settled(&held) {
            // A crash behind the publication left its download, which is removed under the lock.
            Some((Status::Cached | Status::Fetched, _)) if leftover => {}
            Some(nothing_to_do) => return Ok(nothing_to_do),
            None => {}
        }
        let lock = self.shop.context.layout.source_lock(&self.source.id);
        let _lock = Lock::acquire(&lock, self.shop.options.lock_timeout, &self.shop.stop).await?;
        // Another run may have fetched it while this one waited.
        self.taken = tidy::tidy(&self.shop.context.layout, &self.source.id)?;
        if let Some(nothing_to_do) = self.settled(&self.taken) {
            if nothing_to_do.0 != Status::Revoked {
                self.clear_downloads()?;
            }
            return Ok(nothing_to_do);
        }
        let holding = self.obtain().await?;
        self.clear_downloads()?;
        Ok((Status::Fetched, Some(holding)))
    }

    fn settled(&self, held: &[Holding]) -> Option<(Status, Option<Holding>)> {
        match plan::decide(&self.source, &self.settings, &self.shop.ledger, held) {
            Action::Revoked(holding) => Some((Status::Revoked, holding)),
            Action::Cached(holding) => Some((Status::Cached, Some(holding))),
            Action::Finished(holding) => Some((Status::Fetched, Some(holding))),
            Action::Fetch => None,
        }
    }

    /// The url, then the mirrors in order.
    async fn obtain(&mut self) -> Result<Holding, SourceError> {
        let source = Arc::clone(&self.source);
        let mut failures = Vec::new();
        for place in std::iter::once(&source.url).chain(&source.mirrors) {
            match self.obtain_from(place).await {
                Ok(holding) => return Ok(holding),
                Err(error) if !error.mirror_may_help() => return Err(error),
                Err(error) => failures.push(error),
            }
            if self.shop.stop.is_cancelled() {
                return Err(SourceError::Cancelled);
            }
            if failures.len() <= source.mirrors.len()
                && let Some(error) = failures.last()
            {
                tracing::warn!(source = %source.id, "trying the next mirror: {}", corpora_stage::chain(error));
            }
        }
        match failures.pop() {
            Some(only) if failures.is_empty() => Err(only),
            Some(last) => {
                failures.push(last);
                Err(SourceError::Everywhere { failures })
            }
            None => Err(SourceError::Cancelled),
        }
    }

    async fn obtain_from(&mut self, place: &str) -> Result<Holding, SourceError> {
        match Location::of(place, &self.shop.base)? {
            Location::File(path) => self.read_in_place(path).await,
            Location::Http(url) => self.obtain_over_http(place, url).await,
        }
    }

    /// Reads a local file in place; it is never altered.
    async fn read_in_place(&mut self, path: PathBuf) -> Result<Holding, SourceError> {
        let unreadable = |source| SourceError::Local { path: path.clone(), source };
        let file = fs::metadata(&path).map_err(unreadable)?;
        if !file.is_file() {
            return Err(unreadable(std::io::Error::other("not a regular file")));
        }
        let (sha256, bytes) = self.digest(&path).await?;
        self.tally.bytes += bytes;
        if sha256 != self.source.sha256 {
            let kept = format!("look at `{}`, and pin its digest only when you have reviewed it", path.display());
            return Err(self.mismatch(sha256, &path, String::new(), kept));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.publish(path, name, bytes, true).await
    }

    /// Downloads, verifies, and publishes or quarantines.
    async fn obtain_over_http(&mut self, place: &str, url: Url) -> Result<Holding, SourceError> {
        let name = file_name::from_url(&url);
        let folder = self.shop.context.layout.downloads(&self.source.id);
        let complete = folder.join(&name);
        if let Some(bytes) = self.left_by_a_crash(&complete).await? {
            return self.publish(complete, name, bytes, false).await;
        }
        durable::create_folder(&folder)?;
        durable::clean_temporaries(&folder)?;
        let target = Target {
            configured: place,
            credential: credentials::find(self.auth_for(&url), &url)?,
            sha256: self.source.sha256,
            part: folder.join(format!("{name}.part")),
            url,
        };
        let mut downloaded = self.download(&target).await?;
        if !self.is_pinned(&downloaded) && (downloaded.findings.patched || fault::pitfall(3)) {
            tracing::warn!(source = %self.source.id, "the continued download has a wrong digest: starting over");
            downloaded.part.discard()?;
            downloaded = self.download(&target).await?;
        }
        if !self.is_pinned(&downloaded) {
            return Err(self.quarantine(&downloaded, &name)?);
        }
        let bytes = downloaded.part.bytes();
        fault::point("download.before");
        downloaded.part.rename_to(&complete)?;
        fault::point("download.after");
        self.publish(complete, name, bytes, false).await
    }

    /// The token that the config names is for the origin of `url`; a mirror elsewhere never sees it.
    fn auth_for(&self, place: &Url) -> Option<&Auth> {
        let own = Url::parse(&self.source.url).is_ok_and(|own| redirect::same_origin(&own, place));
        self.source.auth.as_ref().filter(|_| own)
    }

    async fn download(&mut self, target: &Target<'_>) -> Result<Downloaded, SourceError> {
        let reporter = Reporter::new(self.shop.context.progress.clone(), &self.source.id, "bytes");
        let watch = move |done, total| reporter.report(done, total);
        let downloader = Downloader {
            wire: Wire { client: self.shop.client()?, cancel: &self.shop.stop, watch: &watch },
            attempts: self.shop.options.attempts,
            base_delay: self.shop.options.base_delay,
        };
        Ok(downloader.download(target, &mut self.tally).await?)
    }

    /// A complete download of the pinned bytes, which a crash left before they were published, or which
    /// `keep_downloads` kept; its size. Other bytes under that name are an older version's, and are removed.
    async fn left_by_a_crash(&self, complete: &Path) -> Result<Option<u64>, SourceError> {
        if !complete.is_file() {
            return Ok(None);
        }
        let (sha256, bytes) = self.digest(complete).await?;
        if sha256 == self.source.sha256 {
            return Ok(Some(bytes));
        }
        durable::remove_file(complete)?;
        Ok(None)
    }

    async fn digest(&self, path: &Path) -> Result<(corpora_contracts::ids::Digest, u64), SourceError> {
        let (path, cancel) = (path.to_owned(), self.shop.stop.clone());
        let task = spawn_blocking(move || {
            let digest = publish::digest_file(&path, &cancel);
            digest.map_err(|source| SourceError::Local { path, source })?.ok_or(SourceError::Cancelled)
        });
        joined(task.await)
    }

    fn is_pinned(&self, downloaded: &Downloaded) -> bool {
        if let Some(claimed) = downloaded.findings.claimed.as_deref().filter(|_| fault::pitfall(4)) {
            return claimed == downloaded.sha256.to_string();
        }
        downloaded.sha256 == self.source.sha256
    }

    /// Moves complete but wrong bytes aside, for a human.
    fn quarantine(&self, downloaded: &Downloaded, name: &str) -> Result<SourceError, SourceError> {
        let target = self.shop.context.layout.quarantine(&self.source.id).join(name);
        let findings = &downloaded.findings;
        let mut hint = findings.changed.as_ref().map_or_else(String::new, |why| {
            format!("; the object changed on the server since the download began ({why})")
        });
        if !findings.sized {
            hint.push_str("; the answer had no length, so it may also be cut");
        }
        if findings.content_type.as_deref().is_some_and(|media| media.starts_with("text/html")) {
            hint.push_str("; it is an HTML page, perhaps an error or a login page");
        }
        if target.exists() {
            tracing::warn!(source = %self.source.id, "replacing bytes that were quarantined earlier under this name");
        }
        fault::point("quarantine.before");
        downloaded.part.rename_to(&target)?;
        durable::remove_folder_if_empty(&self.shop.context.layout.downloads(&self.source.id));
        let place = self.shop.context.layout.relative(&target);
        let kept = format!("kept at `{place}`; review them, then pin their digest or correct the url");
        Ok(self.mismatch(downloaded.sha256, &target, hint, kept))
    }

    fn mismatch(
        &self,
        received: corpora_contracts::ids::Digest,
        path: &Path,
        mut hint: String,
        kept: String,
    ) -> SourceError {
        if hint.is_empty() && starts_like_html(path) {
            hint.push_str("; it is an HTML page, perhaps an error or a login page");
        }
        SourceError::Quarantined { received, pinned: self.source.sha256, hint, kept }
    }

    async fn publish(
        &mut self,
        path: PathBuf,
        name: String,
        bytes: u64,
        foreign: bool,
    ) -> Result<Holding, SourceError> {
        self.slot = None;
        let turn = tokio::select! {
            turn = self.shop.splits.acquire() => turn.map_err(|_closed| SourceError::Cancelled)?,
            () = self.shop.stop.cancelled() => return Err(SourceError::Cancelled),
        };
        let progress = self.shop.context.progress.clone();
        let reporter = Reporter::new(progress.clone(), &self.source.id, "docs");
        let publication = Publication {
            layout: self.shop.context.layout.clone(),
            source: Arc::clone(&self.source),
            settings: self.settings.clone(),
            path,
            name,
            bytes,
            foreign,
            retrieved_at: self.shop.context.clock.now(),
            taken: self.taken.iter().map(|holding| holding.version.clone()).collect(),
            cancel: self.shop.stop.clone(),
            report: Box::new(move |_bytes, docs| reporter.report(docs, None)),
        };
        let task = spawn_blocking(move || publish::publish(&publication));
        let holding = joined(task.await)?;
        drop(turn);
        self.tell_what_was_left_out(&holding.receipt.dropped);
        let raw_dir = self.shop.context.layout.raw_dir(&self.source.id, &holding.version);
        let path = self.shop.context.layout.relative(&raw_dir);
        progress.emit(Kind::Ckpt { stage: "fetch".to_owned(), source: self.source.id.to_string(), path });
        Ok(holding)
    }

    /// Most records of a web archive are no pages, as they should be; a malformed document is another matter.
    fn tell_what_was_left_out(&self, dropped: &BTreeMap<String, u64>) {
        if dropped.is_empty() {
            return;
        }
        let reasons: Vec<String> = dropped.iter().map(|(reason, count)| format!("{count} `{reason}`")).collect();
        let (id, reasons) = (&self.source.id, reasons.join(", "));
        if matches!(self.source.split.format, Format::Warc | Format::Wet) {
            tracing::info!(source = %id, "records that are no pages, by reason: {reasons}");
        } else {
            tracing::warn!(source = %id, "left out malformed documents, as `on_bad_document` says: {reasons}");
        }
    }

    /// Removes the downloads of a published source; with `keep_downloads` only parts that are of no use any more.
    fn clear_downloads(&self) -> Result<(), SourceError> {
        let folder = self.shop.context.layout.downloads(&self.source.id);
        if !self.shop.config.keep_downloads {
            durable::remove_tree(&folder)?;
            fault::point("download-removed.after");
            return Ok(());
        }
        for name in durable::names_in(&folder)?.iter().filter(|name| name.ends_with(".part")) {
            durable::remove_file(&folder.join(name))?;
            durable::remove_file(&part::side_path(&folder.join(name)))?;
        }
        Ok(())
    }
}

/// Emits progress of one source, not more often than a person or an orchestrator can use.
pub(crate) struct Reporter {
    progress: Progress,
    source: String,
    unit: &'static str,
    last: Mutex<Option<Instant>>,
}

impl Reporter {
    pub(crate) fn new(progress: Progress, source: &Name, unit: &'static str) -> Self {
        Self { progress, source: source.to_string(), unit, last: Mutex::new(None) }
    }

    pub(crate) fn report(&self, done: u64, total: Option<u64>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| last.elapsed() >= REPORT_EVERY) || total == Some(done);
        if !is_due {
            return;
        }
        *last = Some(Instant::now());
        let (source, unit) = (self.source.clone(), self.unit.to_owned());
        self.progress.emit(Kind::Step { stage: "fetch".to_owned(), source, done, total, unit });
    }
}

/// What a blocking task gave; its panic goes on here.
fn joined<T>(result: Result<Result<T, SourceError>, tokio::task::JoinError>) -> Result<T, SourceError> {
    match result {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn starts_like_html(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(512).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start).trim_start().to_ascii_lowercase();
    read.is_ok() && (text.starts_with("<!doctype html") || text.starts_with("<html"))
}
