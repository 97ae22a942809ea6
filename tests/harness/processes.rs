//! Who runs on this machine.

use std::fs;

/// The processes whose environment has this variable with this value. Those of other users cannot be read and do not
/// count, nor do those that have ended and are not yet waited for.
#[must_use]
pub fn processes_with(name: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{name}={value}").into_bytes();
    let has_it = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted)
    };
    let ids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut found: Vec<u32> = ids.filter(has_it).collect();
    // Reading takes a while: one may have ended, and its successor begun, since the first was found.
    found.retain(has_it);
    found
}
