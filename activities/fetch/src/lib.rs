//! The fetch stage: pinned files in, verified raw parts and a licensed ledger out.
