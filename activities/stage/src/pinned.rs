//! What the stages after fetch work on: the config's sources, and its crawls as sources pinned to what they gave.

use corpora_contracts::config::{Config, Crawl, Source};
use corpora_contracts::layout::Layout;

use crate::holdings::{self, HoldingsError};

/// The config with its crawls as sources, each pinned to the pages of its newest receipt.
///
/// # Errors
/// [`HoldingsError`].
pub fn resolve(config: &Config, layout: &Layout) -> Result<Config, HoldingsError> {
    let crawled = config.crawls.iter().map(|crawl| of_crawl(crawl, layout)).collect::<Result<_, _>>()?;
    Ok(Config { crawled, ..config.clone() })
}

/// The same, where a crawl whose receipts cannot be told counts as one that was never fetched: whoever works on it meets
/// the error again.
#[must_use]
pub fn resolve_each(config: &Config, layout: &Layout) -> Config {
    let of_crawl = |crawl: &Crawl| of_crawl(crawl, layout).unwrap_or_else(|_| crawl.pinned([].iter()));
    Config { crawled: config.crawls.iter().map(of_crawl).collect(), ..config.clone() }
}

fn of_crawl(crawl: &Crawl, layout: &Layout) -> Result<Source, HoldingsError> {
    let held = holdings::read(layout, &crawl.id)?;
    Ok(crawl.pinned(held.iter().map(|holding| &holding.receipt)))
}
