//! Any bytes as a web archive or a page: documents or a named error, in the memory of a page; the first byte chooses the
//! format and the packing.

#![no_main]

use corpora_contracts::config::{Format, OnBadDocument, Split};
use corpora_contracts::receipt::SplitSettings;
use corpora_contracts::time::Timestamp;
use corpora_fetch::split::{SplitJob, Watch, split};
use libfuzzer_sys::fuzz_target;

struct Quiet;

impl Watch for Quiet {
    fn cancelled(&self) -> bool {
        false
    }

    fn progress(&self, _input_bytes: u64, _docs: u64) {}
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let settings = SplitSettings {
        documents: Split {
            format: [Format::Warc, Format::Wet, Format::Html, Format::Warc][usize::from(choice & 3)],
            text_field: "text".to_owned(),
            meta_fields: Vec::new(),
            on_bad_document: if choice & 4 == 0 { OnBadDocument::Fail } else { OnBadDocument::Drop },
            max_line_bytes: 4096,
            page_bytes: Some(if choice & 8 == 0 { 4096 } else { 64 }),
            crawl: None,
        },
        part_docs: 3,
    };
    let name = ["a.warc", "a.warc.gz", "a.warc.zst", "a"][usize::from(choice >> 4) % 4];
    let folder = tempfile::tempdir().expect("a scratch folder");
    let job = SplitJob {
        name,
        url: "data",
        fetched_at: Timestamp::EPOCH,
        license_spdx: "MIT",
        settings: &settings,
        out_dir: folder.path(),
    };
    if let Ok(outcome) = split(bytes, &job, &Quiet) {
        assert_eq!(outcome.n_docs, outcome.parts.iter().map(|part| part.n_docs).sum::<u64>());
        let counted = outcome.n_docs + outcome.dropped.values().sum::<u64>();
        assert!(settings.documents.format != Format::Html || counted == 1, "a page is one, or left out");
    }
});
