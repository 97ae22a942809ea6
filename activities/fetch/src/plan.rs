//! What is to be done about a source: a pure decision over the ledger and the holdings.

use corpora_contracts::config::Source;
use corpora_contracts::ledger::Ledger;
use corpora_contracts::receipt::SplitSettings;
use corpora_stage::fault;
use corpora_stage::holdings::{self, Holding};

/// What is to be done about a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Nothing: the ledger revokes it.
    Revoked(Option<Holding>),
    /// Nothing: a row, a receipt and a raw directory of these bytes and settings stand.
    Cached(Holding),
    /// Nothing but its row: a crash came between the raw directory and the commit.
    Finished(Holding),
    /// Its bytes are to be had.
    Fetch,
}

/// Decides what is to be done about a source.
#[must_use]
pub fn decide(source: &Source, settings: &SplitSettings, ledger: &Ledger, holdings: &[Holding]) -> Action {
    let holding = holdings::newest(holdings, &source.sha256, |receipt| receipt.split == *settings).cloned();
    if ledger.revoked(&source.id) {
        return Action::Revoked(holding);
    }
    let Some(holding) = holding else { return Action::Fetch };
    if fault::pitfall(6) {
        return Action::Fetch;
    }
    match ledger.last(&source.id, &source.sha256) {
        Some(_) => Action::Cached(holding),
        None => Action::Finished(holding),
    }
}
