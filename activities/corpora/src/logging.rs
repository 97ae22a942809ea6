//! stderr: the log, as text for people or as JSON Lines.

use std::io::{self, IsTerminal as _, Write};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

use crate::bars::Bars;
use crate::cli::{Format, Verbosity};

/// Starts the log. Libraries speak up only with `-v`.
pub(crate) fn start(verbosity: &Verbosity, bars: Option<&Bars>) {
    let (ours, libraries) = match (verbosity.quiet, verbosity.verbose) {
        (true, _) => (LevelFilter::ERROR, LevelFilter::OFF),
        (_, true) => (LevelFilter::DEBUG, LevelFilter::WARN),
        _ => (LevelFilter::INFO, LevelFilter::OFF),
    };
    let filter = Targets::new().with_target("corpora", ours).with_default(libraries);
    let writer = LogWriter { bars: bars.cloned() };
    let layer = fmt::layer().with_writer(writer).with_target(false);
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let layer = match verbosity.log_format {
        Format::Json => layer.json().flatten_event(true).with_filter(filter).boxed(),
        Format::Text => layer.without_time().with_ansi(colour).with_filter(filter).boxed(),
    };
    tracing_subscriber::registry().with(layer).init();
}

/// Writes log lines above the bars, where there are bars.
#[derive(Debug, Clone)]
struct LogWriter {
    bars: Option<Bars>,
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match &self.bars {
            Some(bars) => bars.above(|| io::stderr().write(line)),
            None => io::stderr().write(line),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
