//! Work on many small things, spread over the cores.

use std::num::NonZero;
use std::thread;

/// Cuts `items` into one piece a core, and joins what `work` makes of the pieces, in order. A piece
/// has at least `min_piece` items: below that a thread costs more than it saves.
pub fn on_all_cores<I: Sync, T: Send>(
    items: &[I],
    min_piece: usize,
    work: impl Fn(&[I]) -> Vec<T> + Sync,
) -> Vec<T> {
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let n_threads = items.len().div_ceil(min_piece.max(1)).clamp(1, n_cores);
    if n_threads == 1 {
        return work(items);
    }
    let work = &work;
    thread::scope(|scope| {
        let pieces = items.chunks(items.len().div_ceil(n_threads));
        let workers: Vec<_> = pieces.map(|piece| scope.spawn(move || work(piece))).collect();
        let mut results = Vec::with_capacity(items.len());
        for worker in workers {
            match worker.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        let doubled = on_all_cores(&items, 10, |piece| piece.iter().map(|n| n * 2).collect());
        assert_eq!(doubled, items.iter().map(|n| n * 2).collect::<Vec<_>>());
    }
}
