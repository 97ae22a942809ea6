//! The worker: one job in, one result out, and nothing remembered.
//!
//! [`Worker::work`] asks for the page of a job, unpacks and decodes what comes, reads links and rights signals, and says how it
//! ended; [`publish`] makes the messages of the result. Whom it asks, how often and when is the coordinator's affair; that it
//! asks nobody whom it may not is its own: every address is judged after resolution, at every hop (`guard`).
//!
//! Redirects come back as results unless the config lets the worker follow those within one host.

mod body;
mod client;
mod guard;
mod page;
pub mod queued;
mod unpack;

use std::sync::Arc;
use std::time::{Duration, Instant};

use corpora_contracts::config::{Crawl, Redirects, Use};
use corpora_contracts::message::{CrawlJob, DiscoveryMessage, Document, Outcome, StorageMessage, WorkerResult};
use corpora_http::client::ClientError;
use corpora_ports::metrics::{JOBS_FAILED, JOBS_STARTED, JOBS_SUCCEEDED, Metrics};
use corpora_stage::clock::{Clock, real_unix_seconds};
use corpora_web::redirect::MOST_HOPS;
use corpora_web::rights::{Purpose, Signals};
use corpora_web::robots::product_token;
use corpora_web::url::{CanonicalUrl, NormalUrl, canonicalize, normalize, resolve};
use corpora_web::{redact, retry_after};
use reqwest::header::{self, HeaderMap, HeaderName};

use crate::role::{Answer, Fetcher, Visit};
use client::{Client, Failed, Validators};

/// How a worker asks and what it keeps.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The User-Agent header of every request.
    pub user_agent: String,
    /// Bounds one whole answer.
    pub page_timeout: Duration,
    /// The longest wait for a connection, for the head of an answer, and for each piece of a body.
    pub silence: Duration,
    /// The largest body that is kept, in bytes after content decoding.
    pub page_bytes: usize,
    /// The media types that are kept.
    pub content_types: Vec<String>,
    /// Who follows redirects within one host.
    pub redirects: Redirects,
    /// What the pages are for.
    pub purpose: Purpose,
    /// Whether hosts that are not of the public Internet may be asked.
    pub allow_private_networks: bool,
    /// Whether pages are read at once: their title, language, text, description and keywords. Else these stay empty, and who
    /// has the source reads it later.
    pub reads_pages: bool,
    /// The clock of `fetched_at`.
    pub clock: Clock,
}

impl Settings {
    /// Those of a crawl; `silence` is the `--timeout` of the run.
    #[must_use]
    pub fn of(crawl: &Crawl, silence: Duration, clock: Clock) -> Self {
        Self {
            user_agent: crawl.user_agent.clone(),
            page_timeout: crawl.page_timeout.duration(),
            silence,
            page_bytes: usize::try_from(crawl.page_bytes).unwrap_or(usize::MAX),
            content_types: crawl.content_types.clone(),
            redirects: crawl.redirects,
            purpose: Purpose {
                trains: crawl.allowed_uses.contains(&Use::Train),
                respects_rights: crawl.respect_rights,
            },
            allow_private_networks: crawl.allow_private_networks,
            reads_pages: false,
            clock,
        }
    }
}

/// The pages of an earlier crawl, which a refresh asks about by their validators (RFC 9110 section 13).
pub trait Earlier: Send + Sync + std::fmt::Debug {
    /// The page that was stored under this URL, with its validators in its metadata; none, and it is asked for anew.
    fn page(&self, url: &CanonicalUrl) -> Option<StorageMessage>;
}

/// Asks for pages. Clones share connections.
#[derive(Debug, Clone)]
pub struct Worker(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    agent: String,
    client: Client,
    metrics: Arc<dyn Metrics>,
    earlier: Option<Arc<dyn Earlier>>,
}

impl Worker {
    /// A worker without an earlier crawl. It takes proxies and trusted certificates from the usual variables.
    ///
    /// # Errors
    /// [`ClientError`] when the environment gives no client.
    pub fn new(settings: Settings, metrics: Arc<dyn Metrics>) -> Result<Self, ClientError> {
        Self::refreshing(settings, metrics, None)
    }

