//! Redirects: how far, where to, and who learns what on the way.

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, TINY};
use corpora_tests::servers::{Answer, Authority, FaultyServer};

/// A chain of `hops` redirects from `/tiny.jsonl` to the file.
fn chain(lab: &Lab, hops: usize) {
    let place = |hop: usize| if hop == 0 { "/tiny.jsonl".to_owned() } else { format!("/hop/{hop}") };
    for hop in 0..hops {
        lab.server.serve(&place(hop), Answer::redirect(302, &place(hop + 1)));
    }
    lab.server.serve(&place(hops), Answer::object(TINY));
}

#[test]
fn five_redirects_are_followed_and_a_sixth_is_not() {
    let lab = Lab::new();
    chain(&lab, 5);
    let run = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Fetched, 6));
    assert_eq!(lab.work.rows()[0].url, lab.server.url("/tiny.jsonl"), "the ledger keeps the configured url");
    lab.assert_rerun_is_free();

    let lab = Lab::new();
    chain(&lab, 6);
    let run = lab.fetch_config(lab.tiny()).exits(65);
    assert_eq!((run.entry("tiny").status, run.entry("tiny").requests), (Status::Failed, 6));
    assert!(lab.server.requests("/hop/6").is_empty());
    assert!(run.error("tiny").message.contains("redirect"), "{:?}", run.error("tiny"));
}

#[test]
fn a_loop_is_called_a_loop() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::redirect(301, "/a"));
    lab.server.serve("/a", Answer::redirect(301, "/tiny.jsonl"));
    let run = lab.fetch_config(lab.tiny()).exits(65);
    let message = run.error("tiny").message;
    assert!(message.contains("redirect") && message.contains("loop"), "{message}");
    assert!(lab.server.log().len() <= 6);
}

#[test]
fn locations_resolve_against_where_they_were_found() {
    let cases = [
        ("/deep/tiny.jsonl", "next", "/deep/next"),
        ("/deep/tiny.jsonl", "../up", "/up"),
        ("/deep/tiny.jsonl", "?version=2", "/deep/tiny.jsonl?version=2"),
        ("/deep/tiny.jsonl", "/a%20b", "/a%20b"),
        ("/deep/tiny.jsonl", "next#fragment", "/deep/next"),
    ];
    for (from, location, to) in cases {
        let lab = Lab::new();
        lab.server.serve(from, Answer::redirect(302, location));
        lab.server.serve(to, Answer::object(TINY));
        let run = lab.fetch_config(lab.tiny().with("url", lab.server.url(from))).exits(0);
        assert_eq!(run.entry("tiny").requests, 2, "{location}");
        assert_eq!(lab.server.log()[1].request.target, to, "{location}");
    }
}

#[test]
fn a_redirect_that_leads_nowhere_is_final() {
    let lab = Lab::new();
    lab.work.place("secret.txt", "never read");
    let file = format!("file://{}", lab.work.config_folder().join("secret.txt").display());
    let cases = [
        ("no Location", Answer::status(302)),
        ("no URL", Answer::redirect(302, "http://[::1/")),
        ("another scheme", Answer::redirect(302, "ftp://127.0.0.1/tiny.jsonl")),
        ("a local file", Answer::redirect(302, &file)),
        ("multiple choices without one", Answer::status(300)),
    ];
    for (name, answer) in cases {
        lab.server.forget();
        lab.server.serve("/tiny.jsonl", answer);
        let run = lab.fetch_config(lab.tiny()).exits(65);
        assert_eq!((run.entry("tiny").status, lab.server.log().len()), (Status::Failed, 1), "{name}");
        assert!(!run.printed().contains("never read"));
    }
}

#[test]
fn encryption_is_never_given_up_on_the_way() {
    let authority = Authority::create("ours");
    let lab = Lab::new().with_server(FaultyServer::start_tls(authority.identity()));
    let plain = FaultyServer::start();
    plain.serve("/tiny.jsonl", Answer::object(TINY));
    lab.server.serve("/tiny.jsonl", Answer::redirect(302, &plain.url("/tiny.jsonl")));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().env("SSL_CERT_FILE", authority.file()).run().exits(65);
    assert_eq!(run.entry("tiny").status, Status::Failed);
    assert!(run.error("tiny").message.contains("https"), "{:?}", run.error("tiny"));
    assert!(plain.log().is_empty());

    plain.serve("/tiny.jsonl", Answer::redirect(302, &lab.server.url("/good.jsonl")));
    lab.server.serve("/good.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny().with("url", plain.url("/tiny.jsonl")));
    let run = lab.fetch().env("SSL_CERT_FILE", authority.file()).run().exits(0);
    assert_eq!(run.entry("tiny").requests, 2, "the other way round is fine");
}

#[test]
fn a_token_never_leaves_its_host() {
    let lab = Lab::new();
    let source = lab.tiny().with("auth", serde_json::json!({ "bearer_env": "CANARY" }));
    lab.server.serve("/tiny.jsonl", Answer::redirect(307, "/same-host"));
    lab.server.serve("/same-host", Answer::redirect(307, &lab.server.localhost_url("/other-host")));
    lab.server.serve("/other-host", Answer::redirect(307, &lab.server.url("/back-again")));
    lab.server.serve("/back-again", Answer::object(TINY));
    lab.work.configure(source);
    let _ = lab.fetch().env("CANARY", "t0ken").run().exits(0);
    let token = |path: &str| lab.server.requests(path)[0].request.header("authorization").map(str::to_owned);
    let bearer = Some("Bearer t0ken".to_owned());
    assert_eq!((token("/tiny.jsonl"), token("/same-host")), (bearer.clone(), bearer));
    assert_eq!(token("/other-host"), None);
}

#[test]
fn a_password_in_a_location_is_not_repeated() {
    let lab = Lab::new();
    let userinfo = format!("http://user:s3cret@127.0.0.1:{}/gone", lab.server.port());
    lab.server.serve("/tiny.jsonl", Answer::redirect(302, &userinfo));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().args(["-v"]).run().exits(65);
    assert_eq!(run.entry("tiny").status, Status::Failed);
    assert!(!run.printed().contains("s3cret"), "{}", run.printed());
}
