//! The stages of the dataset as a whole: store, then verify-ledger.

use std::path::Path;

use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;

use crate::Dataset;
use crate::step::{RetryPolicy, Runs, Scope, Stage, Step, Timeouts};

pub(crate) fn levels(dataset: &Dataset<'_>, sources: &[Name]) -> Vec<Vec<Step>> {
    vec![vec![store(dataset, sources)], vec![verify_ledger(dataset, sources)]]
}

fn store(dataset: &Dataset<'_>, sources: &[Name]) -> Step {
    let layout = Layout::new("");
    let Dataset { name, version } = dataset;
    let documents = [layout.relative(&layout.ledger()), below(&layout.stage("extract", name, version))];
    let receipts = sources.iter().map(|id| below(&layout.receipts(id)));
    Step {
        reads: documents.into_iter().chain(receipts).chain([below(&layout.dataset(name, version))]).collect(),
        writes: vec![
            below(&layout.staged(name, version)),
            below(&layout.staged_tmp(name, version)),
            below(&layout.stage("store", name, version)),
            layout.relative(&layout.dataset_lock(name, version)),
        ],
        ..step("store", Stage::Store)
    }
}

fn verify_ledger(dataset: &Dataset<'_>, sources: &[Name]) -> Step {
    let layout = Layout::new("");
    let Dataset { name, version } = dataset;
    let evidence = [layout.relative(&layout.ledger()), below(&layout.stage("extract", name, version))];
    Step {
        reads: evidence.into_iter().chain(sources.iter().map(|id| below(&layout.receipts(id)))).collect(),
        writes: vec![
            below(&layout.staged(name, version)),
            below(&layout.dataset(name, version)),
            layout.relative(&layout.swap(name, version)),
            layout.relative(&layout.dataset_lock(name, version)),
        ],
        ..step("verify-ledger", Stage::VerifyLedger)
    }
}

fn step(id: &str, stage: Stage) -> Step {
    Step {
        id: id.to_owned(),
        stage,
        scope: Scope::Dataset,
        runs: Runs::AfterSuccess,
        reads: Vec::new(),
        writes: Vec::new(),
        timeouts: Timeouts::DEFAULT,
        retry: RetryPolicy::default(),
    }
}

fn below(folder: &Path) -> String {
    format!("{}/**", Layout::new("").relative(folder))
}
