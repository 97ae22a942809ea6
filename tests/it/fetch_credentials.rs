//! Credentials reach the host they are for, and are written down nowhere.

use std::fs;
use std::path::Path;

use corpora_tests::harness::{Lab, Outcome, TINY};
use corpora_tests::servers::Answer;
use serde_json::json;

/// Stands nowhere but in the environment or the netrc file.
const CANARY: &str = "canary-5f2e81";
/// `reader:canary-5f2e81` in base64 (RFC 7617 section 2).
const BASIC: &str = "Basic cmVhZGVyOmNhbmFyeS01ZjJlODE=";
const NETRC: &str = "machine 127.0.0.1\n  login reader\n  password canary-5f2e81\n";

/// Requires that no secret was printed or written, however it is encoded.
#[track_caller]
fn assert_no_secret(lab: &Lab, run: &Outcome) {
    for secret in [CANARY, &BASIC[6..]] {
        assert!(!run.printed().contains(secret), "{}", run.printed());
        for path in lab.work.tree().paths() {
            let bytes = fs::read(lab.work.path(path)).unwrap();
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{path} holds a secret");
        }
    }
}

fn authorizations(lab: &Lab) -> Vec<Option<String>> {
    let value = |logged: &corpora_tests::servers::Logged| logged.request.header("authorization").map(str::to_owned);
    lab.server.log().iter().map(value).collect()
}

#[test]
fn a_bearer_token_is_sent_with_every_request_and_kept_nowhere() {
    let lab = Lab::new();
    let answers = [Answer::status(503), Answer::object(TINY).cut_after(20), Answer::object(TINY)];
    lab.server.script("/tiny.jsonl", answers);
    let source = lab.tiny().with("auth", json!({ "bearer_env": "HUB_TOKEN" }));
    let activity = lab.work.activity("w/r/a", source);
    let run = lab.program(["run", "--stage", "fetch", "-v", "--log-format", "json", "--base-delay", "0.01", "--spec"]);
    let run = run.arg(activity.join("spec.json")).arg("--progress").arg(activity.join("progress.jsonl"));
    let run = run.env("HUB_TOKEN", CANARY).run().exits(0);
    assert_eq!(authorizations(&lab), vec![Some(format!("Bearer {CANARY}")); 3]);
    assert!(activity.join("progress.jsonl").exists() && activity.join("DONE.json").exists());
    assert_no_secret(&lab, &run);
}

#[test]
fn a_refused_token_is_named_by_its_variable_only() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::status(401));
    lab.work.configure(lab.tiny().with("auth", json!({ "bearer_env": "HUB_TOKEN" })));
    let run = lab.fetch().args(["-v"]).env("HUB_TOKEN", CANARY).run().exits(65);
    assert!(run.error("tiny").message.contains("401"), "{:?}", run.error("tiny"));
    assert_no_secret(&lab, &run);
}

#[test]
fn a_token_variable_that_is_not_set_is_said_before_any_request() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    let run = lab.fetch_config(lab.tiny().with("auth", json!({ "bearer_env": "HUB_TOKEN" }))).exits(65);
    assert!(run.stderr.contains("HUB_TOKEN"), "{}", run.stderr);
    assert!(lab.server.log().is_empty());
}

#[test]
fn netrc_is_read_from_home_or_where_netrc_says() {
    let cases = [
        ("~/.netrc", Some("home/.netrc"), None, Some(BASIC)),
        ("$NETRC", Some("my-netrc"), Some("my-netrc"), Some(BASIC)),
        ("a file nobody named", Some("my-netrc"), None, None),
        ("no file", None, None, None),
        ("$NETRC names none", None, Some("my-netrc"), None),
    ];
    for (name, written, named, expected) in cases {
        let lab = Lab::new();
        if let Some(written) = written {
            fs::write(lab.work.root().join(written), NETRC).unwrap();
        }
        lab.server.serve("/tiny.jsonl", Answer::object(TINY));
        lab.work.configure(lab.tiny());
        let run = lab.fetch().args(["-v"]);
        let run = match named {
            Some(named) => run.env("NETRC", lab.work.root().join(named)),
            None => run,
        };
        let run = run.run().exits(0);
        assert_eq!(authorizations(&lab), [expected.map(str::to_owned)], "{name}");
        assert_no_secret(&lab, &run);
    }
}

