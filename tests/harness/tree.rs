//! What a folder holds, for comparing two of them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use corpora_contracts::ids::Digest;

/// Every file below a folder, by its path with `/`, with the digest of its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Tree {
    /// Path to size and digest.
    pub files: BTreeMap<String, (u64, Digest)>,
}

impl Tree {
    /// Reads a folder; one that is not there is an empty tree, and empty folders do not count.
    ///
    /// Lock files are left out: they say which process ran last, which is nobody's output.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        collect(folder, "", &mut files);
        files.retain(|path, _| !path.starts_with("corpus/locks/"));
        Self { files }
    }

    /// The paths that start with `prefix`.
    #[must_use]
    pub fn under(&self, prefix: &str) -> Vec<&str> {
        self.files.keys().map(String::as_str).filter(|path| path.starts_with(prefix)).collect()
    }

    /// All paths.
    #[must_use]
    pub fn paths(&self) -> Vec<&str> {
        self.under("")
    }
}

/// One file a line, so that the difference of two trees can be read in a failed assertion.
impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        self.files.iter().try_for_each(|(path, (bytes, digest))| writeln!(f, "  {path} {bytes} {digest}"))
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, (u64, Digest)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            files.insert(path, (bytes.len() as u64, Digest::of(&bytes)));
        }
    }
}
