//! Work on several threads whose results come out in the order in which the work went in.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::{io, iter};

/// The results of [`spawn`], in order.
pub(crate) struct Results<T> {
    order: Receiver<Receiver<T>>,
}

/// Starts `jobs` threads that take items from `input`. At most twice as many results wait to be taken.
///
/// When the results are dropped the threads end; so does then whoever feeds `input`, since nobody receives any more.
///
/// # Errors
/// When a thread cannot be started.
pub(crate) fn spawn<'scope, I, O, W>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    jobs: usize,
    input: Receiver<I>,
    work: W,
) -> io::Result<Results<O>>
where
    I: Send + 'scope,
    O: Send + 'scope,
    W: Fn(I) -> O + Clone + Send + 'scope,
{
    let jobs = jobs.max(1);
    let (order, results) = sync_channel(jobs);
    let queue = Arc::new(Mutex::new((input, order)));
    for work in iter::repeat_n(work, jobs) {
        let queue = Arc::clone(&queue);
        let thread = move || {
            while let Some((item, result)) = take(&queue) {
                // Nobody waits any more when the results were dropped: the next `take` ends the thread.
                let _ = result.send(work(item));
            }
        };
        Builder::new().name(name.to_owned()).spawn_scoped(scope, thread)?;
    }
    Ok(Results { order: results })
}

/// The queue of items, and of the places that their results will be found in.
type Queue<I, O> = Mutex<(Receiver<I>, SyncSender<Receiver<O>>)>;

/// Takes an item and, in the same step, its place among the results.
fn take<I, O>(queue: &Queue<I, O>) -> Option<(I, SyncSender<O>)> {
    let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let (input, order) = &*queue;
    let item = input.recv().ok()?;
    let (result, place) = sync_channel(1);
    order.send(place).ok()?;
    Some((item, result))
}

impl<T> Iterator for Results<T> {
    type Item = T;

    /// The next result; none at the end, and when the thread that had it panicked, which the scope passes on.
    fn next(&mut self) -> Option<T> {
        self.order.recv().ok()?.recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for jobs in [0, 1, 2, 7] {
            thread::scope(|scope| {
                let (feed, input) = sync_channel(1);
                let slow_first = |item: u64| {
                    thread::sleep(Duration::from_millis(if item.is_multiple_of(5) { 3 } else { 0 }));
                    item * 2
                };
                let results = spawn(scope, "test", jobs, input, slow_first).unwrap();
                scope.spawn(move || (0..100).for_each(|item| feed.send(item).unwrap()));
                assert_eq!(results.collect::<Vec<_>>(), (0..100).map(|item| item * 2).collect::<Vec<_>>());
            });
        }
    }

    #[test]
    fn dropped_results_end_the_threads_and_their_feeder() {
        thread::scope(|scope| {
            let (feed, input) = sync_channel(1);
            let mut results = spawn(scope, "test", 2, input, |item: u64| item).unwrap();
            let feeder = scope.spawn(move || (0..).take_while(|item| feed.send(*item).is_ok()).count());
            assert_eq!(results.next(), Some(0));
            drop(results);
            assert!(feeder.join().unwrap() < 100);
        });
    }
}
