//! Progress bars: bytes, rate and time left per source; only on a terminal.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};

use corpora_contracts::progress::Kind;
use corpora_stage::progress::Observer;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::cli::{Format, Verbosity};

/// The bars of one run.
#[derive(Debug, Clone)]
pub(crate) struct Bars {
    all: MultiProgress,
    by_source: Arc<Mutex<HashMap<String, ProgressBar>>>,
}

impl Bars {
    /// Bars, when a person watches stderr and wants to.
    pub(crate) fn for_terminal(verbosity: &Verbosity) -> Option<Self> {
        let wanted = io::stderr().is_terminal() && !verbosity.quiet && verbosity.log_format == Format::Text;
        wanted.then(|| Self { all: MultiProgress::new(), by_source: Arc::default() })
    }

    /// Does something on stderr above the bars.
    pub(crate) fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.all.suspend(write)
    }

    /// Shows a stage's events.
    pub(crate) fn observer(&self) -> Observer {
        let bars = self.clone();
        Arc::new(move |event| bars.show(event))
    }

    /// Removes all bars.
    pub(crate) fn clear(&self) {
        // A terminal that has gone away has no bars to clear.
        let _ = self.all.clear();
    }

    fn show(&self, event: &Kind) {
        match event {
            Kind::Step { source, done, total, unit, .. } => {
                let bar = self.bar(source);
                bar.set_length(total.unwrap_or(0));
                bar.set_position(*done);
                bar.set_message(unit.clone());
                bar.set_style(style(unit, total.is_some()));
            }
            Kind::Ckpt { source, .. } => self.bar(source).finish_and_clear(),
            _ => {}
        }
    }

    fn bar(&self, source: &str) -> ProgressBar {
        let mut bars = self.by_source.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || self.all.add(ProgressBar::no_length().with_prefix(source.to_owned()));
        bars.entry(source.to_owned()).or_insert_with(new).clone()
    }
}

fn style(unit: &str, sized: bool) -> ProgressStyle {
    let template = match (unit, sized) {
        ("bytes", true) => {
            "{prefix:24} {bar:24} {decimal_bytes:>10} / {decimal_total_bytes:10} {decimal_bytes_per_sec:>12} {eta:>5}"
        }
        ("bytes", false) => "{prefix:24} {decimal_bytes:>10} {decimal_bytes_per_sec:>12}",
        ("pages", _) => "{prefix:24} {human_pos:>10} {msg} {per_sec:>12} {elapsed:>5}",
        _ => "{prefix:24} {human_pos:>10} {msg}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
