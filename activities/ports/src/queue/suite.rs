//! What every queue does: the one suite that each implementation passes.

use std::time::Duration;

use super::{BATCH, Delivery, DeliveryId, Level, Queue};

/// Longer than any test runs.
const LONG: Duration = Duration::from_secs(600);
const NONE: Duration = Duration::ZERO;
/// How long what must come is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Holds queues to what this module's trait promises. `open` makes an empty queue whose messages are dead letters when
/// they would be received more often than so many times.
///
/// # Panics
/// When the queue does otherwise: this is a test.
#[expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
pub async fn holds<Q: Queue>(open: impl AsyncFn(u32) -> Q) {
    an_empty_queue_gives_nothing(&open(9).await).await;
    what_is_sent_is_received_once_while_it_is_hidden(&open(9).await).await;
    what_is_not_deleted_comes_again(&open(9).await).await;
    a_late_receiver_does_not_delete_what_another_has(&open(9).await).await;
    a_timeout_that_runs_out_gives_a_message_back(&open(9).await).await;
    what_is_received_too_often_is_dead_until_it_is_redriven(&open(2).await).await;
    batches_are_bounded(&open(9).await).await;
    a_receiver_that_waits_gets_what_is_sent_meanwhile(&open(9).await).await;

    async fn take<Q: Queue>(queue: &Q, most: usize, hidden: Duration) -> Vec<Delivery> {
        queue.receive(most, hidden, NONE).await.expect("receive")
    }

    async fn send<Q: Queue>(queue: &Q, bodies: &[&str]) {
        let bodies: Vec<Vec<u8>> = bodies.iter().map(|body| body.as_bytes().to_vec()).collect();
        queue.send(&bodies).await.expect("send");
    }

    async fn delete<Q: Queue>(queue: &Q, delivery: &Delivery) {
        queue.delete(std::slice::from_ref(&delivery.id)).await.expect("delete");
    }

    async fn level<Q: Queue>(queue: &Q, expected: [u64; 3]) {
        let [ready, hidden, dead] = expected;
        assert_eq!(queue.level().await.expect("level"), Level { ready, hidden, dead });
    }

    async fn an_empty_queue_gives_nothing<Q: Queue>(queue: &Q) {
        assert_eq!(take(queue, BATCH, LONG).await, []);
        queue.delete(&[DeliveryId("7".to_owned()), DeliveryId("none".to_owned())]).await.expect("delete nothing");
        queue.send(&[]).await.expect("send nothing");
        level(queue, [0, 0, 0]).await;
    }

    async fn what_is_sent_is_received_once_while_it_is_hidden<Q: Queue>(queue: &Q) {
        send(queue, &["a", "", "ü\0"]).await;
        level(queue, [3, 0, 0]).await;
        let (first, rest) = (take(queue, 1, LONG).await, take(queue, BATCH, LONG).await);
        let mut bodies: Vec<&[u8]> = first.iter().chain(&rest).map(|it| &it.body[..]).collect();
        bodies.sort_unstable();
        assert_eq!(bodies, [&b""[..], b"a", "ü\0".as_bytes()]);
        assert!(first.iter().chain(&rest).all(|delivery| delivery.receives == 1));
        assert_eq!(take(queue, BATCH, LONG).await, [], "all are hidden");
        level(queue, [0, 3, 0]).await;
        for delivery in first.iter().chain(&rest) {
            delete(queue, delivery).await;
            delete(queue, delivery).await;
        }
        level(queue, [0, 0, 0]).await;
    }

    async fn what_is_not_deleted_comes_again<Q: Queue>(queue: &Q) {
        send(queue, &["a"]).await;
        let first = take(queue, BATCH, LONG).await;
        queue.hide(&[first[0].id.clone()], NONE).await.expect("give back");
        level(queue, [1, 0, 0]).await;
        let second = take(queue, BATCH, LONG).await;
        assert_eq!((second[0].body.as_slice(), second[0].receives), (&b"a"[..], 2));
        assert_ne!(second[0].id, first[0].id, "a delivery of its own");
    }

    async fn a_late_receiver_does_not_delete_what_another_has<Q: Queue>(queue: &Q) {
        send(queue, &["a"]).await;
        let late = take(queue, BATCH, NONE).await;
        let current = take(queue, BATCH, LONG).await;
        delete(queue, &late[0]).await;
        queue.hide(&[late[0].id.clone()], NONE).await.expect("hide");
        level(queue, [0, 1, 0]).await;
        delete(queue, &current[0]).await;
        level(queue, [0, 0, 0]).await;
    }

    async fn a_timeout_that_runs_out_gives_a_message_back<Q: Queue>(queue: &Q) {
        send(queue, &["a"]).await;
        let first = take(queue, BATCH, Duration::from_millis(30)).await;
        let again = queue.receive(BATCH, LONG, PATIENCE).await.expect("receive");
        assert_eq!((first.len(), again.len(), again[0].receives), (1, 1, 2));
    }

    async fn what_is_received_too_often_is_dead_until_it_is_redriven<Q: Queue>(queue: &Q) {
        send(queue, &["a"]).await;
        for receives in 1..=2 {
            assert_eq!(take(queue, BATCH, NONE).await[0].receives, receives);
        }
        assert_eq!(take(queue, BATCH, LONG).await, []);
        level(queue, [0, 0, 1]).await;
        assert_eq!(queue.redrive().await.expect("redrive"), 1);
        level(queue, [1, 0, 0]).await;
        assert_eq!(take(queue, BATCH, LONG).await[0].receives, 1, "it starts anew");
        assert_eq!(queue.redrive().await.expect("redrive"), 0);
    }

    async fn batches_are_bounded<Q: Queue>(queue: &Q) {
        let eleven = vec![b"a".to_vec(); BATCH + 1];
        assert!(queue.send(&eleven).await.is_err());
        level(queue, [0, 0, 0]).await;
        queue.send(&eleven[..BATCH]).await.expect("send");
        queue.send(&eleven[..1]).await.expect("send");
        assert_eq!(take(queue, 100, LONG).await.len(), BATCH);
        assert_eq!(take(queue, 100, LONG).await.len(), 1);
    }

    async fn a_receiver_that_waits_gets_what_is_sent_meanwhile<Q: Queue>(queue: &Q) {
        let receiving = queue.receive(BATCH, LONG, PATIENCE);
        let sending = async {
            tokio::task::yield_now().await;
            send(queue, &["late"]).await;
        };
        let (received, ()) = tokio::join!(receiving, sending);
        match received.expect("receive").as_slice() {
            [one] => assert_eq!(one.body, b"late"),
            other => panic!("{other:?}"),
        }
    }
}
