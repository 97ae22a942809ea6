//! The tests of the fetch seed, section 4, under its names, and the two rows of section 2.2 that it has no test for.
//!
//! Each scenario is a function over a [`Setup`], so that `pitfalls` can run it against a program that does it wrong.

pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod rows;
pub(crate) mod split;
pub(crate) mod verify;

use corpora_tests::harness::Setup;

/// One test per line: its name in the seed, and the scenario that it is.
macro_rules! seed_tests {
    ($($name:ident = $scenario:path;)*) => {
        $(#[test]
        fn $name() {
            $scenario(&Setup::plain());
        })*
    };
}

seed_tests! {
    test_hand_example_resume_after_a_cut = resume::hand_example;
    test_raw_parts_are_zstd_json_lines = split::raw_parts_are_zstd_json_lines;
    test_ledger_rows_validate_against_the_schema = rows::rows_validate_against_the_schema;
    test_ledger_row_is_a_pure_function_of_fetched = rows::row_is_a_pure_function;
    test_a_server_that_ignores_range_restarts_the_file = resume::range_ignored;
    test_cut_bodies_resume_until_whole = resume::cut_three_times;
    test_a_checksum_mismatch_is_quarantined_not_retried = verify::mismatch_is_quarantined;
    test_the_servers_checksum_header_is_not_trusted = verify::checksum_header_is_not_trusted;
    test_a_rerun_downloads_nothing = verify::rerun_downloads_nothing;
    test_a_new_pinned_checksum_fetches_again = verify::new_pin_fetches_again;
    test_a_whole_partial_file_gets_416_and_is_kept = resume::whole_part_is_kept;
    test_a_verified_download_left_by_a_crash_is_not_downloaded_again = verify::left_download_is_used;
    test_5xx_is_retried_with_exponential_backoff = retry::backoff_doubles;
    test_a_404_is_not_retried = retry::not_found_is_final;
    test_exhausted_retries_raise_a_retryable_error = retry::attempts_run_out;
    test_a_silent_server_times_out = retry::silence_times_out;
    test_concurrency_is_bounded = retry::concurrency_is_bounded;
    test_ledger_rows_follow_the_input_order = rows::rows_follow_the_input_order;
    test_a_failure_keeps_the_rows_of_finished_sources = rows::failure_keeps_finished_rows;
    test_redirects_are_followed = retry::redirects_are_followed;
    test_text_sources_split_on_blank_lines = split::text_blocks;
    test_jsonl_errors_name_the_line = split::bad_lines_are_named;
    test_parts_hold_at_most_part_docs_documents = split::parts_are_bounded;
    test_sources_from_config_fills_defaults_and_rejects_bad_entries = rows::config_defaults_and_rejections;

    test_a_206_that_starts_elsewhere_restarts_the_file = resume::range_starts_elsewhere;
    test_a_416_with_another_total_restarts_the_file = resume::part_is_too_long;
}
