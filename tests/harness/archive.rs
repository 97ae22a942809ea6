//! Web archives to fetch.

/// A record of a web archive (ISO 28500) with these further fields, each line of them ended.
#[must_use]
pub fn warc_record(kind: &str, fields: &str, block: &[u8]) -> Vec<u8> {
    let length = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2025-06-01T12:00:00Z\r\n{fields}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// What a server answered at this address, with this status and this media type.
#[must_use]
pub fn warc_answer(url: &str, status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n\r\n");
    let fields = format!("WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n");
    warc_record("response", &fields, &[head.as_bytes(), body].concat())
}

/// An HTML page that a server gave.
#[must_use]
pub fn warc_page(url: &str, body: &[u8]) -> Vec<u8> {
    warc_answer(url, "200 OK", "text/html; charset=utf-8", body)
}
