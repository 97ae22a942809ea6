//! The repository as files.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders of built or downloaded things; those whose name starts with a dot are passed over as well.
const NOT_OURS: [&str; 4] = ["target", "artifacts", "node_modules", "__pycache__"];

/// The repository's root.
pub(super) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// A path as it stands in a message and in a document.
pub(super) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Every file and folder of ours below `folder`, sorted.
pub(super) fn walk(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        found.push(entry.path());
        if entry.file_type()?.is_dir() {
            found.extend(walk(&entry.path())?);
        }
    }
    found.sort();
    Ok(found)
}

/// The text of every file below `folder` whose name ends with `suffix`.
pub(super) fn texts(folder: &Path, suffix: &str) -> io::Result<Vec<(PathBuf, String)>> {
    let files = walk(folder)?.into_iter().filter(|path| path.to_string_lossy().ends_with(suffix) && path.is_file());
    files.map(|path| fs::read_to_string(&path).map(|text| (path, text))).collect()
}
