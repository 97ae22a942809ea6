//! What an extract would do, told without writing.

use corpora_contracts::config::{Config, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::Ledger;
use corpora_stage::forecast::Forecast;
use corpora_stage::pinned;

use crate::error::SourceError;
use crate::plan::{self, Action};

/// What extract would do about each source, in config order, under the terms of this ledger.
///
/// A raw part is read only when its time is not the recorded one.
///
/// # Errors
/// [`SourceError`]; a source that is not fetched yet is due, and no error.
pub fn forecast(config: &Config, ledger: &Ledger, layout: &Layout) -> Result<Vec<(Name, Forecast)>, SourceError> {
    let config = &pinned::resolve(config, layout)?;
    let of = |source: &Source| Ok((source.id.clone(), of_source(config, source, ledger, layout)?));
    config.pinned().map(of).collect()
}

fn of_source(config: &Config, source: &Source, ledger: &Ledger, layout: &Layout) -> Result<Forecast, SourceError> {
    match plan::decide(config, source, ledger, layout) {
        Ok(Action::Revoked) => Ok(Forecast::Revoked),
        Ok(Action::Cached(_) | Action::Refresh(_)) => Ok(Forecast::Cached),
        Ok(Action::Extract(_, because)) => Ok(Forecast::Due { because }),
        Err(SourceError::NotFetched { .. } | SourceError::NoRow { .. }) => Ok(Forecast::due("not fetched yet")),
        Err(error) => Err(error),
    }
}
