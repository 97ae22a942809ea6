//! A dataset folder is made aside, complete and synced, and then staged in one step.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use corpora_contracts::config::{Config, ShardFormat};
use corpora_contracts::ids::Digest;
use corpora_contracts::layout::Layout;
use corpora_contracts::manifest::{Manifest, Shard, SourceCount, SplitName};
use corpora_contracts::record::{OutputFile, StageRecord};
use corpora_stage::durable::{self, FileError};
use corpora_stage::{fault, record};
use tokio_util::sync::CancellationToken;

use crate::error::StoreError;
use crate::group::WrittenShard;
use crate::pipeline::{self, Made, Work};
use crate::plan::Plan;
use crate::shard::{self, JSONL_FOLDER};
use crate::{STAGE, standing};

/// The name of the manifest in a dataset folder.
pub(crate) const MANIFEST: &str = "_MANIFEST.json";

/// The name of the rows that a dataset rests on.
pub(crate) const ROWS: &str = "ledger.jsonl";

/// What is to be built.
pub(crate) struct Build<'a> {
    pub(crate) config: &'a Config,
    pub(crate) layout: &'a Layout,
    pub(crate) plan: &'a Plan,
    pub(crate) jobs: usize,
    pub(crate) cancel: &'a CancellationToken,
    /// Told the documents that were read.
    pub(crate) report: &'a (dyn Fn(u64) + Sync),
}

