//! The real stages, one after the other: what they make is accepted, and what changes on the way is found.

use std::fs;
use std::path::Path;
use std::time::Duration;

use corpora_contracts::config::Config;
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::ledger::Row;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::StageStatus::{self, Cached, Done, Failed};
use corpora_stage::{Clock, Context, Progress};
use corpora_verify_ledger::{verify_folder, verify_ledger};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::lab::{config, tree};

/// An artifacts directory that fetch, extract and store work in.
struct Build {
    root: TempDir,
    config: Config,
    context: Context,
}

impl Build {
    fn new(more: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let lines: String = (0..50).map(|n| format!("{{\"text\": \"Line {n} is about the number {n}.\"}}\n")).collect();
        let blocks: String = (0..20).map(|n| format!("Block {n}\nends here.\n\n")).collect();
        let source = |id: &str, name: &str, text: &str, license: &str| {
            fs::write(root.path().join(name), text).unwrap();
            let sha256 = Digest::of(text.as_bytes());
            format!(
                "[[sources]]\nid = \"{id}\"\nurl = \"{name}\"\nsha256 = \"{sha256}\"\nlicense_spdx = \"{license}\"\n"
            )
        };
        let lines = source("lines", "lines.jsonl", &lines, "CC-BY-4.0");
        let blocks = source("blocks", "blocks.txt", &blocks, "CC0-1.0");
        let toml = format!(
            "dataset = \"d\"\nversion = \"v1\"\n{lines}{blocks}format = \"text\"\n[store]\nshard_rows = 16\nval_permille = 200\n{more}"
        );
        let context = Context {
            layout: Layout::new(root.path().join("artifacts")),
            clock: Clock::from_variable(Some("1767225600")).unwrap(),
            cancel: CancellationToken::new(),
            progress: Progress::default(),
        };
        Self { config: config(&toml), root, context }
    }

    /// The statuses of extract's sources, of store and of verify-ledger, as far as they come.
    fn run(&self) -> Vec<StageStatus> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let Self { root, config, context } = self;
            let fetched = corpora_fetch::run(config, root.path(), &corpora_fetch::Options::default(), context).await;
            assert_eq!(fetched.exit, ExitCode::Success, "{:?}", fetched.summary);
            let extracted = corpora_extract::run(config, &corpora_extract::Options::default(), context).await;
            assert_eq!(extracted.exit, ExitCode::Success, "{:?}", extracted.summary);
            let stored = corpora_store::run(config, &corpora_store::Options::default(), context).await;
            assert_eq!(stored.exit, ExitCode::Success, "{:?}", stored.summary);
            let options = corpora_verify_ledger::Options { lock_timeout: Duration::ZERO };
            let verified = corpora_verify_ledger::run(config, &options, context).await;
            let entries = [extracted.summary, stored.summary, verified.summary].into_iter().flat_map(|it| it.entries);
            entries.map(|entry| entry.status).collect()
        })
    }

    fn published(&self) -> std::path::PathBuf {
        self.context.layout.dataset(&self.config.dataset, &self.config.version)
    }

    fn append(&self, id: &str, change: impl FnOnce(&mut Row)) {
        let layout = &self.context.layout;
        let ledger = corpora_stage::ledger::read(layout).unwrap();
        let mut row = ledger.rows().iter().rev().find(|row| row.source_id.as_str() == id).unwrap().clone();
        change(&mut row);
        let text = fs::read_to_string(layout.ledger()).unwrap() + &row.to_line().unwrap();
        fs::write(layout.ledger(), text).unwrap();
    }

    fn assert_sound(&self) {
        let folder = verify_folder(&self.published());
        assert!(folder.ok, "{folder:#?}");
        let ledger = verify_ledger(&self.context.layout, &self.config, true);
        assert!(ledger.ok && ledger.files > folder.files, "{ledger:#?}");
    }
}

#[test]
fn what_the_stages_make_is_accepted_and_reruns_are_free() {
    for formats in ["", "formats = [\"parquet\"]\n", "formats = [\"jsonl\"]\n"] {
        let build = Build::new(formats);
        assert_eq!(build.run(), [Done, Done, Done, Done]);
        build.assert_sound();
        let before = tree(build.root.path());
        assert_eq!(build.run(), [Cached, Cached, Cached, Cached]);
        assert!(tree(build.root.path()) == before, "a rerun changes no file");
    }
}

#[test]
fn a_revoked_source_leaves_the_dataset_until_it_comes_back() {
    let build = Build::new("");
    build.run();
    let whole = tree(&build.published());
    build.append("lines", |row| row.revoked = Some(true));
    assert_eq!(build.run()[1..], [Cached, Done, Done]);
    build.assert_sound();
    assert!(!holds(&build.published(), "\"source_id\":\"lines\""));
    build.append("blocks", |row| row.revoked = Some(true));
    assert_eq!(build.run().last(), Some(&Done), "a dataset of nothing is one");
    build.assert_sound();
    for id in ["lines", "blocks"] {
        build.append(id, |row| row.revoked = Some(false));
    }
    assert_eq!(build.run().last(), Some(&Done));
    build.assert_sound();
    let again = tree(&build.published());
    assert_eq!(again["train-00000-of-00004.parquet"], whole["train-00000-of-00004.parquet"]);
}

#[test]
fn a_corrected_licence_reaches_every_row() {
    let mut build = Build::new("");
    build.run();
    let corrected = |source: &mut corpora_contracts::config::Source| source.license_spdx = "CC-BY-SA-4.0".into();
    build.config.sources.iter_mut().filter(|source| source.id.as_str() == "blocks").for_each(corrected);
    assert_eq!(build.run().last(), Some(&Done));
    build.assert_sound();
    assert!(holds(&build.published(), "\"license_spdx\":\"CC-BY-SA-4.0\""));
    assert!(!holds(&build.published(), "\"license_spdx\":\"CC0-1.0\""));
}

#[test]
fn a_damaged_staged_dataset_is_refused_until_it_is_made_again() {
    let build = Build::new("");
    build.run();
    let published = tree(&build.published());
    build.append("lines", |row| row.notes = "seen".into());
    // Store, then damage, then verify: the stages are run by hand as far as store.
    let staged = build.context.layout.staged(&build.config.dataset, &build.config.version);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stored = runtime.block_on(async {
        let extracted = corpora_extract::run(&build.config, &corpora_extract::Options::default(), &build.context).await;
        assert_eq!(extracted.exit, ExitCode::Success);
        corpora_store::run(&build.config, &corpora_store::Options::default(), &build.context).await
    });
    assert_eq!(stored.summary.entries[0].status, Done, "{:?}", stored.summary);
    let shard = staged.join("train-00001-of-00004.parquet");
    let mut bytes = fs::read(&shard).unwrap();
    bytes[50] ^= 1;
    fs::write(&shard, bytes).unwrap();
    assert_eq!(build.run().last(), Some(&Failed));
    assert!(tree(&build.published()) == published);
    fs::remove_dir_all(staged).unwrap();
    assert_eq!(build.run()[2..], [Done, Done]);
    build.assert_sound();
}

/// Whether a row of the JSON Lines shards, or the manifest, says this.
fn holds(folder: &Path, what: &str) -> bool {
    let said = |(name, bytes): (&String, &Vec<u8>)| {
        let text = if name.ends_with(".zst") { zstd::decode_all(&bytes[..]).unwrap() } else { bytes.clone() };
        String::from_utf8_lossy(&text).contains(what)
    };
    tree(folder).iter().filter(|(name, _)| !name.ends_with(".sqlite") && !name.ends_with(".parquet")).any(said)
}
