//! How likely a block is main text: boosted trees of decisions over its features.
//!
//! The decisions stand in `model.txt`, written by `bench/extract/train.py` from pages whose main text people marked. A line
//! is a tree: nodes apart by blanks, inner ones as `feature:threshold:left:right`, where a value up to the threshold goes
//! left, leaves as `=value`. The values of all trees add up to the logarithm of the odds.

use std::sync::LazyLock;

/// The logarithm of the odds that the block with these features is main text.
pub(crate) fn log_odds(features: &[f32]) -> f32 {
    FOREST.roots.iter().map(|&root| FOREST.walk(root, features)).sum()
}

static FOREST: LazyLock<Forest> = LazyLock::new(|| Forest::of(include_str!("model.txt")));

struct Forest {
    decisions: Vec<Decision>,
    roots: Vec<u32>,
}

/// A leaf is its own child: its feature is [`LEAF`], its threshold the value.
#[derive(Clone, Copy)]
struct Decision {
    threshold: f32,
    feature: u16,
    left: u32,
    right: u32,
}

const LEAF: u16 = u16::MAX;

impl Forest {
    fn of(model: &str) -> Self {
        let mut forest = Self { decisions: Vec::new(), roots: Vec::new() };
        for line in model.lines() {
            let first = forest.decisions.len();
            let root = u32::try_from(first).unwrap_or(u32::MAX);
            forest.decisions.extend(line.split(' ').filter_map(|node| decision(node, root)));
            if forest.decisions.len() > first {
                forest.roots.push(root);
            }
        }
        forest
    }

    fn walk(&self, root: u32, features: &[f32]) -> f32 {
        let mut at = root;
        // A child stands behind its parent, so that every walk ends.
        loop {
            let Some(decision) = self.decisions.get(at as usize) else { return 0.0 };
            if decision.feature == LEAF {
                return decision.threshold;
            }
            let value = features.get(usize::from(decision.feature)).copied().unwrap_or_default();
            at = if value <= decision.threshold { decision.left } else { decision.right };
        }
    }
}

fn decision(node: &str, root: u32) -> Option<Decision> {
    if let Some(value) = node.strip_prefix('=') {
        return Some(Decision { threshold: value.parse().ok()?, feature: LEAF, left: root, right: root });
    }
    let mut parts = node.split(':');
    let feature = parts.next()?.parse().ok()?;
    let threshold = parts.next()?.parse().ok()?;
    let mut child = || parts.next()?.parse::<u32>().ok()?.checked_add(root);
    Some(Decision { threshold, feature, left: child()?, right: child()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_goes_left_up_to_the_threshold_and_ends_where_the_tree_does() {
        let forest = Forest::of("0:1.5:1:2 =-1 =2\n\n1:0:1:7 =0.25");
        let [first, second] = forest.roots[..] else { panic!("two trees") };
        assert_eq!([1.5, 1.6].map(|value| forest.walk(first, &[value])), [-1.0, 2.0]);
        assert_eq!([0.0, 1.0].map(|value| forest.walk(second, &[0.0, value])), [0.25, 0.0]);
        assert_eq!(forest.walk(second, &[]), 0.25, "a feature that is not there counts as 0");
    }
}
