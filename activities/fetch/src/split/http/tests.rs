use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::*;

const PAGE: &[u8] = b"<p>Tom has a red ball. Tom has a red ball. Tom has a red ball.</p>";

fn answer(fields: &str) -> Answer {
    let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
    Answer::read(head.as_bytes(), true).unwrap()
}

fn body(fields: &str, sent: &[u8]) -> Result<(Vec<u8>, bool), LeftOut> {
    answer(fields).body(sent, 1000).map(|(body, is_whole)| (body.into_owned(), is_whole))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// "Tom has a red ball." as the reference encoder of brotli (RFC 7932) writes it, in one uncompressed block.
fn brotli(bytes: &[u8]) -> Vec<u8> {
    // RFC 7932 section 9.2: WBITS 16, not the last block, four nibbles of length minus one, uncompressed; then an
    // empty last block.
    let length = u32::try_from(bytes.len() - 1).unwrap();
    let header = (length << 4) | (1 << 20);
    let mut coded = header.to_le_bytes()[..3].to_vec();
    coded.extend_from_slice(bytes);
    coded.push(0x03);
    coded
}

#[test]
fn an_answer_has_a_status_and_fields() {
    let block = b"HTTP/1.0 404 Not Found\r\nContent-Type: text/html\r\nX-A: b\r\n  c\r\nnonsense\r\nx-a: d\r\n\r\nbody";
    let answer = Answer::read(block, false).unwrap();
    assert_eq!((answer.status, &block[answer.body_at..]), (404, &b"body"[..]));
    assert_eq!(answer.field("content-type"), Some("text/html"));
    assert_eq!(answer.fields("x-a").collect::<Vec<_>>(), ["b c", "d"]);
    let lf = b"HTTP/2 200\nA: b\n\nbody";
    let lf_answer = Answer::read(lf, false).unwrap();
    assert_eq!((lf_answer.status, &lf[lf_answer.body_at..]), (200, &b"body"[..]));
    for (block, is_whole, status) in [
        (&b"HTTP/1.1 200 OK\r\nA: b"[..], true, Some(200)),
        (b"HTTP/1.1 200 OK\r\nA: b", false, None),
        (b"HTTP/1.1 OK\r\n\r\n", true, None),
        (b"HTTP/1.1\r\n\r\n", true, None),
        (b"<html>\r\n\r\n", true, None),
        (b"", true, None),
    ] {
        assert_eq!(Answer::read(block, is_whole).map(|answer| answer.status), status, "{block:?}");
    }
}

#[test]
fn codings_are_undone_in_their_order() {
    let chunks = |bytes: &[u8]| {
        let mut sent = Vec::new();
        for chunk in bytes.chunks(7) {
            sent.extend_from_slice(format!("{:X};name=value\r\n", chunk.len()).as_bytes());
            sent.extend_from_slice(chunk);
            sent.extend_from_slice(b"\r\n");
        }
        sent.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
        sent
    };
    let two_members = [gzip(&PAGE[..20]), gzip(&PAGE[20..])].concat();
    for (fields, sent) in [
        ("", PAGE.to_vec()),
        ("Content-Encoding: identity", PAGE.to_vec()),
        ("Content-Encoding: gzip", gzip(PAGE)),
        ("Content-Encoding: X-GZIP", [gzip(PAGE), b"\0\0 padding".to_vec()].concat()),
        ("Content-Encoding: gzip", two_members),
        ("Content-Encoding: deflate", zlib(PAGE)),
        ("Content-Encoding: deflate", deflate(PAGE)),
        ("Content-Encoding: zstd", zstd::encode_all(PAGE, 3).unwrap()),
        ("Content-Encoding: br", brotli(PAGE)),
        ("Content-Encoding: gzip, br", brotli(&gzip(PAGE))),
        ("Content-Encoding: gzip\r\nContent-Encoding: deflate", zlib(&gzip(PAGE))),
        ("Transfer-Encoding: chunked", chunks(PAGE)),
        ("Transfer-Encoding: gzip, chunked\r\nContent-Encoding: gzip", chunks(&gzip(PAGE))),
        // What an archive undid and left the fields of.
        ("Transfer-Encoding: chunked", PAGE.to_vec()),
        ("Content-Encoding: gzip", PAGE.to_vec()),
        ("Content-Encoding: br", PAGE.to_vec()),
        ("Content-Encoding: something", PAGE.to_vec()),
    ] {
        assert_eq!(body(fields, &sent), Ok((PAGE.to_vec(), true)), "{fields}");
    }
}

#[test]
fn a_body_that_breaks_off_is_what_is_there_of_it() {
    let chunked = b"5\r\nTom h\r\n5\r\nas";
    assert_eq!(body("Transfer-Encoding: chunked", chunked), Ok((b"Tom has".to_vec(), false)));
    assert_eq!(body("Transfer-Encoding: chunked", b"3\r\nTom\r\n"), Ok((b"Tom".to_vec(), false)));
    let text: Vec<u8> = (0..900_u32).map(|at| b'a' + u8::try_from(at * at % 26).unwrap()).collect();
    let packed = gzip(&text);
    let (found, is_whole) = body("Content-Encoding: gzip", &packed[..packed.len() - 9]).unwrap();
    assert!(!is_whole && text.starts_with(&found), "{} bytes", found.len());
}

#[test]
fn what_is_too_large_or_coded_otherwise_is_left_out() {
    let large = vec![b'a'; 1001];
    for (fields, sent, reason) in [
        ("", large.clone(), LeftOut::PageBytes),
        ("Content-Encoding: gzip", gzip(&large), LeftOut::PageBytes),
        ("Content-Encoding: gzip", [gzip(&large[..600]), gzip(&large[..600])].concat(), LeftOut::PageBytes),
        ("Content-Encoding: zstd", zstd::encode_all(&large[..], 3).unwrap(), LeftOut::PageBytes),
        ("Content-Encoding: gzip", b"no gzip".to_vec(), LeftOut::ContentEncoding),
        ("Content-Encoding: deflate", vec![0xff; 9], LeftOut::ContentEncoding),
        ("Content-Encoding: zstd", b"no zstd".to_vec(), LeftOut::ContentEncoding),
        ("Content-Encoding: br", vec![0xff; 9], LeftOut::ContentEncoding),
        ("Content-Encoding: compress", vec![0x1f, 0x9d, 1], LeftOut::ContentEncoding),
    ] {
        assert_eq!(body(fields, &sent), Err(reason), "{fields}");
    }
    assert_eq!(body("", &large[..1000]).map(|(body, _)| body.len()), Ok(1000));
}
