//! Between us and the server: proxies from the environment, certificates, TLS that ends too early.

use std::net::TcpListener;
use std::time::Duration;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, Run, SourceToml, TINY};
use corpora_tests::servers::{Answer, Authority, FaultyServer, Identity, Proxy};

/// A source at a host that only the proxy knows.
fn behind_the_proxy(scheme: &str) -> SourceToml {
    SourceToml::new("tiny", &format!("{scheme}://corpus.invalid/tiny.jsonl"), TINY)
}

#[test]
fn a_plain_request_goes_through_the_proxy_in_absolute_form() {
    let lab = Lab::new();
    let proxy = Proxy::start(lab.server.port());
    lab.server.script("/tiny.jsonl", [Answer::object(TINY).cut_after(20), Answer::object(TINY)]);
    lab.work.configure(behind_the_proxy("http"));
    let run = lab.fetch().env("http_proxy", proxy.url("")).run().exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Fetched, 2));
    assert_eq!(proxy.log()[0].request.target, "http://corpus.invalid/tiny.jsonl");
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["", "bytes=20-"], "the proxy passes ranges on");
    lab.assert_rerun_is_free();
}

#[test]
fn an_encrypted_request_goes_through_a_tunnel() {
    let authority = Authority::create("ours");
    let lab = Lab::new().with_server(FaultyServer::start_tls(authority.identity()));
    let proxy = Proxy::start(lab.server.port());
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let url = format!("https://localhost:{}/tiny.jsonl", lab.server.port());
    lab.work.configure(lab.tiny().with("url", url));
    let run = lab.fetch().env("HTTPS_PROXY", proxy.url("")).env("SSL_CERT_FILE", authority.file()).run().exits(0);
    assert_eq!(run.entry("tiny").status, Status::Fetched);
    let first = proxy.log().remove(0).request;
    assert_eq!((first.method.as_str(), first.target), ("CONNECT", format!("localhost:{}", lab.server.port())));
}

#[test]
fn a_proxys_password_is_sent_to_it_and_printed_nowhere() {
    let lab = Lab::new();
    let proxy = Proxy::start(lab.server.port());
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(behind_the_proxy("http"));
    let run = lab.fetch().args(["-v"]).env("http_proxy", proxy.url("me:s3cret@")).run().exits(0);
    // `me:s3cret` in base64.
    assert_eq!(proxy.log()[0].request.header("proxy-authorization"), Some("Basic bWU6czNjcmV0"));
    assert!(lab.server.log()[0].request.header("proxy-authorization").is_none());
    assert!(!run.printed().contains("s3cret"), "{}", run.printed());
}

#[test]
fn a_proxy_is_left_out_where_no_proxy_says_so() {
    let lab = Lab::new();
    let proxy = Proxy::start(lab.server.port());
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny());
    let _ = lab.fetch().env("http_proxy", proxy.url("")).env("no_proxy", "127.0.0.1").run().exits(0);
    assert!(proxy.log().is_empty());
}

#[test]
fn a_proxy_that_is_down_may_come_back() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().env("http_proxy", format!("http://me:s3cret@127.0.0.1:{port}")).run().exits(75);
    assert!(!run.printed().contains("s3cret"), "{}", run.printed());
    assert!(lab.server.log().is_empty(), "never around the proxy");
}

/// A lab behind TLS.
fn tls_lab(identity: Identity) -> Lab {
    let lab = Lab::new().with_server(FaultyServer::start_tls(identity));
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny());
    lab
}

/// A run in two attempts that trusts the authority.
fn trusting(lab: &Lab, authority: &Authority) -> Run {
    lab.fetch().args(["--attempts", "2"]).env("SSL_CERT_FILE", authority.file())
}

#[test]
fn a_trusted_certificate_is_enough() {
    let authority = Authority::create("ours");
    let lab = tls_lab(authority.identity());
    let run = trusting(&lab, &authority).run().exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").bytes), (Status::Fetched, 54));
    assert!(lab.work.rows()[0].url.starts_with("https://127.0.0.1:"));
}

#[test]
fn a_bad_certificate_is_bad_next_time_too() {
    let (authority, stranger, forger) =
        (Authority::create("ours"), Authority::create("a stranger"), Authority::create("ours"));
    let cases = [
        ("nobody we know signed it", stranger.identity()),
        ("somebody signed it in a trusted name", forger.identity()),
        ("it is for another host", authority.identity_of_another_host()),
        ("its time is over", authority.expired_identity()),
    ];
    for (name, identity) in cases {
        let lab = tls_lab(identity);
        let run = trusting(&lab, &authority).run().exits(65);
        assert_eq!(run.entry("tiny").status, Status::Failed, "{name}");
        assert!(run.error("tiny").message.contains("certificate"), "{name}: {:?}", run.error("tiny"));
        assert!(lab.server.log().is_empty(), "{name}: nothing is asked of a server that is not who it says");
    }
}

#[test]
fn a_handshake_that_is_cut_may_succeed_later() {
    let authority = Authority::create("ours");
    let lab = tls_lab(Identity::CutHandshake);
    let run = trusting(&lab, &authority).run().exits(75);
    assert_eq!(run.entry("tiny").status, Status::Failed);
}

#[test]
fn an_encrypted_body_that_is_cut_goes_on() {
    let authority = Authority::create("ours");
    let lab = tls_lab(authority.identity());
    let answers = [
        Answer::object(TINY).cut_after(20),
        Answer::object(TINY).reset_after(4),
        Answer::object(TINY).stall_after(6, Duration::from_secs(3)),
        Answer::object(TINY),
    ];
    lab.server.script("/tiny.jsonl", answers);
    let run = lab.fetch().args(["--timeout", "1"]).env("SSL_CERT_FILE", authority.file()).run().exits(0);
    assert_eq!(lab.server.ranges("/tiny.jsonl"), ["", "bytes=20-", "bytes=24-", "bytes=30-"]);
    assert_eq!(run.entry("tiny").bytes, 54);
}
