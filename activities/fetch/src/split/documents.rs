//! Raw documents as they are written: the keys around the text, and the count of those left out.

use std::collections::BTreeMap;
use std::io;

use corpora_contracts::config::OnBadDocument;
use corpora_contracts::receipt::Part;

use super::error::{Problem, SplitError};
use super::json_string::{Put, escape};
use super::pages::RawPage;
use super::parts::Parts;
use super::{Outcome, SplitJob};

/// Writes raw documents of one source.
pub(super) struct Documents<'a> {
    parts: Parts<'a>,
    /// `{"url":"<url>#`, where a document is a line of the source.
    head: Vec<u8>,
    /// `","fetched_at":"…","license_spdx":"…","text":"`.
    middle: Vec<u8>,
    on_bad_document: OnBadDocument,
    dropped: BTreeMap<String, u64>,
    n_docs: u64,
}

impl<'a> Documents<'a> {
    /// Prepares to write into the parts.
    pub(super) fn new(job: &SplitJob<'_>, parts: Parts<'a>) -> Result<Self, SplitError> {
        let mut head = b"{\"url\":\"".to_vec();
        escape(job.url.as_bytes(), &mut head)?;
        head.put(b"#")?;
        let mut middle = format!("\",\"fetched_at\":\"{}\",\"license_spdx\":\"", job.fetched_at).into_bytes();
        escape(job.license_spdx.as_bytes(), &mut middle)?;
        middle.put(b"\",\"text\":\"")?;
        let on_bad_document = job.settings.documents.on_bad_document;
        Ok(Self { parts, head, middle, on_bad_document, dropped: BTreeMap::new(), n_docs: 0 })
    }

    /// Documents written so far.
    pub(super) fn n_docs(&self) -> u64 {
        self.n_docs
    }

    /// Starts the document of line `line`, up to the opening quote of its text.
    pub(super) fn begin(&mut self, line: u64) -> Result<(), SplitError> {
        self.parts.begin_document()?;
        self.parts.put(&self.head)?;
        self.parts.put(line.to_string().as_bytes())?;
        self.parts.put(&self.middle)
    }

    /// Ends the document with `tail`, which ends with LF.
    pub(super) fn end(&mut self, tail: &[u8]) -> Result<(), SplitError> {
        self.parts.put(tail)?;
        self.n_docs += 1;
        self.parts.end_document()
    }

    /// Writes a page.
    pub(super) fn page(&mut self, page: &RawPage<'_>) -> Result<(), SplitError> {
        self.parts.begin_document()?;
        self.parts.put(b"{\"url\":\"")?;
        escape(page.url.as_bytes(), self)?;
        self.parts.put(&self.middle)?;
        escape(page.text.as_bytes(), self)?;
        self.parts.put(b"\",\"content_type\":\"")?;
        escape(page.content_type.as_bytes(), self)?;
        self.parts.put(b"\",\"meta\":")?;
        // Strings and numbers always serialize.
        let meta = serde_json::to_vec(&page.meta).map_err(io::Error::from).map_err(SplitError::Read)?;
        self.parts.put(&meta)?;
        self.end(b"}\n")
    }

    /// Counts what is no document of this source.
    pub(super) fn leave_out(&mut self, reason: &str) {
        *self.dropped.entry(reason.to_owned()).or_default() += 1;
    }

    /// Leaves a malformed document out, or fails because of it.
    pub(super) fn reject(&mut self, line: u64, problem: Problem) -> Result<(), SplitError> {
        match self.on_bad_document {
            OnBadDocument::Fail => Err(SplitError::Document { line, problem }),
            OnBadDocument::Drop => {
                self.leave_out(problem.reason());
                Ok(())
            }
        }
    }

    /// Completes the last part.
    pub(super) fn finish(self) -> Result<Outcome, SplitError> {
        let parts: Vec<Part> = self.parts.finish()?;
        Ok(Outcome { n_docs: self.n_docs, dropped: self.dropped, parts })
    }
}

impl Put for Documents<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), SplitError> {
        self.parts.put(bytes)
    }
}
