//! The fetch stage: steps that download, then the one step that writes the ledger.

use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;

use crate::share;
use crate::step::{RetryPolicy, Runs, Scope, Stage, Step, Timeouts};

/// Download levels, and the commit in a level of its own.
pub(crate) fn levels(sources: &[Name], crawls: &[Name]) -> Vec<Vec<Step>> {
    let mut levels = share::levels(sources, |first, sources| download(first, sources, crawls));
    levels.push(vec![commit(sources)]);
    levels
}

/// The step is named after its first source; no other step has it.
fn download(first: &Name, sources: &[Name], crawls: &[Name]) -> Step {
    let layout = Layout::new("");
    let own = |id: &Name| {
        let while_it_runs = match crawls.contains(id) {
            true => vec![layout.crawl(id)],
            false => vec![layout.downloads(id), layout.quarantine(id)],
        };
        let folders = while_it_runs.into_iter().chain([layout.raw(id), layout.receipts(id)]);
        let mut own: Vec<String> = folders.map(|folder| format!("{}/**", layout.relative(&folder))).collect();
        own.push(layout.relative(&layout.source_lock(id)));
        own
    };
    Step {
        id: format!("fetch-{first}"),
        stage: Stage::Fetch,
        scope: Scope::Sources(sources.to_vec()),
        runs: Runs::AfterSuccess,
        reads: vec![layout.relative(&layout.ledger())],
        writes: sources.iter().flat_map(own).collect(),
        timeouts: Timeouts::DEFAULT,
        retry: RetryPolicy::default(),
    }
}

