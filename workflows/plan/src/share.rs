//! How sources share steps: only when there are too many for a step each, since a config does not say how large a file
//! is, and a shared step is a shared retry. The sources of a step stand side by side in the config.

use corpora_contracts::ids::Name;

use crate::step::Step;

/// The most steps of a level: an orchestrator keeps a level's steps pending at once and remembers each for good.
pub const MOST_STEPS: usize = 500;

/// The most sources of a step: what one child's argument list and one retry may hold.
pub const MOST_SOURCES: usize = 100;

/// The sources in order, as steps in levels. They need no order among themselves; only more than [`MOST_STEPS`] ·
/// [`MOST_SOURCES`] sources have several levels. `step` makes the step of a share, given its first source.
pub(crate) fn levels(sources: &[Name], step: impl Fn(&Name, &[Name]) -> Step) -> Vec<Vec<Step>> {
    let per_level = even(sources, sources.len().div_ceil(MOST_STEPS * MOST_SOURCES));
    let steps = per_level.map(|level| {
        let shares = even(level, level.len().min(MOST_STEPS));
        shares.filter_map(|share| share.first().map(|first| step(first, share))).collect()
    });
    steps.collect()
}

/// `items` cut into `count` runs whose lengths differ by at most 1, the longer ones first.
fn even(items: &[Name], count: usize) -> impl Iterator<Item = &[Name]> {
    let (mut rest, mut left) = (items, count);
    std::iter::from_fn(move || {
        let length = rest.len().checked_div(left)? + usize::from(!rest.len().is_multiple_of(left));
        let (run, behind) = rest.split_at_checked(length)?;
        (rest, left) = (behind, left - 1);
        Some(run)
    })
}
