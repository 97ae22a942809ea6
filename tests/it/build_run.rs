//! A build from a config to a verified dataset, how far it goes, and what it leaves when a source fails.

use std::time::Duration;

use corpora_contracts::manifest::SplitName;
use corpora_tests::harness::{
    ConfigToml, Footprints, Lab, Outcome, PUBLISHED, Signal, SourceToml, documents, wait_until,
};
use corpora_tests::servers::{Answer, Gate};

const ALL: [&str; 8] = [
    "fetch tiny",
    "fetch many",
    "fetch notes",
    "extract tiny",
    "extract many",
    "extract notes",
    "store small/v1",
    "verify-ledger small/v1",
];

/// A lab whose shelf is built.
fn built() -> (Lab, Outcome) {
    let lab = Lab::new();
    let run = lab.build_config(ConfigToml::shelved(lab.shelf())).exits(0);
    (lab, run)
}

/// A source whose server always answers so.
fn bad(lab: &Lab, id: &str, answer: Answer) -> SourceToml {
    lab.server.serve(&format!("/{id}.jsonl"), answer);
    lab.source(id, b"never served")
}

#[test]
fn a_config_becomes_a_verified_dataset() {
    let (lab, run) = built();
    assert_eq!(run.worked_on(), ALL);
    let summary = run.build_summary();
    assert!(summary.ok);
    assert_eq!((summary.stage.as_str(), summary.dataset_dir.as_str(), summary.n_docs), ("build", PUBLISHED, 66));
    assert_eq!((summary.clock.as_deref(), run.stdout.lines().count()), (Some("fixed"), 1));

    let manifest = lab.work.manifest().expect("a manifest is published");
    let counts = manifest.sources.iter().map(|source| (source.source_id.as_str(), source.n_docs));
    assert_eq!(counts.collect::<Vec<_>>(), [("tiny", 2), ("many", 60), ("notes", 4)]);
    assert_eq!((manifest.n_docs, manifest.exact_duplicates), (66, 1), "`Mia naps.` stands in two sources");
    assert_eq!(manifest.ledger, lab.work.rows());
    let held_out: u64 = manifest.sources.iter().map(|source| source.n_val).sum();
    assert!((1..66).contains(&held_out), "{held_out}");
    for split in [SplitName::Train, SplitName::Val] {
        let rows = manifest.shards.iter().filter(|shard| shard.split == split).map(|shard| shard.rows);
        let expected = if split == SplitName::Val { held_out } else { 66 - held_out };
        assert_eq!(rows.sum::<u64>(), 2 * expected, "in each of the two forms");
    }
    let notes: Vec<String> = lab.work.documents("notes").into_iter().map(|document| document.text).collect();
    assert_eq!(notes[2], "Café\nau lait.", "normalised: NFC, no vertical tab, nothing at the end of a line");
    let folder = lab.work.path(PUBLISHED);
    let verdict = lab.program(["verify"]).arg(&folder).run().exits(0);
    assert!(verdict.stdout.contains("\"verdict\":\"verified\""), "{}", verdict.stdout);
    assert_eq!(lab.work.tree().under("corpus/downloads/"), [""; 0]);
}

#[test]
fn a_second_build_does_nothing_and_says_so() {
    let (lab, run) = built();
    let again = lab.assert_rebuild_is_free(lab.build());
    assert!(again.took < Duration::from_secs(1), "{:?}", again.took);
    let (first, second) = (run.build_summary(), again.build_summary());
    assert_eq!((first.dataset_dir, first.n_docs), (second.dataset_dir, second.n_docs), "the result is the same");
    let told = lab.assert_rebuild_is_free(lab.build().env("NO_COLOR", "1"));
    assert_eq!(told.stdout, again.stdout);
    let for_people = lab.build().args(["--output", "text"]).run().exits(0);
    assert_eq!(for_people.stdout.matches("cached").count(), ALL.len(), "{}", for_people.stdout);
    assert!(for_people.stdout.contains("read_parquet") && for_people.stdout.contains("load_dataset"));
}

#[test]
fn a_build_goes_as_far_as_it_is_asked_to() {
    let lab = Lab::new();
    lab.work.configure(ConfigToml::shelved(lab.shelf()));
    let mut done = 0;
    for (stage, count) in [("fetch", 3), ("extract", 6), ("store", 7), ("verify-ledger", 8)] {
        let run = lab.build().args(["--until", stage]).run().exits(0);
        assert_eq!(run.worked_on(), ALL[done..count], "until {stage}");
        assert_eq!(run.build_statuses().len(), count, "until {stage}: {}", run.stdout);
        let expected = if count == 8 { PUBLISHED } else { "" };
        assert_eq!(run.build_summary().dataset_dir, expected, "until {stage}");
        assert_eq!(lab.work.manifest().is_some(), count == 8, "until {stage}");
        done = count;
    }
    assert_eq!(lab.server.log().len(), 2, "one request for each file");
    let _ = lab.build().args(["--until", "nothing"]).run().exits(2);
}

