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

#[cfg(test)]
mod tests {
    use corpora_contracts::config::{parse_toml, validate};

    use super::*;

    #[test]
    fn a_config_becomes_its_sources_in_order_and_the_commit() {
        let mut text = "dataset = \"d\"\nversion = \"v1\"\n".to_owned();
        for id in ["zebra", "apple", "commit"] {
            let (url, sha256) = (format!("https://h.example/{id}.jsonl"), "0".repeat(64));
            text += &format!(
                "[[sources]]\nid = \"{id}\"\nurl = \"{url}\"\nsha256 = \"{sha256}\"\nlicense_spdx = \"MIT\"\n"
            );
        }
        let reading = validate(&parse_toml(&text).unwrap());
        let plan = steps(&reading.config.unwrap_or_else(|| panic!("{:?}", reading.problems)));
        let levels = plan.levels.iter().map(|level| level.iter().map(|step| step.id.as_str()).collect::<Vec<_>>());
        assert_eq!(levels.collect::<Vec<_>>(), [vec!["fetch-zebra", "fetch-apple", "fetch-commit"], vec!["commit"]]);
        assert_eq!(plan.steps().count(), 4);
    }
}
