//! How what is wrong is told, beyond the keys.

use std::time::Duration;

use corpora_contracts::config::{Problem, Seconds, Syntax};

use crate::sample::{problems, read};

#[test]
fn a_problem_without_a_line_names_the_file_alone() {
    let problem = Problem::text(None, "url", "x\u{7}y", "expected a file");
    assert!(problem.at("spec.json").starts_with("spec.json: `url` is "), "{}", problem.at("spec.json"));
    assert_eq!([Syntax::Toml.to_string(), Syntax::Json.to_string()], ["TOML", "JSON"]);
}

#[test]
fn a_date_is_shown_as_it_is_written() {
    let all = problems(&read("dataset = 2026-01-01\nversion = 'v1'\n"));
    assert!(all.iter().any(|problem| problem.contains("2026-01-01")), "{all:?}");
}

#[test]
fn a_licence_id_that_toml_took_apart_is_put_together_again() {
    let all =
        problems(&read("dataset = 'd'\nversion = 'v1'\n[licenses]\nOGL-UK-3.0 = ['eval']\na.b.c = ['eval']\nd = {}\n"));
    for id in ["\"OGL-UK-3.0\"", "\"a.b.c\"", "\"d.0\""] {
        assert!(all.iter().any(|problem| problem.contains(id)), "{id} in {all:?}");
    }
}

#[test]
fn seconds_keep_their_fraction() {
    assert_eq!(Seconds::new(0.25).unwrap().duration(), Duration::from_millis(250));
    assert_eq!(Seconds::new(Seconds::MAX).unwrap().duration(), Duration::from_hours(365 * 24));
}
