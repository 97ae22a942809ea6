//! stdout: data only. Text for people, or one JSON object.

use std::io::{self, IsTerminal as _, Write as _};

use comfy_table::{ContentArrangement, Table, presets};
use corpora_contracts::outcome::ExitCode;
use serde::Serialize;

use crate::cli::Format;

/// Where results go, and in which form.
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

    /// The same output, JSON whatever it was: an orchestrator reads it.
    pub(crate) fn json(self) -> Self {
        Self { format: Format::Json }
    }

    /// Prints a result: the table for people, or the object on one line.
    pub(crate) fn result(self, object: &impl Serialize, for_people: impl FnOnce() -> String) -> ExitCode {
        match self.format {
            Format::Text => self.text(&for_people()),
            Format::Json => match serde_json::to_string(object) {
                Ok(line) => self.text(&line),
                Err(error) => {
                    tracing::error!("write the result: {error}");
                    ExitCode::Retry
                }
            },
        }
    }

    /// Prints a text and a newline. A reader that has gone away (`| head`) is no failure.
    pub(crate) fn text(self, text: &str) -> ExitCode {
        let mut stdout = io::stdout().lock();
        match writeln!(stdout, "{}", text.trim_end_matches('\n')).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                tracing::error!("write to stdout: {error}");
                ExitCode::Retry
            }
            _ => ExitCode::Success,
        }
    }
}

/// A plain table: a header row, then rows.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

/// A size for people: `1.5 MB`, powers of 1000.
pub(crate) fn size(bytes: u64) -> String {
    indicatif::DecimalBytes(bytes).to_string()
}
