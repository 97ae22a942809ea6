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

#[test]
fn a_self_signed_certificate_that_a_person_has_named_is_enough() {
    let own = Authority::create("a server of ours");
    let lab = tls_lab(own.own_identity());
    let run = trusting(&lab, &own).run().exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").bytes), (Status::Fetched, 54));

    let folder = own.file().parent().unwrap().to_owned();
    let lab = tls_lab(own.own_identity());
    let _ = lab.fetch().env("SSL_CERT_DIR", folder).run().exits(0);
}

#[test]
fn a_self_signed_certificate_is_judged_like_any_other() {
    let (own, other) = (Authority::create("a server of ours"), Authority::create("a server of ours"));
    let elsewhere = Authority::create_for("a server of ours", &["corpus.example"], 2099);
    let expired = Authority::create_for("a server of ours", &["localhost", "127.0.0.1"], 2001);
    for (name, shown, trusted) in [
        ("another key under the same name", &other, &own),
        ("it is for another host", &elsewhere, &elsewhere),
        ("its time is over", &expired, &expired),
    ] {
        let lab = tls_lab(shown.own_identity());
        let run = trusting(&lab, trusted).run().exits(65);
        assert_eq!(run.error("tiny").kind, "certificate", "{name}: {:?}", run.error("tiny"));
        assert!(lab.server.log().is_empty(), "{name}");
    }
}

/// Runs that a broken variable stops, unless nothing is asked.
#[track_caller]
fn assert_is_told(variable: &str, value: &str) {
    let lab = Lab::new();
    let tiny = lab.serve("tiny", TINY);
    lab.work.configure([tiny.clone(), lab.serve("other", b"{\"text\":\"\"}\n")]);
    let run = lab.fetch().env(variable, value).run().exits(65);
    let error = run.error("tiny");
    assert_eq!(error.kind, "client", "{variable}={value}: {error:?}");
    assert!(error.message.contains(&format!("`{variable}`")), "{error:?}");
    assert!(!run.printed().contains("s3cret"), "{}", run.printed());
    assert!(lab.server.log().is_empty(), "{variable}={value}: nothing is asked past it");

    lab.work.configure(tiny);
    let _ = lab.fetch().run().exits(0);
    let cached = lab.fetch().env(variable, value).run().exits(0);
    assert_eq!(cached.entry("tiny").status, Status::Cached, "a run that asks nothing needs none of it");
    lab.work.place("tiny.jsonl", TINY);
    lab.work.configure(SourceToml::new("local", "tiny.jsonl", TINY));
    let _ = lab.fetch().env(variable, value).run().exits(0);
}

#[test]
fn a_ca_variable_that_gives_no_certificate_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("text.pem"), "no certificate\n").unwrap();
    std::fs::write(path("torn.pem"), "-----BEGIN CERTIFICATE-----\nMIIB\n").unwrap();
    std::fs::create_dir(path("empty")).unwrap();
    for value in [path("absent"), path("text.pem"), path("torn.pem"), path("empty")] {
        assert_is_told("SSL_CERT_FILE", &value);
    }
    for value in [path("absent"), path("text.pem"), path("empty")] {
        assert_is_told("SSL_CERT_DIR", &value);
    }
}

#[test]
fn a_proxy_variable_that_names_no_proxy_is_an_error() {
    for variable in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        assert_is_told(variable, "http://me:s3cret@proxy:port");
    }
    for value in ["http://", "http://pro xy:3128", "socks5://me:s3cret@proxy:1080", "http://proxy:99999"] {
        assert_is_told("http_proxy", value);
    }
}

#[test]
fn pin_tells_of_a_broken_variable_too() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let run = lab.program(["pin"]).arg(lab.url("/tiny.jsonl")).env("SSL_CERT_FILE", "absent.pem").run().exits(65);
    assert!(run.stderr.contains("`SSL_CERT_FILE`"), "{}", run.stderr);
    assert!(lab.server.log().is_empty());
}
