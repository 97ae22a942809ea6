//! The rules of the house, read from the repository itself: a rule that nothing runs is a wish.

mod dependencies;
mod docs;
mod manifests;
mod sources;
mod tree;
mod variables;

/// Fails with every problem at once.
#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}
