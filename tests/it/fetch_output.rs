//! What is printed where, usage, and the clock.

use std::time::SystemTime;

use corpora_contracts::summary::Status;
use corpora_contracts::time::Timestamp;
use corpora_tests::harness::{Lab, TINY};
use corpora_tests::servers::Answer;

#[test]
fn stdout_is_one_compact_object_whatever_the_end() {
    let cases = [
        (Answer::object(TINY), 0),
        (Answer::object("swapped"), 65),
        (Answer::status(404), 65),
        (Answer::status(503), 75),
    ];
    for (answer, code) in cases {
        for flags in [&[][..], &["-v"], &["-q"], &["--log-format", "json"], &["--output", "json"]] {
            let lab = Lab::new();
            lab.server.serve("/tiny.jsonl", answer.clone());
            lab.work.configure(lab.tiny());
            let run = lab.fetch().args(flags).run().exits(code);
            let summary = run.summary();
            assert_eq!(run.stdout.lines().count(), 1, "{flags:?}: {}", run.stdout);
            assert_eq!((summary.stage.as_str(), summary.ok, summary.entries.len()), ("fetch", code == 0, 1));
            assert!(!run.stderr.contains('\u{1b}'), "no colours and no bars without a terminal: {}", run.stderr);
        }
    }
}

#[test]
fn both_spellings_of_the_stage_are_one() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny());
    let run = lab.program(["run", "--stage", "fetch", "--config"]).arg(lab.work.config_file()).run().exits(0);
    assert_eq!(run.entry("tiny").status, Status::Fetched);
    lab.assert_rerun_is_free();
}

#[test]
fn the_artifacts_directory_is_the_flags_then_the_variables_then_the_shells() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny());
    let flag = lab.work.root().join("by-flag");
    let _ = lab.fetch().arg("--artifacts").arg(&flag).run().exits(0);
    let _ = lab.fetch().without_env("CORPORA_ARTIFACTS").run().exits(0);
    let _ = lab.fetch().run().exits(0);
    let here = lab.work.home().join("artifacts");
    for folder in [&flag, &here, lab.work.artifacts()] {
        assert!(folder.join("corpus/LEDGER.jsonl").exists(), "{}", folder.display());
    }
}

#[test]
fn usage_errors_are_two_and_touch_nothing() {
    let cases: [&[&str]; 18] = [
        &["--no-such-flag"],
        &["--concurrency", "0"],
        &["--concurrency", "-1"],
        &["--concurrency", "many"],
        &["--attempts", "0"],
        &["--part-docs", "0"],
        &["--timeout", "0"],
        &["--timeout", "-1"],
        &["--timeout", "NaN"],
        &["--timeout", "inf"],
        &["--base-delay", "-0.1"],
        &["--base-delay", "NaN"],
        &["--lock-timeout", "-1"],
        &["--source", "unknown"],
        &["--source", "tiny", "--source", "unknown"],
        &["--commit", "--no-commit"],
        &["--log-format", "xml"],
        &["surplus"],
    ];
    for args in cases {
        let lab = Lab::new();
        lab.server.serve("/tiny.jsonl", Answer::object(TINY));
        lab.work.configure(lab.tiny());
        let run = lab.fetch().args(args).run().exits(2);
        assert_eq!(run.stdout, "", "{args:?}");
        let told = args.iter().any(|arg| run.stderr.contains(arg)) || run.stderr.contains("unexpected argument");
        assert!(told, "{args:?}: {}", run.stderr);
        assert!(lab.server.log().is_empty() && lab.work.tree().paths().is_empty(), "{args:?}");
    }
    for args in [&["fetch"][..], &["no-such-verb"], &["run", "--stage", "no-such-stage"], &["run"], &[]] {
        let lab = Lab::new();
        let run = lab.program([]).args(args).run().exits(2);
        assert_eq!(run.stdout, "", "{args:?}");
    }
}

#[test]
fn limits_at_their_edge_are_fine() {
    let lab = Lab::new();
    lab.server.script("/tiny.jsonl", [Answer::status(503), Answer::object(TINY)]);
    lab.work.configure(lab.tiny());
    let flags = ["--base-delay", "0", "--concurrency", "1", "--attempts", "2", "--part-docs", "1", "--timeout", "2.5"];
    let _ = lab.fetch().args(flags).run().exits(0);
}

