//! Any bytes as a source: documents or a named error, whatever the format and the packing, in the memory of a line or a page; the
//! first byte chooses.

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

const FORMATS: [Format; 5] = [Format::Jsonl, Format::Text, Format::Html, Format::Warc, Format::Wet];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let mut choice = usize::from(*choice);
    let mut pick = |of: usize| {
        let picked = choice % of;
        choice /= of;
        picked
    };
    let format = FORMATS[pick(FORMATS.len())];
    let name = ["data", "data.gz", "data.zst", "data.jsonl"][pick(4)];
    let settings = SplitSettings {
        documents: Split {
            format,
            text_field: "text".to_owned(),
            meta_fields: if pick(2) == 0 { Vec::new() } else { vec!["lang".to_owned()] },
            on_bad_document: if pick(2) == 0 { OnBadDocument::Fail } else { OnBadDocument::Drop },
            max_line_bytes: 4096,
            page_bytes: Some(if pick(2) == 0 { 4096 } else { 64 }),
            crawl: None,
        },
        part_docs: 3,
    };
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
        assert!(outcome.parts.iter().all(|part| part.n_docs <= 3));
        let counted = outcome.n_docs + outcome.dropped.values().sum::<u64>();
        assert!(format != Format::Html || counted == 1, "a page is one, or left out");
    }
});
