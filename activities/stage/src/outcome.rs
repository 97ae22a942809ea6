//! What a stage came to, and how its errors are told.

use corpora_contracts::outcome::ExitCode;

/// What a stage came to.
#[derive(Debug)]
pub struct Outcome<S> {
    /// The object to print.
    pub summary: S,
    /// How the process should end.
    pub exit: ExitCode,
    /// What the stage published or rests on, relative to the artifacts root.
    pub outputs: Vec<String>,
}

/// An error with all its causes on one line, for a log or a message.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(current) = cause {
        let next = current.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = current.source();
    }
    text
}
