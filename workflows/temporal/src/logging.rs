//! stderr: the log, as text for people or as JSON Lines; the children's own lines stand between.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

use crate::cli::{Format, Verbosity};

/// Starts the log. Libraries say what went wrong, and more with `-v`; what is on the way to go wrong they say to a worker's
/// log alone, since a client tells of an outage itself.
pub(crate) fn start(verbosity: &Verbosity, is_worker: bool) {
    let (ours, libraries) = match (verbosity.quiet, verbosity.verbose) {
        (true, _) => (LevelFilter::ERROR, LevelFilter::OFF),
        (_, true) => (LevelFilter::DEBUG, LevelFilter::INFO),
        _ if is_worker => (LevelFilter::INFO, LevelFilter::WARN),
        _ => (LevelFilter::INFO, LevelFilter::ERROR),
    };
    let filter = Targets::new().with_target("corpora", ours).with_default(libraries);
    let layer = fmt::layer().with_writer(io::stderr).with_target(false);
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let layer = match verbosity.log_format {
        // The span of an activity holds the ids of workflow, run and activity.
        Format::Json => layer.json().flatten_event(true).with_span_list(false).with_filter(filter).boxed(),
        Format::Text => layer.without_time().with_ansi(colour).with_filter(filter).boxed(),
    };
    tracing_subscriber::registry().with(layer).init();
}
