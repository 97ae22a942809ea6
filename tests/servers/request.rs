//! What a client asked, and what it was sent.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// No head of ours is longer; more is a broken client.
const MAX_HEAD: usize = 64 * 1024;

/// The head of one request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`.
    pub method: String,
    /// The target as sent: path and query, or an absolute URL when sent to a proxy.
    pub target: String,
    /// All headers, as sent and in order.
    pub headers: Vec<(String, String)>,
    /// When the head was complete.
    pub at: Instant,
}

impl Request {
    /// The value of the first header of this name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The target without its query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The start of `Range: bytes=<start>-`.
    #[must_use]
    pub fn range_start(&self) -> Option<u64> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }

    /// Reads one head; none at the end of the connection. `rest` keeps what was read beyond it.
    pub(super) fn read(stream: &mut impl Read, rest: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let mut buffer = [0; 4096];
        let end = loop {
            if let Some(end) = rest.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            let read = stream.read(&mut buffer)?;
            if read == 0 || rest.len() > MAX_HEAD {
                return Ok(None);
            }
            rest.extend_from_slice(&buffer[..read]);
        };
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest.drain(..end + 4);
        Ok(Self::parse(&head))
    }

    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        Some(Self { method, target, headers, at: Instant::now() })
    }
}

/// A request in the log.
#[derive(Debug, Clone)]
pub struct Logged {
    /// What was asked.
    pub request: Request,
    sent: Arc<AtomicU64>,
}

impl Logged {
    pub(super) fn new(request: Request) -> Self {
        Self { request, sent: Arc::default() }
    }

    /// The body bytes sent so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    pub(super) fn count(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::SeqCst);
    }
}
