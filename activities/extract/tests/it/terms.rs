//! Terms come from the ledger's last row, and a change of them alone is a change.

use corpora_contracts::document::Document;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::StageStatus;

use super::world::{World, only_error};

#[tokio::test]
async fn a_corrected_licence_or_url_is_in_the_documents_and_nothing_else_changes() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text.", "B text."]]);
    world.expect(&[StageStatus::Done]).await;
    let before = world.documents("tiny");
    assert_eq!(before[0].license_spdx, "CC-BY-4.0");
    world.row("tiny", |row| {
        row.license_spdx = "CC-BY-SA-4.0".to_owned();
        row.url = "https://new.example/moved.jsonl".to_owned();
    });
    world.expect(&[StageStatus::Done]).await;
    let corrected = |document: &Document| Document {
        license_spdx: "CC-BY-SA-4.0".to_owned(),
        url: document.url.replace("https://h.example/tiny.jsonl", "https://new.example/moved.jsonl"),
        ..document.clone()
    };
    assert_eq!(world.documents("tiny"), before.iter().map(corrected).collect::<Vec<_>>());
    world.expect(&[StageStatus::Cached]).await;
    // What stands in no document is no reason.
    world.row("tiny", |row| {
        row.license_spdx = "CC-BY-SA-4.0".to_owned();
        row.url = "https://new.example/moved.jsonl".to_owned();
        row.allowed_uses.clear();
    });
    world.expect(&[StageStatus::Cached]).await;
}

#[tokio::test]
async fn a_revoked_source_is_left_out_and_keeps_its_documents() {
    let world = World::new(&["tiny", "other"]);
    world.fetched("tiny", &[&["A text."]]);
    world.fetched("other", &[&["B text."]]);
    world.expect(&[StageStatus::Done; 2]).await;
    world.row("tiny", |row| row.revoked = Some(true));
    let outcome = world.run().await;
    let entry = &outcome.summary.entries[0];
    assert_eq!((entry.status, entry.path.as_str(), entry.n_docs), (StageStatus::Revoked, "", 0));
    assert_eq!((outcome.exit, outcome.outputs.len()), (ExitCode::Success, 1));
    assert!(world.folder("tiny").is_dir(), "removing is for `gc`");
    world.row("tiny", |row| row.revoked = Some(false));
    world.expect(&[StageStatus::Cached; 2]).await;
}

#[tokio::test]
async fn what_is_not_fetched_says_what_to_run() {
    let world = World::new(&["tiny"]);
    let outcome = world.run().await;
    assert_eq!((outcome.exit, outcome.summary.ok), (ExitCode::Data, false));
    let (kind, message) = only_error(&outcome);
    assert!(kind == "not_fetched" && message.contains("`tiny`") && message.contains("`corpora fetch`"), "{message}");

    world.fetched_lines("tiny", &[vec![]]);
    let outcome = world.run().await;
    let (kind, message) = only_error(&outcome);
    assert!(kind == "no_row" && message.contains("`tiny`") && message.contains("`corpora fetch`"), "{message}");
    assert_eq!(outcome.exit, ExitCode::Data);
    assert!(!world.root().join("corpus/extract").exists(), "nothing is written");
}

#[tokio::test]
async fn raw_documents_of_another_split_are_not_these() {
    let mut world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["A text."]]);
    world.config.sources[0].split.text_field = "body".to_owned();
    assert_eq!(only_error(&world.run().await).0, "not_fetched");
}
