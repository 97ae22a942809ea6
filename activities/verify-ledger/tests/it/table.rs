//! `metadata.sqlite`, of which no other file has a digest, is read to its end and says what the shards say.

use std::fs;
use std::path::Path;

use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::StageStatus;
use corpora_verify_ledger::{Verdict, verify_folder, verify_ledger};
use rusqlite::Connection;

use crate::lab::{Lab, tree};

/// What is done to the table, and the one problem that it gives.
type Damage = (&'static str, fn(&Path), &'static str);

const SHARD: &str = "`metadata.sqlite` does not say of the rows of shard `";

const DAMAGES: &[Damage] = &[
    ("gone", |path| fs::remove_file(path).unwrap(), "`metadata.sqlite` is missing"),
    ("cut", cut, "`metadata.sqlite` cannot be read: "),
    ("empty", |path| fs::write(path, "").unwrap(), "`metadata.sqlite` cannot be read: "),
    ("no database", |path| fs::write(path, "outside every promise").unwrap(), "`metadata.sqlite` cannot be read: "),
    ("an index that lacks rows", index, "`metadata.sqlite` cannot be read: "),
    ("no table", |path| execute(path, "DROP TABLE documents"), "`metadata.sqlite` cannot be read: "),
    ("a view", view, "`metadata.sqlite` cannot be read: `documents` is no table"),
    ("a row less", |path| execute(path, "DELETE FROM documents WHERE id = 'a:1'"), "has 7 documents, expected 8"),
    ("a row more", more, "has 9 documents, expected 8"),
    ("another split", |path| set(path, "split = CASE split WHEN 'val' THEN 'train' ELSE 'val' END"), SHARD),
    ("no split", |path| set(path, "split = 'test'"), "`metadata.sqlite` places document `a:1` in a shard that"),
    ("another shard", |path| set(path, "shard = 7"), "`metadata.sqlite` places document `a:1` in a shard that"),
    ("another row", |path| set(path, "row = 99"), SHARD),
    ("a negative row", |path| set(path, "row = -1"), "`metadata.sqlite` places document `a:1` in a shard that"),
    ("another id", |path| set(path, "id = 'a:9'"), SHARD),
    ("another source", |path| set(path, "source_id = 'b'"), SHARD),
    ("another language", |path| set(path, "lang = 'de'"), SHARD),
    ("another length", |path| set(path, "n_chars = 1"), SHARD),
    ("another digest", |path| set(path, "sha256 = zeroblob(32)"), SHARD),
    ("another url", |path| set(path, "url = 'https://host/a.jsonl#9'"), SHARD),
    ("another domain", |path| set(path, "domain = 'example.org'"), "says of document `a:1` the domain `example.org`"),
];

#[test]
fn the_table_says_what_the_shards_say() {
    let mut wrong = Vec::new();
    for (what, damage, problem) in DAMAGES {
        let lab = Lab::published();
        damage(&lab.published_dir().join("metadata.sqlite"));
        let before = tree(&lab.published_dir());
        let report = verify_folder(&lab.published_dir());
        assert_eq!((report.verdict, report.exit), (Verdict::Refused, ExitCode::Data), "{what}");
        let full = verify_ledger(&lab.layout, &lab.config, true);
        assert_eq!((full.exit, full.problems.len()), (ExitCode::Data, report.problems.len()), "{what}: {full:?}");
        assert!(verify_ledger(&lab.layout, &lab.config, false).ok, "{what}: without --full it is not read");
        // A row that changes its place is missing in one shard and too many in another.
        let is_told = report.problems.iter().all(|told| told.contains(problem)) && !report.problems.is_empty();
        if !is_told || report.problems.len() > 2 {
            wrong.push(format!("{what}: {:#?}", report.problems));
        }
        assert_eq!(tree(&lab.published_dir()), before, "{what}: it changes nothing");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_table_that_contradicts_its_shards_is_not_published() {
    for (what, damage, problem) in DAMAGES {
        let lab = Lab::staged();
        damage(&lab.staged_dir().join("metadata.sqlite"));
        let entry = lab.expect(StageStatus::Failed);
        assert!(entry.problems.iter().all(|told| told.contains(problem)), "{what}: {:#?}", entry.problems);
        assert!(!lab.published_dir().exists(), "{what}");
    }
}

#[test]
fn any_order_of_rows_and_any_journal_is_fine() {
    let lab = Lab::published();
    let path = lab.published_dir().join("metadata.sqlite");
    execute(
        &path,
        "CREATE TEMP TABLE kept AS SELECT * FROM documents ORDER BY id DESC; DELETE FROM documents;
        INSERT INTO documents SELECT * FROM kept; VACUUM; PRAGMA journal_mode = WAL;",
    );
    let before = tree(&lab.published_dir());
    assert!(verify_folder(&lab.published_dir()).ok);
    assert_eq!(tree(&lab.published_dir()), before, "no file beside it");
}

fn execute(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn set(path: &Path, what: &str) {
    execute(path, &format!("UPDATE documents SET {what} WHERE id = 'a:1'"));
}

fn cut(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

fn more(path: &Path) {
    execute(
        path,
        "INSERT INTO documents SELECT 'x:0', source_id, url, domain, lang, n_chars, sha256, shard, row, split FROM documents LIMIT 1",
    );
}

/// The index keeps the entry of a row that the table does not have.
fn index(path: &Path) {
    execute(
        path,
        "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE INDEX documents_domain ON documents (url)' WHERE name = 'documents_domain';",
    );
}

fn view(path: &Path) {
    execute(path, "ALTER TABLE documents RENAME TO other; CREATE VIEW documents AS SELECT * FROM other;");
}
