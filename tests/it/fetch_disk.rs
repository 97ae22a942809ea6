//! A disk that is full: a small file system of memory, mounted for the test.

use std::path::{Path, PathBuf};
use std::process::Command;

use corpora_contracts::summary::Status;
use corpora_tests::harness::{Lab, Workspace, noise, skipped};
use corpora_tests::servers::Answer;

/// A mounted tmpfs; unmounted when it is dropped.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    /// Mounts one, or says why not.
    fn mount(test: &str, size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        match run("mount", &["-t", "tmpfs", "-o", &options, "corpora-test"], folder.path()) {
            Ok(()) => Some(Self { folder }),
            Err(why) => {
                skipped(test, &format!("a small tmpfs cannot be mounted ({why}); mounting needs root"));
                None
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("artifacts")
    }

    fn grow(&self, size: &str) {
        run("mount", &["-o", &format!("remount,size={size}")], self.folder.path()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = run("umount", &[], self.folder.path());
    }
}

fn run(program: &str, args: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(args).arg(folder).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

#[test]
fn a_download_that_does_not_fit_goes_on_when_there_is_room() {
    let Some(disk) = SmallDisk::mount("disk full while downloading", "1m") else { return };
    let lab = Lab::new().with_workspace(Workspace::new().with_artifacts(disk.path()));
    let bytes = noise(5, 2 << 20);
    lab.server.serve("/big.jsonl", Answer::object(&bytes));
    let run = lab.fetch_config(lab.source("big", &bytes)).exits(75);
    assert_eq!((run.entry("big").status, lab.server.log().len()), (Status::Failed, 1), "at once, without a retry");
    let message = run.error("big").message;
    assert!(message.contains("space") || message.contains("full"), "{message}");
    let part = lab.work.read("corpus/downloads/big/big.jsonl.part").expect("what fitted is kept");
    assert!(part.len() > 500_000 && bytes.starts_with(&part), "{} bytes", part.len());
    assert!(lab.work.versions("big").is_empty() && lab.work.ledger().is_empty());

    disk.grow("16m");
    let run = lab.fetch().run().exits(0);
    assert_eq!(lab.server.ranges("/big.jsonl"), ["".to_owned(), format!("bytes={}-", part.len())]);
    assert_eq!(run.entry("big").bytes, (bytes.len() - part.len()) as u64);
    lab.assert_rerun_is_free();
}

#[test]
fn parts_that_do_not_fit_are_not_half_published() {
    let Some(disk) = SmallDisk::mount("disk full while splitting", "3m") else { return };
    let lab = Lab::new().with_workspace(Workspace::new().with_artifacts(disk.path()));
    let bytes = noise(6, 2 << 20);
    lab.server.serve("/big.jsonl", Answer::object(&bytes));
    lab.work.configure(lab.source("big", &bytes));
    let run = lab.fetch().args(["--part-docs", "100"]).run().exits(75);
    assert_eq!((run.entry("big").status, lab.server.log().len()), (Status::Failed, 1));
    let published: Vec<String> = lab.work.versions("big").into_iter().filter(|name| !name.ends_with(".tmp")).collect();
    assert_eq!(published, [""; 0]);
    assert_eq!((lab.work.ledger().as_str(), lab.work.receipts("big").len()), ("", 0));
    assert!(lab.work.tree().under("corpus/quarantine/").is_empty());

    disk.grow("16m");
    let run = lab.fetch().args(["--part-docs", "100"]).run().exits(0);
    assert_eq!((run.entry("big").requests, lab.server.log().len()), (0, 1), "the download was whole and is kept");
    assert_eq!(lab.work.versions("big"), ["20260101"]);
}
