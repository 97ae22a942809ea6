use std::io::Write as _;

use corpora_contracts::config::Format;
use corpora_contracts::raw::RawDocument;
use corpora_contracts::receipt::SplitSettings;
use proptest::prelude::*;

use super::super::tests::{Done, Dribble, dropping, settings, split_bytes, split_on, split_reader};
use super::*;

/// A record of this type with these further fields and this block.
pub(super) fn record(kind: &str, fields: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n{fields}Content-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// The answer of a server at this address.
fn answer(url: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let block = [format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat();
    record(
        "response",
        &format!("WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"),
        &block,
    )
}

fn page(url: &str, body: &[u8]) -> Vec<u8> {
    answer(url, "200 OK\r\nContent-Type: text/html; charset=utf-8", body)
}

fn raw(done: &Done) -> Vec<RawDocument> {
    done.raw_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn dropped(done: &Done) -> Vec<(&str, u64)> {
    done.outcome.dropped.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
}

/// The texts and what was left out of an archive.
fn split(file: &[u8], settings: &SplitSettings) -> (Vec<String>, Vec<(String, u64)>) {
    let done = split_bytes(file, settings).unwrap_or_else(|error| panic!("{error}"));
    let texts = raw(&done).into_iter().map(|raw| raw.text).collect();
    (texts, done.outcome.dropped.into_iter().collect())
}

#[test]
fn a_page_is_written_as_the_contract_has_it() {
    let file = page("https://example.org/naps?a=\"b\"", "<p>Mia naps.\u{1}é</p>".as_bytes());
    let done = split_bytes(&file, &settings(Format::Warc)).unwrap();
    let digest = Digest::of("<p>Mia naps.\u{1}é</p>".as_bytes());
    assert_eq!(
        done.raw_lines(),
        [format!(
            "{{\"url\":\"https://example.org/naps?a=\\\"b\\\"\",\"fetched_at\":\"2026-01-01T00:00:00Z\",\
             \"license_spdx\":\"CC-BY-4.0\",\"text\":\"<p>Mia naps.\\u0001é</p>\",\"content_type\":\"text/html\",\
             \"meta\":{{\"charset\":\"UTF-8\",\"sha256\":\"{digest}\",\"status\":200,\
             \"warc_date\":\"2026-01-01T00:00:00Z\",\"warc_record_id\":\"<urn:uuid:1>\"}}}}"
        )]
    );
    let [document] = &raw(&done)[..] else { panic!("one page") };
    assert_eq!(serde_json::to_string(document).unwrap(), done.raw_lines()[0], "as a stock library writes it");
}

#[test]
fn records_that_are_no_pages_are_counted_by_reason() {
    let file = [
        record("warcinfo", "", b"software: x\r\n"),
        record("request", "WARC-Target-URI: http://h/\r\n", b"GET / HTTP/1.1\r\n\r\n"),
        page("http://h/1", b"<p>one</p>"),
        record("metadata", "", b"fetchTimeMs: 1"),
        record("metadata", "", b"fetchTimeMs: 1"),
        record("revisit", "WARC-Target-URI: http://h/\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
        record("continuation", "WARC-Target-URI: http://h/\r\n", b"rest"),
        record("conversion", "WARC-Target-URI: http://h/\r\n", b"text"),
        record("something", "", b""),
        answer("http://h/2", "404 Not Found\r\nContent-Type: text/html", b"<p>gone</p>"),
        answer("http://h/2", "301 Moved\r\nLocation: /\r\nContent-Type: text/html", b""),
        answer("http://h/3", "200 OK\r\nContent-Type: image/png", &[0; 300_000]),
        answer("http://h/4", "200 OK\r\nContent-Type: TEXT/HTML;charset=x", b"<p>two</p>"),
        answer("http://h/5", "200 OK\r\nContent-Type: application/xhtml+xml", b"<p>three</p>"),
        answer("http://h/6", "200 OK", b" <!DOCTYPE html><p>four</p>"),
        answer("http://h/7", "200 OK", b"{}"),
        answer("http://h/8", "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", b"\x1f\x8bno"),
        page("http://h/9", &[b'a'; 2001]),
        page("http://h/9", &[b'a'; 200_000]),
        record(
            "response",
            "WARC-Target-URI: dns:h\r\nContent-Type: text/dns\r\n",
            b"20260101000000\nh. 1 IN A 127.0.0.1",
        ),
        record(
            "response",
            "Content-Type: application/http\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>",
        ),
        record("resource", "WARC-Target-URI: <file:///a.html>\r\nContent-Type: text/html\r\n", b"<p>five</p>"),
        record("resource", "WARC-Target-URI: file:///a.png\r\nContent-Type: image/png\r\n", b"PNG"),
        record("resource", "WARC-Target-URI: file:///b\r\n", b"<html>six"),
    ]
    .concat();
    let mut limited = settings(Format::Warc);
    limited.documents.page_bytes = Some(2000);
    let done = split_bytes(&file, &limited).unwrap();
    let pages = raw(&done);
    let texts: Vec<_> = pages.iter().map(|page| page.text.as_str()).collect();
    assert_eq!(
        texts,
        ["<p>one</p>", "<p>two</p>", "<p>three</p>", " <!DOCTYPE html><p>four</p>", "<p>five</p>", "<html>six"]
    );
    assert_eq!(pages[4].url, "file:///a.html");
    assert_eq!(pages[2].content_type.as_deref(), Some("application/xhtml+xml"));
    assert!(pages[4].meta.as_ref().unwrap().get("status").is_none());
    assert_eq!(
        dropped(&done),
        [
            ("content_encoding", 1),
            ("continuation", 1),
            ("conversion", 1),
            ("metadata", 2),
            ("no_url", 1),
            ("not_html", 3),
            ("not_http", 1),
            ("other_type", 1),
            ("page_bytes", 2),
            ("request", 1),
            ("revisit", 1),
            ("status", 2),
            ("warcinfo", 1),
        ]
    );
}

#[test]
fn bodies_are_as_they_were_before_they_were_sent() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(b"<p>packed</p>").unwrap();
    let packed = packed.finish().unwrap();
    let sent = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    let file = [
        answer(
            "http://h/1",
            "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked",
            &sent,
        ),
        answer("http://h/2", "200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked", b"9\r\n<p>break"),
        record(
            "response",
            "WARC-Target-URI: http://h/3\r\nWARC-Truncated: length\r\nContent-Type: application/http\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>begun",
        ),
    ]
    .concat();
    let done = split_bytes(&file, &settings(Format::Warc)).unwrap();
    let pages = raw(&done);
    let told = |at: usize| pages[at].meta.as_ref().unwrap().get("truncated").and_then(|it| it.as_str());
    assert_eq!((pages[0].text.as_str(), told(0)), ("<p>packed</p>", None));
    assert_eq!((pages[1].text.as_str(), told(1)), ("<p>break", Some("body")));
    assert_eq!((pages[2].text.as_str(), told(2)), ("<p>begun", Some("length")));
    let meta = pages[0].meta.as_ref().unwrap();
    assert_eq!(meta["sha256"], Digest::of(b"<p>packed</p>").to_string(), "of the body before it was coded");
}

#[test]
fn charsets_are_those_of_header_page_and_bytes() {
    let cyrillic = "<p>Мама мыла раму.</p>";
    let (windows, _, _) = encoding_of("windows-1251").encode(cyrillic);
    let (koi8, _, _) = encoding_of("koi8-r").encode(cyrillic);
    let meta = [b"<meta charset=koi8-r>".as_slice(), &koi8].concat();
    for (head, body, charset) in [
        ("text/html; charset=windows-1251", windows.to_vec(), "windows-1251"),
        ("text/html", meta, "KOI8-R"),
        ("text/html", cyrillic.as_bytes().to_vec(), "UTF-8"),
        (
            "text/html",
            [b"\xff\xfe".to_vec(), cyrillic.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
            "UTF-16LE",
        ),
    ] {
        let file = answer("http://h/", &format!("200 OK\r\nContent-Type: {head}"), &body);
        let pages = raw(&split_bytes(&file, &settings(Format::Warc)).unwrap());
        assert!(pages[0].text.ends_with(cyrillic), "{charset}: {}", pages[0].text);
        assert_eq!(pages[0].meta.as_ref().unwrap()["charset"], charset);
    }
}

fn encoding_of(label: &str) -> &'static encoding_rs::Encoding {
    encoding_rs::Encoding::for_label(label.as_bytes()).unwrap()
}

#[test]
fn a_source_of_one_page_is_one_document() {
    let done = split_bytes(b"<meta charset=latin1><p>caf\xe9</p>", &settings(Format::Html)).unwrap();
    let [document] = &raw(&done)[..] else { panic!("one page") };
    assert_eq!((document.url.as_str(), document.content_type.as_deref()), ("https://host/file", Some("text/html")));
    assert_eq!(document.text, "<meta charset=latin1><p>café</p>");
    assert_eq!(document.meta.as_ref().unwrap()["charset"], "windows-1252");
    assert_eq!(split(b"", &settings(Format::Html)), (vec![String::new()], vec![]));

    let mut limited = settings(Format::Html);
    limited.documents.page_bytes = Some(9);
    assert_eq!(split(b"<p>123456", &limited).0, ["<p>123456"]);
    let error = split_bytes(b"<p>1234567", &limited).err().unwrap();
    assert!(error.to_string().contains("larger than 9 bytes (raise `page_bytes`"), "{error}");
    let mut left_out = dropping(Format::Html);
    left_out.documents.page_bytes = Some(9);
    assert_eq!(split(b"<p>1234567", &left_out), (vec![], vec![("page_bytes".to_owned(), 1)]));
}

#[test]
fn texts_of_pages_are_the_conversions() {
    let text =
        |fields: &str, block: &[u8]| record("conversion", &format!("WARC-Target-URI: http://h/\r\n{fields}"), block);
    let file = [
        record("warcinfo", "", b""),
        text("Content-Type: text/plain\r\nWARC-Refers-To: <urn:uuid:0>\r\n", "Mia naps.\né".as_bytes()),
        text("", b"No type"),
        text("Content-Type: image/png\r\n", b"PNG"),
        text("Content-Type: text/plain\r\n", &[b'a'; 101]),
        record("conversion", "Content-Type: text/plain\r\n", b"nowhere"),
        page("http://h/", b"<p>"),
    ]
    .concat();
    let mut limited = settings(Format::Wet);
    limited.documents.page_bytes = Some(100);
    let done = split_bytes(&file, &limited).unwrap();
    let pages = raw(&done);
    assert_eq!(pages.iter().map(|page| page.text.as_str()).collect::<Vec<_>>(), ["Mia naps.\né", "No type"]);
    assert_eq!((pages[0].url.as_str(), pages[0].content_type.as_deref()), ("http://h/", Some("text/plain")));
    assert_eq!(pages[0].meta.as_ref().unwrap()["warc_refers_to"], "<urn:uuid:0>");
    assert_eq!(dropped(&done), [("no_url", 1), ("not_text", 1), ("page_bytes", 1), ("response", 1), ("warcinfo", 1)]);
}

#[test]
fn an_archive_is_the_same_packed_in_members_in_frames_and_plain() {
    let records: Vec<Vec<u8>> =
        (0..40).map(|at| page(&format!("http://h/{at}"), format!("<p>page {at}</p>").as_bytes())).collect();
    let members: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
    let frames: Vec<u8> = records.iter().flat_map(|record| zstd::encode_all(&record[..], 3).unwrap()).collect();
    let plain = records.concat();
    let of = |bytes: &[u8], name, workers| {
        split_on(workers, &mut &*bytes, name, &SplitSettings { part_docs: 7, ..settings(Format::Warc) }).unwrap()
    };
    let expected = of(&plain, "a.warc", 1);
    assert_eq!((expected.outcome.n_docs, expected.outcome.parts.len()), (40, 6));
    for (bytes, name, workers) in [(&members, "a.warc.gz", 1), (&frames, "a.warc.zst", 2), (&plain, "a.warc", 2)] {
        assert_eq!(of(bytes, name, workers).outcome, expected.outcome, "{name}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_archive_cut_at_any_byte_is_an_error_or_whole_records() {
    let records = [page("http://h/1", b"<p>one</p>"), record("request", "", b"GET"), page("http://h/2", b"<p>two</p>")];
    let plain = records.concat();
    let members: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
    let ends = |packed: &dyn Fn(&[u8]) -> Vec<u8>| {
        let lengths = records.iter().map(|record| packed(record).len());
        lengths
            .scan(0, |end, length| {
                *end += length;
                Some(*end)
            })
            .collect::<Vec<usize>>()
    };
    let pages_before = |at: usize| [0, 1, 1, 2][at];
    for (file, name, ends) in [(&plain, "a.warc", ends(&<[u8]>::to_vec)), (&members, "a.warc.gz", ends(&gzip))] {
        for cut in 1..file.len() {
            match split_reader(&mut &file[..cut], name, &settings(Format::Warc)) {
                Ok(done) => {
                    let whole = ends.iter().position(|end| *end == cut).map(|at| at + 1);
                    assert_eq!(whole.map(pages_before), Some(done.outcome.n_docs), "{name} {cut}");
                }
                Err(error) => {
                    assert!(!ends.contains(&cut), "{name} {cut}: {error}");
                    assert_eq!(error.disposition(), corpora_contracts::outcome::Disposition::Fail, "{name} {cut}");
                    assert!(!matches!(error, SplitError::Document { .. }), "{name} {cut}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_an_answer_says_of_its_use_is_kept() {
    let head = "200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: noai, otherbot: noindex\r\nTDM-Reservation: 1\r\n\
                Link: <https://h.example/l>; rel=license\r\nContent-Usage: train-ai=n";
    let pages = raw(&split_bytes(&answer("http://h/", head, b"<p>"), &settings(Format::Warc)).unwrap());
    let rights = &pages[0].meta.as_ref().unwrap()["rights"];
    let expected = serde_json::json!({
        "robots": ["noai"], "tdm_reservation": true, "content_usage": ["train-ai=n"], "licenses": ["https://h.example/l"],
    });
    assert_eq!(*rights, expected);
}

/// Records with their types, fields that may be folded, and any blocks, as (type, bytes of the record).
fn any_record() -> impl Strategy<Value = (String, Vec<u8>)> {
    let kinds = prop::sample::select(vec!["response", "resource", "request", "conversion", "odd"]);
    let heads = prop::sample::select(vec![
        "",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 404\n\n",
    ]);
    let fields = prop::sample::select(vec![
        "",
        "WARC-Target-URI: http://h/\r\n",
        "WARC-Target-URI:\r\n <http://h/>\r\nContent-Type: text/html\r\n",
    ]);
    (kinds, heads, fields, prop::collection::vec(any::<u8>(), 0..300)).prop_map(|(kind, head, fields, body)| {
        (kind.to_owned(), record(kind, fields, &[head.as_bytes(), &body].concat()))
    })
}

proptest! {
    // Each case writes its parts to the disk.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_record_is_a_document_or_counted_in_whatever_pieces_it_comes(
        records in prop::collection::vec(any_record(), 0..8),
        most in 1_usize..90,
    ) {
        let file: Vec<u8> = records.iter().flat_map(|(_, record)| record.clone()).collect();
        for format in [Format::Warc, Format::Wet] {
            let mut source = Dribble { bytes: &file, most };
            let done = split_reader(&mut source, "f", &settings(format)).unwrap();
            let left_out: u64 = done.outcome.dropped.values().sum();
            prop_assert_eq!(done.outcome.n_docs + left_out, records.len() as u64);
            prop_assert_eq!(done.raw_lines(), split_bytes(&file, &settings(format)).unwrap().raw_lines());
            let odd = records.iter().filter(|(kind, _)| kind == "odd").count() as u64;
            prop_assert_eq!(done.outcome.dropped.get("other_type").copied().unwrap_or_default(), odd);
        }
    }

    #[test]
    fn a_changed_byte_is_an_error_or_another_archive(
        records in prop::collection::vec(any_record(), 1..4),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut file: Vec<u8> = records.iter().flat_map(|(_, record)| record.clone()).collect();
        let at = at.index(file.len());
        file[at] = byte;
        match split_bytes(&file, &settings(Format::Warc)) {
            Ok(done) => prop_assert!(done.raw_lines().len() <= records.len()),
            Err(error) => prop_assert!(matches!(error, SplitError::Record { .. }), "{}", error),
        }
    }
}
