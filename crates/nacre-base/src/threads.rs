//! Helpers for running work on several cores, in the background, or with a time limit.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// Splits `items` into one chunk per core and returns the concatenated results of `work` in order.
/// Chunks have at least `min_piece` items, because starting a thread for fewer items costs more
/// time than it saves.
pub fn on_all_cores<I: Sync, T: Send>(
    items: &[I],
    min_piece: usize,
    work: impl Fn(&[I]) -> Vec<T> + Sync,
) -> Vec<T> {
    // Counting the cores requires reading several files.
    if items.len() <= min_piece {
        return work(items);
    }
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    on_threads(items, items.len().div_ceil(min_piece.max(1)).min(n_cores), work)
}

/// Like [`on_all_cores`], with a given number of threads, for work that waits for the disk.
pub(crate) fn on_threads<I: Sync, T: Send>(
    items: &[I],
    n_threads: usize,
    work: impl Fn(&[I]) -> Vec<T> + Sync,
) -> Vec<T> {
    if n_threads.min(items.len()) <= 1 {
        return work(items);
    }
    let work = &work;
    thread::scope(|scope| {
        let mut pieces = items.chunks(items.len().div_ceil(n_threads));
        let own = pieces.next().unwrap_or_default();
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

#[cfg(target_os = "linux")]
const BACKGROUND: i32 = 10;

/// Lowers the priority of this thread and of any threads it starts. Does nothing on systems where
/// priorities apply only to whole processes.
pub fn yield_processor() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        // `None` means the calling thread.
        if getpriority_process(None).is_ok_and(|now| now < BACKGROUND) {
            let _ = setpriority_process(None, BACKGROUND);
        }
    }
}

/// A time limit. Dropping the alarm also ends its thread.
#[derive(Debug)]
pub struct Alarm {
    is_over: Arc<AtomicBool>,
    _waiting: Sender<()>,
}

impl Alarm {
    pub fn ringing(time: Duration, ring: impl FnOnce() + Send + 'static) -> Self {
        let (waiting, dropped) = channel();
        let is_over = Arc::new(AtomicBool::new(time.is_zero()));
        let set = Arc::clone(&is_over);
        let wait = move || {
            if dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                set.store(true, Ordering::Relaxed);
                ring();
            }
        };
        // If the thread cannot be started, the other limits still apply.
        let _ = thread::Builder::new().spawn(wait);
        Self { is_over, _waiting: waiting }
    }

    pub fn after(time: Duration) -> Self {
        Self::ringing(time, || {})
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
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

    #[test]
    fn it_rings_once_and_says_so() {
        let (rang, heard) = channel();
        let alarm = Alarm::ringing(Duration::ZERO, move || rang.send(()).unwrap());
        heard.recv().unwrap();
        assert!(alarm.is_over());
        assert!(!Alarm::after(Duration::MAX).is_over());
    }
}
