//! The test servers do what they say: proper ranges when asked properly, and each fault as named.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use corpora_tests::harness::TINY;
use corpora_tests::servers::{Answer, FaultyServer, Gate, Ranges};

/// Asks once over a connection of its own and gives back everything until it ends, and whether it ended in order.
fn ask(server: &FaultyServer, path: &str, headers: &str) -> (String, bool) {
    let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut answer = Vec::new();
    let in_order = socket.read_to_end(&mut answer).is_ok();
    (String::from_utf8(answer).unwrap(), in_order)
}

#[test]
fn ranges_are_honoured_unless_told_otherwise() {
    let server = FaultyServer::start();
    let object = || Answer::object("0123456789").etag("\"v1\"");
    let cases = [
        ("plain", object(), "", "200", None, "0123456789"),
        ("range", object(), "Range: bytes=4-\r\n", "206", Some("bytes 4-9/10"), "456789"),
        ("if-range", object(), "Range: bytes=4-\r\nIf-Range: \"v1\"\r\n", "206", Some("bytes 4-9/10"), "456789"),
        ("changed", object(), "Range: bytes=4-\r\nIf-Range: \"v0\"\r\n", "200", None, "0123456789"),
        ("weak", object().etag("W/\"v1\""), "Range: bytes=4-\r\nIf-Range: W/\"v1\"\r\n", "200", None, "0123456789"),
        ("beyond", object(), "Range: bytes=10-\r\n", "416", Some("bytes */10"), ""),
        ("deaf", object().ranges(Ranges::Ignore), "Range: bytes=4-\r\n", "200", None, "0123456789"),
        (
            "early",
            object().ranges(Ranges::StartEarlier(1)),
            "Range: bytes=4-\r\n",
            "206",
            Some("bytes 3-9/10"),
            "3456789",
        ),
        ("refused", object().ranges(Ranges::Refuse(403)), "Range: bytes=4-\r\n", "403", None, "no ranges here\n"),
    ];
    for (name, answer, headers, status, content_range, body) in cases {
        server.serve("/object", answer);
        let (text, _) = ask(&server, "/object", headers);
        let (head, got) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{name}: {head}");
        let range = head.lines().find_map(|line| line.strip_prefix("Content-Range: "));
        assert_eq!((range, got), (content_range, body), "{name}");
    }
}

#[test]
fn connections_end_where_and_how_they_are_cut() {
    let server = FaultyServer::start();
    server.script("/cut", [Answer::object(TINY).cut_after(20), Answer::object(TINY).reset_after(20)]);
    for by_fin in [true, false] {
        let (text, in_order) = ask(&server, "/cut", "");
        assert_eq!(in_order, by_fin);
        assert!(text.contains("Content-Length: 54\r\n") && text.ends_with("{\"text\": \"Tom has a "), "{text}");
    }
    server.serve("/hang-up", Answer::hang_up());
    assert_eq!(ask(&server, "/hang-up", "").0, "");
    let sent: Vec<u64> = server.log().iter().map(|logged| logged.sent()).collect();
    assert_eq!(sent, [20, 20, 0], "the log counts the body bytes of every answer");
}

#[test]
fn bodies_are_framed_and_paced_as_told() {
    let server = FaultyServer::start();
    let pause = Duration::from_millis(60);
    let cases = [
        ("chunked", Answer::object("abc").chunked(), "3\r\nabc\r\n0\r\n\r\n", 0),
        ("torn chunks", Answer::object("abcdef").chunked().cut_after(3), "3\r\nabc\r\n", 0),
        ("until close", Answer::object("abc").until_close(), "abc", 0),
        ("too long a claim", Answer::object("abc").claim_length(9), "abc", 0),
        ("silence", Answer::object("abc").head_after(pause), "abc", 1),
        ("stall", Answer::object("abc").stall_after(1, pause), "abc", 1),
        ("drip", Answer::object("abc").drip(1, pause), "abc", 3),
    ];
    for (name, answer, body, pauses) in cases {
        server.serve("/body", answer);
        let asked = Instant::now();
        let (text, _) = ask(&server, "/body", "");
        assert_eq!(text.split_once("\r\n\r\n").unwrap().1, body, "{name}");
        assert!(asked.elapsed() >= pause * pauses, "{name}");
    }
}

#[test]
fn a_gate_holds_and_the_gauge_sees_who_is_held() {
    let server = FaultyServer::start();
    let gate = Gate::opening_at(3);
    server.serve("/held", Answer::object("abc").held_at(&gate));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| ask(&server, "/held", ""));
        }
    });
    assert_eq!((server.gauge().max(), server.gauge().current()), (3, 0));
}
