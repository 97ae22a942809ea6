//! Whole splits, and what the tests of the modules share.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};

use corpora_contracts::config::{OnBadDocument, Split};
use corpora_contracts::ids::Digest;
use corpora_contracts::outcome::Disposition;
use corpora_contracts::raw::RawDocument;
use tempfile::TempDir;

use super::*;

pub(super) mod properties;

/// Never stops, listens to nothing.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    fn cancelled(&self) -> bool {
        false
    }

    fn progress(&self, _input_bytes: u64, _docs: u64) {}
}

/// The default settings.
pub(super) fn settings(format: Format) -> SplitSettings {
    SplitSettings {
        documents: Split {
            format,
            text_field: "text".to_owned(),
            meta_fields: Vec::new(),
            on_bad_document: OnBadDocument::Fail,
            max_line_bytes: 64 * 1024 * 1024,
            page_bytes: format.has_pages().then_some(10 << 20),
            crawl: None,
        },
        part_docs: 100_000,
    }
}

/// The default settings, malformed documents left out.
pub(super) fn dropping(format: Format) -> SplitSettings {
    let mut settings = settings(format);
    settings.documents.on_bad_document = OnBadDocument::Drop;
    settings
}

/// The default settings with short lines only.
pub(super) fn limited(format: Format, max_line_bytes: u64) -> SplitSettings {
    let mut settings = settings(format);
    settings.documents.max_line_bytes = max_line_bytes;
    settings
}

/// A split that has ended well.
pub(super) struct Done {
    pub(super) outcome: Outcome,
    pub(super) dir: TempDir,
}

impl Done {
    /// The raw lines of all parts, each of which is read back as one frame and compared with its receipt.
    pub(super) fn raw_lines(&self) -> Vec<String> {
        let mut all = Vec::new();
        for part in &self.outcome.parts {
            let packed = std::fs::read(self.dir.path().join(&part.name)).unwrap();
            assert_eq!((part.bytes, part.sha256), (packed.len() as u64, Digest::of(&packed)));
            let mut frame = zstd::stream::read::Decoder::with_buffer(packed.as_slice()).unwrap().single_frame();
            let mut lines = String::new();
            frame.read_to_string(&mut lines).unwrap();
            assert!(frame.finish().is_empty(), "one frame a part");
            assert!(lines.is_empty() || lines.ends_with('\n'));
            assert_eq!(lines.matches('\n').count() as u64, part.n_docs);
            all.extend(lines.lines().map(str::to_owned));
        }
        assert_eq!(all.len() as u64, self.outcome.n_docs);
        all
    }

    /// The documents, read as later stages do, as (line, text).
    pub(super) fn documents(&self) -> Vec<(u64, String)> {
        let parse = |line: String| {
            let document: RawDocument = serde_json::from_str(&line).unwrap();
            assert_eq!(serde_json::to_string(&RawDocument { meta: None, ..document.clone() }).unwrap(), {
                let end = line.rfind(",\"meta\":{").filter(|_| document.meta.is_some());
                end.map_or(line.clone(), |end| format!("{}}}", &line[..end]))
            });
            let (_, number) = document.url.rsplit_once('#').unwrap();
            (number.parse().unwrap(), document.text)
        };
        self.raw_lines().into_iter().map(parse).collect()
    }
}

/// Splits `input`, named `name`.
pub(super) fn split_reader(input: &mut dyn Read, name: &str, settings: &SplitSettings) -> Result<Done, SplitError> {
    split_on(1, input, name, settings)
}

/// Splits `input` with so many compression workers.
pub(super) fn split_on(
    workers: u32,
    input: &mut dyn Read,
    name: &str,
    settings: &SplitSettings,
) -> Result<Done, SplitError> {
    let dir = TempDir::new().unwrap();
    let job = job(name, settings, dir.path());
    let outcome = split_with(input, &job, &Unwatched, workers)?;
    Ok(Done { outcome, dir })
}

/// Splits a plain file with these bytes.
pub(super) fn split_bytes(bytes: &[u8], settings: &SplitSettings) -> Result<Done, SplitError> {
    split_reader(&mut &*bytes, "file", settings)
}

/// The documents of a plain file with these bytes.
pub(super) fn documents(bytes: &[u8], settings: &SplitSettings) -> Vec<(u64, String)> {
    split_bytes(bytes, settings).unwrap_or_else(|error| panic!("{error}")).documents()
}

