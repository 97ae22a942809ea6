//! The same config gives the same bytes: whatever the jobs, the order of downloads, and who runs the stages.

use std::time::Duration;

use corpora_contracts::config::{parse_toml, validate};
use corpora_tests::harness::{ConfigToml, Lab, SourceToml, Tree, documents};
use corpora_tests::servers::Answer;

const IDS: [&str; 4] = ["delta", "alpha", "charlie", "bravo"];

/// A lab of four sources with many parts and shards; the answer of one of them is late.
fn lab(slowest: usize) -> Lab {
    let lab = Lab::new().with_proxy();
    let sources: Vec<SourceToml> = (0..IDS.len()).map(|place| source(&lab, place, slowest)).collect();
    lab.work.configure(config(sources));
    lab
}

fn source(lab: &Lab, place: usize, slowest: usize) -> SourceToml {
    let (id, bytes) = (IDS[place], documents(IDS[place], 150 + place * 40));
    let pause = Duration::from_millis(if place == slowest { 150 } else { 0 });
    lab.server.serve(&format!("/{id}.jsonl"), Answer::object(&bytes).head_after(pause));
    lab.source(id, &bytes)
}

fn config(sources: Vec<SourceToml>) -> ConfigToml {
    let store = serde_json::json!({ "shard_rows": 50, "val_permille": 100 });
    ConfigToml::new(sources).with("store", store)
}

/// What a build promises to make again: everything but the metadata table and what holds times of files.
fn promised(lab: &Lab) -> Tree {
    let mut tree = lab.work.tree();
    let is_promised = |path: &str| {
        path.starts_with("corpus/") && !path.ends_with("/metadata.sqlite") && !path.ends_with("/_STAGE.json")
    };
    tree.files.retain(|path, _| is_promised(path));
    tree
}

/// Built with all defaults.
fn reference() -> Tree {
    let lab = lab(0);
    let _ = lab.build().run().exits(0);
    let tree = promised(&lab);
    let parts = tree.under("corpus/raw/delta/").len();
    assert_eq!((parts, tree.under("corpus/extract/small/v1/delta/").len()), (8, 8), "{tree:?}");
    assert!(tree.under("corpus/datasets/small/v1/train-").len() >= 10, "{tree:?}");
    assert!(!tree.under("corpus/datasets/small/v1/jsonl/val-").is_empty(), "{tree:?}");
    tree
}

#[test]
fn any_number_of_jobs_and_any_order_of_downloads_give_the_same_bytes() {
    let reference = reference();
    for (jobs, concurrency, slowest) in [("1", "1", 3), ("2", "8", 1), ("4", "2", 2), ("7", "8", 0)] {
        let lab = lab(slowest);
        let run = lab.build().args(["--jobs", jobs, "--concurrency", concurrency]).run().exits(0);
        assert!(run.build_summary().ok);
        assert_eq!(promised(&lab), reference, "jobs {jobs}, concurrency {concurrency}");
    }
}

#[test]
fn stages_run_one_by_one_as_activities_give_the_same_bytes() {
    let lab = lab(2);
    let toml = std::fs::read_to_string(lab.work.config_file()).unwrap();
    let plan = corpora_plan::steps(&validate(&parse_toml(&toml).unwrap()).config.unwrap());
    let sources = (0..IDS.len()).map(|place| source(&lab, place, 2)).collect();
    let config = config(sources);
    for level in &plan.levels {
        // The steps of a level may run in any order.
        for step in level.iter().rev() {
            let folder = lab.work.activity(&format!("build/run/{}", step.id), config.clone());
            let arguments = step.arguments();
            let run = lab.program(["run", "--stage"]).args(&arguments);
            let tuned = if arguments[0] == "fetch" { run.args(["--part-docs", "20"]) } else { run };
            let run = tuned.arg("--spec").arg(folder.join("spec.json"));
            let run = run.arg("--progress").arg(folder.join("progress.jsonl")).run().exits(0);
            assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
            assert!(folder.join("DONE.json").exists(), "{}", step.id);
        }
    }
    assert_eq!(promised(&lab), reference());
    lab.assert_rebuild_is_free(lab.build());
}

#[test]
fn a_build_out_of_an_activity_or_of_a_config_rests_on_the_same_rows() {
    let lab = lab(1);
    let _ = lab.build().run().exits(0);
    let manifest = lab.work.manifest().unwrap();
    assert_eq!(manifest.ledger, lab.work.rows());
    let order: Vec<&str> = manifest.sources.iter().map(|source| source.source_id.as_str()).collect();
    assert_eq!(order, IDS, "config order, not that of the alphabet or of arrival");
    let rows = lab.work.shard_rows();
    let ids: Vec<&str> =
        rows.iter().filter(|row| row["split"] == "train").filter_map(|row| row["id"].as_str()).collect();
    let place = |id: &str| -> (usize, u64) {
        let (source, number) = id.split_once(':').unwrap();
        (IDS.iter().position(|it| *it == source).unwrap(), number.parse().unwrap())
    };
    assert!(ids.is_sorted_by_key(|id| place(id)), "rows stand in config order, then by position");
}
