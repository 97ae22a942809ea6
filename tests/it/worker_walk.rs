//! How `corpora-worker` walks the plan: in the order that every driver has, with shared steps, as several runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use corpora_contracts::ids::Digest;
use corpora_tests::harness::{ConfigToml, SourceToml, TINY};
use corpora_tests::services::{SMALL, Scene, object, script, steps};
use serde::Deserialize;
use serde_json::Value;

/// How every driver walks a plan; the local build is held to the same file.
const ORDER: &str = include_str!("../../workflows/plan/tests/order.json");

/// Notes the step that it is, and ends as the file of the step's name says.
const FAKE: &str = r#"[ "$1" = --version ] && exit 0
step=${CORPORA_IDEMPOTENCY_KEY##*/}
echo "$step" >> "$here/steps"
code=$(cat "$here/$step" 2>/dev/null) || code=0
[ "$code" = 0 ] || echo "told to end with $code" >&2
echo "{\"stage\":\"$1\",\"ok\":true,\"entries\":[]}"
exit "$code""#;

#[derive(Deserialize)]
struct Order {
    config: Value,
    walks: Vec<Walk>,
}

#[derive(Debug, Deserialize)]
struct Walk {
    until: Option<String>,
    keep_going: bool,
    failing: BTreeMap<String, u8>,
    levels: Vec<Vec<String>>,
    code: i32,
}

/// The fixture's config as a person would write it.
fn config(order: &Order) -> String {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let sources = order.config["sources"].as_array().unwrap().iter();
    let sources: Vec<SourceToml> = sources
        .map(|source| {
            let toml = SourceToml::new(&text(source, "id"), &text(source, "url"), b"");
            toml.with("sha256", text(source, "sha256")).with("license_spdx", text(source, "license_spdx"))
        })
        .collect();
    let config = ConfigToml::new(sources);
    config.with("dataset", text(&order.config, "dataset")).with("version", text(&order.config, "version")).to_toml()
}

/// The steps that the fake program was started for, in their order.
fn started(folder: &Path) -> Vec<String> {
    fs::read_to_string(folder.join("steps")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn the_plan_is_walked_as_every_driver_does() {
    let folder = tempfile::tempdir().unwrap();
    let fake = script(folder.path(), FAKE);
    let Some(scene) = Scene::running(&fake, ["--jobs", "4"]) else { return };
    let order: Order = serde_json::from_str(ORDER).unwrap();
    let config = scene.lab.work.place("order.toml", config(&order));
    for walk in &order.walks {
        let _ = fs::remove_file(folder.path().join("steps"));
        for (step, code) in &walk.failing {
            fs::write(folder.path().join(step), code.to_string()).unwrap();
        }
        let build = scene.begin(&config).args(["--wait", "--retry-attempts", "1"]);
        let build = walk.until.iter().fold(build, |build, until| build.args(["--until", until]));
        let build = if walk.keep_going { build.arg("--keep-going") } else { build };
        let report = object(&build.run().exits(walk.code));

        let told: Vec<String> = steps(&report).into_iter().map(|(step, ..)| step).collect();
        let mut rest = told.as_slice();
        for level in &walk.levels {
            let (here, behind) = rest.split_at(level.len().min(rest.len()));
            assert_eq!(sorted(here), sorted(level), "{walk:?}: {told:?}");
            rest = behind;
        }
        assert!(rest.is_empty(), "{walk:?}: {told:?}");
        // What was started was started level by level: the fake stages tell by themselves.
        let level_of = |step: &String| walk.levels.iter().position(|level| level.contains(step));
        let levels: Vec<_> =
            started(folder.path()).iter().map(|step| level_of(step).expect("a planned step")).collect();
        assert!(levels.is_sorted(), "{walk:?}: {levels:?}");
        for step in walk.failing.keys() {
            fs::remove_file(folder.path().join(step)).unwrap();
        }
    }
}

fn sorted(ids: &[String]) -> Vec<&String> {
    let mut ids: Vec<&String> = ids.iter().collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_build_goes_on_as_a_new_run_and_gc_frees_what_it_left() {
    let Some(scene) = Scene::start() else { return };
    scene.lab.work.configure([scene.lab.serve("tiny", TINY), scene.lab.serve("a", TINY)]);
    let report = object(&scene.begin_small().args(["--wait", "--continue-after", "2"]).run().exits(0));
    let told: Vec<String> = steps(&report).into_iter().map(|(step, status, _)| format!("{step} {status}")).collect();
    let planned = ["fetch-tiny", "fetch-a", "commit", "extract-tiny", "extract-a", "store", "verify-ledger"];
    assert_eq!(told, planned.map(|step| format!("{step} done")), "the report tells of all runs");
    assert_eq!((&report["planned"], &report["n_docs"]), (&7.into(), &4.into()));
    assert_eq!(scene.made(), scene.undisturbed(&scene.lab.work.config_file()));

    // Levels of 2, 1, 2, 1, 1 steps: new runs behind the first, the third and the fourth.
    let runs = fs::read_dir(scene.lab.work.path("activities").join(SMALL)).unwrap();
    let runs: Vec<_> = runs.map(|run| run.unwrap().path()).collect();
    assert_eq!(runs.len(), 3, "{runs:?}");
    assert!(runs.iter().all(|run| run.join("DONE.json").is_file() && run.join("plan/plan.json").is_file()));
    let first = report["run_id"].as_str().unwrap();
    let status = scene.temporal.client(&scene.lab.work.home(), ["status", SMALL]).run().exits(0);
    assert_ne!(object(&status)["run_id"], first, "the latest run");

    let gc = scene.lab.program(["gc", "--yes", "--config"]).arg(scene.lab.work.config_file()).run().exits(0);
    assert!(object(&gc)["items"].as_array().unwrap().len() >= 3, "{}", gc.stdout);
    assert!(!scene.lab.work.path("activities").join(SMALL).exists(), "a finished build leaves nothing");
}

#[test]
fn a_failed_run_is_freed_too() {
    let Some(scene) = Scene::start() else { return };
    scene.lab.work.configure(scene.lab.source("gone", TINY));
    let _ = scene.build().exits(65);
    let gc = scene.lab.program(["gc", "--yes", "--config"]).arg(scene.lab.work.config_file()).run().exits(0);
    assert_eq!(object(&gc)["freed"], true);
    assert!(!scene.lab.work.path("activities").join(SMALL).exists());
}

#[test]
fn a_config_too_large_for_a_message_goes_by_file() {
    let Some(scene) = Scene::start() else { return };
    let mirrors: Vec<String> =
        (0..9000).map(|index| format!("https://mirror-{index}.example/{}", "x".repeat(100))).collect();
    scene.lab.work.configure(scene.lab.serve("tiny", TINY).with("mirrors", mirrors));
    let report = object(&scene.build().exits(0));
    assert_eq!(report["n_docs"], 2);
    let history = scene.temporal.history(SMALL);
    assert!(Value::Array(history).to_string().len() < 256 * 1024, "no large message in the history");
    let offered = |folder: &fs::DirEntry| folder.file_name().to_string_lossy().parse::<Digest>().is_ok();
    let folders = fs::read_dir(scene.lab.work.path("activities").join(SMALL)).unwrap().map(Result::unwrap);
    let offered: Vec<_> = folders.filter(offered).map(|folder| folder.path()).collect();
    assert!(offered.len() == 1 && offered[0].join("DONE.json").is_file(), "{offered:?}: read, and free to go");
}

/// 501 sources on steps for two or one, of which two share a step: `first` is wrong, `second` needs a second attempt.
fn crowd(first: &str, second: &str) -> String {
    let mut text = "dataset = \"small\"\nversion = \"v1\"\n".to_owned();
    let ids = [first.to_owned(), second.to_owned()].into_iter().chain((0..499).map(|index| format!("s{index}")));
    for id in ids {
        let digest = "0".repeat(64);
        let _ = write!(
            text,
            "[[sources]]\nid = \"{id}\"\nurl = \"{id}.jsonl\"\nsha256 = \"{digest}\"\nlicense_spdx = \"MIT\"\n"
        );
    }
    text
}

#[test]
fn a_source_that_may_still_succeed_is_not_lost_with_its_neighbour() {
    // Together, one is quarantined and the other fails: 65. Alone, the other fails with 75 once, and then is there.
    let stage = r#"[ "$1" = --version ] && exit 0
echo "$CORPORA_ATTEMPT $*" >> "$here/steps"
case "$*" in
    fetch*--source\ wrong*)
        echo '{"stage":"fetch","ok":false,"entries":[{"source_id":"wrong","status":"quarantined"},{"source_id":"slow","status":"failed"}]}'
        exit 65 ;;
    fetch*--source\ slow*) [ "$CORPORA_ATTEMPT" -gt 1 ] || exit 75 ;;
esac
echo "{\"stage\":\"$1\",\"ok\":true,\"entries\":[]}""#;
    let folder = tempfile::tempdir().unwrap();
    let fake = script(folder.path(), stage);
    let Some(scene) = Scene::running(&fake, ["--jobs", "8"]) else { return };
    let config = scene.lab.work.place("crowd.toml", crowd("wrong", "slow"));
    let build = scene.begin(&config).args(["--wait", "--keep-going", "--until", "fetch"]);
    let report = object(&build.run().exits(65));
    let told = steps(&report);
    let of = |step: &str| {
        told.iter().find(|(known, ..)| known == step).map(|(_, status, attempts)| (status.as_str(), *attempts))
    };
    assert_eq!((of("fetch-wrong"), of("alone-fetch-slow")), (Some(("failed", 1)), Some(("done", 2))));
    assert_eq!(told.len(), 500 + 1 + 1, "the level, the one alone, the commit");
    assert_eq!(report["steps"][0]["sources"], 2);
    let asked = |source: &str| {
        let flag = format!("--source {source} ");
        started(folder.path()).iter().filter(|line| line.contains(&flag)).count()
    };
    assert_eq!((asked("wrong"), asked("slow"), asked("s498")), (1, 3, 1), "what is wrong for good is asked once");
}
