//! One attempt at a location: requests, and for each answer what [`corpora_web::range::decide`] says it means for the
//! bytes on disk.

use std::path::PathBuf;

use corpora_contracts::ids::Digest;
use corpora_stage::clock::real_unix_seconds;
use corpora_stage::fault;
use corpora_web::range::{self, Answer, Asked, Decision};
use corpora_web::redirect::{self, Chain};
use corpora_web::validator::Validator;
use corpora_web::{redact, retry_after};
use reqwest::header::{self, HeaderName};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::credentials::Credential;
use crate::failure::DownloadError;
use crate::http::{Ask, Client, HttpError};
use crate::part::{Note, Part};

/// What a request goes through, and who waits for it.
#[derive(Clone, Copy)]
pub struct Wire<'a> {
    /// The HTTP client.
    pub client: &'a Client,
    /// Stops waits and reads.
    pub cancel: &'a CancellationToken,
    /// Told the bytes on disk and, when known, the total.
    pub watch: &'a (dyn Fn(u64, Option<u64>) + Send + Sync),
}

impl std::fmt::Debug for Wire<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("client", &self.client).finish_non_exhaustive()
    }
}

/// What a run counts of a source, also when it fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// HTTP requests, redirect hops included.
    pub requests: u64,
    /// Body bytes received.
    pub bytes: u64,
}

/// Where and how to download.
#[derive(Debug)]
pub struct Target<'a> {
    /// The configured url or mirror, as written.
    pub configured: &'a str,
    /// The same, parsed.
    pub url: Url,
    /// The pinned digest.
    pub sha256: Digest,
    /// The credential for the origin of `url`.
    pub credential: Option<Credential>,
    /// Where the bytes go while they arrive.
    pub part: PathBuf,
}

/// What a download has learnt on its way.
#[derive(Debug, Default)]
pub struct Findings {
    /// Whether the bytes may be a mixture: continued from an earlier run's, or from an answer without a validator.
    pub patched: bool,
    /// The answer's `Content-Type`, where this run saw one.
    pub content_type: Option<String>,
    /// Why an earlier part was dropped in this run: the object changed meanwhile.
    pub changed: Option<String>,
    /// Whether the last body had a length; without one a body that ends early looks whole.
    pub sized: bool,
    /// The digest that the server claims, for pitfall 4.
    pub claimed: Option<String>,
}

/// The attempts of one download.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    wire: Wire<'a>,
    target: &'a Target<'a>,
    part: &'a mut Part,
    tally: &'a mut Tally,
    pub(crate) findings: Findings,
}

/// What an answer, once carried out, asks for next.
enum Next {
    /// The bytes are whole.
    Complete,
    /// Ask again at once, with a range where there are bytes to continue.
    Again,
    /// Ask again at once, without a range.
    Plainly,
    /// The part is dropped; ask again at once from 0.
    Anew { url: String },
}

/// An answer and what it means.
struct Answered {
    url: Url,
    response: reqwest::Response,
    answer: Answer,
    decision: Decision,
}

/// How far a body reaches: up to `end` in this answer, up to `total` in the object.
#[derive(Clone, Copy)]
struct Extent {
    end: Option<u64>,
    total: Option<u64>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(wire: Wire<'a>, target: &'a Target<'a>, part: &'a mut Part, tally: &'a mut Tally) -> Self {
        Self { wire, target, part, tally, findings: Findings::default() }
    }

    /// One attempt: requests until the bytes are whole or one fails. It ends: each further request follows a dropped
    /// part (once), a refused range (once) or bytes that arrived.
    pub(crate) async fn attempt(&mut self) -> Result<(), DownloadError> {
        let (mut ranged, mut dropped) = (true, false);
        loop {
            match self.exchange(ranged).await? {
                Next::Complete => return Ok(()),
                Next::Again => {}
                Next::Plainly => ranged = false,
                Next::Anew { url } if dropped => return Err(DownloadError::Contradictory { url }),
                Next::Anew { .. } => dropped = true,
            }
        }
    }