#[test]
fn a_source_that_fails_stops_the_build_and_what_is_finished_stays() {
    for (status, code, kind) in [(404, 65, "http"), (503, 75, "http")] {
        let lab = Lab::new();
        let [tiny, many, notes] = lab.shelf();
        let gone = bad(&lab, "gone", Answer::status(status).head_after(Duration::from_millis(300)));
        lab.work.configure(ConfigToml::shelved([tiny.clone(), gone, many.clone(), notes.clone()]));
        let run = lab.build().args(["--attempts", "2"]).run().exits(code);
        let summary = run.build_summary();
        assert!(!summary.ok && summary.dataset_dir.is_empty() && summary.stages.len() == 1, "{}", run.stdout);
        assert!(run.worked_on().contains(&"fetch gone".to_owned()) && run.stderr.contains("gone"), "{}", run.stderr);
        assert!(run.stdout.contains(&format!("\"kind\":\"{kind}")), "{}", run.stdout);
        assert_eq!(lab.work.ledger_ids(), ["tiny", "many", "notes"], "what was fetched has its rows");
        assert_eq!(lab.work.tree().under("corpus/datasets"), [""; 0]);
        lab.server.forget();
        let run = lab.build_config(ConfigToml::shelved([tiny, many, notes])).exits(0);
        assert_eq!(run.worked_on(), ALL[3..]);
        assert!(lab.server.log().is_empty(), "nothing is fetched twice");
    }
}

#[test]
fn keep_going_does_what_can_be_done_and_publishes_nothing() {
    let lab = Lab::new();
    let [tiny, many, notes] = lab.shelf();
    let sources =
        [bad(&lab, "gone", Answer::status(404)), tiny, bad(&lab, "swapped", Answer::object("x")), many, notes];
    lab.work.configure(ConfigToml::shelved(sources));
    let run = lab.build().args(["--keep-going", "--concurrency", "1"]).run().exits(65);
    let statuses = run.build_statuses();
    let of = |stage: &str| -> Vec<(&str, &str)> {
        let of_stage = statuses.iter().filter(|(verb, _, _)| verb == stage);
        of_stage.map(|(_, id, status)| (id.as_str(), status.as_str())).collect()
    };
    let fetched = [
        ("gone", "failed"),
        ("tiny", "fetched"),
        ("swapped", "quarantined"),
        ("many", "fetched"),
        ("notes", "fetched"),
    ];
    assert_eq!(of("fetch"), fetched);
    assert_eq!(of("extract"), [("tiny", "done"), ("many", "done"), ("notes", "done")]);
    assert_eq!((of("store"), lab.work.manifest()), (vec![], None), "no dataset is made of a part of its sources");
    assert!(!run.build_summary().ok);
}

#[test]
fn keep_going_leaves_a_later_attempt_its_chance() {
    let lab = Lab::new();
    let [tiny, ..] = lab.shelf();
    lab.work.configure(ConfigToml::shelved([bad(&lab, "down", Answer::status(503)), tiny]));
    let run = lab.build().args(["--keep-going", "--attempts", "1"]).run().exits(75);
    assert!(run.worked_on().contains(&"extract tiny".to_owned()), "{:?}", run.worked_on());
}

#[test]
fn what_fetch_drops_is_counted_down_to_the_manifest() {
    let lab = Lab::new();
    let lines = b"{\"text\":\"kept\"}\nnot json\n{\"title\":\"no text\"}\n";
    lab.server.serve("/mixed.jsonl", Answer::object(lines));
    let source = lab.source("mixed", lines).with("on_bad_document", "drop");
    let run = lab.build_config(ConfigToml::shelved([source])).exits(0);
    assert!(run.stderr.contains("left out"), "{}", run.stderr);
    let manifest = lab.work.manifest().unwrap();
    let dropped: Vec<(&str, u64)> = manifest.dropped.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
    assert_eq!(dropped, [("no_text", 1), ("not_json", 1)]);
    assert_eq!(manifest.sources[0].dropped, manifest.dropped);
}

#[test]
fn a_cancelled_build_goes_on_where_it_was() {
    let lab = Lab::new();
    let [tiny, many, notes] = lab.shelf();
    let gate = Gate::closed();
    let bytes = documents("many", 60);
    lab.server.serve("/many.jsonl", Answer::object(&bytes).held_at(&gate));
    lab.work.configure(ConfigToml::shelved([tiny, notes, many]));
    let running = lab.build().start();
    gate.wait_for(1);
    for id in ["tiny", "notes"] {
        wait_until(|| lab.work.versions(id) == ["20260101"]);
    }
    running.signal(Signal::Terminate);
    let run = running.wait().exits(130);
    let summary = run.build_summary();
    assert_eq!((summary.ok, summary.stages.len(), summary.dataset_dir.as_str()), (false, 1, ""));
    assert_eq!(lab.work.ledger_ids(), ["tiny", "notes"], "what was finished is kept");
    assert_eq!(lab.work.tree().under("corpus/datasets"), [""; 0]);

    gate.open();
    lab.server.forget();
    let run = lab.build().run().exits(0);
    assert!(!run.worked_on().contains(&"fetch tiny".to_owned()));
    assert_eq!((lab.server.log().len(), lab.work.manifest().map(|manifest| manifest.n_docs)), (1, Some(66)));
    lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn a_config_that_is_wrong_or_refused_costs_no_request_and_no_file() {
    let (lab, _) = built();
    let [tiny, many, notes] = lab.shelf();
    lab.server.forget();
    let before = Footprints::of(lab.work.artifacts());
    for (key, value, said) in [
        ("license_spdx", "CC-BY-ND-4.0", "CC-BY-ND-4.0"),
        ("license_spdx", "no licence", "license_spdx"),
        ("sha256", "abc", "sha256"),
    ] {
        lab.work.configure(ConfigToml::shelved([tiny.clone(), many.clone().with(key, value), notes.clone()]));
        let run = lab.build().run().exits(65);
        assert!(run.stderr.contains(said) && run.stderr.contains("corpus.toml:"), "{}", run.stderr);
        assert_eq!(run.stdout, "", "{key} = {value}: no result, since no config was accepted");
    }
    assert!(lab.server.log().is_empty());
    let after = Footprints::of(lab.work.artifacts());
    assert_eq!(before.changes(&after), [""; 0], "a good dataset stands as it stood");
}
