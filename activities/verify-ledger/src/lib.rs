//! The verify-ledger stage: a staged dataset is judged and published, or refused with every problem.
