//! Shards as files: their names, and the one writer that hashes what it writes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use corpora_contracts::config::ShardFormat;
use corpora_contracts::ids::Digest;
use corpora_contracts::manifest::SplitName;
use corpora_stage::durable::{self, FileError};
use sha2::{Digest as _, Sha256};

/// The folder of JSON Lines shards in a dataset's.
pub(crate) const JSONL_FOLDER: &str = "jsonl";

/// The name of a shard relative to the dataset folder, before it is known how many there are of its split.
pub(crate) fn unfinished_name(format: ShardFormat, split: SplitName, index: u64) -> String {
    name(format, &format!("{}-{index:05}", split.as_str()))
}

/// The name of a shard relative to the dataset folder, of `of` in its split.
pub(crate) fn finished_name(format: ShardFormat, split: SplitName, index: u64, of: u64) -> String {
    name(format, &format!("{}-{index:05}-of-{of:05}", split.as_str()))
}

fn name(format: ShardFormat, stem: &str) -> String {
    match format {
        ShardFormat::Parquet => format!("{stem}.parquet"),
        ShardFormat::Jsonl => format!("{JSONL_FOLDER}/{stem}.jsonl.zst"),
    }
}

/// A file that is hashed as it is written.
#[derive(Debug)]
pub(crate) struct HashedFile {
    file: File,
    hasher: Sha256,
    bytes: u64,
}

impl HashedFile {
    /// Creates the file, which must not exist.
    pub(crate) fn create(path: &Path) -> Result<Self, FileError> {
        let file = File::create_new(path).map_err(durable::on("create", path))?;
        Ok(Self { file, hasher: Sha256::new(), bytes: 0 })
    }

    /// Returns only when the file is on the disk: its digest, and its size in bytes.
    pub(crate) fn finish(self, path: &Path) -> Result<(Digest, u64), FileError> {
        self.file.sync_all().map_err(durable::on("sync", path))?;
        Ok((Digest::from_bytes(self.hasher.finalize().into()), self.bytes))
    }
}

impl Write for HashedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer)?;
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