impl Build<'_> {
    /// Makes the dataset and stages it; only under the dataset's lock. Blocking.
    ///
    /// # Errors
    /// [`StoreError`]; what is staged and published is then what it was.
    pub(crate) fn run(&self) -> Result<Manifest, StoreError> {
        let Self { config, layout, .. } = self;
        let aside = layout.staged_tmp(&config.dataset, &config.version);
        self.clear()?;
        let made = self.make(&aside);
        if made.is_err() {
            // A full disk gets its room back; the first error is the one to report.
            let _ = durable::remove_tree(&aside);
        }
        let (manifest, record) = made?;
        fault::point("staged.before");
        durable::replace_folder(&aside, &layout.staged(&config.dataset, &config.version))?;
        fault::point("staged.after");
        let folder = layout.stage(STAGE, &config.dataset, &config.version);
        record::write(&folder, &record, Some(["store-record.before", "store-record.after"]))?;
        Ok(manifest)
    }

    /// Removes what crashed runs left of this version, and of no other.
    fn clear(&self) -> Result<(), FileError> {
        let folder = self.layout.datasets(&self.config.dataset);
        let ours = format!("{}.staged", self.config.version);
        let names = durable::names_in(&folder)?;
        let left = names.iter().filter(|name| durable::temporary_of(name) == Some(&ours));
        left.map(|name| folder.join(name)).try_for_each(|path| durable::remove_tree(&path))
    }

    /// Makes everything in the folder aside.
    fn make(&self, aside: &Path) -> Result<(Manifest, StageRecord), StoreError> {
        let Self { config, layout, plan, jobs, cancel, report } = *self;
        durable::create_folder(aside)?;
        let has_jsonl = config.store.formats.contains(&ShardFormat::Jsonl);
        if has_jsonl {
            durable::create_folder(&aside.join(JSONL_FOLDER))?;
        }
        let work = Work { plan, store: &config.store, layout, folder: aside, jobs, cancel, report };
        let made = pipeline::run(work)?;
        let shards = name_shards(aside, &made.shards)?;
        let manifest = self.manifest(&made, shards);
        let files = self.write_papers(aside, &manifest)?;
        if has_jsonl {
            durable::sync_folder(&aside.join(JSONL_FOLDER))?;
        }
        durable::sync_folder(aside)?;
        // The last look before the folder gets its name: after it, a signal changes nothing.
        if cancel.is_cancelled() {
            return Err(StoreError::Cancelled);
        }
        let record = self.record(made, &manifest, files);
        Ok((manifest, record))
    }

    fn manifest(&self, made: &Made, shards: Vec<Shard>) -> Manifest {
        let Self { config, plan, .. } = self;
        let counted = plan.inputs.iter().zip(&made.counts);
        let sources = counted.map(|(input, count)| SourceCount {
            source_id: input.row.source_id.clone(),
            n_docs: count.n_docs,
            n_val: count.n_val,
            dropped: input.record.dropped.clone(),
        });
        Manifest {
            dataset: config.dataset.clone(),
            version: config.version.clone(),
            n_docs: made.counts.iter().map(|count| count.n_docs).sum(),
            n_shards: shards.len() as u64,
            shards,
            sources: sources.collect(),
            dropped: dropped(plan),
            exact_duplicates: made.exact_duplicates,
            config_sha256: plan.config_sha256,
            ledger: plan.inputs.iter().map(|input| input.row.clone()).collect(),
        }
    }

    /// Writes the manifest and the rows; they head the outputs of the record.
    fn write_papers(&self, aside: &Path, manifest: &Manifest) -> Result<Vec<OutputFile>, FileError> {
        let rows = self.plan.rows_file();
        let papers = [(MANIFEST, manifest.to_line(), manifest.n_docs), (ROWS, rows, manifest.ledger.len() as u64)];
        let write = |(name, text, n_docs): (&str, Result<String, serde_json::Error>, u64)| {
            let path = aside.join(name);
            let text = text.map_err(io::Error::from).map_err(durable::on("write", &path))?;
            durable::write_atomic(&path, text.as_bytes(), None)?;
            let sha256 = Digest::of(text.as_bytes());
            Ok(OutputFile { path: self.output(name), sha256, bytes: text.len() as u64, n_docs })
        };
        papers.into_iter().map(write).collect()
    }

    fn record(&self, made: Made, manifest: &Manifest, mut outputs: Vec<OutputFile>) -> StageRecord {
        outputs.extend(manifest.shards.iter().map(|shard| OutputFile {
            path: self.output(&shard.name),
            sha256: shard.sha256,
            bytes: shard.bytes,
            n_docs: shard.rows,
        }));
        StageRecord {
            stage: STAGE.to_owned(),
            keys: self.plan.keys.clone(),
            inputs: made.inputs,
            kept: manifest.n_docs,
            dropped: manifest.dropped.clone(),
            cut: BTreeMap::new(),
            outputs,
        }
    }

    fn output(&self, name: &str) -> String {
        standing::output(self.layout, self.config, name)
    }
}

/// Documents left out by earlier stages, by reason, of all sources.
fn dropped(plan: &Plan) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    for (reason, count) in plan.inputs.iter().flat_map(|input| &input.record.dropped) {
        *sum.entry(reason.clone()).or_default() += count;
    }
    sum
}

/// Gives all shards the names that say of how many they are, and lists them in the manifest's order.
fn name_shards(folder: &Path, formats: &[(ShardFormat, Vec<WrittenShard>)]) -> Result<Vec<Shard>, FileError> {
    let mut named = Vec::new();
    for (format, written) in formats {
        for split in [SplitName::Train, SplitName::Val] {
            let of_split: Vec<&WrittenShard> = written.iter().filter(|shard| shard.split == split).collect();
            let of = of_split.len() as u64;
            for shard in of_split {
                let name = shard::finished_name(*format, split, shard.index, of);
                rename(folder, shard::unfinished_name(*format, split, shard.index), &folder.join(&name))?;
                let WrittenShard { sha256, bytes, rows, .. } = *shard;
                named.push(Shard { name, sha256, bytes, rows, split });
            }
        }
    }
    Ok(named)
}

/// Renames within a folder that is synced as a whole later.
fn rename(folder: &Path, from: String, to: &PathBuf) -> Result<(), FileError> {
    std::fs::rename(folder.join(from), to).map_err(durable::on("rename", to))
}
