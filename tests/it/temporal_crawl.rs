//! A crawl as a step of a build on a Temporal server.

use corpora_tests::harness::crawl_config;
use corpora_tests::servers::Site;
use corpora_tests::services::{Scene, all, object, steps};
use serde_json::json;

#[test]
fn a_crawl_is_a_step_that_makes_what_one_machine_makes() {
    let Some(mut scene) = Scene::start() else { return };
    let site = Site::start(2, 5, &[]);
    scene.lab.work.configure(crawl_config(&[site.url("/")], &json!({})));
    let report = object(&scene.build().exits(0));
    let planned = ["fetch-site", "commit", "extract-site", "store", "verify-ledger"];
    assert_eq!(steps(&report), all(&planned, "done", 1), "{report}");
    assert_eq!(report["n_docs"], 6);
    let asked = site.server.log().len();
    let _ = scene.build().exits(0);
    assert_eq!(site.server.log().len(), asked, "it is cached");
    assert_eq!(scene.made(), scene.undisturbed(&scene.lab.work.config_file()));
    let _ = scene.worker.stop();
}
