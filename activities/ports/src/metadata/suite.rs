//! What every metadata table does: the one suite that each implementation passes.

use std::collections::BTreeMap;

use super::{MetadataStore, PageRow, PageStatus};

/// Holds metadata tables to what this module's trait promises. `open` makes an empty one.
///
/// # Panics
/// When the table does otherwise: this is a test.
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
pub async fn holds<M: MetadataStore>(open: impl AsyncFn() -> M) {
    let table = open().await;
    assert_eq!(table.list("c", None, 10).await.expect("list"), []);
    assert_eq!(table.get("c", &[]).await.expect("get"), []);
    assert_eq!(table.count("c").await.expect("count"), BTreeMap::new());

    let stored = row("c", "https://h.example/a", PageStatus::Success);
    let failed = row("c", "https://h.example/ü'\"", PageStatus::Failed);
    let other = row("other", "https://h.example/a", PageStatus::Redirect);
    table.put(&[stored.clone(), failed.clone(), other.clone()]).await.expect("put");
    let urls = ["https://h.example/ü'\"", "https://h.example/none", "https://h.example/a"];
    let found = table.get("c", &urls).await.expect("get");
    assert_eq!(found, [Some(failed.clone()), None, Some(stored.clone())], "in the order asked");

    let listed = table.list("c", None, 10).await.expect("list");
    let ids: Vec<i64> = listed.iter().map(|(id, _)| *id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert_eq!(listed.iter().map(|(_, row)| row.clone()).collect::<Vec<_>>(), [stored.clone(), failed.clone()]);
    assert_eq!(table.list("c", Some(ids[0]), 10).await.expect("list"), listed[1..]);
    assert_eq!(table.list("c", None, 1).await.expect("list"), listed[..1]);

    let moved = PageRow { s3_key: Some("raw/other".to_owned()), depth: 0, ..stored };
    table.put(&[moved.clone(), moved.clone()]).await.expect("put again");
    assert_eq!(table.list("c", None, 10).await.expect("list"), [(ids[0], moved), (ids[1], failed)]);
    let counts = BTreeMap::from([(PageStatus::Success, 1), (PageStatus::Failed, 1)]);
    assert_eq!(table.count("c").await.expect("count"), counts);
    assert_eq!(table.get("other", &["https://h.example/a"]).await.expect("get"), [Some(other)]);
}

fn row(crawl_id: &str, url: &str, status: PageStatus) -> PageRow {
    let is_stored = status == PageStatus::Success;
    PageRow {
        crawl_id: crawl_id.to_owned(),
        url: url.to_owned(),
        domain: "h.example".to_owned(),
        depth: 3,
        status_code: is_stored.then_some(200),
        s3_key: is_stored.then(|| "raw/2026-01-01/worker-1/a.jsonl".to_owned()),
        status,
    }
}
