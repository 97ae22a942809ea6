//! A build that is started again does what has to be done, and nothing else.

use corpora_tests::harness::{ConfigToml, Footprints, NOTES, documents, wait_until};
use corpora_tests::servers::Answer;
use corpora_tests::services::{SMALL, Scene, object, steps};
use serde_json::Value;

/// The status of every entry of every step of a run, by the step's own record.
fn statuses(scene: &Scene, report: &Value) -> Vec<(String, String)> {
    let run = report["run_id"].as_str().unwrap();
    let of_step = |(step, ..): (String, String, u64)| {
        let done = scene.lab.work.read(&format!("activities/{SMALL}/{run}/{step}/DONE.json"));
        let done: Value = serde_json::from_slice(&done.expect("the step is done")).unwrap();
        let entries = done["result"]["entries"].as_array().unwrap().clone();
        entries.into_iter().map(move |entry| (step.clone(), entry["status"].as_str().unwrap().to_owned()))
    };
    steps(report).into_iter().flat_map(of_step).collect()
}

#[test]
fn a_rerun_asks_nothing_and_touches_nothing() {
    let Some(scene) = Scene::start() else { return };
    scene.lab.work.configure(ConfigToml::shelved(scene.lab.shelf()));
    let first = object(&scene.build().exits(0));
    assert_eq!(scene.made(), scene.undisturbed(&scene.lab.work.config_file()));
    let asked = scene.lab.server.log().len();
    let corpus = scene.lab.work.path("corpus");
    let before = Footprints::of(&corpus);
    let again = object(&scene.build().exits(0));
    assert_ne!(first["run_id"], again["run_id"]);
    let statuses = statuses(&scene, &again);
    assert!(statuses.len() > 8 && statuses.iter().all(|(_, status)| status == "cached"), "{statuses:?}");
    assert_eq!(scene.lab.server.log().len(), asked, "no request");
    let changes = before.changes(&Footprints::of(&corpus));
    assert!(changes.iter().all(|path| path.starts_with("locks/")), "{changes:?}");
    assert_eq!((&first["n_docs"], &first["dataset_dir"]), (&again["n_docs"], &again["dataset_dir"]));
}

#[test]
fn what_has_changed_is_done_whatever_an_older_run_says() {
    let Some(scene) = Scene::start() else { return };
    let [tiny, many, notes] = scene.lab.shelf();
    scene.lab.work.configure(ConfigToml::shelved([tiny.clone(), many.clone(), notes.clone()]));
    let first = object(&scene.build().exits(0));

    // Another config under the same name: the DONE.json of every step of the first run is there.
    let more = scene.lab.serve("many", &documents("more", 45));
    scene.lab.work.configure(ConfigToml::shelved([tiny.clone(), more.clone(), notes.clone()]));
    let changed = object(&scene.build().exits(0));
    assert_eq!(changed["n_docs"].as_u64(), first["n_docs"].as_u64().map(|before| before - 60 + 45));
    let done = statuses(&scene, &changed);
    assert!(done.contains(&("fetch-many".to_owned(), "fetched".to_owned())), "{done:?}");
    assert!(done.contains(&("fetch-tiny".to_owned(), "cached".to_owned())), "{done:?}");

    // A source that is revoked, by the same config as before.
    let revoke = scene.lab.program(["ledger", "revoke", "--source", "many", "--reason", "withdrawn", "--config"]);
    let _ = revoke.arg(scene.lab.work.config_file()).run().exits(0);
    let revoked = object(&scene.build().exits(0));
    let left = 2 + NOTES.split(|&byte| byte == b'\n').filter(|line| line.is_empty()).count() as u64;
    assert_eq!(revoked["n_docs"].as_u64(), Some(left), "{:?}", statuses(&scene, &revoked));
    let done = statuses(&scene, &revoked);
    assert!(done.contains(&("fetch-many".to_owned(), "revoked".to_owned())), "{done:?}");
}

#[test]
fn a_record_of_another_run_in_the_activitys_own_folder_is_not_believed() {
    let Some(mut scene) = Scene::start() else { return };
    let gate = scene.two_sources(Answer::object(documents("b", 3)));
    let waiting = scene.begin_small().arg("--wait").start();
    gate.wait_for(1);
    scene.wait_for_receipt("a");
    let runs = std::fs::read_dir(scene.lab.work.path(&format!("activities/{SMALL}"))).unwrap();
    let run = runs.flatten().next().unwrap().file_name().into_string().unwrap();
    let record = |step: &str| format!("activities/{SMALL}/{run}/{step}/DONE.json");
    wait_until(|| scene.lab.work.read(&record("fetch-a")).is_some());
    scene.worker.kill();
    // As if a run of another spec had finished here.
    let mut done: Value = serde_json::from_slice(&scene.lab.work.read(&record("fetch-a")).unwrap()).unwrap();
    done["spec_sha256"] = "0".repeat(64).into();
    let _ = scene.lab.work.plant(&record("fetch-b"), done.to_string());
    scene.replace_worker();
    gate.wait_for(2);
    gate.open();
    let report = object(&waiting.wait().exits(0));
    assert_eq!(report["n_docs"], 6);
    assert_eq!(scene.made(), scene.undisturbed(&scene.lab.work.config_file()));
}
