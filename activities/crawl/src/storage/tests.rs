use std::time::Duration;

use corpora_contracts::time::Timestamp;
use corpora_ports::metadata::MemoryMetadata;
use corpora_ports::queue::{Level, MemoryQueue, Queue as _};
use futures::TryStreamExt as _;
use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::pages::sample;

fn clock() -> Clock {
    Clock::Fixed(Timestamp::from_unix(1_767_225_600).unwrap())
}

/// Every line of every object, in the order of keys.
async fn lines_of(objects: &Arc<dyn ObjectStore>) -> Vec<(String, StorageMessage)> {
    let mut keys: Vec<Key> =
        objects.list(Some(&Key::from(PREFIX))).map_ok(|meta| meta.location).try_collect().await.unwrap();
    keys.sort();
    let mut all = Vec::new();
    for key in keys {
        let bytes = objects.get(&key).await.unwrap().bytes().await.unwrap();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            all.push((key.to_string(), corpora_contracts::message::read(line).unwrap()));
        }
    }
    all
}

#[tokio::test]
async fn a_page_is_a_line_of_an_object_and_a_row_that_names_it() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mut worker = StorageWorker::new(Arc::clone(&objects), MemoryMetadata::default(), "7", clock());
    let pages = [sample("http://a.example/", "one"), sample("http://b.example:8080/x?y=1", "two\n\u{2028}\"")];
    worker.store(&pages).await.unwrap();
    let lines = lines_of(&objects).await;
    assert_eq!(lines.iter().map(|(_, page)| page.clone()).collect::<Vec<_>>(), pages);
    let key = &lines[0].0;
    assert!(key.starts_with("raw/2026-01-01/worker-7/") && key.ends_with(".jsonl"), "{key}");
    let row = worker.metadata.get("docs.1", &[&pages[1].url]).await.unwrap().pop().flatten().unwrap();
    let expected = PageRow {
        crawl_id: "docs.1".into(),
        url: pages[1].url.clone(),
        domain: "b.example".into(),
        depth: 1,
        status_code: Some(200),
        s3_key: Some(key.clone()),
        status: PageStatus::Success,
    };
    assert_eq!(row, expected);
}

#[tokio::test]
async fn what_is_delivered_again_is_not_written_again() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mut worker = StorageWorker::new(Arc::clone(&objects), MemoryMetadata::default(), "1", clock());
    let (a, b) = (sample("http://a.example/", "a"), sample("http://a.example/b", "b"));
    worker.store(&[a.clone(), a.clone()]).await.unwrap();
    worker.store(&[a.clone(), b.clone()]).await.unwrap();
    worker.store(std::slice::from_ref(&b)).await.unwrap();
    let other = StorageMessage { crawl_id: "docs.2".into(), ..a.clone() };
    worker.store(std::slice::from_ref(&other)).await.unwrap();
    let pages: Vec<StorageMessage> = lines_of(&objects).await.into_iter().map(|(_, page)| page).collect();
    assert_eq!(pages, [a, b, other], "one more is of another crawl");
}

#[tokio::test]
async fn large_pages_have_objects_of_their_own() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mut worker = StorageWorker::new(Arc::clone(&objects), MemoryMetadata::default(), "1", clock());
    let text = "x".repeat(OBJECT_BYTES - 1000);
    let pages: Vec<StorageMessage> = (0..5).map(|at| sample(&format!("http://a.example/{at}"), &text)).collect();
    worker.store(&pages).await.unwrap();
    let lines = lines_of(&objects).await;
    let mut keys: Vec<&String> = lines.iter().map(|(key, _)| key).collect();
    keys.dedup();
    assert_eq!((lines.len(), keys.len()), (5, 3), "two, two and one");
}

#[tokio::test]
async fn objects_on_a_disk_are_those_of_the_next_process_too() {
    let folder = tempfile::tempdir().unwrap();
    let page = sample("http://a.example/", "a");
    for _ in 0..2 {
        // The table in memory is lost with the process, as after a crash before its rows were written.
        let objects = local_objects(folder.path()).unwrap();
        let mut worker = StorageWorker::new(objects, MemoryMetadata::default(), "1", clock());
        worker.store(std::slice::from_ref(&page)).await.unwrap();
    }
    let lines = lines_of(&local_objects(folder.path()).unwrap()).await;
    assert_eq!(lines.len(), 2, "two objects, neither written over");
    assert!(local_objects(&folder.path().join("none")).is_err());
}

#[tokio::test]
async fn a_message_is_deleted_when_its_page_is_stored_and_an_unreadable_one_never() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mut worker = StorageWorker::new(Arc::clone(&objects), MemoryMetadata::default(), "1", clock());
    let (queue, cancel) = (MemoryQueue::new(3), CancellationToken::new());
    let page = serde_json::to_vec(&sample("http://a.example/", "a")).unwrap();
    queue.send(&[page.clone(), b"no message".to_vec(), page]).await.unwrap();
    let stop = async {
        while queue.level().await.unwrap() != (Level { ready: 0, hidden: 1, dead: 0 }) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancel.cancel();
    };
    let (handled, ()) = tokio::join!(run(&queue, &mut worker, &cancel), stop);
    assert_eq!(handled.unwrap(), Handled { stored: 2, unreadable: 1 });
    assert_eq!(lines_of(&objects).await.len(), 1);
}
