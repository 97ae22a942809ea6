//! The extract stage: a step per source, once the ledger says under what terms it stands.

use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;

use crate::Dataset;
use crate::share;
use crate::step::{RetryPolicy, Runs, Scope, Stage, Step, Timeouts};

pub(crate) fn levels(dataset: &Dataset<'_>, sources: &[Name]) -> Vec<Vec<Step>> {
    share::levels(sources, |first, sources| step(dataset, first, sources))
}

fn step(dataset: &Dataset<'_>, first: &Name, sources: &[Name]) -> Step {
    let layout = Layout::new("");
    let below = |folder: &std::path::Path| format!("{}/**", layout.relative(folder));
    let raw = |id: &Name| [below(&layout.raw(id)), below(&layout.receipts(id))];
    let own = |id: &Name| {
        let folder = layout.extracted(dataset.name, dataset.version, id);
        let aside = folder.with_file_name(format!(".{id}.tmp"));
        [below(&folder), below(&aside), layout.relative(&layout.source_lock(id))]
    };
    let ledger = layout.relative(&layout.ledger());
    Step {
        id: format!("extract-{first}"),
        stage: Stage::Extract,
        scope: Scope::Sources(sources.to_vec()),
        runs: Runs::AfterSuccess,
        reads: [ledger].into_iter().chain(sources.iter().flat_map(raw)).collect(),
        writes: sources.iter().flat_map(own).collect(),
        timeouts: Timeouts::DEFAULT,
        retry: RetryPolicy::default(),
    }
}
