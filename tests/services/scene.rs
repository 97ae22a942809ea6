//! A Temporal server, a worker that works for it, and the lab whose artifacts it fills.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::temporal::Temporal;
use super::worker::Worker;
use crate::harness::{
    Lab, NEW_YEAR, Outcome, Run, Tree, Workspace, documents, processes_with, program, skipped, wait_until,
};
use crate::servers::{Answer, Gate};

/// The workflow of the lab's own config.
pub const SMALL: &str = "corpus-build-small-v1";

/// One test's world.
#[derive(Debug)]
pub struct Scene {
    /// The service.
    pub temporal: Temporal,
    /// The worker.
    pub worker: Worker,
    /// The sources and the artifacts.
    pub lab: Lab,
    program: PathBuf,
    flags: Vec<OsString>,
}

impl Scene {
    /// A worker with four steps at a time; none where there is no Temporal server to be had.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::running(program(), ["--jobs", "4"])
    }

    /// A worker whose steps run this program, with these flags.
    #[must_use]
    pub fn running<const N: usize>(program: &Path, flags: [&str; N]) -> Option<Self> {
        let Some(temporal) = Temporal::start() else {
            skipped("a test against Temporal", "`.venv/bin/temporal` is not there; scripts/test installs it");
            return None;
        };
        let (lab, flags) = (Lab::new(), flags.map(OsString::from).to_vec());
        let worker = worker(&temporal, &lab, program, &flags);
        Some(Self { temporal, worker, lab, program: program.to_owned(), flags })
    }

    /// One more worker like the first.
    #[must_use]
    pub fn another_worker(&self) -> Worker {
        worker(&self.temporal, &self.lab, &self.program, &self.flags)
    }

    /// A worker in the place of the one that has ended.
    pub fn replace_worker(&mut self) {
        self.worker = self.another_worker();
    }

    /// Empty folders and an empty log, with the same server, service and urls; the worker is another one.
    pub fn start_over(&mut self) {
        self.lab.work = Workspace::new();
        self.lab.server.forget();
        self.replace_worker();
    }

    /// `corpora-worker start` for a config, with short waits.
    #[must_use]
    pub fn begin(&self, config: &Path) -> Run {
        let run = self.temporal.client(&self.lab.work.home(), ["start", "--config"]).arg(config);
        let run = run.arg("--artifacts").arg(self.lab.work.artifacts());
        run.unless_given("--retry-interval", "0.05").unless_given("--heartbeat-timeout", "2")
    }

    /// The same for the lab's config.
    #[must_use]
    pub fn begin_small(&self) -> Run {
        self.begin(&self.lab.work.config_file())
    }

    /// Builds the lab's config to its end.
    #[must_use]
    pub fn build(&self) -> Outcome {
        self.begin_small().arg("--wait").run()
    }

    /// Source `a`, which is there, and `b`, whose answer waits at a gate.
    #[must_use]
    pub fn two_sources(&self, b: Answer) -> Gate {
        let gate = Gate::closed();
        self.lab.server.serve("/b.jsonl", b.held_at(&gate));
        let a = self.lab.serve("a", &documents("a", 3));
        self.lab.work.configure([a, self.lab.source("b", &documents("b", 3))]);
        gate
    }

    /// Waits until the raw directory of a source stands.
    pub fn wait_for_receipt(&self, id: &str) {
        wait_until(|| self.lab.work.versions(id).iter().any(|version| !version.contains("tmp")));
    }

    /// The processes that work on the artifacts.
    #[must_use]
    pub fn children(&self) -> Vec<u32> {
        processes_with("CORPORA_ARTIFACTS", &self.lab.work.artifacts().to_string_lossy())
    }

    /// What `corpora build` makes of a config in folders of its own.
    #[must_use]
    pub fn undisturbed(&self, config: &Path) -> Tree {
        let work = Workspace::new();
        let run = self.lab.program(["build", "--config"]).arg(config);
        let _ = run.arg("--artifacts").arg(work.artifacts()).run().exits(0);
        made(&work)
    }

    /// What the builds have made.
    #[must_use]
    pub fn made(&self) -> Tree {
        made(&self.lab.work)
    }
}

/// What is promised to be the same, whoever builds: nobody's locks, no state of crawls, no table for convenience, no records
/// that hold when a file was written.
fn made(work: &Workspace) -> Tree {
    let mut tree = Tree::of(&work.path("corpus"));
    let is_apart = |path: &str| path.ends_with("metadata.sqlite") || path.ends_with("_STAGE.json");
    tree.files
        .retain(|path, _| !["locks/", "crawls/"].iter().any(|folder| path.starts_with(folder)) && !is_apart(path));
    assert!(!tree.files.is_empty(), "nothing was made");
    tree
}

fn worker(temporal: &Temporal, lab: &Lab, program: &Path, flags: &[OsString]) -> Worker {
    let run = temporal.client(&lab.work.home(), ["run", "--program"]).arg(program).args(flags);
    Worker::start(run.env("CORPORA_CLOCK", NEW_YEAR).env("HF_TOKEN", "of the worker"))
}

/// A program that is this script, in a folder; `corpora` in it is the real one.
#[must_use]
pub fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("program");
    let text = format!("#!/bin/sh\ncorpora='{}'\nhere='{}'\n{text}\n", program().display(), folder.display());
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}
