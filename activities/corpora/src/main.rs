//! The `corpora` program.
fn main() {}
