//! Which files a run touched: a file that was written again with the same bytes is not the file it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Every file below a folder but the locks, by its path, with what changes when it is written or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprints {
    files: BTreeMap<String, (u64, u64, i64, i64)>,
}

impl Footprints {
    /// Looks at a folder; one that is not there has no files.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        collect(folder, "", &mut files);
        Self { files }
    }

    /// The paths that were added, removed or touched between this look and a later one.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Vec<String> {
        let paths = self.files.keys().chain(later.files.keys().filter(|path| !self.files.contains_key(*path)));
        let changed = paths.filter(|path| self.files.get(*path) != later.files.get(*path));
        let mut changed: Vec<String> = changed.cloned().collect();
        changed.sort();
        changed
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, (u64, u64, i64, i64)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let is_lock = path.starts_with("corpus/locks") || path.starts_with("artifacts/corpus/locks");
        let Ok(metadata) = fs::symlink_metadata(entry.path()) else { continue };
        if metadata.is_dir() && !is_lock {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if !is_lock {
            let footprint = (metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec());
            files.insert(path, footprint);
        }
    }
}
