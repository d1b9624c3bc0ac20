//! Work on many small things, spread over the cores; and work that leaves them to others.

use std::num::NonZero;
use std::thread::{self, ScopedJoinHandle};

/// Cuts `items` into one piece a core, and joins what `work` makes of the pieces, in order. A piece
/// has at least `min_piece` items: below that a thread costs more than it saves.
pub fn on_all_cores<I: Sync, T: Send>(
    items: &[I],
    min_piece: usize,
    work: impl Fn(&[I]) -> Vec<T> + Sync,
) -> Vec<T> {
    // Asking for the number of cores reads several files.
    if items.len() <= min_piece {
        return work(items);
    }
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let n_threads = items.len().div_ceil(min_piece.max(1)).clamp(1, n_cores);
    if n_threads == 1 {
        return work(items);
    }
    let work = &work;
    thread::scope(|scope| {
        let mut pieces = items.chunks(items.len().div_ceil(n_threads));
        let own = pieces.next().unwrap_or_default();
        // Where the system has no thread left, the piece is worked on here.
        let start = |piece| {
            thread::Builder::new().spawn_scoped(scope, move || work(piece)).map_err(|_| piece)
        };
        let started: Vec<_> = pieces.map(start).collect();
        let mut results = work(own);
        for worker in started {
            results.extend(match worker.map(ScopedJoinHandle::join) {
                Ok(Ok(part)) => part,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(piece) => work(piece),
            });
        }
        results
    })
}

/// How far a thread that nobody waits for stands back, by the system's measure of 0 to 19.
#[cfg(target_os = "linux")]
const BACKGROUND: i32 = 10;

/// Lets this thread, and those it starts, leave the processor to others. Best effort: elsewhere a process has one place for all of its
/// threads.
pub fn yield_processor() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        // Nobody by name is this thread.
        if getpriority_process(None).is_ok_and(|now| now < BACKGROUND) {
            let _ = setpriority_process(None, BACKGROUND);
        }
    }
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

    #[cfg(target_os = "linux")]
    #[test]
    fn one_thread_stands_back_and_the_others_do_not() {
        let own = || rustix::process::getpriority_process(None).unwrap();
        let before = own();
        let there = thread::spawn(move || {
            yield_processor();
            own()
        });
        assert_eq!(there.join().unwrap(), before.max(BACKGROUND));
        assert_eq!(own(), before);
    }
}
