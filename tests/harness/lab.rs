//! A workspace with a server beside it, and the usual way to run fetch there.

use corpora_contracts::summary::Status;
use serde_json::Value;

use super::config::{ConfigToml, SourceToml};
use super::footprints::Footprints;
use super::outcome::Outcome;
use super::program::Run;
use super::samples::{NOTES, TINY, documents};
use super::workspace::Workspace;
use crate::servers::{Answer, FaultyServer, Proxy};

/// 2026-01-01T00:00:00Z, the clock of the fetch seed's worked example.
pub const NEW_YEAR: &str = "1767225600";

/// What holds for every run of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    env: Vec<(String, String)>,
}

impl Setup {
    /// The program as it is.
    #[must_use]
    pub fn plain() -> Self {
        Self::default()
    }

    /// The program with one pitfall of the fetch seed, section 5, put back.
    #[must_use]
    pub fn pitfall(number: u8) -> Self {
        Self { env: vec![("CORPORA_PITFALL".to_owned(), number.to_string())] }
    }

    /// An empty lab under this setup.
    #[must_use]
    pub fn lab(&self) -> Lab {
        Lab { server: FaultyServer::start(), work: Workspace::new(), proxy: None, env: self.env.clone() }
    }
}

/// One test's world.
#[derive(Debug)]
pub struct Lab {
    /// The server that the sources name.
    pub server: FaultyServer,
    /// The folders.
    pub work: Workspace,
    proxy: Option<Proxy>,
    env: Vec<(String, String)>,
}

impl Lab {
    /// A lab for the program as it is.
    #[must_use]
    pub fn new() -> Self {
        Setup::plain().lab()
    }

    /// The same lab with another workspace.
    #[must_use]
    pub fn with_workspace(mut self, work: Workspace) -> Self {
        self.work = work;
        self
    }

    /// The same lab with another server.
    #[must_use]
    pub fn with_server(mut self, server: FaultyServer) -> Self {
        self.server = server;
        self
    }

    /// The same lab behind a proxy: its urls are those of every such lab, so that what is built of them can be compared.
    #[must_use]
    pub fn with_proxy(mut self) -> Self {
        self.proxy = Some(Proxy::start(self.server.port()));
        self
    }

    /// The URL of a path of the server.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        match &self.proxy {
            None => self.server.url(path),
            Some(_) => format!("http://corpus.invalid{path}"),
        }
    }

    /// Serves these bytes as `/<id>.jsonl` and gives the source that names them.
    #[must_use]
    pub fn serve(&self, id: &str, bytes: &[u8]) -> SourceToml {
        self.server.serve(&format!("/{id}.jsonl"), Answer::object(bytes));
        self.source(id, bytes)
    }

    /// Source `tiny` of the fetch seed's worked example, at `/tiny.jsonl` of the server.
    #[must_use]
    pub fn tiny(&self) -> SourceToml {
        self.source("tiny", TINY)
    }

    /// A source at `/<id>.jsonl` of the server.
    #[must_use]
    pub fn source(&self, id: &str, bytes: &[u8]) -> SourceToml {
        SourceToml::new(id, &self.url(&format!("/{id}.jsonl")), bytes)
    }

    /// `corpora fetch` over the lab's config: fixed clock, four attempts with short waits.
    #[must_use]
    pub fn fetch(&self) -> Run {
        let run = self.program(["fetch", "--config"]).arg(self.work.config_file());
        run.unless_given("--base-delay", "0.01").unless_given("--timeout", "5")
    }

    /// Writes the config and runs fetch.
    #[must_use]
    pub fn fetch_config(&self, config: impl Into<ConfigToml>) -> Outcome {
        self.work.configure(config);
        self.fetch().run()
    }

    /// Three sources to build of: `tiny`, `many` with 60 documents, and `notes`, a local file in another format.
    #[must_use]
    pub fn shelf(&self) -> [SourceToml; 3] {
        self.work.place("notes.txt", NOTES);
        let notes = SourceToml::new("notes", "notes.txt", NOTES).with("format", "text").with("license_spdx", "CC0-1.0");
        [self.serve("tiny", TINY), self.serve("many", &documents("many", 60)), notes]
    }

    /// `corpora build` over the lab's config, as [`Lab::fetch`]; source `many` of the shelf has three parts.
    #[must_use]
    pub fn build(&self) -> Run {
        let run = self.program(["build", "--config"]).arg(self.work.config_file());
        run.unless_given("--base-delay", "0.01").unless_given("--timeout", "5").unless_given("--part-docs", "20")
    }

    /// Writes the config and builds.
    #[must_use]
    pub fn build_config(&self, config: impl Into<ConfigToml>) -> Outcome {
        self.work.configure(config);
        self.build().run()
    }

    /// What `build --dry-run` says with these flags; it asks nothing and writes nothing, no lock either.
    ///
    /// # Panics
    /// When it does not end well, or not without a trace.
    #[track_caller]
    pub fn dry_run<const N: usize>(&self, flags: [&str; N]) -> Value {
        let (asked, before) = (self.server.log().len(), Footprints::of(self.work.root()));
        let run = self.build().arg("--dry-run").args(flags).run().exits(0);
        assert_eq!(self.server.log().len(), asked, "a dry run asks nothing");
        assert_eq!(before.changes(&Footprints::of(self.work.root())), [""; 0], "a dry run writes nothing");
        serde_json::from_str(run.stdout.lines().last().unwrap_or_default()).unwrap()
    }

    /// Builds once more as it stands: every entry of every stage is cached, nothing is asked, no file is touched.
    ///
    /// # Panics
    /// When that is not so.
    #[track_caller]
    pub fn assert_rebuild_is_free(&self, run: Run) -> Outcome {
        let (asked, before) = (self.server.log().len(), Footprints::of(self.work.artifacts()));
        let again = run.run().exits(0);
        let statuses = again.build_statuses();
        let is_free = |status: &String| status == "cached" || status == "revoked";
        assert!(statuses.iter().all(|(_, _, status)| is_free(status)), "{statuses:?}\n{}", again.stderr);
        assert_eq!(self.server.log().len(), asked, "a second build asks nothing");
        let after = Footprints::of(self.work.artifacts());
        assert_eq!(before.changes(&after), [""; 0], "a second build touches nothing");
        again
    }

    /// Runs fetch once more as it stands: every source is cached, nothing is asked, no byte changes.
    ///
    /// # Panics
    /// When that is not so.
    #[track_caller]
    pub fn assert_rerun_is_free(&self) {
        let (asked, before) = (self.server.log().len(), self.work.tree());
        let again = self.fetch().run().exits(0);
        for entry in again.summary().entries {
            assert_eq!((entry.status, entry.requests, entry.bytes), (Status::Cached, 0, 0), "{}", again.stdout);
        }
        assert_eq!(self.server.log().len(), asked, "a rerun asks nothing");
        assert_eq!(self.work.tree(), before, "a rerun changes nothing");
    }

    /// The program with other arguments, in the same environment.
    #[must_use]
    pub fn program<const N: usize>(&self, args: [&str; N]) -> Run {
        let run = Run::new(&self.work.home(), args).env("CORPORA_CLOCK", NEW_YEAR);
        let run = run.env("CORPORA_ARTIFACTS", self.work.artifacts());
        let run = self.proxy.iter().fold(run, |run, proxy| run.env("http_proxy", proxy.url("")));
        self.env.iter().fold(run, |run, (name, value)| run.env(name, value))
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}
