//! The tests prove themselves: each pitfall of the fetch seed, section 5, put back into the program, turns the test
//! red that the seed names for it.

use std::panic::catch_unwind;

use corpora_tests::harness::Setup;

use crate::seed::{resume, retry, rows, verify};

/// Runs a scenario against the program with one pitfall, and requires that it fails.
#[track_caller]
fn turns_red(pitfall: u8, scenario: fn(&Setup)) {
    let outcome = catch_unwind(|| scenario(&Setup::pitfall(pitfall)));
    assert!(outcome.is_err(), "pitfall {pitfall} is back and its test still passes");
}

/// One test per line: what goes wrong, the number of the pitfall, the scenario that catches it.
macro_rules! pitfalls {
    ($($name:ident = $number:literal caught by $scenario:path;)*) => {
        $(#[test]
        fn $name() {
            turns_red($number, $scenario);
        })*
    };
}

pitfalls! {
    a_retry_without_a_range_is_caught = 1 caught by resume::hand_example;
    appending_a_200_is_caught = 2 caught by resume::range_ignored;
    retrying_a_mismatch_is_caught = 3 caught by verify::mismatch_is_quarantined;
    trusting_the_servers_checksum_is_caught = 4 caught by verify::checksum_header_is_not_trusted;
    retrying_a_404_is_caught = 5 caught by retry::not_found_is_final;
    not_reading_the_ledger_is_caught = 6 caught by verify::rerun_downloads_nothing;
    rows_in_order_of_arrival_are_caught = 7 caught by rows::rows_follow_the_input_order;
    unbounded_concurrency_is_caught = 8 caught by retry::concurrency_is_bounded;
    waiting_forever_is_caught = 9 caught by retry::silence_times_out;
    a_ledger_for_the_successful_only_is_caught = 10 caught by rows::failure_keeps_finished_rows;
    local_time_is_caught = 11 caught by rows::rows_validate_against_the_schema;
}
