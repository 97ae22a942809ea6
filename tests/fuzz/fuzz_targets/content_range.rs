//! Any text as `Content-Range`: what is read is what a server could mean, and is written back alike.

#![no_main]

use corpora_web::content_range::ContentRange;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(ContentRange::Satisfied { first, last, total }) = text.parse() {
        assert!(first <= last);
        assert!(total.is_none_or(|total| last < total));
    }
});
