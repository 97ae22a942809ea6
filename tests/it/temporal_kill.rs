//! Workers that die: nothing of them is left, nothing that had arrived is asked for again, and the build ends as if
//! nothing had been.

use std::thread::sleep;
use std::time::Duration;

use corpora_tests::harness::{ConfigToml, Tree, noise, wait_until};
use corpora_tests::servers::Answer;
use corpora_tests::services::Scene;

/// The slow source: its length, and what the server sends at a time, with a pause after each. About two seconds.
const BYTES: usize = 4_000_000;
const PIECE: usize = 20_000;
const PAUSE: Duration = Duration::from_millis(10);

/// What the server may have sent and the program not yet read when it dies, in bytes: what two socket buffers hold at
/// that pace while a busy machine lets the program wait for a second.
const IN_FLIGHT: u64 = 2_000_000;

/// Where the download of the slow source is.
const PART: &str = "corpus/downloads/slow/slow.jsonl.part";

fn configure(scene: &Scene, bytes: &[u8]) {
    scene.lab.server.serve("/slow.jsonl", Answer::object(bytes).etag("\"v1\"").drip(PIECE, PAUSE));
    let [tiny, many, notes] = scene.lab.shelf();
    scene.lab.work.configure(ConfigToml::shelved([tiny, scene.lab.source("slow", bytes), many, notes]));
}

/// Kills the worker and looks at what is left: no process, and so much of the slow source.
fn kill(scene: &mut Scene, seed: u64) -> (usize, u64) {
    scene.worker.kill();
    wait_until(|| scene.children().is_empty());
    let asked = scene.lab.server.requests("/slow.jsonl").len();
    assert!(scene.children().is_empty(), "seed {seed}");
    (asked, scene.lab.work.path(PART).metadata().map_or(0, |part| part.len()))
}

/// One build whose worker is killed a few times; what it made.
fn killed(scene: &mut Scene, bytes: &[u8], seed: u64) -> Tree {
    configure(scene, bytes);
    let _ = scene.begin_small().run().exits(0);
    let mut state = seed;
    let mut kept = Vec::new();
    for round in 0..1 + seed % 3 {
        // Any sequence does, as long as the seed fixes it: Knuth's MMIX constants.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The next attempt starts two seconds after a death; a kill before that would hit nothing.
        let moments = if round == 0 { 2500 } else { 5000 };
        sleep(Duration::from_millis(50 + (state >> 33) % moments));
        kept.push(kill(scene, seed));
        scene.replace_worker();
    }
    let _ = scene.build().exits(0);

    let requests = scene.lab.server.requests("/slow.jsonl");
    for (asked, kept) in &kept {
        let start = requests.get(*asked).map(|next| next.request.range_start().unwrap_or_default());
        assert!(start.is_none_or(|start| start >= *kept), "seed {seed}: {kept} bytes were kept, asked from {start:?}");
    }
    let sent: u64 = requests.iter().map(|request| request.sent()).sum();
    let most = bytes.len() as u64 + kept.len() as u64 * IN_FLIGHT;
    assert!(sent <= most, "seed {seed}: {sent} bytes sent of {}", bytes.len());
    scene.made()
}

#[test]
fn killed_at_any_moment_a_build_ends_as_if_nothing_had_been() {
    let seeds = if std::env::var("CORPORA_TEST_LONG").as_deref() == Ok("1") { 20 } else { 5 };
    let Some(mut scene) = Scene::start() else { return };
    let bytes = noise(11, BYTES);
    configure(&scene, &bytes);
    let undisturbed = scene.undisturbed(&scene.lab.work.config_file());
    for seed in 1..=seeds {
        scene.start_over();
        assert_eq!(killed(&mut scene, &bytes, seed), undisturbed, "seed {seed}");
    }
}
