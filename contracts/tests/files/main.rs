//! Files at rest: where each one stands, and what its lines add up to.

#[cfg(test)]
mod ledger;
#[cfg(test)]
mod manifest;
#[cfg(test)]
mod paths;
