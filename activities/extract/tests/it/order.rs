//! Whatever the cores, the parts and the texts: every document points back at its raw line, in order.

use corpora_contracts::summary::StageStatus;
use corpora_stage::Progress;
use corpora_text::normalize::normalize;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use super::world::{World, options, raw_line};

/// So many texts of varied length, some of them long.
fn texts(count: usize) -> Vec<String> {
    let mut state = 7_u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize
    };
    let words = ["sea", "Über", "ça", "море", "東京", "\r\n", "\n\n\n", "ship", "e\u{301}", "\u{feff}"];
    let mut text = |_| {
        let length = if next() % 50 == 0 { 20_000 } else { next() % 60 };
        (0..length).map(|_| words[next() % words.len()]).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(&mut text).collect()
}

#[tokio::test]
async fn any_number_of_jobs_gives_the_same_bytes() {
    let all = texts(6000);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let parts: Vec<&[&str]> = all.chunks(1700).collect();
    let mut expected = None;
    for jobs in [0, 1, 2, 3, 4, 9] {
        let world = World::new(&["tiny"]);
        world.fetched("tiny", &parts);
        let outcome = world.run_with(&options(jobs), &CancellationToken::new()).await;
        assert_eq!((outcome.summary.entries[0].n_docs, outcome.summary.ok), (6000, true), "{jobs} jobs");
        let extracted = world.extracted();
        assert_eq!(extracted.len(), parts.len() + 1, "a part for each raw part, and the record");
        assert!(*expected.get_or_insert_with(|| extracted.clone()) == extracted, "{jobs} jobs");
    }
}

#[tokio::test]
async fn numbers_go_on_over_parts_and_an_empty_source_has_one_part_with_none() {
    let world = World::new(&["tiny", "none"]);
    world.fetched("tiny", &[&["zero", "one"], &[], &["two"]]);
    world.fetched("none", &[&[]]);
    world.expect(&[StageStatus::Done; 2]).await;
    let ids = |id| {
        let parts = world.parts(id).into_iter();
        parts.map(|part| part.into_iter().map(|document| document.id).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(ids("tiny"), [vec!["tiny:0", "tiny:1"], vec![], vec!["tiny:2"]]);
    assert_eq!(ids("none"), [Vec::<String>::new()]);
    world.expect(&[StageStatus::Cached; 2]).await;
}

#[tokio::test]
async fn a_text_longer_than_all_that_is_under_way_goes_through() {
    let long = "All human beings are born free and equal. ".repeat(500_000);
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["before", &long, "between", &long, "after"]]);
    world.expect(&[StageStatus::Done]).await;
    let documents = world.documents("tiny");
    assert_eq!(documents.len(), 5);
    assert!(documents[3].text == long.trim_end() && documents[3].lang == "en");
}

#[tokio::test]
async fn progress_is_told_up_to_the_last_document() {
    let world = World::new(&["tiny"]);
    world.fetched("tiny", &[&["a", "b"], &["c"]]);
    let path = world.root().join("progress.jsonl");
    let progress = Progress::default().to_file(&path, 1).unwrap();
    let context = world.context(progress, &CancellationToken::new());
    corpora_extract::run(&world.config, &options(2), &context).await;
    let told = std::fs::read_to_string(path).unwrap();
    let told: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last_step = told.iter().rfind(|event| event["kind"] == "step").unwrap();
    assert_eq!(
        (&last_step["stage"], &last_step["source"], &last_step["unit"]),
        (&"extract".into(), &"tiny".into(), &"docs".into())
    );
    assert_eq!((&last_step["done"], &last_step["total"]), (&3.into(), &3.into()));
    let checkpoint = told.last().unwrap();
    assert_eq!((&checkpoint["kind"], &checkpoint["path"]), (&"ckpt".into(), &"corpus/extract/small/v1/tiny".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_document_points_back_at_its_raw_line(
        parts in prop::collection::vec(prop::collection::vec("(.|\r|\n|\u{feff}|[a-z ]{5}){0,12}", 0..8), 1..5),
        skip in 1_usize..5,
        jobs in 1_usize..4,
    ) {
        let world = World::new(&["tiny"]);
        let mut at = 0;
        let mut raw = Vec::new();
        for part in &parts {
            let line = |text: &String| { at += skip; raw_line("tiny", at, text) };
            raw.push(part.iter().map(line).collect::<Vec<_>>());
        }
        world.fetched_lines("tiny", &raw);
        world.row("tiny", |_| {});
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(world.run_with(&options(jobs), &CancellationToken::new()));
        prop_assert!(outcome.summary.ok);
        let documents = world.parts("tiny");
        prop_assert_eq!(documents.iter().map(Vec::len).collect::<Vec<_>>(), parts.iter().map(Vec::len).collect::<Vec<_>>());
        for (k, (document, text)) in documents.iter().flatten().zip(parts.iter().flatten()).enumerate() {
            prop_assert_eq!(&document.id, &format!("tiny:{k}"));
            prop_assert_eq!(&document.url, &format!("https://h.example/tiny.jsonl#{}", (k + 1) * skip));
            prop_assert_eq!(&document.text, &normalize(text));
        }
    }
}
