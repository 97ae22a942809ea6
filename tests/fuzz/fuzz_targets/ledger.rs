//! Any bytes as a ledger: rows, a bad line by its number, or a torn tail whose cut leaves a whole ledger with the same rows.

#![no_main]

use corpora_contracts::ledger::{Ledger, Tail};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(ledger) = Ledger::parse(bytes) else { return };
    let mended = match ledger.tail {
        Tail::Whole => bytes.to_vec(),
        Tail::NoNewline => [bytes, b"\n"].concat(),
        Tail::Torn { start } => bytes[..start as usize].to_vec(),
    };
    let again = Ledger::parse(&mended).expect("a mended ledger is whole");
    assert_eq!(again.tail, Tail::Whole);
    assert_eq!(again.rows(), ledger.rows());
});
