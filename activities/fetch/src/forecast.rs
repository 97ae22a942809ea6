//! What a fetch would do, told without a request and without writing.

use corpora_contracts::config::{Config, Crawl, Engine, Source};
use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::{Ledger, Row};
use corpora_contracts::outcome::Disposition;
use corpora_contracts::receipt::SplitSettings;
use corpora_crawl::runs;
use corpora_stage::forecast::Forecast;
use corpora_stage::holdings::{self, Holding, HoldingsError};
use corpora_stage::ledger::{self, ReadLedgerError};

use crate::plan::{self, Action};

/// Why it cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum ForecastError {
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] ReadLedgerError),
    /// A source's receipts cannot be told.
    #[error(transparent)]
    Holdings(#[from] HoldingsError),
}

impl ForecastError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Ledger(error) => error.disposition(),
            Self::Holdings(error) => error.disposition(),
        }
    }
}

/// What fetch would do about each source, then each crawl, in config order.
///
/// # Errors
/// [`ForecastError`].
pub fn forecast(
    config: &Config,
    layout: &Layout,
    part_docs: u64,
    refresh: bool,
) -> Result<Vec<(Name, Forecast)>, ForecastError> {
    let ledger = ledger::read(layout)?;
    let of = |source: &Source| {
        let held = holdings::read(layout, &source.id)?;
        let settings = SplitSettings { documents: source.split.clone(), part_docs };
        Ok((source.id.clone(), of_source(source, &settings, &ledger, &held)))
    };
    let crawled = |crawl: &Crawl| Ok((crawl.id.clone(), of_crawl(crawl, &ledger, layout, part_docs, refresh)?));
    config.sources.iter().map(of).chain(config.crawls.iter().map(crawled)).collect()
}

/// What fetch would do about a crawl, told by the decision that it takes itself.
fn of_crawl(
    crawl: &Crawl,
    ledger: &Ledger,
    layout: &Layout,
    part_docs: u64,
    refresh: bool,
) -> Result<Forecast, ForecastError> {
    let held = holdings::read(layout, &crawl.id)?;
    let settings = SplitSettings { documents: crawl.split(), part_docs };
    let source = crawl.pinned(held.iter().map(|holding| &holding.receipt));
    let forecast = of_source(&source, &settings, ledger, &held);
    let has_pages = held.iter().any(|holding| holding.receipt.split.documents == settings.documents);
    if refresh && has_pages && forecast != Forecast::Revoked {
        return Ok(Forecast::due("its pages are asked for again, as --refresh says"));
    }
    if !gets_bytes(&forecast) || has_pages {
        return Ok(forecast);
    }
    let run = runs::newest(layout, &crawl.id, &crawl.key).map_err(HoldingsError::from)?;
    let is_apart = crawl.engine == Engine::Queues;
    Ok(Forecast::due(match run {
        Some(run) if run.note.ended.is_some() => format!("crawled, and not published yet; {NO_REQUEST}"),
        Some(_) if is_apart => "its coordinator has not ended".to_owned(),
        Some(_) => "the crawl goes on where it stopped".to_owned(),
        None if is_apart => "no coordinator has crawled it".to_owned(),
        None if held.is_empty() => "never crawled".to_owned(),
        None => "a key of its table changed".to_owned(),
    }))
}

/// Whether a forecast of fetch means that a new raw directory is made, and not only a ledger row.
#[must_use]
pub fn gets_bytes(forecast: &Forecast) -> bool {
    matches!(forecast, Forecast::Due { because } if !because.iter().any(|reason| reason.ends_with(NO_REQUEST)))
}

/// How the reasons end for which no bytes are needed.
const NO_REQUEST: &str = "no request is needed";

fn of_source(source: &Source, settings: &SplitSettings, ledger: &Ledger, held: &[Holding]) -> Forecast {
    match plan::decide(source, settings, ledger, held) {
        Action::Revoked(_) => Forecast::Revoked,
        Action::Finished(_) => Forecast::due(format!("no ledger row yet; {NO_REQUEST}")),
        Action::Cached(holding) => match ledger.due(source, &holding.receipt) {
            None => Forecast::Cached,
            Some(row) => terms_changed(&row, ledger.last(&source.id, &source.sha256)),
        },
        Action::Fetch => Forecast::Due { because: reasons(source, settings, ledger, held) },
    }
}

fn terms_changed(now: &Row, last: Option<&Row>) -> Forecast {
    let Some(last) = last else { return Forecast::due(format!("no ledger row yet; {NO_REQUEST}")) };
    let differs = [
        ("url", now.url != last.url),
        ("license_spdx", now.license_spdx != last.license_spdx),
        ("allowed_uses", !last.same_uses(&now.allowed_uses)),
        ("pii_policy", now.pii_policy != last.pii_policy),
        ("n_docs", now.n_docs != last.n_docs),
    ];
    let names: Vec<&str> = differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
    Forecast::due(format!("a ledger row with new {}; {NO_REQUEST}", names.join(", ")))
}

/// Why the bytes are to be had.
fn reasons(source: &Source, settings: &SplitSettings, ledger: &Ledger, held: &[Holding]) -> Vec<String> {
    let Some(same_bytes) = holdings::newest(held, &source.sha256, |_| true) else {
        let other = ledger.of_source(&source.id).any(|row| row.sha256 != source.sha256);
        let known = ledger.last(&source.id, &source.sha256).is_some();
        return vec![match (known, other) {
            (true, _) => "its raw directory is missing or damaged".to_owned(),
            (false, true) => "sha256 changed".to_owned(),
            (false, false) => "never fetched".to_owned(),
        }];
    };
    let (was, is) = (&same_bytes.receipt.split, settings);
    let differs = [
        ("format", was.documents.format != is.documents.format),
        ("text_field", was.documents.text_field != is.documents.text_field),
        ("meta_fields", was.documents.meta_fields != is.documents.meta_fields),
        ("on_bad_document", was.documents.on_bad_document != is.documents.on_bad_document),
        ("max_line_bytes", was.documents.max_line_bytes != is.documents.max_line_bytes),
        ("page_bytes", was.documents.page_bytes != is.documents.page_bytes),
        ("part_docs", was.part_docs != is.part_docs),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| format!("{name} changed")).collect()
}
