//! A workspace with a server beside it, and the usual way to run fetch there.

use corpora_contracts::summary::Status;

use super::config::{ConfigToml, SourceToml};
use super::outcome::Outcome;
use super::program::Run;
use super::samples::TINY;
use super::workspace::Workspace;
use crate::servers::FaultyServer;

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
        Lab { server: FaultyServer::start(), work: Workspace::new(), env: self.env.clone() }
    }
}

/// One test's world.
#[derive(Debug)]
pub struct Lab {
    /// The server that the sources name.
    pub server: FaultyServer,
    /// The folders.
    pub work: Workspace,
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

    /// Source `tiny` of the fetch seed's worked example, at `/tiny.jsonl` of the server.
    #[must_use]
    pub fn tiny(&self) -> SourceToml {
        self.source("tiny", TINY)
    }

    /// A source at `/<id>.jsonl` of the server.
    #[must_use]
    pub fn source(&self, id: &str, bytes: &[u8]) -> SourceToml {
        SourceToml::new(id, &self.server.url(&format!("/{id}.jsonl")), bytes)
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
        self.env.iter().fold(run, |run, (name, value)| run.env(name, value))
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}