/// The line, and what is wrong with it, for which a plain file with these bytes is not split.
pub(super) fn problem(bytes: &[u8], settings: &SplitSettings) -> (u64, Problem) {
    match split_bytes(bytes, settings) {
        Err(SplitError::Document { line, problem }) => (line, problem),
        Err(other) => panic!("{other}"),
        Ok(done) => panic!("{:?}", done.documents()),
    }
}

fn job<'a>(name: &'a str, settings: &'a SplitSettings, out_dir: &'a Path) -> SplitJob<'a> {
    let fetched_at = Timestamp::from_unix(1_767_225_600).unwrap();
    SplitJob { name, url: "https://host/file", fetched_at, license_spdx: "CC-BY-4.0", settings, out_dir }
}

/// Gives at most `most` bytes a read.
pub(super) struct Dribble<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) most: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = out.len().min(self.most);
        self.bytes.read(&mut out[..most])
    }
}

#[test]
fn the_worked_example_of_the_seed() {
    let bytes = b"{\"text\": \"Tom has a red ball.\"}\n{\"text\": \"Mia naps.\"}\n";
    let settings = settings(Format::Jsonl);
    let dir = TempDir::new().unwrap();
    let job = SplitJob { url: "http://127.0.0.1:8765/tiny.jsonl", ..job("tiny.jsonl", &settings, dir.path()) };
    let outcome = split(&bytes[..], &job, &Unwatched).unwrap();
    assert_eq!((outcome.n_docs, outcome.parts.len(), outcome.dropped.len()), (2, 1, 0));
    assert_eq!(outcome.parts[0].name, "part-00000.jsonl.zst");
    assert_eq!(
        Done { outcome, dir }.raw_lines(),
        [
            r#"{"url":"http://127.0.0.1:8765/tiny.jsonl#1","fetched_at":"2026-01-01T00:00:00Z","license_spdx":"CC-BY-4.0","text":"Tom has a red ball."}"#,
            r#"{"url":"http://127.0.0.1:8765/tiny.jsonl#2","fetched_at":"2026-01-01T00:00:00Z","license_spdx":"CC-BY-4.0","text":"Mia naps."}"#,
        ]
    );
}

#[test]
fn url_and_licence_are_escaped() {
    let settings = settings(Format::Text);
    let dir = TempDir::new().unwrap();
    let job = SplitJob { url: "a\"\\\u{1}é", license_spdx: "\"MIT\"", ..job("f", &settings, dir.path()) };
    let outcome = split(&b"x"[..], &job, &Unwatched).unwrap();
    let line = Done { outcome, dir }.raw_lines().remove(0);
    let document: RawDocument = serde_json::from_str(&line).unwrap();
    assert_eq!((document.url.as_str(), document.license_spdx.as_str()), ("a\"\\\u{1}é#1", "\"MIT\""));
    assert_eq!(serde_json::to_string(&document).unwrap(), line);
}

#[test]
fn a_format_without_a_splitter_is_refused_by_name() {
    let error = split_bytes(b"", &settings(Format::Parquet)).err().unwrap();
    assert_eq!(error.disposition(), Disposition::Fail);
    assert!(error.to_string().contains("Parquet"), "{error}");
}

#[test]
fn an_error_names_the_line_and_what_is_wrong() {
    let bytes = b"{\"text\":\"a\"}\n\n\n\n\n\n{\"text\": }\n";
    let error = split_bytes(bytes, &settings(Format::Jsonl)).err().unwrap();
    assert_eq!(error.to_string(), "split line 7: not JSON, expected value at byte 10");
    assert_eq!(error.disposition(), Disposition::Fail);
}

/// Gives nothing but an error.
struct Broken;
impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::TimedOut.into())
    }
}

