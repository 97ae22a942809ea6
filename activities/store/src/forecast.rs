//! What a store would do, told without writing.

use corpora_contracts::config::Config;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::Ledger;
use corpora_stage::forecast::Forecast;

use crate::error::StoreError;
use crate::plan;
use crate::standing::{self, Action};

/// What store would do about the dataset of a config, under the terms of this ledger.
///
/// A part of the documents is read only when its time is not the recorded one.
///
/// # Errors
/// [`StoreError`]; sources that are not fetched or extracted yet make the dataset due, and are no error.
pub fn forecast(config: &Config, ledger: &Ledger, layout: &Layout) -> Result<Forecast, StoreError> {
    let plan = match plan::plan(config, ledger, layout) {
        Ok(plan) => plan,
        Err(StoreError::NotFetched { source_id }) => {
            return Ok(Forecast::due(format!("source `{source_id}` is not fetched yet")));
        }
        Err(StoreError::NotExtracted { source_id, .. }) => {
            return Ok(Forecast::due(format!("source `{source_id}` is not extracted yet")));
        }
        Err(StoreError::Stale { source_id, reason }) => {
            return Ok(Forecast::due(format!("source `{source_id}`: {reason}")));
        }
        Err(error) => return Err(error),
    };
    Ok(match standing::decide(config, &plan, layout)? {
        Action::Cached(_) => Forecast::Cached,
        Action::Store(because) => Forecast::Due { because },
    })
}