/// Runs also when a download failed, so that a finished source is never fetched twice. A source without a receipt is
/// no error of it.
fn commit(sources: &[Name]) -> Step {
    let layout = Layout::new("");
    let holdings = |id: &Name| [layout.raw(id), layout.receipts(id)].map(|f| format!("{}/**", layout.relative(&f)));
    Step {
        id: "commit".to_owned(),
        stage: Stage::Fetch,
        scope: Scope::Commit,
        runs: Runs::Always,
        reads: sources.iter().flat_map(holdings).collect(),
        writes: vec![layout.relative(&layout.ledger()), layout.relative(&layout.ledger_lock())],
        timeouts: Timeouts::DEFAULT,
        retry: RetryPolicy::default(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Plan;

    fn names(count: usize) -> Vec<Name> {
        (0..count).map(|index| format!("s{index}").parse().unwrap()).collect()
    }

    fn levels_of(sources: &[Name]) -> Vec<Vec<Step>> {
        levels(sources, &[])
    }

    fn sources_of(step: &Step) -> Vec<Name> {
        match &step.scope {
            Scope::Sources(sources) => sources.clone(),
            Scope::Commit | Scope::Dataset => Vec::new(),
        }
    }

    #[test]
    fn every_source_exactly_once_in_order_and_the_commit_last() {
        for count in [0, 1, 2, 499, 500, 501, 999, 1000, 1001, 12_345, 50_000, 50_001, 123_456] {
            let names = names(count);
            let plan = Plan { levels: levels_of(&names) };
            let planned: Vec<Name> = plan.steps().flat_map(sources_of).collect();
            assert!(planned == names, "{count} sources: each once, in config order");

            let (last, downloads) = plan.levels.split_last().unwrap();
            assert_eq!(last.iter().map(|step| &step.scope).collect::<Vec<_>>(), [&Scope::Commit], "{count} sources");
            assert!(downloads.iter().flatten().all(|step| step.scope != Scope::Commit), "{count} sources");

            let ids: BTreeSet<&str> = plan.steps().map(|step| step.id.as_str()).collect();
            assert_eq!(ids.len(), plan.steps().count(), "{count} sources: ids are unique");
        }
    }

    #[test]
    fn levels_and_steps_stay_in_their_bounds() {
        // Sources, then download levels, steps of the first level, and the smallest and largest share of it.
        let table = [
            (0, 0, 0, 0, 0),
            (1, 1, 1, 1, 1),
            (500, 1, 500, 1, 1),
            (501, 1, 500, 1, 2),
            (12_345, 1, 500, 24, 25),
            (50_000, 1, 500, 100, 100),
            (50_001, 2, 500, 50, 51),
        ];
        for (count, download_levels, steps, smallest, largest) in table {
            let levels = levels_of(&names(count));
            assert_eq!(levels.len() - 1, download_levels, "{count} sources");
            let first = levels.first().filter(|_| count > 0).map_or(&[][..], Vec::as_slice);
            let shares: Vec<usize> = first.iter().map(|step| sources_of(step).len()).collect();
            assert_eq!(shares.len(), steps, "{count} sources");
            assert_eq!(shares.iter().min().copied().unwrap_or(0), smallest, "{count} sources");
            assert_eq!(shares.iter().max().copied().unwrap_or(0), largest, "{count} sources");
        }
    }

    #[test]
    fn a_step_says_what_it_runs() {
        let words = |step: &Step| step.arguments().join(" ");
        let few = levels_of(&names(2));
        assert_eq!(words(&few[0][0]), "fetch --no-commit --source s0");
        assert_eq!(words(&few[0][1]), "fetch --no-commit --source s1");
        assert_eq!(words(&few[1][0]), "fetch --commit");
        let many = levels_of(&names(501));
        assert_eq!(words(&many[0][0]), "fetch --no-commit --source s0 --source s1 --keep-going");
        assert_eq!(words(&many[0][1]), "fetch --no-commit --source s2");
        assert_eq!((many[0][0].id.as_str(), many[0][1].id.as_str()), ("fetch-s0", "fetch-s2"));
    }

    #[test]
    fn a_step_says_what_it_reads_and_writes() {
        let levels = levels_of(&names(2));
        assert_eq!(levels[0][1].reads, ["corpus/LEDGER.jsonl"]);
        assert_eq!(
            levels[0][1].writes,
            [
                "corpus/downloads/s1/**",
                "corpus/quarantine/s1/**",
                "corpus/raw/s1/**",
                "corpus/receipts/s1/**",
                "corpus/locks/s1.lock",
            ]
        );
        let reads = ["corpus/raw/s0/**", "corpus/receipts/s0/**", "corpus/raw/s1/**", "corpus/receipts/s1/**"];
        assert_eq!(levels[1][0].reads, reads);
        assert_eq!(levels[1][0].writes, ["corpus/LEDGER.jsonl", "corpus/locks/LEDGER.lock"]);
    }

    #[test]
    fn no_step_of_a_level_writes_what_another_one_touches() {
        for level in levels_of(&names(501)) {
            let written: Vec<&String> = level.iter().flat_map(|step| &step.writes).collect();
            let distinct: BTreeSet<&String> = written.iter().copied().collect();
            assert_eq!(distinct.len(), written.len(), "two steps write the same");
            assert!(level.iter().flat_map(|step| &step.reads).all(|read| !distinct.contains(read)), "one reads it");
        }
    }

    #[test]
    fn a_source_of_a_shared_step_can_be_done_alone_or_left_out() {
        let plan = Plan { levels: levels_of(&names(501)) };
        let shared = plan.step("fetch-s0").unwrap();
        let name = |id: &str| id.parse::<Name>().unwrap();
        let words = |step: &Step| step.arguments().join(" ");
        let alone = plan.step(&Step::alone_id(Stage::Fetch, &name("s1"))).unwrap();
        assert_eq!((alone.id.as_str(), words(&alone).as_str()), ("alone-fetch-s1", "fetch --no-commit --source s1"));
        assert_eq!(shared.alone(&name("s1")), Some(alone));
        assert_eq!(shared.alone(&name("s2")), None);
        let left = shared.without(&[name("s0")]).unwrap();
        assert_eq!((left.id.as_str(), words(&left).as_str()), ("fetch-s0", "fetch --no-commit --source s1"));
        assert_eq!(shared.without(&[name("s0"), name("s1")]), None);
        let commit = plan.step("commit").unwrap();
        assert_eq!((commit.without(&[name("s0")]), commit.alone(&name("s0"))), (Some(commit.clone()), None));
        for unknown in ["alone-fetch-s501", "alone-extract-s0", "alone-s0", "alone-fetch-", "s0", ""] {
            assert_eq!(plan.step(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn an_id_that_reads_like_a_step_collides_with_none() {
        let ids: Vec<Name> = ["commit", "fetch-commit", "alone-fetch-commit"].map(|id| id.parse().unwrap()).to_vec();
        let plan = Plan { levels: levels_of(&ids) };
        let distinct: BTreeSet<&str> = plan.steps().map(|step| step.id.as_str()).collect();
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn the_driver_is_told_how_to_wait() {
        let plan = Plan { levels: levels_of(&names(1)) };
        for step in plan.steps() {
            assert_eq!(step.timeouts, Timeouts { schedule_to_close_s: 604_800, heartbeat_s: 30 });
            let RetryPolicy { initial_interval_s, backoff_coefficient, maximum_interval_s, .. } = step.retry;
            assert_eq!((initial_interval_s, backoff_coefficient, maximum_interval_s), (1, 2, 60));
            assert_eq!((step.retry.maximum_attempts, &step.retry.final_exit_codes[..]), (None, &[2, 65][..]));
        }
        let runs: Vec<Runs> = plan.steps().map(|step| step.runs).collect();
        assert_eq!(runs, [Runs::AfterSuccess, Runs::Always], "the commit also runs when a source failed");
    }

    #[test]
    fn a_plan_survives_json() {
        let plan = Plan { levels: levels_of(&names(3)) };
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    }
}
