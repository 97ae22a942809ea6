//! CorpusBuild as data: levels of steps that every driver walks; pure.
//!
//! The local build and the durable workflow ask [`steps`] what to run and in what order, so both run the same. A level
//! starts when the one before has ended; the steps of a level may run in any order, or at once.
//!
//! A later stage is one more function beside `fetch.rs` that adds levels; a driver that walks levels needs no change.

mod dataset;
mod extract;
mod fetch;
mod share;
mod step;

use corpora_contracts::config::Config;
use corpora_contracts::ids::Name;
use serde::{Deserialize, Serialize};

pub use crate::share::{MOST_SOURCES, MOST_STEPS};
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

    /// The step with this id, be it a level's own or one that does a source of a shared step alone.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<Step> {
        self.steps().find(|step| step.id == id).cloned().or_else(|| self.alone(id))
    }

    fn alone(&self, id: &str) -> Option<Step> {
        self.steps().find_map(|step| step.alone(&Step::source_alone(step.stage, id)?))
    }
}

/// What the stages of a build write into: a dataset and its version.
struct Dataset<'a> {
    name: &'a Name,
    version: &'a Name,
}

/// The plan of a build: the same config gives the same plan, whoever asks and whenever.
#[must_use]
pub fn steps(config: &Config) -> Plan {
    let crawls: Vec<_> = config.crawls.iter().map(|crawl| crawl.id.clone()).collect();
    let sources: Vec<_> = config.sources.iter().map(|source| source.id.clone()).chain(crawls.clone()).collect();
    let dataset = Dataset { name: &config.dataset, version: &config.version };
    let fetch = fetch::levels(&sources, &crawls);
    let stages = [fetch, extract::levels(&dataset, &sources), dataset::levels(&dataset, &sources)];
    Plan { levels: stages.into_iter().flatten().collect() }
}

#[cfg(test)]
mod tests {
    use corpora_contracts::config::{parse_toml, validate};

    use super::*;

    #[test]
    fn a_config_becomes_its_stages_in_order() {
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
        let expected = [
            vec!["fetch-zebra", "fetch-apple", "fetch-commit"],
            vec!["commit"],
            vec!["extract-zebra", "extract-apple", "extract-commit"],
            vec!["store"],
            vec!["verify-ledger"],
        ];
        assert_eq!(levels.collect::<Vec<_>>(), expected);
        let words = |id: &str| plan.steps().find(|step| step.id == id).unwrap().arguments().join(" ");
        assert_eq!(words("extract-apple"), "extract --source apple");
        assert_eq!((words("store"), words("verify-ledger")), ("store".to_owned(), "verify-ledger".to_owned()));
    }

    #[test]
    fn a_crawl_is_a_source_behind_the_others_with_a_state_of_its_own() {
        let text = format!(
            "dataset = \"d\"\nversion = \"v1\"\n[[crawls]]\nid = \"docs\"\nseed_urls = [\"https://h.example/\"]\n\
             allowed_domains = [\"h.example\"]\nmax_depth = 1\nuser_agent = \"bot/1\"\nlicense_spdx = \"MIT\"\n\
             [[sources]]\nid = \"tiny\"\nurl = \"https://h.example/t\"\nsha256 = \"{}\"\nlicense_spdx = \"MIT\"\n",
            "0".repeat(64)
        );
        let reading = validate(&parse_toml(&text).unwrap());
        let plan = steps(&reading.config.unwrap_or_else(|| panic!("{:?}", reading.problems)));
        let ids: Vec<&str> = plan.steps().map(|step| step.id.as_str()).collect();
        let expected = ["fetch-tiny", "fetch-docs", "commit", "extract-tiny", "extract-docs", "store", "verify-ledger"];
        assert_eq!(ids, expected);
        let writes = |id: &str| plan.step(id).unwrap().writes;
        let state = "corpus/crawls/docs/**".to_owned();
        assert!(
            writes("fetch-docs").contains(&state) && !writes("fetch-docs").iter().any(|it| it.contains("downloads"))
        );
        assert!(!writes("fetch-tiny").iter().any(|it| it.contains("crawls")));
        assert!(!plan.steps().any(|step| step.reads.contains(&state)), "no other step looks into it");
        assert_eq!(plan.step("fetch-docs").unwrap().arguments().join(" "), "fetch --no-commit --source docs");
    }
}
