//! Divides the processing of a long list among threads.
//!
//! Each thread takes one batch at a time. Fixed shares would be uneven, because large files are
//! often adjacent in the list.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `work` on a list's indexes in batches of `size` and returns the results in list order.
pub(crate) fn in_batches<R: Send>(
    n_items: usize,
    size: usize,
    n_threads: usize,
    work: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let n_batches = n_items.div_ceil(size.max(1));
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if n_batches <= number {
                return done;
            }
            let first = number * size;
            done.push((number, work(first..n_items.min(first + size))));
        }
    };
    let n_others = n_threads.min(n_batches).saturating_sub(1);
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (0..n_others).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_worked_on_once_and_comes_back_in_order() {
        for n_items in [0, 1, 2, 3, 7, 8, 100] {
            for n_threads in [0, 1, 2, 5] {
                let done = in_batches(n_items, 3, n_threads, Iterator::collect::<Vec<_>>);
                assert_eq!(done.concat(), (0..n_items).collect::<Vec<_>>());
            }
        }
    }
}