#[test]
fn netrc_is_for_its_own_host() {
    let lab = Lab::new();
    fs::write(lab.work.home().join(".netrc"), NETRC).unwrap();
    lab.server.serve("/tiny.jsonl", Answer::redirect(302, &lab.server.localhost_url("/there")));
    lab.server.serve("/there", Answer::object(TINY));
    let _ = lab.fetch_config(lab.tiny()).exits(0);
    assert_eq!(authorizations(&lab), [Some(BASIC.to_owned()), None]);
}

#[test]
fn a_token_of_the_config_comes_before_netrc() {
    let lab = Lab::new();
    fs::write(lab.work.home().join(".netrc"), NETRC).unwrap();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny().with("auth", json!({ "bearer_env": "HUB_TOKEN" })));
    let _ = lab.fetch().env("HUB_TOKEN", "t0ken").run().exits(0);
    assert_eq!(authorizations(&lab), [Some("Bearer t0ken".to_owned())]);
}

#[test]
fn userinfo_in_a_url_is_refused_without_being_repeated() {
    let lab = Lab::new();
    let url = format!("http://reader:{CANARY}@127.0.0.1:{}/tiny.jsonl", lab.server.port());
    for key in ["url", "mirrors"] {
        let value = if key == "url" { json!(url) } else { json!([url]) };
        let run = lab.fetch_config(lab.tiny().with(key, value)).exits(65);
        assert!(run.stderr.contains("***") && run.stderr.contains("corpus.toml:"), "{key}: {}", run.stderr);
        assert_no_secret(&lab, &run);
    }
    assert!(lab.server.log().is_empty());
    assert!(!Path::new(lab.work.artifacts()).join("corpus").exists());
}

#[test]
fn a_token_that_no_header_can_carry_is_said_before_any_request() {
    for token in ["", "canary-5f2e81\nX-Injected: yes", "canary-5f2e81\u{7f}"] {
        let lab = Lab::new();
        lab.server.serve("/tiny.jsonl", Answer::object(TINY));
        lab.work.configure(lab.tiny().with("auth", json!({ "bearer_env": "HUB_TOKEN" })));
        let run = lab.fetch().env("HUB_TOKEN", token).run().exits(65);
        assert!(run.stderr.contains("HUB_TOKEN"), "{token:?}: {}", run.stderr);
        assert_eq!((lab.server.log().len(), run.entry("tiny").requests), (0, 0), "{token:?}");
        assert_no_secret(&lab, &run);
    }
}

#[test]
fn a_netrc_that_cannot_be_read_is_said_without_quoting_it() {
    for netrc in ["machine 127.0.0.1 login reader password canary-5f2e81 colour red", "password canary-5f2e81"] {
        let lab = Lab::new();
        fs::write(lab.work.home().join(".netrc"), netrc).unwrap();
        lab.server.serve("/tiny.jsonl", Answer::object(TINY));
        let run = lab.fetch_config(lab.tiny()).exits(65);
        assert!(run.stderr.contains("netrc"), "{}", run.stderr);
        assert!(lab.server.log().is_empty(), "not without the credential that was meant for it");
        assert_no_secret(&lab, &run);
    }
}

#[test]
fn a_bearer_token_is_not_for_a_mirror_on_another_host() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::status(404));
    lab.server.serve("/mirror", Answer::object(TINY));
    let elsewhere = lab.server.localhost_url("/mirror");
    let source = lab.tiny().with("auth", json!({ "bearer_env": "HUB_TOKEN" })).with("mirrors", [elsewhere]);
    lab.work.configure(source);
    let _ = lab.fetch().env("HUB_TOKEN", CANARY).run().exits(0);
    assert_eq!(authorizations(&lab), [Some(format!("Bearer {CANARY}")), None]);
}
