//! What a run would do, told without writing.

use corpora_contracts::config::Config;
use corpora_contracts::layout::Layout;
use corpora_license::Policy;
use corpora_stage::forecast::Forecast;

use crate::error::VerifyError;
use crate::judge::Standard;
use crate::receipts;
use crate::standing::{self, Standing};
use crate::swap::Places;

/// What verify-ledger would do about the dataset of a config. A staged dataset is due, whatever a judge would say of it.
///
/// # Errors
/// [`VerifyError`].
pub fn forecast(config: &Config, layout: &Layout) -> Result<Forecast, VerifyError> {
    let config = &receipts::resolve(layout, config)?;
    let places = Places::of(layout, &config.dataset, &config.version);
    if places.staged.exists() {
        return Ok(Forecast::due("the staged dataset is not verified"));
    }
    let policy = Policy::new(&config.licenses)?;
    let standard = Standard { config, config_sha256: config.digest()?, policy: &policy };
    Ok(match standing::read(layout, &places, standard)? {
        Standing::Nothing => Forecast::due("nothing is staged or published"),
        Standing::Accepted(_) => Forecast::Cached,
        Standing::Unaccepted(problem) => Forecast::due(problem.to_string()),
        Standing::Differs(problems) => Forecast::Due { because: problems.iter().map(ToString::to_string).collect() },
    })
}
