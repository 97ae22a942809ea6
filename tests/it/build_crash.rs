//! A build killed at every point of every stage: the next one ends as if nothing had been, and under the published name
//! there is never anything but a whole dataset that was verified.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

use corpora_contracts::ids::Digest;
use corpora_contracts::manifest::Verified;
use corpora_tests::harness::{ConfigToml, Lab, Outcome, PUBLISHED, Run, Signal, Tree, documents, noise};
use corpora_tests::servers::Answer;

/// The kill points of an undisturbed build, as the program lists them.
fn points() -> Vec<String> {
    let listed = Lab::new().program(["--version"]).env("CORPORA_FAILPOINT", "list").run().exits(0);
    let points = listed.stdout.lines().map(str::to_owned);
    // What only a torn ledger, a wrong digest or an activity leads to is the affair of `crash`.
    points
        .filter(|point| {
            !["ledger-mended.after", "quarantine.before"].contains(&&**point) && !point.starts_with("done.")
        })
        .collect()
}

/// A lab whose shelf is configured; every such lab has the same urls, so that the bytes can be compared.
fn lab() -> Lab {
    let lab = Lab::new().with_proxy();
    lab.work.configure(ConfigToml::shelved(lab.shelf()));
    lab
}

/// The same shelf with other content under two of its names.
fn change(lab: &Lab) {
    let [_, _, notes] = lab.shelf();
    let (tiny, many) = (documents("tinier", 3), documents("more", 45));
    let sources = [lab.serve("tiny", &tiny), lab.serve("many", &many), notes.with("pii_policy", "none")];
    lab.work.configure(ConfigToml::shelved(sources));
}

/// Everything that was made, but the metadata table and the records, which hold times of files.
fn made(lab: &Lab) -> Tree {
    let mut tree = lab.work.tree();
    tree.files.retain(|path, _| !path.ends_with("/metadata.sqlite") && !path.ends_with("/_STAGE.json"));
    tree
}

/// What is published, if anything is: its `_VERIFIED.json` is of its manifest.
#[track_caller]
fn published(lab: &Lab, when: &str) -> Option<Digest> {
    if !lab.work.path(PUBLISHED).exists() {
        return None;
    }
    let read = |name: &str| lab.work.read(&format!("{PUBLISHED}/{name}")).expect(when);
    let verified: Verified = serde_json::from_slice(&read("_VERIFIED.json")).unwrap();
    let manifest = Digest::of(&read("_MANIFEST.json"));
    assert_eq!(verified.manifest_sha256, manifest, "{when}");
    Some(manifest)
}

/// What is published, if anything is, after a look at every byte of it.
#[track_caller]
fn verified(lab: &Lab, when: &str) -> Option<Digest> {
    let manifest = published(lab, when)?;
    let run = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run();
    assert_eq!(run.code, Some(0), "{when}: {}", run.printed());
    Some(manifest)
}

/// Builds at a leisurely pace, so that the jobs that run at once do not race for the n-th time of a point.
fn build(lab: &Lab) -> Run {
    lab.build().args(["--concurrency", "1", "--jobs", "1"])
}

#[track_caller]
fn finish(lab: &Lab) -> Tree {
    let _ = build(lab).run().exits(0);
    made(lab)
}

/// Kills a build at `point` for the n-th time, if it gets there; what it printed, if not.
fn killed(lab: &Lab, point: &str, nth: u32) -> Option<Outcome> {
    let run = build(lab).env("CORPORA_FAILPOINT", format!("{point}:{nth}")).run();
    if run.signal == Some(9) {
        return None;
    }
    assert_eq!(run.code, Some(0), "{point}:{nth}: {}", run.printed());
    Some(run)
}

