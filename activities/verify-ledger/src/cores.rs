//! Work over a list on every core.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Maps `items` on every core and returns the results in the order of `items`. After an error nothing new is begun, and
/// the first one in that order is returned.
pub(crate) fn try_map<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((at, result));
        }
        done
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let mut done = thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let joined =
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let doubled = try_map(&items, |item| Ok::<_, ()>(item * 2)).unwrap();
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(try_map(&[] as &[u64], |_| Err::<(), _>(())), Ok(vec![]));
    }

    #[test]
    fn an_error_ends_the_work() {
        let items: Vec<u64> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let result = try_map(&items, |item| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *item == 0 { Err(*item) } else { Ok(()) }
        });
        assert_eq!(result, Err(0));
        assert!(begun.into_inner() <= items.len());
    }
}