#[test]
fn an_unreadable_source_and_an_unwritable_part_are_worth_another_attempt() {
    let settings = settings(Format::Text);
    // Behind the magic numbers too, where a decoder is in between.
    for (name, head) in [
        ("f", &b"x"[..]),
        ("f.gz", b"\x1f\x8b"),
        ("f.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
        ("f.zst", b"\x28\xb5\x2f\xfd"),
    ] {
        let error = split_reader(&mut head.chain(Broken), name, &settings).err().unwrap();
        assert!(matches!(&error, SplitError::Read(cause) if cause.kind() == io::ErrorKind::TimedOut), "{error:?}");
        assert_eq!(error.disposition(), Disposition::Retry);
    }
    let gone = Path::new("/nonexistent");
    let error = split(&b"x"[..], &job("f", &settings, gone), &Unwatched).unwrap_err();
    assert!(
        matches!(&error, SplitError::Write { path, source } if path == &gone.join("part-00000.jsonl.zst")
            && source.kind() == io::ErrorKind::NotFound),
        "{error:?}"
    );
    assert_eq!(error.disposition(), Disposition::Retry);
}

#[test]
fn an_interrupted_read_is_repeated() {
    struct Interrupted<'a>(&'a [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(out) }
        }
    }
    let done = split_reader(&mut Interrupted(b"a\n\nb", false), "f", &settings(Format::Text)).unwrap();
    assert_eq!(done.documents(), [(1, "a".to_owned()), (3, "b".to_owned())]);
}

/// Stops after so many questions, and keeps what it was told.
struct Recorder {
    patience: Cell<u64>,
    told: RefCell<Vec<(u64, u64)>>,
}

impl Watch for Recorder {
    fn cancelled(&self) -> bool {
        let left = self.patience.get();
        self.patience.set(left.saturating_sub(1));
        left == 0
    }

    fn progress(&self, input_bytes: u64, docs: u64) {
        self.told.borrow_mut().push((input_bytes, docs));
    }
}

#[test]
fn progress_is_told_and_a_cancel_is_heeded_within_a_mib() {
    let bytes = b"a line of sixteen\n\n".repeat(1_000_000);
    let settings = settings(Format::Text);
    let recorder = Recorder { patience: Cell::new(u64::MAX), told: RefCell::default() };
    let dir = TempDir::new().unwrap();
    split(&bytes[..], &job("f", &settings, dir.path()), &recorder).unwrap();
    let told = recorder.told.borrow();
    assert!(told.len() > 15 && told.is_sorted(), "{told:?}");
    assert_eq!(told.last(), Some(&(bytes.len() as u64, 1_000_000)));

    let recorder = Recorder { patience: Cell::new(20), told: RefCell::default() };
    let dir = TempDir::new().unwrap();
    let mut rest = &bytes[..];
    let error = split(&mut rest, &job("f", &settings, dir.path()), &recorder).unwrap_err();
    assert_eq!(error.disposition(), Disposition::Cancelled);
    assert!(bytes.len() - rest.len() <= 21 * 256 * 1024, "read on for {} bytes", bytes.len() - rest.len());
}

#[test]
fn a_cancel_is_heeded_inside_a_line_that_never_ends() {
    let recorder = Recorder { patience: Cell::new(50), told: RefCell::default() };
    let dir = TempDir::new().unwrap();
    for format in [Format::Jsonl, Format::Text] {
        let mut settings = dropping(format);
        settings.documents.max_line_bytes = 1000;
        let error = split(io::repeat(b'x'), &job("f", &settings, dir.path()), &recorder).unwrap_err();
        assert!(matches!(error, SplitError::Cancelled), "{error}");
    }
}

#[test]
fn a_cancel_is_heeded_inside_a_page_and_a_block_that_never_end() {
    let record = "WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 9007199254740991\r\n\r\n";
    for (format, head) in [(Format::Html, "<p>"), (Format::Warc, record), (Format::Wet, record)] {
        let recorder = Recorder { patience: Cell::new(50), told: RefCell::default() };
        let dir = TempDir::new().unwrap();
        let input = head.as_bytes().chain(io::repeat(b'x'));
        let error = split(input, &job("f", &dropping(format), dir.path()), &recorder).unwrap_err();
        assert!(matches!(error, SplitError::Cancelled), "{error}");
        let told = recorder.told.borrow();
        assert!(told.len() == 50 && told.is_sorted(), "{format}: {told:?}");
    }
}

#[test]
fn a_page_and_an_archive_that_cannot_be_read_may_be_read_later() {
    for format in [Format::Html, Format::Warc, Format::Wet] {
        let error = split_reader(&mut b"WARC/1.0\r\n".chain(Broken), "f", &settings(format)).err().unwrap();
        assert_eq!(error.disposition(), Disposition::Retry, "{format}: {error}");
    }
}
