//! What is already here of a source: raw directories with their receipts.

use std::fs;
use std::io;
use std::path::PathBuf;

use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::layout::{Layout, RawVersion};
use corpora_contracts::outcome::Disposition;
use corpora_contracts::receipt::Receipt;

use crate::durable::{self, FileError};

/// A raw directory and the receipt that vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The directory's name.
    pub version: RawVersion,
    /// What it holds.
    pub receipt: Receipt,
}

/// Why the holdings cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum HoldingsError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A receipt is damaged, or was written by a newer release; it is evidence, so a human decides.
    #[error("read receipt `{}`; restore it, or remove it together with its raw directory", path.display())]
    BadReceipt {
        /// The receipt.
        path: PathBuf,
        /// What the parser says.
        source: serde_json::Error,
    },
}

impl HoldingsError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::File(error) => error.disposition(),
            Self::BadReceipt { .. } => Disposition::Fail,
        }
    }
}

/// The whole holdings of a source, oldest first; touches nothing, so it needs no lock.
///
/// # Errors
/// [`HoldingsError`].
pub fn read(layout: &Layout, id: &Name) -> Result<Vec<Holding>, HoldingsError> {
    let mut holdings = Vec::new();
    for version in receipt_versions(layout, id)? {
        let Some(receipt) = read_receipt(layout, id, &version)? else { continue };
        let holding = Holding { version, receipt };
        if is_whole(layout, id, &holding) {
            holdings.push(holding);
        }
    }
    holdings.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(holdings)
}

/// The newest holding that satisfies `wanted`, among those of this digest.
pub fn newest<'a>(holdings: &'a [Holding], sha256: &Digest, wanted: impl Fn(&Receipt) -> bool) -> Option<&'a Holding> {
    holdings.iter().rev().find(|holding| holding.receipt.sha256 == *sha256 && wanted(&holding.receipt))
}

/// The versions that have a receipt, whatever became of their directories.
///
/// # Errors
/// When the folder cannot be read.
pub fn receipt_versions(layout: &Layout, id: &Name) -> Result<Vec<RawVersion>, FileError> {
    let names = durable::names_in(&layout.receipts(id))?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect())
}

/// The receipt of one raw directory; none when there is none, or when another run removed it since its folder was listed.
///
/// # Errors
/// When it cannot be read.
pub fn read_receipt(layout: &Layout, id: &Name, version: &RawVersion) -> Result<Option<Receipt>, HoldingsError> {
    let path = layout.receipt(id, version);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(durable::on("read", &path)(error).into()),
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|source| HoldingsError::BadReceipt { path, source })
}

/// Whether the directory has every part of its receipt in its size; `verify` reads their bytes.
fn is_whole(layout: &Layout, id: &Name, holding: &Holding) -> bool {
    let folder = layout.raw_dir(id, &holding.version);
    let stands = |name: &str, bytes| fs::metadata(folder.join(name)).is_ok_and(|file| file.len() == bytes);
    folder.is_dir() && holding.receipt.parts.iter().all(|part| stands(&part.name, part.bytes))
}