    /// A worker that asks conditionally for what an earlier crawl has stored.
    ///
    /// # Errors
    /// [`ClientError`] when the environment gives no client.
    pub fn refreshing(
        settings: Settings,
        metrics: Arc<dyn Metrics>,
        earlier: Option<Arc<dyn Earlier>>,
    ) -> Result<Self, ClientError> {
        let client = Client::new(&settings)?;
        let agent = product_token(&settings.user_agent).to_owned();
        Ok(Self(Arc::new(Inner { settings, agent, client, metrics, earlier })))
    }

    /// Asks for the page of a job. A failure is a result, too.
    pub async fn work(&self, job: &CrawlJob) -> WorkerResult {
        let inner = &*self.0;
        inner.metrics.add(JOBS_STARTED, 1);
        let began = Instant::now();
        let came = match normalize(&job.url) {
            Ok(url) => inner.ask_for(url).await,
            Err(_) => {
                Came::nothing(job.url.clone(), Outcome { error: Some("address".to_owned()), ..Outcome::default() })
            }
        };
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        inner.note(job, &came, took);
        WorkerResult {
            v: None,
            job_id: job.job_id.clone(),
            crawl_id: job.crawl_id.clone(),
            requested_url: job.url.clone(),
            final_url: came.final_url,
            status_code: came.outcome.status_code,
            redirect_chain: came.chain,
            content_type: came.content_type,
            depth: job.depth,
            document: came.document,
            links: came.links,
            fetched_at: inner.settings.clock.now(),
            processing_time_ms: took,
            outcome: Some(came.outcome),
        }
    }
}

/// The messages of a result: the page, if there is one, and what the coordinator learns.
#[must_use]
pub fn publish(result: WorkerResult) -> Visit {
    let canonical = CanonicalUrl::parse(&result.final_url).map(String::from);
    let rights = result.document.as_ref().and_then(|document| document.metadata.rights.clone());
    let took_ms = Some(result.processing_time_ms);
    let discovery = DiscoveryMessage {
        v: None,
        job_id: result.job_id,
        crawl_id: result.crawl_id.clone(),
        requested_url: result.requested_url,
        final_url: result.final_url,
        parent_depth: result.depth,
        links: result.links,
        outcome: result.outcome.map(|outcome| Outcome { rights, took_ms, ..outcome }),
    };
    let storage = match (result.document, result.status_code, canonical) {
        (Some(document), Some(status_code), Ok(url)) => Some(StorageMessage {
            v: None,
            crawl_id: result.crawl_id,
            url,
            status_code,
            depth: result.depth,
            document,
            fetched_at: result.fetched_at,
            processing_time_ms: result.processing_time_ms,
        }),
        _ => None,
    };
    Visit { storage, discovery, took: None }
}

impl Fetcher for Worker {
    async fn visit(&self, job: &CrawlJob) -> Visit {
        publish(self.work(job).await)
    }

    async fn ask(&self, url: &NormalUrl, most: usize) -> Answer {
        self.0.ask(url, most).await
    }
}

/// What came of asking.
#[derive(Debug)]
struct Came {
    final_url: String,
    chain: Vec<String>,
    content_type: Option<String>,
    document: Option<Document>,
    links: Vec<String>,
    outcome: Outcome,
}

impl Came {
    fn nothing(url: String, outcome: Outcome) -> Self {
        Self {
            chain: vec![url.clone()],
            final_url: url,
            content_type: None,
            document: None,
            links: Vec::new(),
            outcome,
        }
    }
}

/// What the head of an answer leads to.
enum Step {
    Over(Box<Came>),
    Hop(NormalUrl),
}

impl Inner {
    async fn ask_for(&self, url: NormalUrl) -> Came {
        let earlier = self.earlier.as_ref().and_then(|earlier| earlier.page(&canonicalize(&url)));
        let mut asked = vec![url];
        loop {
            let Some(url) = asked.last().cloned() else { return Came::nothing(String::new(), Outcome::default()) };
            match self.step(&url, &asked, earlier.as_ref()).await {
                Step::Hop(next) => asked.push(next),
                Step::Over(came) => {
                    let mut came = *came;
                    // A target that was not asked is the last of the chain, too.
                    let is_elsewhere = came.final_url != url.as_str();
                    came.chain = asked.iter().map(|url| url.as_str().to_owned()).collect();
                    came.chain.extend(is_elsewhere.then(|| came.final_url.clone()));
                    return came;
                }
            }
        }
    }