#[test]
fn killed_at_every_point_a_build_ends_as_if_nothing_had_been() {
    let points = points();
    let stages: BTreeSet<&str> = ["extract.before", "staged.before", "swap.before"].into();
    assert!(points.iter().filter(|point| stages.contains(point.as_str())).count() == 3, "{points:?}");
    let undisturbed = finish(&lab());
    let (mut unreached, mut wrong) = (Vec::new(), Vec::new());
    for point in &points {
        for nth in [1, 3] {
            let lab = lab();
            if killed(&lab, point, nth).is_some() {
                unreached.extend((nth == 1).then_some(point.as_str()));
                break;
            }
            let when = format!("killed at {point}:{nth}");
            let _ = verified(&lab, &when);
            let tree = finish(&lab);
            if tree != undisturbed {
                wrong.push(format!("{when}: {tree:?}"));
            }
            lab.assert_rebuild_is_free(build(&lab));
        }
    }
    assert!(wrong.is_empty(), "{}\ninstead of {undisturbed:?}", wrong.join("\n"));
    assert_eq!(unreached, [""; 0], "every point is on the way of this build");
}

#[test]
fn killed_while_it_replaces_a_dataset_the_old_or_the_new_one_stands_whole() {
    let first = lab();
    let _ = finish(&first);
    let old = published(&first, "the old dataset").unwrap();
    change(&first);
    let undisturbed = finish(&first);
    let new = published(&first, "the new dataset").unwrap();
    assert_ne!(old, new);
    let mut seen = BTreeSet::new();
    for point in &points() {
        let lab = lab();
        let _ = finish(&lab);
        change(&lab);
        let when = format!("killed at {point}");
        assert!(killed(&lab, point, 1).is_none(), "{point} is on the way of this build");
        let stands = verified(&lab, &when).expect(&when);
        assert!([old, new].contains(&stands), "{when}: neither the old nor the new dataset");
        seen.insert(stands);
        let tree = finish(&lab);
        assert_eq!(tree, undisturbed, "{when}");
    }
    assert_eq!(seen.len(), 2, "some points are before the swap and some after it");
}

#[test]
fn stopped_at_any_moment_a_build_is_finished_by_the_next() {
    let seeds = if std::env::var("CORPORA_TEST_LONG").as_deref() == Ok("1") { 40 } else { 3 };
    let (bytes, path) = (noise(5, 400_000), "/slow.jsonl");
    let start = || {
        let lab = Lab::new().with_proxy();
        lab.server.serve(path, Answer::object(&bytes).etag("\"v1\"").drip(20_000, Duration::from_millis(4)));
        let [tiny, many, notes] = lab.shelf();
        lab.work.configure(ConfigToml::shelved([tiny, lab.source("slow", &bytes), many, notes]));
        lab
    };
    let undisturbed = {
        let lab = start();
        let _ = lab.build().run().exits(0);
        let mut tree = made(&lab);
        tree.files.remove("corpus/LEDGER.jsonl");
        tree
    };
    for seed in 1..=seeds {
        let lab = start();
        let mut state: u64 = seed;
        for round in 0..5 {
            // Any sequence does, as long as the seed fixes it: Knuth's MMIX constants.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let running = lab.build().start();
            sleep(Duration::from_millis(5 + (state >> 33) % 250));
            let signal = if (state >> 20).is_multiple_of(3) { Signal::Terminate } else { Signal::Kill };
            running.signal(signal);
            let run = running.wait();
            let ended = run.signal == Some(9) || run.signal == Some(15) || [Some(0), Some(130)].contains(&run.code);
            assert!(ended, "seed {seed}, round {round}: {:?} {}", run.code, run.printed());
            let _ = verified(&lab, &format!("seed {seed}, round {round}, {signal:?}"));
        }
        let _ = lab.build().run().exits(0);
        let mut tree = made(&lab);
        // A run that is told to stop commits what it has: the same rows, run by run in config order.
        tree.files.remove("corpus/LEDGER.jsonl");
        assert_eq!(tree, undisturbed, "seed {seed}");
        let mut ids = lab.work.ledger_ids();
        ids.sort();
        assert_eq!(ids, ["many", "notes", "slow", "tiny"], "seed {seed}: each row once");
        lab.assert_rebuild_is_free(lab.build());
    }
}
