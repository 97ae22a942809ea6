//! CorpusBuild as data: levels of steps that every driver walks; pure.
//!
//! The local build and the durable workflow ask [`steps`] what to run and in what order, so both run the same. A level
//! starts when the one before has ended; the steps of a level may run in any order, or at once.
//!
//! A later stage is one more function beside `fetch.rs` that adds levels; a driver that walks levels needs no change.

mod fetch;
mod step;

use corpora_contracts::config::Config;
use serde::{Deserialize, Serialize};

pub use crate::fetch::{MOST_SOURCES, MOST_STEPS};
pub use crate::step::{RetryPolicy, Runs, Scope, Stage, Step, Timeouts};

/// What to run, level by level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Each level needs all levels before it, as its steps' [`Runs`] say.
    pub levels: Vec<Vec<Step>>,
}

impl Plan {
    /// Every step in the order of the levels.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.levels.iter().flatten()
    }
}

/// The plan of a build: the same config gives the same plan, whoever asks and whenever.
#[must_use]
pub fn steps(config: &Config) -> Plan {
    let sources: Vec<_> = config.sources.iter().map(|source| source.id.clone()).collect();
    Plan { levels: fetch::levels(&sources) }
}