    /// One request and what it means.
    async fn step(&self, url: &NormalUrl, asked: &[NormalUrl], earlier: Option<&StorageMessage>) -> Step {
        let deadline = Instant::now() + self.settings.page_timeout;
        // Validators are those of the page at the first address.
        let earlier = earlier.filter(|_| asked.len() == 1);
        let response = match self.client.get(url, earlier.map(Validators::of), deadline).await {
            Ok(response) => response,
            Err(failed) => return Step::Over(Box::new(self.failed(url, Outcome::default(), &failed))),
        };
        let outcome = Outcome {
            status_code: Some(response.status().as_u16()),
            retry_after_s: text(response.headers(), header::RETRY_AFTER)
                .and_then(|value| retry_after::seconds(&value, real_unix_seconds())),
            ..Outcome::default()
        };
        match (response.status().as_u16(), earlier) {
            (304, Some(earlier)) => Step::Over(Box::new(self.unchanged(url, earlier, response.headers()))),
            (300..=399, _) => self.redirected(url, asked, outcome, response.headers()),
            (200, _) => Step::Over(Box::new(self.page(url, outcome, response, deadline).await)),
            (status @ 201..=299, _) => {
                // Some of a page, or none, but no page.
                Step::Over(Box::new(Came::nothing(
                    url.to_string(),
                    Outcome { error: Some(format!("http_{status}")), ..outcome },
                )))
            }
            _ => Step::Over(Box::new(Came::nothing(url.to_string(), outcome))),
        }
    }

    fn redirected(&self, url: &NormalUrl, asked: &[NormalUrl], mut outcome: Outcome, headers: &HeaderMap) -> Step {
        let target = text(headers, header::LOCATION).map(|location| resolve(url.as_url(), &location));
        let target = match target {
            Some(Ok(target)) => target,
            Some(Err(_)) => return Step::Over(Box::new(told(url, outcome, "address"))),
            None => {
                let word = format!("http_{}", outcome.status_code.unwrap_or_default());
                return Step::Over(Box::new(told(url, outcome, &word)));
            }
        };
        let is_followed = self.settings.redirects == Redirects::Worker
            && target.host() == url.host()
            && asked.len() <= MOST_HOPS
            && !asked.contains(&target);
        if is_followed {
            return Step::Hop(target);
        }
        outcome.bytes = None;
        Step::Over(Box::new(Came { final_url: target.to_string(), ..Came::nothing(url.to_string(), outcome) }))
    }

    /// A page whose body comes now.
    async fn page(
        &self,
        url: &NormalUrl,
        mut outcome: Outcome,
        mut response: reqwest::Response,
        deadline: Instant,
    ) -> Came {
        let headers = std::mem::take(response.headers_mut());
        let content_type = text(&headers, header::CONTENT_TYPE);
        let media = content_type.as_deref().map(page::media_type).filter(|media| !media.is_empty());
        if media.as_ref().is_some_and(|media| !self.keeps(media)) {
            return Came { content_type: media, ..told(url, outcome, "content_types") };
        }
        let received = match body::whole(&self.client, &headers, response, self.settings.page_bytes, deadline).await {
            Ok(received) => received,
            Err(failed) => return Came { content_type: media, ..self.failed(url, outcome, &failed) },
        };
        outcome.bytes = Some(received.len() as u64);
        let media = match media {
            Some(media) => media,
            None if corpora_web::scan::looks_like_markup(&received) && self.keeps(page::HTML) => page::HTML.to_owned(),
            None => return told(url, outcome, "content_types"),
        };
        let mut signals = Signals::default();
        self.read_headers(&mut signals, &headers);
        let reading = page::Reading {
            url,
            media: &media,
            content_type: content_type.as_deref(),
            settings: &self.settings,
            agent: &self.agent,
        };
        let (mut document, links) = reading.read(&received, signals.clone());
        document.metadata.etag = text(&headers, header::ETAG);
        document.metadata.last_modified = text(&headers, header::LAST_MODIFIED);
        self.judged(url, outcome, media, document, links)
    }