    async fn exchange(&mut self, ranged: bool) -> Result<Next, DownloadError> {
        let kept = self.continuable();
        if kept.as_ref().is_some_and(|kept| kept.total == Some(kept.bytes)) {
            self.findings.patched |= self.part.is_inherited();
            return Ok(Next::Complete);
        }
        let continued = kept.as_ref().filter(|_| ranged && !fault::pitfall(1));
        let answered = self.ask(kept.as_ref(), continued).await?;
        let shown = redact::hop(&answered.url);
        match answered.decision {
            Decision::Append { total, end } => self.append(answered, Extent { end: Some(end), total }, kept).await,
            Decision::Restart { total } => self.restart(answered, total, kept).await,
            Decision::Whole => {
                self.findings.patched |= self.part.is_inherited();
                Ok(Next::Complete)
            }
            Decision::FromZero { reason } => {
                tracing::info!("starting over: {reason} (`{shown}`)");
                self.findings.changed = Some(reason.to_string());
                self.part.discard()?;
                Ok(Next::Anew { url: shown })
            }
            Decision::WithoutRange { reason } => {
                tracing::info!("asking again without a range: {reason} (`{shown}`)");
                Ok(Next::Plainly)
            }
            Decision::Retry { status, retry_after } => {
                let asked = retry_after.and_then(|value| retry_after::seconds(&value, real_unix_seconds()));
                Err(DownloadError::Unavailable { url: shown, status, retry_after: asked })
            }
            Decision::Fail { reason } => Err(DownloadError::Refused { url: shown, reason }),
            // `ask` has followed every redirect.
            Decision::Redirect { .. } => Ok(Next::Again),
        }
    }

    /// The part as the decision sees it; none when its bytes are another url's or another pin's.
    fn continuable(&self) -> Option<range::Part> {
        let ours = self.part.belongs_to(self.target.configured, &self.target.sha256);
        if self.part.bytes() == 0 || !ours {
            return None;
        }
        let note = self.part.note();
        let etag = note.and_then(|note| note.etag.as_deref());
        let last_modified = note.and_then(|note| note.last_modified.as_deref());
        Some(range::Part {
            bytes: self.part.bytes(),
            total: note.and_then(|note| note.total),
            validator: Validator::from_answer(etag, last_modified),
            coding: note.and_then(|note| note.coding.clone()),
        })
    }

    /// Asks, following redirects, until an answer is none.
    async fn ask(
        &mut self,
        kept: Option<&range::Part>,
        continued: Option<&range::Part>,
    ) -> Result<Answered, DownloadError> {
        let headers = range::request(continued);
        let asked = Asked { offset: continued.map_or(0, |part| part.bytes) };
        let mut chain = Chain::new(self.target.url.clone());
        loop {
            let url = chain.current().clone();
            let credential = self.target.credential.as_ref();
            let credential = credential.filter(|_| redirect::same_origin(&self.target.url, &url));
            let ask = Ask { url: &url, range: headers.range.clone(), if_range: headers.if_range.clone(), credential };
            self.tally.requests += 1;
            let response = self.wire.client.get(&ask).await?;
            let answer = read_answer(&response);
            match range::decide(kept, asked, &answer) {
                Decision::Redirect { location } => drop(chain.follow(&location)?),
                decision => return Ok(Answered { url, response, answer, decision }),
            }
        }
    }

    async fn append(
        &mut self,
        answered: Answered,
        extent: Extent,
        kept: Option<range::Part>,
    ) -> Result<Next, DownloadError> {
        match kept {
            Some(kept) => {
                self.findings.patched |= self.part.is_inherited() || kept.validator.is_none();
                extent.total.into_iter().for_each(|total| self.part.learn_total(total));
            }
            // A ranged answer from 0 with nothing to continue is a body like any other.
            None => self.part.begin(self.note(&answered.answer, extent.total))?,
        }
        self.receive(answered, extent).await
    }

