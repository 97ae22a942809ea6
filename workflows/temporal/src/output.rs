//! stdout: data only. Text for people, or one JSON object on one line.

use std::io::{self, IsTerminal as _, Write as _};

use comfy_table::{ContentArrangement, Table, presets};
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::workflow::StepReport;
use serde::Serialize;

use crate::cli::Format;

/// In which form results are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    format: Format,
}

impl Output {
    /// The form asked for, else text on a terminal and JSON otherwise.
    pub(crate) fn new(asked: Option<Format>) -> Self {
        let default = if io::stdout().is_terminal() { Format::Text } else { Format::Json };
        Self { format: asked.unwrap_or(default) }
    }

    /// Prints a result: the text for people, or the object.
    pub(crate) fn result(self, object: &impl Serialize, for_people: impl FnOnce() -> String) -> ExitCode {
        let text = match self.format {
            Format::Text => Ok(for_people()),
            Format::Json => serde_json::to_string(object).map_err(io::Error::from),
        };
        match text.and_then(|text| print(text.trim_end())) {
            // A reader that has gone away (`| head`) is no failure.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                tracing::error!("write to stdout: {error}");
                ExitCode::Retry
            }
            _ => ExitCode::Success,
        }
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush())
}

/// The word by which a value stands in an object.
pub(crate) fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The steps of a build for people, a row each.
pub(crate) fn steps(steps: &[StepReport]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["STEP", "STATUS", "ATTEMPTS", "PROGRESS", "WHY"]);
    for step in steps {
        table.add_row([name(step), status(step), step.attempts.to_string(), progress(step), why(step)]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

fn name(step: &StepReport) -> String {
    match step.sources {
        Some(sources) => format!("{} ({sources} sources)", step.step),
        None => step.step.clone(),
    }
}

fn status(step: &StepReport) -> String {
    let status = word(step.status);
    step.retry_at.map_or_else(|| status.clone(), |time| format!("{status}, again at {time}"))
}

fn progress(step: &StepReport) -> String {
    let Some(progress) = &step.progress else { return String::new() };
    let total = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
    format!("{}{total} {}", progress.done, progress.unit)
}

/// The kind of failure and the last line that was said.
fn why(step: &StepReport) -> String {
    let Some(error) = &step.error else { return String::new() };
    let last = error.message.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("{}: {last}", error.kind)
}

#[cfg(test)]
mod tests {
    use corpora_contracts::workflow::{StepError, StepProgress, StepStatus};

    use super::*;

    #[test]
    fn a_step_is_told_on_one_line() {
        let step = StepReport {
            step: "fetch-a".to_owned(),
            stage: "fetch".to_owned(),
            status: StepStatus::Running,
            attempts: 3,
            sources: Some(24),
            error: Some(StepError { kind: "ExitCode75".to_owned(), message: "first\nlast\n".to_owned() }),
            progress: Some(StepProgress {
                source: "a".to_owned(),
                done: 20,
                total: Some(54),
                unit: "bytes".to_owned(),
            }),
            retry_at: Some("2026-01-01T00:00:00Z".parse().unwrap()),
        };
        let table = steps(&[step]);
        let row = table.lines().nth(1).unwrap();
        for cell in [
            "fetch-a (24 sources)",
            "running, again at 2026-01-01T00:00:00Z",
            " 3 ",
            "20 of 54 bytes",
            "ExitCode75: last",
        ] {
            assert!(row.contains(cell), "{cell}: {table}");
        }
        assert_eq!(table.lines().count(), 2, "{table}");
    }
}
