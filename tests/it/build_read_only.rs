//! A finished build asks for nothing that a disk refuses that only lets one read.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use corpora_tests::harness::{ConfigToml, Lab, PUBLISHED, skipped};

/// A folder that only lets one read, until it is dropped.
struct ReadOnly<'a> {
    folder: &'a Path,
    is_mounted: bool,
}

impl<'a> ReadOnly<'a> {
    /// Permissions do it for all but root, for whom it takes a mount; none where neither works.
    fn of(folder: &'a Path) -> Option<Self> {
        permit(folder, false);
        if fs::write(folder.join("probe"), "").is_err() {
            return Some(Self { folder, is_mounted: false });
        }
        fs::remove_file(folder.join("probe")).unwrap();
        permit(folder, true);
        let path = folder.to_str().unwrap();
        if !run("mount", &["--bind", path, path]) {
            return None;
        }
        let mounted = Self { folder, is_mounted: true };
        run("mount", &["-o", "remount,ro,bind", path]).then_some(mounted)
    }
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = run("umount", &[self.folder.to_str().unwrap()]);
        } else {
            permit(self.folder, true);
        }
    }
}

fn run(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// Gives or takes the permission to write, everywhere below a folder.
fn permit(path: &Path, may_write: bool) {
    let found = fs::symlink_metadata(path).unwrap();
    let mode = found.permissions().mode();
    let set = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if may_write {
        set(mode | 0o200);
    }
    if found.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| permit(&entry.unwrap().path(), may_write));
    }
    if !may_write {
        set(mode & !0o222);
    }
}

#[test]
fn a_finished_build_is_found_finished_where_nothing_can_be_written() {
    let lab = Lab::new();
    let _ = lab.build_config(ConfigToml::shelved(lab.shelf())).exits(0);
    // A copy of the artifacts need not have the locks.
    fs::remove_dir_all(lab.work.path("corpus/locks")).unwrap();
    let artifacts = lab.work.path("corpus");
    let Some(read_only) = ReadOnly::of(&artifacts) else {
        return skipped("a finished build on a disk that is read-only", "mounting one needs root, or no root at all");
    };
    let before = lab.work.tree();
    let stage = |verb: &str| lab.program([verb, "--config"]).arg(lab.work.config_file());
    for run in
        [lab.build(), lab.fetch().args(["--part-docs", "20"]), stage("extract"), stage("store"), stage("verify-ledger")]
    {
        let run = run.run().exits(0);
        assert!(!run.stdout.contains("\"done\"") && !run.stdout.contains("\"fetched\""), "{}", run.stdout);
    }
    let _ = lab.program(["verify"]).arg(lab.work.path(PUBLISHED)).run().exits(0);
    assert_eq!(lab.work.tree(), before);
    drop(read_only);
}
