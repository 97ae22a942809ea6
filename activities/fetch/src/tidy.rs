//! What crashes left of a source is removed before it is fetched again.

use corpora_contracts::ids::Name;
use corpora_contracts::layout::{Layout, RawVersion};
use corpora_stage::durable;
use corpora_stage::holdings::{self, Holding, HoldingsError};

/// Removes what crashes left: temporaries, raw directories without a receipt and receipts without a whole directory.
///
/// Only under the source's lock. Another run's commit may read meanwhile: it counts a source only when receipt and
/// directory both stand, so it sees the source before or after, never half.
///
/// # Errors
/// [`HoldingsError`].
pub fn tidy(layout: &Layout, id: &Name) -> Result<Vec<Holding>, HoldingsError> {
    durable::clean_temporaries(&layout.receipts(id))?;
    let whole = holdings::read(layout, id)?;
    let stands = |version: &RawVersion| whole.iter().any(|holding| holding.version == *version);
    for version in holdings::receipt_versions(layout, id)?.into_iter().filter(|version| !stands(version)) {
        tracing::warn!(source = %id, raw = %version, "removing a receipt whose raw directory is missing or damaged");
        durable::remove_tree(&layout.raw_dir(id, &version))?;
        durable::remove_file(&layout.receipt(id, &version))?;
    }
    for name in durable::names_in(&layout.raw(id))? {
        if !name.parse().is_ok_and(|version| stands(&version)) {
            tracing::debug!(source = %id, raw = %name, "removing a raw directory without a receipt");
            durable::remove_tree(&layout.raw(id).join(&name))?;
        }
    }
    durable::remove_folder_if_empty(&layout.receipts(id));
    durable::remove_folder_if_empty(&layout.raw(id));
    Ok(whole)
}
