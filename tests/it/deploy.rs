//! `deploy`: one command, from nothing to a dataset, and nothing left behind; and flags that exist. `deploy/check` holds
//! the other files against the schemas of their kinds.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use corpora_tests::harness::{Lab, Outcome, Run, Signal, TINY, processes_with, skipped, worker_program};
use corpora_tests::servers::{Answer, Gate};
use corpora_tests::services::object;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The script with the programs of this build before all others; none without `temporal`.
fn script(lab: &Lab, port: u16, config: &Path) -> Option<Run> {
    let temporal = root().join(".venv/bin");
    if !temporal.join("temporal").exists() {
        skipped("deploy/local/run", "`.venv/bin/temporal` is not there; scripts/test installs it");
        return None;
    }
    let folders = [temporal.as_path(), worker_program().parent().unwrap()].map(|folder| folder.to_owned());
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let run = Run::of(&root().join("deploy/local/run"), &lab.work.home(), ["--port", &port.to_string()]).arg(config);
    let run = run.arg("--artifacts").arg(lab.work.artifacts()).env("PATH", path);
    // A service of the calling shell is left alone.
    Some(run.env("TEMPORAL_ADDRESS", "127.0.0.1:9").env("TEMPORAL_NAMESPACE", "elsewhere"))
}

fn run(lab: &Lab, port: u16, config: &Path) -> Option<Outcome> {
    script(lab, port, config).map(Run::run)
}

/// No process of the lab is left.
#[track_caller]
fn assert_nothing_runs(lab: &Lab) {
    assert_eq!(processes_with("HOME", &lab.work.home().to_string_lossy()), [0; 0]);
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

#[test]
fn one_command_builds_and_leaves_nothing_running() {
    let lab = Lab::new();
    let config = root().join("examples/quickstart/corpus.toml");
    let Some(ended) = run(&lab, free_port(), &config) else { return };
    let report = object(&ended.exits(0));
    assert_eq!((&report["ok"], &report["n_docs"]), (&true.into(), &132.into()), "{report}");
    assert!(lab.work.path("corpus/datasets/quickstart/v1/_VERIFIED.json").is_file());
    assert_nothing_runs(&lab);

    // The code is the build's.
    lab.work.configure(lab.source("lost", TINY));
    let failed = run(&lab, free_port(), &lab.work.config_file()).unwrap().exits(65);
    assert!(failed.stderr.contains("404"), "{}", failed.stderr);
    assert_nothing_runs(&lab);
}

#[test]
fn stopped_in_the_middle_it_leaves_nothing_running() {
    let lab = Lab::new();
    let gate = Gate::closed();
    lab.server.serve("/tiny.jsonl", Answer::object(TINY).held_at(&gate));
    lab.work.configure(lab.tiny());
    let Some(script) = script(&lab, free_port(), &lab.work.config_file()) else { return };
    let running = script.start();
    gate.wait_for(1);
    running.signal(Signal::Terminate);
    let _ = running.wait().exits(130);
    assert_nothing_runs(&lab);
}

#[test]
fn a_port_that_is_taken_is_told() {
    let lab = Lab::new();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let Some(ended) = run(&lab, port, &root().join("examples/quickstart/corpus.toml")) else { return };
    let ended = ended.exits(75);
    assert!(ended.stderr.contains(&format!("port {port}")), "{}", ended.stderr);
}

#[test]
fn the_flags_of_every_deployment_exist() {
    let help: String = ["run", "start"]
        .map(|verb| Run::of(worker_program(), &Lab::new().work.home(), [verb, "--help"]).run().exits(0).stdout)
        .concat();
    let is_command = |line: &&str| {
        let starts = ["ExecStart=/usr/local/bin/corpora-worker", "args: [", "command: [run", "command: [start"];
        starts.iter().any(|start| line.trim_start().starts_with(start))
    };
    let mut flags = 0;
    for file in [
        "systemd/corpora-worker.service",
        "systemd/corpora-build@.service",
        "kubernetes/worker.yaml",
        "kubernetes/build.yaml",
        "compose/compose.yaml",
    ] {
        let text = std::fs::read_to_string(root().join("deploy").join(file)).unwrap();
        let words = text.lines().filter(is_command).flat_map(|line| line.split([' ', ',', '"', '[', ']']));
        for flag in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n")), "{file}: `{flag}`");
            flags += 1;
        }
    }
    assert!(flags > 14, "{flags} flags were seen");
}