    async fn restart(
        &mut self,
        answered: Answered,
        total: Option<u64>,
        kept: Option<range::Part>,
    ) -> Result<Next, DownloadError> {
        if kept.is_some() && (fault::pitfall(1) || fault::pitfall(2)) {
            return self.receive(answered, Extent { end: None, total: None }).await;
        }
        if kept.is_some_and(|kept| is_other_object(&kept, &answered.answer)) {
            self.findings.changed = Some("it names another validator".to_owned());
        }
        self.findings.patched = false;
        self.part.begin(self.note(&answered.answer, total))?;
        self.receive(answered, Extent { end: total, total }).await
    }

    /// Writes a body behind the part's bytes; then all is there, or there is more to ask for, or it was cut.
    async fn receive(&mut self, answered: Answered, extent: Extent) -> Result<Next, DownloadError> {
        let Answered { url, mut response, answer, .. } = answered;
        self.findings.content_type = answer.content_type;
        self.findings.sized = extent.end.is_some();
        if fault::pitfall(4) {
            self.findings.claimed = header_value(&response, HeaderName::from_static("x-content-sha256"));
        }
        self.part.catch_up(self.wire.cancel).await?;
        if self.wire.cancel.is_cancelled() {
            return Err(HttpError::Cancelled.into());
        }
        let before = self.part.bytes();
        let writer = self.part.writer();
        let mut arrived = before;
        let received = loop {
            let chunk = match self.wire.client.chunk(&url, &mut response).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let length = chunk.len() as u64;
            (arrived, self.tally.bytes) = (arrived + length, self.tally.bytes + length);
            (self.wire.watch)(arrived, extent.total);
            if !writer.write(chunk).await {
                break Ok(()); // The writer has stopped; its own error says why.
            }
        };
        writer.finish(self.part).await?;
        received.map_err(|error| told_with_sizes(error, &url, self.part.bytes(), extent))?;
        after_body(&url, before, self.part.bytes(), extent)
    }

    fn note(&self, answer: &Answer, total: Option<u64>) -> Note {
        Note {
            url: self.target.configured.to_owned(),
            sha256: self.target.sha256,
            etag: answer.etag.clone(),
            last_modified: answer.last_modified.clone(),
            total,
            coding: answer.content_encoding.clone(),
        }
    }
}

/// What to do after a body that ended in order.
fn after_body(url: &Url, before: u64, received: u64, extent: Extent) -> Result<Next, DownloadError> {
    let Some(total) = extent.total.or(extent.end).filter(|&total| received < total) else { return Ok(Next::Complete) };
    let piece_is_whole = extent.end == Some(received) && received > before;
    if piece_is_whole {
        return Ok(Next::Again); // A server that sends large ranges in pieces.
    }
    Err(DownloadError::Cut { url: redact::hop(url), received, total })
}

/// A cut connection, told with the sizes where they are known.
fn told_with_sizes(error: HttpError, url: &Url, received: u64, extent: Extent) -> DownloadError {
    match extent.total {
        Some(total) if error.kind() == "cut" => DownloadError::Cut { url: redact::hop(url), received, total },
        _ => error.into(),
    }
}

/// Whether a whole answer to a ranged request is of another object than the kept bytes.
fn is_other_object(kept: &range::Part, answer: &Answer) -> bool {
    let validator = Validator::from_answer(answer.etag.as_deref(), answer.last_modified.as_deref());
    kept.validator.is_some() && validator.is_some() && kept.validator != validator
}

fn read_answer(response: &reqwest::Response) -> Answer {
    let value = |name| header_value(response, name);
    Answer {
        status: response.status().as_u16(),
        content_range: value(header::CONTENT_RANGE),
        content_length: value(header::CONTENT_LENGTH),
        etag: value(header::ETAG),
        last_modified: value(header::LAST_MODIFIED),
        content_encoding: value(header::CONTENT_ENCODING),
        content_type: value(header::CONTENT_TYPE),
        retry_after: value(header::RETRY_AFTER),
        location: value(header::LOCATION),
    }
}

fn header_value(response: &reqwest::Response, name: HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