#[test]
fn a_config_that_cannot_be_used_says_which_way() {
    let lab = Lab::new();
    let with = |text: &str| std::fs::write(lab.work.config_file(), text).unwrap();
    let mut messages = Vec::new();
    let mut refused = |name: &str| {
        let run = lab.fetch().run().exits(65);
        assert_eq!(run.stdout, "", "{name}");
        assert!(run.stderr.contains("corpus.toml"), "{name}: {}", run.stderr);
        messages.push(run.stderr.replace(&lab.work.root().display().to_string(), ""));
    };
    refused("missing");
    with("");
    refused("empty");
    with("dataset = \"small\nversion");
    refused("malformed");
    with("dataset = \"small\"\nversion = \"v1\"\n");
    refused("without sources");
    std::fs::remove_file(lab.work.config_file()).unwrap();
    std::fs::create_dir(lab.work.config_file()).unwrap();
    refused("unreadable");
    let count = messages.len();
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), count, "five ways, five messages: {messages:#?}");
    assert!(lab.work.tree().paths().is_empty());
}

#[test]
fn every_problem_of_a_config_is_told_at_once() {
    let lab = Lab::new();
    let sources = [
        lab.source("ok", TINY),
        lab.source("ok", TINY).with("url", "ftp://host/x"),
        lab.source("Bad Id", TINY).with("sha256", "abc").with("license_spdx", "No-Such-Licence"),
        lab.source("c", TINY).with("colour", "red").with("allowed_uses", vec!["sell"]).with("max_line_bytes", 0),
    ];
    let run = lab.fetch_config(sources).exits(65);
    for problem in ["ftp://host/x", "Bad Id", "abc", "No-Such-Licence", "colour", "sell", "max_line_bytes"] {
        let line = run.stderr.lines().find(|line| line.contains(problem));
        let line = line.unwrap_or_else(|| panic!("{problem} is not told:\n{}", run.stderr));
        assert!(line.contains("corpus.toml:"), "{problem} has no place: {line}");
    }
    assert!(lab.server.log().is_empty() && lab.work.tree().paths().is_empty());
}

#[test]
fn a_licence_that_does_not_permit_the_claimed_uses_is_refused() {
    let cases = [
        ("CC-BY-NC-4.0", vec!["train"], false),
        ("CC-BY-NC-4.0", vec!["eval"], true),
        ("CC-BY-ND-4.0", vec!["eval"], false),
        ("LicenseRef-Private", vec!["eval"], false),
        ("CC-BY-SA-4.0", vec!["train", "eval"], true),
        ("ODbL-1.0", vec!["train"], true),
        ("CDLA-Permissive-2.0", vec!["train"], true),
    ];
    for (license, uses, accepted) in cases {
        let lab = Lab::new();
        lab.server.serve("/tiny.jsonl", Answer::object(TINY));
        let source = lab.tiny().with("license_spdx", license).with("allowed_uses", uses.clone());
        let run = lab.fetch_config(source);
        if accepted {
            let _ = run.exits(0);
        } else {
            assert!(run.stderr.contains(license), "{license} {uses:?}: {}", run.stderr);
            assert!(lab.server.log().is_empty());
            let _ = run.exits(65);
        }
    }
}

#[test]
fn a_fixed_clock_is_said_and_marked() {
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny());
    let run = lab.fetch().run().exits(0);
    assert!(run.stderr.contains("CORPORA_CLOCK"), "{}", run.stderr);
    assert_eq!(run.summary().clock.as_deref(), Some("fixed"));
    assert_eq!(run.entry("tiny").retrieved_at, "2026-01-01T00:00:00Z");
}

#[test]
fn without_it_the_time_is_now_and_utc() {
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let lab = Lab::new();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY));
    lab.work.configure(lab.tiny());
    let started = now();
    let run = lab.fetch().without_env("CORPORA_CLOCK").env("SOURCE_DATE_EPOCH", "0").env("TZ", "WEST12").run().exits(0);
    assert_eq!(run.summary().clock, None);
    let retrieved: Timestamp = run.entry("tiny").retrieved_at.parse().unwrap();
    let retrieved = u64::try_from(retrieved.as_unix()).unwrap();
    assert!((started..=now()).contains(&retrieved), "{started} {retrieved}");
    assert_eq!(lab.work.raw_documents("tiny")[0].fetched_at, lab.work.rows()[0].retrieved_at);
    lab.assert_rerun_is_free();
}
