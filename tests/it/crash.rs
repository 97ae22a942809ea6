//! Killed at every point where something becomes durable, and anywhere else: the next run ends as if nothing had been.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, Outcome, Run, Signal, SourceToml, TINY, Tree, documents, noise};
use corpora_tests::servers::{Answer, Proxy};

/// A lab for one crash: three sources behind a proxy, so that every lab has the same urls and hence the same bytes.
///
/// One source is cut once, one needs several parts, one is quarantined; the ledger ends with a torn line. So every
/// point where a fetch writes is on the way.
struct CrashLab {
    lab: Lab,
    proxy: Proxy,
}

impl CrashLab {
    fn new() -> Self {
        let lab = Lab::new();
        let proxy = Proxy::start(lab.server.port());
        let many = documents("many", 50);
        let cut = Answer::object(TINY).etag("\"v1\"").cut_after(20);
        lab.server.script("/tiny.jsonl", [cut, Answer::object(TINY).etag("\"v1\"")]);
        lab.server.serve("/many.jsonl", Answer::object(&many));
        lab.server.serve("/swapped.jsonl", Answer::object("swapped"));
        let source = |id: &str, bytes: &[u8]| SourceToml::new(id, &format!("http://corpus.invalid/{id}.jsonl"), bytes);
        lab.work.configure([source("tiny", TINY), source("many", &many), source("swapped", b"never served")]);
        let row = "{\"source_id\":\"earlier\",\"url\":\"x\",\"license_spdx\":\"CC0-1.0\",\"retrieved_at\":\"2025-01-01T00:00:00Z\",";
        lab.work.plant("corpus/LEDGER.jsonl", row);
        Self { lab, proxy }
    }

    fn fetch(&self) -> Run {
        let run = self.lab.fetch().args(["--part-docs", "20", "--concurrency", "2"]);
        run.env("http_proxy", self.proxy.url(""))
    }

    /// Runs to the end; the quarantined source makes the code 65.
    fn finish(&self) -> (Outcome, Tree) {
        let run = self.fetch().run().exits(65);
        assert_eq!(run.entry("swapped").status, Status::Quarantined);
        assert!(run.entry("tiny").status.is_ok() && run.entry("many").status.is_ok(), "{}", run.stdout);
        (run, self.lab.work.tree())
    }
}

/// The names of all kill points, as the program lists them.
fn points() -> Vec<String> {
    let listed = Lab::new().program(["--version"]).env("CORPORA_FAILPOINT", "list").run().exits(0);
    listed.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn killed_at_every_point_the_next_run_ends_as_if_nothing_had_been() {
    let all = points();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "each name once");
    // The points of the later stages stand behind those of fetch; `build_crash` has them all.
    let points: Vec<&String> = all.iter().take_while(|point| !point.starts_with("extract")).collect();
    assert!(points.len() >= 10, "{points:?}");
    let (_, undisturbed) = CrashLab::new().finish();
    let (mut unreached, mut wrong) = (Vec::new(), Vec::new());
    for point in points {
        for nth in 1..=3 {
            let crash = CrashLab::new();
            let run = crash.fetch().env("CORPORA_FAILPOINT", format!("{point}:{nth}")).run();
            if run.signal != Some(9) {
                assert_eq!(run.code, Some(65), "{point}:{nth}: {}", run.printed());
                unreached.extend((nth == 1).then_some(point.as_str()));
                break;
            }
            for time in ["once", "twice"] {
                let (run, tree) = crash.finish();
                let asked = run.entry("tiny").requests + run.entry("many").requests;
                if tree != undisturbed || time == "twice" && asked > 0 {
                    wrong.push(format!("killed at {point}:{nth}, run again {time}, {asked} requests: {tree:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\ninstead of {undisturbed:?}", wrong.join("\n"));
    assert_eq!(unreached, [""; 0], "every point is on the way of this fetch");
}

#[test]
fn an_activity_killed_around_its_done_file_is_finished_by_the_next_attempt() {
    let points: Vec<String> = points().into_iter().filter(|point| point.starts_with("done.")).collect();
    assert!(!points.is_empty());
    for point in points {
        let lab = Lab::new();
        lab.server.serve("/tiny.jsonl", Answer::object(TINY));
        let folder = lab.work.activity("w/r/a", lab.tiny());
        let child = || {
            let run = lab.program(["run", "--stage", "fetch", "--spec"]).arg(folder.join("spec.json"));
            run.arg("--progress").arg(folder.join("progress.jsonl"))
        };
        assert_eq!(child().env("CORPORA_FAILPOINT", &point).run().signal, Some(9), "{point}");
        let run = child().run().exits(0);
        assert_eq!((run.summary().ok, lab.server.log().len()), (true, 1), "{point}");
        assert!(folder.join("DONE.json").exists());
        let progress = std::fs::read_to_string(folder.join("progress.jsonl")).unwrap();
        assert!(progress.lines().last().unwrap().contains("\"kind\":\"done\""), "{point}: {progress}");
    }
}

/// How far the server may have sent more than a killed client had written down: what was between the two.
const IN_FLIGHT: u64 = 16 * 1024;

#[test]
fn killed_at_any_moment_nothing_is_downloaded_twice() {
    let seeds = if std::env::var("CORPORA_TEST_LONG").as_deref() == Ok("1") { 40 } else { 3 };
    let bytes = noise(11, 60_000);
    let path = "/slow.jsonl";
    let answer = || Answer::object(&bytes).etag("\"v1\"").drip(600, Duration::from_millis(4));
    let undisturbed = {
        let lab = Lab::new();
        lab.server.serve(path, answer());
        finish_slow(&lab, &bytes)
    };
    for seed in 1..=seeds {
        let lab = Lab::new();
        lab.server.serve(path, answer());
        let mut state: u64 = seed;
        for _ in 0..4 {
            // Any sequence does, as long as the seed fixes it: Knuth's MMIX constants.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let run = start_slow(&lab, &bytes);
            sleep(Duration::from_millis(40 + (state >> 33) % 160));
            run.signal(Signal::Kill);
            let _ = run.wait();
        }
        assert_eq!(finish_slow(&lab, &bytes), undisturbed, "seed {seed}");
        let log = lab.server.requests(path);
        let mut reached = 0;
        for logged in &log {
            let start = logged.request.range_start().unwrap_or(0);
            assert!(start + IN_FLIGHT >= reached, "seed {seed}: {reached} bytes were sent, then from {start} again");
            reached = start + logged.sent();
        }
        assert_eq!(reached, bytes.len() as u64, "seed {seed}");
        lab.assert_rerun_is_free();
    }
}

/// Starts fetch over the slow source, under one url for every lab.
fn start_slow(lab: &Lab, bytes: &[u8]) -> corpora_tests::harness::Running {
    let proxy = Proxy::start(lab.server.port());
    lab.work.configure(SourceToml::new("slow", "http://corpus.invalid/slow.jsonl", bytes));
    lab.fetch().env("http_proxy", proxy.url("")).start()
}

/// Runs it to its end and gives back what stands then.
fn finish_slow(lab: &Lab, bytes: &[u8]) -> Tree {
    let _ = start_slow(lab, bytes).wait().exits(0);
    lab.work.tree()
}
