//! Any bytes as a config: problems, never a panic; and a config without problems reads back from its own document.

#![no_main]

use corpora_contracts::config::{decode, parse_json, parse_toml, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(document) = parse_json(bytes) {
        let _ = validate(&document);
    }
    let Ok(text) = decode(bytes) else { return };
    let Ok(document) = parse_toml(text) else { return };
    let reading = validate(&document);
    for problem in &reading.problems {
        assert!(!problem.at("corpus.toml").is_empty());
    }
    if let (Some(config), true) = (&reading.config, reading.problems.is_empty()) {
        config.digest().expect("a valid config has a digest");
    }
});