    /// The page of an earlier crawl, which is what the server would send. Headers that came with this answer count.
    fn unchanged(&self, url: &NormalUrl, earlier: &StorageMessage, headers: &HeaderMap) -> Came {
        let mut document = earlier.document.clone();
        let media = document.metadata.content_type.clone().unwrap_or_else(|| page::HTML.to_owned());
        let mut signals = page::signals_of(&document);
        self.read_headers(&mut signals, headers);
        let links = page::links_of(&document.html, &media, url, &self.agent, &mut signals);
        page::state(&mut document, &signals);
        let outcome = Outcome { status_code: Some(earlier.status_code), bytes: Some(0), ..Outcome::default() };
        self.judged(url, outcome, media, document, links)
    }

    /// A page as its own signals and headers let it be kept.
    fn judged(
        &self,
        url: &NormalUrl,
        mut outcome: Outcome,
        media: String,
        document: Document,
        links: Vec<String>,
    ) -> Came {
        let decision = page::signals_of(&document).decide(self.settings.purpose);
        outcome.error = decision.refusal.map(|refusal| refusal.as_str().to_owned());
        Came {
            content_type: Some(media),
            document: decision.refusal.is_none().then_some(document),
            links: if decision.follows { links } else { Vec::new() },
            ..Came::nothing(url.to_string(), outcome)
        }
    }

    fn keeps(&self, media: &str) -> bool {
        self.settings.content_types.iter().any(|kept| kept.eq_ignore_ascii_case(media))
    }

    fn read_headers(&self, signals: &mut Signals, headers: &HeaderMap) {
        for (name, value) in headers {
            signals.read_header(name.as_str(), &String::from_utf8_lossy(value.as_bytes()), &self.agent);
        }
    }

    fn failed(&self, url: &NormalUrl, outcome: Outcome, failed: &Failed) -> Came {
        tracing::debug!(url = redact::hop(url.as_url()), error = %corpora_stage::chain(failed), "no page");
        let bytes = outcome.bytes.or_else(|| failed.bytes());
        told(url, Outcome { bytes, ..outcome }, failed.word())
    }

    async fn ask(&self, url: &NormalUrl, most: usize) -> Answer {
        let deadline = Instant::now() + self.settings.page_timeout;
        let mut response = match self.client.get(url, None, deadline).await {
            Ok(response) => response,
            Err(failed) => return Answer { error: Some(failed.word().to_owned()), ..Answer::default() },
        };
        let headers = std::mem::take(response.headers_mut());
        let mut answer = Answer {
            status: Some(response.status().as_u16()),
            location: text(&headers, header::LOCATION),
            retry_after_s: text(&headers, header::RETRY_AFTER)
                .and_then(|value| retry_after::seconds(&value, real_unix_seconds())),
            ..Answer::default()
        };
        if response.status().is_success() {
            match body::start(&self.client, &headers, response, most, deadline).await {
                Ok(body) => answer.body = body,
                Err(failed) => answer.error = Some(failed.word().to_owned()),
            }
        }
        answer
    }

    fn note(&self, job: &CrawlJob, came: &Came, took: u64) {
        let status = came.outcome.status_code;
        let word = came.outcome.error.as_deref().unwrap_or_default();
        let url = normalize(&job.url).map_or_else(|_| String::new(), |url| redact::hop(url.as_url()));
        let has_failed = status.is_none_or(|status| status >= 500 || status == 429) || client::is_fault(word);
        if has_failed {
            self.metrics.add(JOBS_FAILED, 1);
            tracing::info!(
                job_id = job.job_id,
                crawl_id = job.crawl_id,
                url,
                status,
                error = word,
                took_ms = took,
                "job failed"
            );
        } else {
            self.metrics.add(JOBS_SUCCEEDED, 1);
            tracing::debug!(
                job_id = job.job_id,
                crawl_id = job.crawl_id,
                url,
                status,
                reason = word,
                took_ms = took,
                "job done"
            );
        }
    }
}

fn told(url: &NormalUrl, mut outcome: Outcome, word: &str) -> Came {
    outcome.error = Some(word.to_owned());
    Came::nothing(url.to_string(), outcome)
}

/// A header's value as text.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
